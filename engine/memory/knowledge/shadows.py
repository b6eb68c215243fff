"""What one mind makes of pieces that it holds in several scopes: its own later word counts over what a faction or everybody holds. Pure.

Nobody retires what others hold. So it can be that the harbour knows of a boat, and one of the harbour that it was sold.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from engine.memory.knowledge.conflict import CONTRADICTS, relation, same_words
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, Scope

_WIDTH: Final[dict[Scope, int]] = {"entity": 0, "faction": 1, "world": 2}


def unshadowed(rows: Iterable[Knowledge]) -> list[Knowledge]:
    """Of what one mind holds, what it believes, in the same order: without wider pieces that a narrower, later one contradicts by rule,
    and without those that a narrower one tells word for word."""
    held = list(rows)
    by_subject: dict[EntityId | None, list[Knowledge]] = defaultdict(list)
    for row in held:
        by_subject[row.subject_id].append(row)
    return [row for row in held if row.scope == "entity" or not any(_shadows(other, row) for other in _near(row, by_subject))]


def once(rows: Iterable[Knowledge]) -> list[Knowledge]:
    """Of what one mind holds, in the same order, each statement once: as the narrowest holder has it."""
    held = sorted(rows, key=lambda row: (_WIDTH[row.scope], row.seq))
    found: dict[tuple[str, EntityId | None, str], list[Knowledge]] = defaultdict(list)
    for row in held:
        alike = found[row.kind, row.subject_id, " ".join(row.content.split()).casefold().rstrip(".!")]
        if not any(same_words(row, other) for other in alike):
            alike.append(row)
    return sorted((row for rows in found.values() for row in rows), key=lambda row: row.seq)


def _near(row: Knowledge, by_subject: dict[EntityId | None, list[Knowledge]]) -> list[Knowledge]:
    if row.subject_id is None:
        return [other for rows in by_subject.values() for other in rows]
    return [*by_subject[row.subject_id], *by_subject.get(None, ())]


def _shadows(other: Knowledge, row: Knowledge) -> bool:
    if same_words(row, other):
        return (_WIDTH[other.scope], other.seq) < (_WIDTH[row.scope], row.seq)
    return (
        _WIDTH[other.scope] < _WIDTH[row.scope] and other.valid_from >= row.valid_from and relation(row, other) in CONTRADICTS
    )
