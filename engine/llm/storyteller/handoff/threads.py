"""What hangs over somebody: threats, promises with a term, demands without an answer. They stay pinned until settled or stale."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.llm.storyteller.handoff.bank import known
from engine.llm.storyteller.handoff.moments import times
from engine.llm.storyteller.handoff.report import Report
from engine.llm.storyteller.handoff.salience import deadline

MOST_PINNED = 4
"""Entries that one run keeps pinned."""
_OF_ONE_PAIR = 2
_EVEN = re.compile(r"\b(?:(?:we are|we're) even|(?:it is|it's|that is|that's) settled|that settles it)\b(?! ?\?)", re.IGNORECASE)
_DROPPED = re.compile(
    r"\b(?:forget (?:what i said|it)|never mind|i forgive you|i take it back|(?:i am|i'm) sorry|i apologi[sz]e|forgive me|"
    r"your debt is paid)\b",
    re.IGNORECASE,
)
"""Words by which somebody lets go of a demand of its own."""
_MET = re.compile(r"\b(?:you shall have it|here it is|take it, then|it is yours|it's yours|i have paid|i've paid)\b", re.IGNORECASE)
"""Words by which somebody meets the demand of another."""
_GONE = re.compile(
    r"^(?:sailed|died|was (?:killed|arrested|hanged|taken away)|left (?:the )?(?:town|harbour|city|village|country|island|inn|house))\b"
)
_TOLD = re.compile(r"^(?:ordered .+ to say|threatened .+, to learn)\b")
_GIVING = re.compile(r"\b(?:give|pay|bring|return|hand|lend|repay|offered)\b")
_SMALL_TALK = frozenset(("small", "pass"))
"""What settles nothing, even when there is a word of pardon in it."""
_DUE = frozenset(("threat", "promise", "vow", "offer"))


@dataclass
class Thread:
    """An unresolved matter: what was said, and what settled it, if anything did."""

    reports: list[Report] = field(default_factory=list)
    settled_by: Report | None = None

    @property
    def weight(self) -> int:
        """Of its weightiest moment."""
        return max(report.weight for report in self.reports)

    @property
    def stale(self) -> bool:
        """Whether it is old enough to be let go: a day for what threatens, a couple of hours for a demand."""
        newest = self.reports[-1]
        return newest.moment.old or (newest.act == "request" and newest.moment.minutes >= times()["a couple hours ago"])

    @property
    def open(self) -> bool:
        """Whether it still hangs."""
        return self.settled_by is None and not self.stale


def threads_in(reports: Sequence[Report], owner: str) -> list[Thread]:
    """The threads among all reports: those pinned before, and those that hang from now on."""
    found: dict[tuple[str, ...], Thread] = {}
    for report in reports:
        if report.moment.pinned or _hangs(report, reports, owner):
            kind = "threat" if report.act in ("threat", "vow") else report.act if report.act in _DUE | {"request"} else report.moment.place
            found.setdefault((report.subject, *report.moment.to, kind), Thread()).reports.append(report)
    for thread in found.values():
        thread.settled_by = _settlement(thread.reports[-1], reports)
    return list(found.values())


def kept_open(threads: Sequence[Thread]) -> set[int]:
    """Indexes of the entries that stay pinned: of open threads the weightiest and newest, no more than `MOST_PINNED`."""
    pinned: set[int] = set()
    ranked = sorted((thread for thread in threads if thread.open), key=lambda one: (-one.weight, -one.reports[-1].moment.index))
    for thread in ranked:
        newest = [report.moment.index for report in thread.reports[-_OF_ONE_PAIR:]]
        if len(pinned) + len(newest) > MOST_PINNED:
            newest = newest[-1:]
        if len(pinned) + len(newest) <= MOST_PINNED:
            pinned.update(newest)
    return pinned


def _hangs(report: Report, reports: Sequence[Report], owner: str) -> bool:
    moment = report.moment
    if moment.mode != "said" or not (owner == moment.who or owner in moment.to or not moment.to) or moment.old:
        return False
    if report.act == "threat":
        return True
    if report.act in ("promise", "vow", "offer"):
        return report.weight >= 5 and deadline(moment.words)
    return report.act == "request" and owner in moment.to and report.weight >= 5 and _unanswered(report, reports)


def _unanswered(report: Report, reports: Sequence[Report]) -> bool:
    """Whether a demand got no answer although time went on."""
    later = [one for one in reports if one.moment.index > report.moment.index]
    return len(later) >= 3 and not any(one.subject in report.moment.to and report.subject in one.moment.people for one in later)


def _gives_due(report: Report, gift: Report) -> bool:
    """Whether a gift is what was demanded, or what was promised."""
    if report.act in ("promise", "offer"):
        return gift.subject == report.subject and _GIVING.search(report.predicate) is not None
    return gift.subject in report.moment.to


def _settlement(report: Report, reports: Sequence[Report]) -> Report | None:
    """The later moment that settled a matter between the same people."""
    speaker, others = report.subject, set(report.moment.to)
    for later in reports[report.moment.index + 1 :]:
        if later.subject == speaker and later.moment.mode == "done" and not later.moment.failed and _GONE.match(later.predicate):
            return later
        between = others & later.moment.people if later.subject == speaker else later.subject in others and speaker in later.moment.people
        if not between:
            continue
        if later.act == "give" and _gives_due(report, later):
            return later
        stock = known(later.moment.words)
        words = later.moment.words if later.moment.mode == "said" and later.act != "threat" else ""
        if stock is not None and stock.act in _SMALL_TALK:
            continue
        if _EVEN.search(words) or (_DROPPED if later.subject == speaker else _MET).search(words):
            return later
        if _TOLD.match(report.predicate) and later.subject in others and later.act in ("confess", "answer") and later.weight >= 5:
            return later
    return None
