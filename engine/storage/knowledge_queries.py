"""Columns of knowledge, and the statements that ask for it by who holds it: the filter is in them, never behind them (DESIGN 8, 10)."""

from collections.abc import Collection, Iterable
from datetime import datetime

from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, KnowledgeKind, Scope, Term, Tier
from engine.storage.rows import Row, list_text, marks, text_list, time_text

CHANGEABLE = (
    "subject_id", "kind", "content", "rationale", "topic_key", "term", "scope", "scope_id", "confidence", "importance", "sensitivity",
    "turns_json", "valid_from", "valid_to", "supersedes", "superseded_by", "pinned", "authored", "promoted_round", "tier",
)
"""Columns that a change may change."""
_FIXED = ("seq", "id", "owner_id", "session_id", "version", "created", "created_round", "updated", "updated_round")
_USE = ("retrieval_count", "last_retrieved_at", "activation", "strength")
_NAMES = (*_FIXED, *CHANGEABLE, *_USE)
COLUMNS = ", ".join(_NAMES)
_FIELDS = tuple("turn_ids" if name == "turns_json" else name for name in _NAMES)

_ALL = ", ".join(f"row.{name}" for name in _NAMES)
_OWN = "row.scope = 'entity' AND row.scope_id = :entity"
_FACTION = "row.scope = 'faction' AND row.scope_id IN (SELECT value FROM json_each(:factions))"
_WORLD = "row.scope = 'world' AND row.scope_id = ''"
_KEPT = f"""
SELECT {_ALL}, was.row_json FROM knowledge_keepers AS kept CROSS JOIN knowledge AS row ON row.id = kept.knowledge_id
LEFT JOIN knowledge_versions AS was ON was.knowledge_id = kept.knowledge_id AND was.version = kept.version
WHERE kept.entity_id = :entity
    AND NOT (row.valid_to IS NULL AND (({_OWN}) OR ({_FACTION}) OR ({_WORLD})))
    AND CASE WHEN was.row_json IS NULL THEN row.valid_to ELSE was.row_json ->> 'valid_to' END IS NULL
"""
"""What somebody keeps of factions left, unless it is known anyway; worded as it was then."""


def held_by(
    entity: EntityId, factions: Collection[str], tiers: Collection[Tier], subject: EntityId | None, topic: str, term: Term | None
) -> tuple[str, dict[str, object]]:
    """What an entity believes now, each row with its wording as kept, if it is one that was kept. With its values."""
    values: dict[str, object] = {"entity": entity, "factions": list_text(sorted(factions))}
    within = ", ".join(f":tier{number}" for number in range(len(tiers)))
    values.update((f"tier{number}", tier) for number, tier in enumerate(sorted(tiers)))
    further = f" AND row.tier IN ({within})"
    for condition, name, value in (
        (" AND row.subject_id = :subject", "subject", subject),
        (" AND row.topic_key = :topic", "topic", topic or None),
        (" AND row.term = :term", "term", term),
    ):
        if value is not None:
            further += condition
            values[name] = value
    arms = [
        f"SELECT {_ALL}, NULL FROM knowledge AS row WHERE row.valid_to IS NULL AND {scope}{further}" for scope in (_OWN, _FACTION, _WORLD)
    ]
    return "\nUNION ALL ".join([*arms, _KEPT + further]), values


def find(
    owner: EntityId | None, subject: EntityId | None, scope: Scope | None, scope_id: str | None, term: Term | None,
    tiers: Collection[Tier], holding: bool | None, kind: KnowledgeKind | None, after: int, limit: int, newest: bool,
) -> tuple[str, list[object]]:
    """Rows that fit every filter given, whoever holds them, in order of writing or the newest first. With its values."""
    equal = {"owner_id": owner, "subject_id": subject, "scope": scope, "scope_id": scope_id, "term": term, "kind": kind}
    conditions = [f"{column} = ?" for column, value in equal.items() if value is not None]
    values: list[object] = [value for value in equal.values() if value is not None]
    if after or not newest:
        conditions.insert(0, "seq < ?" if newest else "seq > ?")
        values.insert(0, after)
    if tiers:
        conditions.append(f"tier IN ({marks(len(tiers))})")
        values += sorted(tiers)
    if holding is not None:
        conditions.append("valid_to IS NULL" if holding else "valid_to IS NOT NULL")
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    return f"SELECT {COLUMNS} FROM knowledge {where}ORDER BY seq{' DESC' if newest else ''} LIMIT ?", [*values, limit]


def as_kept(now: Knowledge, kept: str | None) -> Knowledge:
    """A row as somebody keeps it: worded as it was, used and lying as it is now."""
    if kept is None:
        return now
    present = {name: getattr(now, name) for name in (*_USE, "tier", "pinned")}
    return Knowledge.model_validate_json(kept).model_copy(update=present)


def put_together(rows: Iterable[Row]) -> list[Knowledge]:
    """Pieces of knowledge from rows of `COLUMNS` with what somebody keeps of each, in order of writing. Of thousands of rows it takes most
    of the time that reading them takes, and needs no database."""
    return sorted((as_kept(knowledge(row[:-1]), row[-1]) for row in rows), key=lambda row: row.seq)


def knowledge(row: Row) -> Knowledge:
    """A piece of knowledge from a row of `COLUMNS`."""
    values = dict(zip(_FIELDS, row, strict=True))
    values["turn_ids"] = text_list(values["turn_ids"])
    for name in ("valid_from", "valid_to", "created", "updated", "last_retrieved_at"):
        values[name] = datetime.fromisoformat(values[name]) if values[name] else None
    values["pinned"], values["authored"] = bool(values["pinned"]), bool(values["authored"])
    return Knowledge(**values)


def values_of(row: Knowledge) -> tuple[object, ...]:
    """What a row has in `COLUMNS`."""
    return tuple(_column(row, name) for name in _NAMES)


def changeable(row: Knowledge) -> tuple[object, ...]:
    """What a row has in `CHANGEABLE`."""
    return tuple(_column(row, name) for name in CHANGEABLE)


def _column(row: Knowledge, name: str) -> object:
    if name == "turns_json":
        return list_text(row.turn_ids)
    value = getattr(row, name)
    return time_text(value) if isinstance(value, datetime) else value
