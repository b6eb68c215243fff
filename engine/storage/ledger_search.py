"""The query of recall's first phase that goes by structure, bounded whatever the size of the ledger."""

from collections.abc import Sequence

from engine.records.base import EntityId, PlaceId

IMPORTANT = 8
"""From this importance on an entry is a candidate wherever it happened. The partial index has the same bound."""

_ARM = "SELECT * FROM (SELECT %s FROM %s ORDER BY timestamp DESC, %s DESC LIMIT ?)"
_AT_PLACE = _ARM % ("timestamp, seq", "ledger_entries WHERE owner_id = ? AND location_id = ?", "seq")
_INVOLVING = _ARM % (
    "timestamp, entry_seq AS seq",
    "ledger_involved_entities WHERE owner_id = ? AND entity_id = ?",
    "entry_seq",
)
_IMPORTANT = _ARM % ("timestamp, seq", f"ledger_entries WHERE owner_id = ? AND importance >= {IMPORTANT}", "seq")
_UNION = "SELECT seq FROM (SELECT * FROM (%s) LIMIT -1) ORDER BY timestamp DESC, seq DESC LIMIT ?"


def structural_query(
    owner: EntityId, place: PlaceId | None, focus: Sequence[EntityId], limit: int
) -> tuple[str, list[str | int]]:
    """A UNION of limited arms, one for each cue. Each arm walks one index backwards and sorts nothing."""
    arms: list[str] = []
    values: list[str | int] = []
    if place is not None:
        arms.append(_AT_PLACE)
        values += [owner, place, limit]
    for entity in dict.fromkeys(focus):
        arms.append(_INVOLVING)
        values += [owner, entity, limit]
    arms.append(_IMPORTANT)
    values += [owner, limit]
    return _UNION % " UNION ".join(arms), [*values, limit]
