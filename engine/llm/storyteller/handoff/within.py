"""Words that a speech quotes, as they would be told: `reminded P2 that P2 had asked who put out the lantern`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from engine.llm.storyteller.handoff.cast import Person
from engine.llm.storyteller.handoff.moments import Moment
from engine.llm.storyteller.handoff.recasting import phrase
from engine.llm.storyteller.handoff.report import Report
from engine.llm.storyteller.handoff.salience import topics
from engine.llm.storyteller.handoff.sentence import Grounds
from engine.llm.storyteller.handoff.wordforms import reading
from engine.llm.storyteller.language.text import listed

Spoken = Callable[[Moment, Grounds], Report]
"""How a speech is told, given who is `I` and `you` in it."""

_YOU = re.compile(r"\b[Yy]ou(?:rs?|rselves|rself)?\b")
_SOMEBODY = Person("somebody")
_NOBODY_NAMED = "the others"
"""How a telling calls hearers that are not known."""
_HEAVIEST = 6
"""The most that words weigh when they are only said again."""


def quoted(slots: Mapping[str, str], moment: Moment, grounds: Grounds, spoken: Spoken, *, heard: bool) -> tuple[dict[str, str], Report]:
    """Slots that tell the words of the slot `quote`, and the report of those words.

    They are words of the slot `person`, else of whom they are repeated to. When they were `heard` by the way nobody knows to
    whom they were said; else they were said to the one who repeats them. A slot that cannot be told is left out.
    """
    words, named = slots["quote"], slots.get("person", "")
    speaker = grounds.cast.called_by(named) if named else grounds.hearers[0] if len(grounds.hearers) == 1 else None
    if speaker is None:
        return {}, Report(moment, "", "small", 1)
    report = _told(words, moment, replace(grounds, speaker=speaker, hearers=() if heard or named else (grounds.speaker,)), spoken)
    if (heard or named) and (_YOU.search(words) or _NOBODY_NAMED in report.predicate):
        report = _told(words, moment, replace(grounds, speaker=speaker, hearers=(_SOMEBODY,)), spoken)
    found = {"words": _words(words, speaker, grounds)}
    if report.predicate and not report.bare:
        done, doing = _before_that(report.predicate), _doing(report.predicate)
        found["recalled"] = f"{speaker.handle} {done}"
        if doing:
            found["heard"] = f"{speaker.handle} had been overheard {doing}"
    return found, replace(report, weight=min(_HEAVIEST, report.weight))


def _told(words: str, moment: Moment, grounds: Grounds, spoken: Spoken) -> Report:
    hearers = tuple(one.handle for one in grounds.hearers)
    return spoken(replace(moment, who=grounds.speaker.handle, to=hearers, words=words, how="", place="", whispered=False), grounds)


def _before_that(predicate: str) -> str:
    """A predicate in the past before the past: `asked who sang` gives `had asked who sang`."""
    verb, _, rest = predicate.partition(" ")
    if verb == "was":
        return f"had been {rest}"
    found = reading(verb, "past")
    return f"had {found.participle} {rest}".rstrip() if found else predicate


def _doing(predicate: str) -> str:
    """A predicate as what was going on: `asked who sang` gives `asking who sang`; empty when it cannot be."""
    verb, _, rest = predicate.partition(" ")
    found = reading(verb, "past")
    return f"{found.gerund} {rest}".rstrip() if found and verb != "was" else ""


def _words(words: str, speaker: Person, grounds: Grounds) -> str:
    """Whose words they were, and what about, as far as that can be told."""
    subjects = [told for topic in topics(words) if (told := phrase(topic, replace(grounds, speaker=speaker, hearers=()), before="of"))]
    return f"{speaker.handle}'s words about {listed(subjects)}" if subjects else f"words of {speaker.handle}'s"
