"""Reports gathered into narrative beats: an exchange between the same people, or deeds in one place, near in time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.llm.storyteller.handoff.moments import Moment, near
from engine.llm.storyteller.handoff.report import Report

_REACH = 4
"""How many beats back a moment may still join: talk of several pairs in one room goes criss-cross."""
_FULL = 10
AMBIENT = 2
"""Weight up to which a moment matters only beside others."""
_CONTEXT_WORDS = 5


@dataclass
class Beat:
    """Moments to be remembered as one."""

    reports: list[Report] = field(default_factory=list)

    @property
    def last(self) -> Moment:
        """Its newest moment."""
        return self.reports[-1].moment

    @property
    def weight(self) -> int:
        """Of its weightiest moment."""
        return max(report.weight for report in self.reports)

    @property
    def talk(self) -> bool:
        """Whether anybody speaks in it."""
        return any(report.moment.mode == "said" for report in self.reports)

    def pairs(self) -> list[frozenset[str]]:
        """Who has to do with whom in it."""
        return [report.moment.people for report in self.reports if len(report.moment.people) > 1]

    def takes(self, moment: Moment) -> bool:
        """Whether a moment is near enough in place and time."""
        return self.last.place == moment.place and near(self.last, moment) and len(self.reports) < _FULL


def gathered(reports: Sequence[Report], owner: str) -> list[Beat]:
    """All reports but ambient ones, in beats, in order of their beginnings."""
    beats: list[Beat] = []
    for index, report in enumerate(reports):
        before = reports[index - 1] if index else None
        home = _home(report, beats, owner)
        if report.moment.mode == "thought":
            _place_thought(report, before, home, beats)
        elif home is not None:
            home.reports.append(report)
        elif report.weight > AMBIENT or report.moment.mode == "said":
            beats.append(Beat([report]))
    return beats


def _home(report: Report, beats: Sequence[Beat], owner: str) -> Beat | None:
    """The beat a report goes on with, newest first."""
    moment = report.moment
    recent = [beat for beat in list(reversed(beats))[:_REACH] if beat.takes(moment)]
    if moment.mode == "thought":
        follows = (beat for beat in recent if beat.last.index == moment.index - 1 and beat.last.mode == "done")
        with_owner = (beat for beat in recent if any(owner in one.moment.people for one in beat.reports))
        return next(follows, None) or next(with_owner, None)
    if len(moment.people) > 1:
        found = next((beat for beat in recent if any(len(pair & moment.people) > 1 for pair in beat.pairs())), None)
        if found is not None or moment.mode == "said":
            return found
    if report.weight <= AMBIENT and moment.mode == "done":
        return None
    if moment.mode == "said":
        return next((beat for beat in recent[:1] if beat.talk and any(moment.who in one.moment.people for one in beat.reports)), None)
    same = (beat for beat in recent[:1] if not beat.talk and all(one.subject == moment.who for one in beat.reports))
    return next(same, None)


def _place_thought(report: Report, before: Report | None, home: Beat | None, beats: list[Beat]) -> None:
    """A thought goes with what it follows: the beat it belongs to, else the deed right before it, however small."""
    moment = report.moment
    follows = (
        before is not None and before.moment.mode == "done" and before.subject == moment.who and before.weight >= AMBIENT
        and before.moment.place == moment.place and near(before.moment, moment) and len(before.predicate.split()) >= _CONTEXT_WORDS
    )  # fmt: skip
    if before is not None and follows and not any(before in beat.reports for beat in beats) and report.weight > AMBIENT:
        beats.append(Beat([before, report]))
    elif home is not None:
        home.reports.append(report)
    elif report.weight > AMBIENT:
        beats.append(Beat([report]))
