"""Whether two claims can hold together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from engine.llm.storyteller.claims.lexicon import alike, opposed, stems_under, word_set
from engine.llm.storyteller.claims.reading import Claim

Standing = Literal["supported", "contradicted"]
_ENDS_WITH_LIFE: Final = frozenset(("live", "serve", "at", "own", "work", "lead", "guard"))
_TO_COME: Final = frozenset(("will", "must"))


@dataclass(frozen=True, slots=True)
class Finding:
    """How one claim stands to another, and why."""

    standing: Standing
    reason: str
    """What decides, in a few words."""
    confidence: float


def compared(new: Sequence[Claim], old: Sequence[Claim]) -> Finding | None:
    """How statements stand to each other by their claims: a contradiction weighs more than what agrees. None when they have nothing to do
    with each other."""
    found = [one for claim in new for other in old if (one := finding(claim, other)) is not None]
    against = [one for one in found if one.standing == "contradicted"]
    return max(against or found, key=lambda one: one.confidence, default=None)


def finding(new: Claim, old: Claim) -> Finding | None:
    """How one claim stands to another; None when both can hold and neither says the other."""
    if not _one_subject(new.subject, old.subject):
        return None
    if new.relation != old.relation:
        return _across(new, old)
    if (new.head and old.head and alike(new.head, old.head)) or (not new.head and not old.head):
        return _same_matter(new, old)
    if not new.head or not old.head:
        return None if new.holds == old.holds else Finding("contradicted", "one denies the other", 0.7)
    return _other_matter(new, old)


def _one_subject(one: str, other: str) -> bool:
    if one == other:
        return True
    (mine, head), (theirs, other_head) = one.rpartition(":")[::2], other.rpartition(":")[::2]
    return alike(head, other_head) and (mine == theirs or not mine or not theirs)


def _same_matter(new: Claim, old: Claim) -> Finding | None:
    """Two claims of one relation to one thing."""
    if _told_apart(new, old):
        return None
    if new.holds != old.holds:
        return Finding("contradicted", "it has changed" if new.changed or old.changed else "one denies the other", 0.9)
    if new.numbers and old.numbers and new.numbers != old.numbers:
        return Finding("contradicted", "the numbers differ", 0.85) if new.holds else None
    mood = new.relation.partition(":")[0] if ":" in new.relation else ""
    to_come = mood in _TO_COME or not mood
    if new.times and old.times and not new.times & old.times:
        return Finding("contradicted", "the times differ", 0.8) if to_come else None
    if new.place and old.place and not alike(new.place, old.place):
        return Finding("contradicted", "the places differ", 0.75) if _exclusive(new) or mood in _TO_COME else None
    if new.names and old.names and not new.names & old.names:
        return Finding("contradicted", "the names differ", 0.7) if new.definite and old.definite else None
    if not new.head and not (new.times & old.times or new.place == old.place):
        return None
    return Finding("supported", "they say the same", 0.9 if _as_much(new, old) else 0.75)


def _told_apart(new: Claim, old: Claim) -> bool:
    """Whether what is said of the things shows that there are two: a red boat and a blue one."""
    mine, theirs = new.modifiers - old.modifiers, old.modifiers - new.modifiers
    coloured = stems_under("colours")
    if mine & coloured and theirs & coloured:
        return True
    return bool(mine and theirs and any(opposed(one, other) for one in mine for other in theirs))


def _other_matter(new: Claim, old: Claim) -> Finding | None:
    """Two claims of one relation to different things."""
    if new.relation in ("be", "will:be"):
        if opposed(new.head, old.head):
            if new.holds and old.holds:
                return Finding("contradicted", "both cannot be so at once", 0.85)
            return Finding("supported", "one follows from the other", 0.6) if new.holds != old.holds else None
        if new.holds and old.holds and (new.changed or old.changed) and {new.head, old.head} <= stems_under("trades"):
            return Finding("contradicted", "it has changed", 0.7)
    if _exclusive(new) and new.holds and old.holds:
        if _within(new, old):
            return Finding("supported", "one lies within the other", 0.7)
        return Finding("contradicted", "only one of them can be so", 0.8)
    return None


def _exclusive(claim: Claim) -> bool:
    """Whether there is one at a time of what a claim tells."""
    if claim.relation in word_set("exclusive"):
        return True
    thing = claim.subject.rpartition(":")[2]
    return claim.relation == "be" and (thing in stems_under("single") or (claim.proper and thing in stems_under("kin")))


def _within(new: Claim, old: Claim) -> bool:
    """Whether one tells of a place within the other: `in the mill at Wick`, `in Wick`."""
    return bool(({new.head, new.place} & {old.head, old.place}) - {""})


def _across(new: Claim, old: Claim) -> Finding | None:
    """Two claims of different relations, of which one may end what the other tells."""
    for one, other in ((new, old), (old, new)):
        if one.relation == "alive" and not one.holds and other.relation in _ENDS_WITH_LIFE and other.holds:
            return Finding("contradicted", "the dead do no such thing", 0.7)
    return None


def _as_much(new: Claim, old: Claim) -> bool:
    """Whether neither says more than the other."""
    return (new.modifiers, new.numbers, new.names, new.times, new.place) == (old.modifiers, old.numbers, old.names, old.times, old.place)
