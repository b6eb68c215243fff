"""A settlement becomes rows: all of them, or none. Runs inside one transaction."""

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from engine.errors import ChangedError
from engine.memory.knowledge.settling import Settlement, Step
from engine.memory.knowledge.unchanged import all_unchanged
from engine.records.knowledge import AuditAction, Cause, Knowledge, KnowledgeId, NewKnowledge, Scope
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store

_ACTIONS: Final[dict[str, AuditAction]] = {"add": "added", "merge": "merged", "retire": "retired"}


class Placed(NamedTuple):
    """What a settlement wrote, each row as it was when it was written."""

    added: tuple[Knowledge, ...] = ()
    merged: tuple[Knowledge, ...] = ()
    retired: tuple[Knowledge, ...] = ()
    flagged: tuple[Knowledge, ...] = ()
    """Added, and not believed until a person has decided."""


class Origin(NamedTuple):
    """What a change comes from."""

    cause: Cause
    at: datetime
    """World time of the event behind it."""
    run_id: str | None = None
    session_id: str | None = None

    def change(self, action: AuditAction, why: str) -> Change:
        """For the audit trail."""
        return Change(action, self.cause, why, self.at, self.run_id, self.session_id)


def place(conn: sqlite3.Connection, store: Store, settlement: Settlement, origin: Origin, model: str, dim: int) -> Placed:
    """Write a settlement; `model` and `dim` are those of its vectors.

    Raises `ChangedError` when something that it was made of has changed since, or its holders have learned something else: then it has
    to be settled anew, and nothing may be committed.
    """
    now = _unchanged(conn, store, settlement)
    keys: dict[KnowledgeId, KnowledgeId] = {}
    written: dict[str, list[Knowledge]] = {"add": [], "merge": [], "retire": [], "flag": []}
    for step in settlement.steps:
        row = _resolved(step, keys, now)
        change = origin.change(_ACTIONS[step.kind], step.why)
        if step.kind == "add":
            row = _add(conn, store, step, row, origin, change)
            keys[step.row.id] = row.id
        else:
            row = store.knowledge.update(conn, row, change)
        written["flag" if step.waits else step.kind].append(row)
        now[row.id] = row
        vector = settlement.vectors.get(step.row.id)
        if vector is not None and vector.shape == (dim,) and step.kind != "retire":
            store.embeddings.put(conn, "knowledge", row.id, model, dim, vector.tobytes())
    return Placed(*(tuple(written[kind]) for kind in ("add", "merge", "retire", "flag")))


def _add(conn: sqlite3.Connection, store: Store, step: Step, row: Knowledge, origin: Origin, change: Change) -> Knowledge:
    now = store.knowledge.add(conn, NewKnowledge(**{name: getattr(row, name) for name in NewKnowledge.model_fields}), change)
    if row.superseded_by is not None:
        over = now.model_copy(update={"superseded_by": row.superseded_by})
        now = store.knowledge.update(conn, over, origin.change("updated" if step.waits else "retired", step.why))
    if step.waits:
        store.promotions.flag(conn, now.id, step.waits, row.scope, row.scope_id, origin.change("flagged", step.waits))
    return now


def _resolved(step: Step, keys: Mapping[KnowledgeId, KnowledgeId], now: Mapping[KnowledgeId, Knowledge]) -> Knowledge:
    """The row of a step with the ids that others have got by now, and the version and place that it has come to itself."""
    row = step.row
    key = keys.get(row.id, row.id)
    update: dict[str, object] = {
        "id": key, "supersedes": keys.get(row.supersedes or "", row.supersedes),
        "superseded_by": keys.get(row.superseded_by or "", row.superseded_by),
    }
    if key in now:
        update["version"] = now[key].version
        if step.kind == "retire":
            update["tier"] = now[key].tier
    return row.model_copy(update=update)


def _unchanged(conn: sqlite3.Connection, store: Store, settlement: Settlement) -> dict[KnowledgeId, Knowledge]:
    """What a settlement changes, as it is now. Raises `ChangedError`."""
    holders: dict[tuple[Scope, str], None] = dict.fromkeys((step.row.scope, step.row.scope_id) for step in settlement.steps)
    for scope, scope_id in holders:
        if store.knowledge.find(conn, scope=scope, scope_id=scope_id, holding=True, after=settlement.newest, limit=1):
            raise ChangedError("Something else came to be known meanwhile.", "Nothing was written; it is settled anew.")
    now = {row.id: row for row in store.knowledge.get(conn, settlement.seen)}
    if not all_unchanged(settlement.seen.values(), now):
        raise ChangedError("Something that is known was changed meanwhile.", "Nothing was written; it is settled anew.")
    return now
