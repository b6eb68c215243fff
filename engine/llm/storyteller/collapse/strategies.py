"""Strategies: what works in what case, as somebody tells another to do it."""

import re
from dataclasses import dataclass, replace
from typing import Final

from engine.llm.storyteller.collapse.heard import Heard
from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.collapse.thirdperson import in_third_person
from engine.llm.storyteller.handoff.cast import Person
from engine.llm.storyteller.handoff.sentence import is_imperative
from engine.llm.storyteller.handoff.wordforms import reading

LONGEST_TRIGGER: Final = 120
LONGEST_ACTION: Final = 160
_ALWAYS = re.compile(r"^(?P<do>(?:always|never) (?P<verb>[a-z]+) .+)$", re.IGNORECASE)
_ONCE_ONLY_WAY = re.compile(r"\b(?:i|me|my|mine|we|us|our|tonight|today|tomorrow)\b", re.IGNORECASE)
_LEADS_IN = re.compile(r"^(?:when|whenever|once|if|in case|every time|any time|as soon as|where|wherever) ", re.IGNORECASE)
_ANYBODY = Person("one")


@dataclass(frozen=True, slots=True)
class Strategy:
    """What to do in what case."""

    trigger: str
    action: str
    turn: str
    index: int


def strategy_of(one: Heard) -> Strategy | None:
    """The strategy that a sentence tells; None for none."""
    if one.asking or one.turn.note or not one.turn.who:
        return None
    text = one.plain
    if _ONCE_ONLY_WAY.search(text) is None and (way := pattern("way").match(text)) is not None and is_imperative(way["do"]):
        return _made(f"one wants to {way['aim']}", way["do"], one)
    for name in ("case_first", "case_last"):
        match = pattern(name).match(text)
        if match is not None:
            advised = match["advised"] or is_imperative(match["do"])
            once = not advised or pattern("once_only").search(text) is not None
            return None if once else _made(_LEADS_IN.sub("", match["when"]), match["do"], one)
    if pattern("once_only").search(text) is not None:
        return None
    if (works := pattern("works").match(text)) is not None:
        return _made(_LEADS_IN.sub("", (works["when"] or "").strip()) or "always", f"{works['do']} {works['how']}", one)
    always = _ALWAYS.match(text)
    return _made("always", always["do"], one) if always is not None and reading(always["verb"].lower(), "base") is not None else None


def _made(trigger: str, action: str, one: Heard) -> Strategy | None:
    sides = replace(one.sides, hearer=_ANYBODY)
    told = [in_third_person(part.strip(" ,."), sides, one.focus) for part in (trigger, action)]
    if not all(told) or len(told[0]) > LONGEST_TRIGGER or len(told[1]) > LONGEST_ACTION or len(told[1].split()) < 2:
        return None
    first, second = (part[:1].lower() + part[1:] if not part.startswith("P") else part for part in told)
    return Strategy(first, second, one.turn.handle, one.turn.index)
