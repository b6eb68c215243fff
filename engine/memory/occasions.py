"""Whether two accounts in the same words are of one occasion, or of several that are one memory (DESIGN 7). Pure.

Words alone do not say how often something happened. Paying Tom three coins on two days is two events, and a memory of each is worth
having; taking a few steps and coming back is not. So:

- one occasion is the same deed on one day in one place, or the same words said or thought within a day, wherever that was;
- a thought that recurs is one memory, however often and however grave: a feeling has no occasions;
- what was done or said and is told word for word again, of the same people, is one memory of several occasions as long as it matters
  little: up to `ROUTINE`. So is what was only thought once and spoken of, in the same words, another time. Weighty events stay apart,
  and none is counted into a memory of several that matter little.
"""

from datetime import timedelta

from engine.memory.duplicates import BY_PEOPLE, all_quotes, at_odds, same_people, same_words, says_the_same
from engine.records.memory import LedgerEntry
from engine.world.clock import day_number

ROUTINE = 4
"""Importance up to which what is told word for word again needs no memory of its own."""
_STILL_SAID = timedelta(hours=24)
"""Words said again within this time are not said anew."""


def one_occasion(a: LedgerEntry, b: LedgerEntry) -> bool:
    """Whether two accounts in the same words can be of one occasion, by when and where that was."""
    if a.mode != b.mode or _weight_stands_out(a, b) or _weight_stands_out(b, a):
        return False
    if a.mode == "done":
        return _one_place(a, b) and _one_day(a, b)
    return a.timestamp - b.ended < _STILL_SAID and b.timestamp - a.ended < _STILL_SAID


def recurs(a: LedgerEntry, b: LedgerEntry) -> bool:
    """Whether two accounts are one memory though of several occasions: a thought in the same words, or routine told word for word."""
    if not same_people(a, b) or not says_the_same(a, b):
        return False
    if a.mode == b.mode == "thought":
        return same_words(a, b)
    if max(a.importance, b.importance) > ROUTINE or _word_for_word(a) != _word_for_word(b):
        return False
    alike = _of_the_same(a, b) if a.mode == b.mode else "done" not in (a.mode, b.mode)
    return alike and (_quoted_in(a, b) or _quoted_in(b, a))


def why_apart(a: LedgerEntry, b: LedgerEntry) -> str:
    """Why two memories that tell nearly the same are two, for people: what of it makes them so, and what a person could do."""
    if a.origin in BY_PEOPLE or b.origin in BY_PEOPLE:
        return "written by hand" if "hand" in (a.origin, b.origin) else "written with the world"
    if a.mode != b.mode and not recurs(a, b):
        modes = sorted((a.mode, b.mode))
        return f"one {modes[0]}, the other {modes[1]}"
    if at_odds(a, b):
        return "each says something that the other does not"
    apart = _apart(a, b)
    if not apart:
        return "nothing keeps them apart: merge them"
    if max(a.importance, b.importance) > ROUTINE and a.mode != "thought":
        return f"{apart}, and one matters"
    if recurs(a, b):
        return "nothing keeps them apart: merge them"
    return f"{apart}, and not word for word the same" if _of_the_same(a, b) else f"{apart}, with other people"


def _apart(a: LedgerEntry, b: LedgerEntry) -> str:
    """In what two accounts are of several occasions; empty when they may be of one."""
    if one_occasion(a, b):
        return ""
    return "different places" if a.mode == "done" and not _one_place(a, b) and _one_day(a, b) else "different days"


def _weight_stands_out(a: LedgerEntry, b: LedgerEntry) -> bool:
    """Whether `a` is a memory of several days that matter little and `b` matters."""
    return a.importance <= ROUTINE < b.importance and a.ended - a.timestamp >= _STILL_SAID


def _one_place(a: LedgerEntry, b: LedgerEntry) -> bool:
    return a.location_id == b.location_id or None in (a.location_id, b.location_id)


def _one_day(a: LedgerEntry, b: LedgerEntry) -> bool:
    return day_number(a.timestamp) <= day_number(b.ended) and day_number(b.timestamp) <= day_number(a.ended)


def _of_the_same(a: LedgerEntry, b: LedgerEntry) -> bool:
    return set(a.involved_entity_ids) == set(b.involved_entity_ids)


def _word_for_word(entry: LedgerEntry) -> str:
    """An account with the tokens it has, to be compared letter by letter."""
    return " ".join(entry.content.split()).casefold()


def _quoted_in(a: LedgerEntry, b: LedgerEntry) -> bool:
    """Whether all that is quoted in `a` stands in the quotes of `b` already."""
    return len(all_quotes(b.quotes, a.quotes)) == len(set(b.quotes))
