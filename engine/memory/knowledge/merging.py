"""Two pieces of knowledge that say the same become one (DESIGN 9 and 10). Pure."""

from collections.abc import Iterable

from engine.memory.handoff.selection import united
from engine.memory.knowledge.conflict import denies, richer
from engine.memory.wording import names, numbers
from engine.records.knowledge import Knowledge, NewKnowledge
from engine.records.tokens import referred


def raised(confidence: float, other: float) -> float:
    """How sure one is of what is told once more: `c + (1 - c) * c' / 2`, never less than before and never above 1."""
    return min(1.0, confidence + (1.0 - confidence) * other / 2.0)


def merged(held: Knowledge, more: NewKnowledge) -> Knowledge:
    """The piece that is held, with what another that says the same adds: sureness, turns, weight, and its words where they say more.

    The same as before when nothing of it is new: told twice from the same turns it is no surer. Words that a person or a world's author
    wrote stay.
    """
    if more.turn_ids and set(more.turn_ids) <= set(held.turn_ids) and not richer(more.content, held.content):
        return held
    fixed = held.authored or held.pinned
    words = not fixed and richer(more.content, held.content)
    return held.model_copy(
        update={
            "content": more.content if words else held.content,
            "rationale": (more.rationale or held.rationale) if words else (held.rationale or more.rationale),
            "topic_key": held.topic_key or more.topic_key,
            "subject_id": held.subject_id or more.subject_id,
            "confidence": raised(held.confidence, more.confidence),
            "importance": held.importance if fixed else max(held.importance, more.importance),
            "sensitivity": "sensitive" if "sensitive" in (held.sensitivity, more.sensitivity) else "plain",
            "turn_ids": united(held.turn_ids, more.turn_ids),
            "valid_from": min(held.valid_from, more.valid_from),
            "tier": "hot",
        }
    )


def can_be_one(a: NewKnowledge, b: NewKnowledge) -> bool:
    """Whether two that a model holds for the same agree in what it may have passed over: numbers, negation, names, people."""
    return (
        numbers(a.content) == numbers(b.content)
        and denies(a.content) == denies(b.content)
        and names(a.content) == names(b.content)
        and set(referred(a.content)) == set(referred(b.content))
    )


def is_sensitive(text: str, words: Iterable[str]) -> bool:
    """Whether a text holds one of the words that make knowledge sensitive, in any form that begins so."""
    low = [word.strip(".,;:!?\"'()\u2019").casefold() for word in text.split()]
    return any(word.startswith(sensitive.casefold()) for word in low for sensitive in words)
