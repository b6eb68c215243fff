"""A settlement becomes rows: all of them, or none. Runs inside one transaction."""

import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from engine.errors import ChangedError
from engine.memory.knowledge.settling import Settlement, Step, is_new
from engine.records.knowledge import AuditAction, Cause, Knowledge, KnowledgeId, NewKnowledge
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
    _check_unchanged(conn, store, settlement)
    keys: dict[KnowledgeId, KnowledgeId] = {}
    versions: dict[KnowledgeId, int] = {}
    written: dict[str, list[Knowledge]] = {"add": [], "merge": [], "retire": [], "flag": []}
    for step in settlement.steps:
        row = _resolved(step.row, keys, versions)
        change = origin.change(_ACTIONS[step.kind], step.why)
        if step.kind == "add":
            now = _add(conn, store, step, row, origin, change)
            keys[step.row.id] = now.id
            written["flag" if step.waits else "add"].append(now)
        else:
            try:
                now = store.knowledge.update(conn, row, change)
            except KeyError as gone:
                raise ChangedError(f"{row.id} is gone since it was read.", "Nothing was written.") from gone
            written[step.kind].append(now)
        versions[now.id] = now.version
        vector = settlement.vectors.get(step.row.id)
        if vector is not None and vector.shape == (dim,) and step.kind != "retire":
            store.embeddings.put(conn, "knowledge", now.id, model, dim, vector.tobytes())
    return Placed(*(tuple(written[kind]) for kind in ("add", "merge", "retire", "flag")))


def _add(conn: sqlite3.Connection, store: Store, step: Step, row: Knowledge, origin: Origin, change: Change) -> Knowledge:
    now = store.knowledge.add(conn, NewKnowledge(**{name: getattr(row, name) for name in NewKnowledge.model_fields}), change)
    if row.superseded_by is not None:
        now = store.knowledge.update(
            conn, now.model_copy(update={"superseded_by": row.superseded_by}), origin.change("retired", step.why)
        )
    if step.waits:
        store.promotions.flag(conn, now.id, step.waits, row.scope, row.scope_id, origin.change("flagged", step.waits))
    return now


def _resolved(row: Knowledge, keys: dict[KnowledgeId, KnowledgeId], versions: dict[KnowledgeId, int]) -> Knowledge:
    """The row with the ids that others have got by now, and the version it has come to."""
    key = keys.get(row.id, row.id)
    update = {
        "id": key, "version": versions.get(key, row.version),
        "supersedes": keys.get(row.supersedes or "", row.supersedes), "superseded_by": keys.get(row.superseded_by or "", row.superseded_by),
    }
    return row.model_copy(update=update)


def _check_unchanged(conn: sqlite3.Connection, store: Store, settlement: Settlement) -> None:
    """Raise `ChangedError` when a holder has learned something since its knowledge was read."""
    holders: Iterable[tuple[object, str]] = dict.fromkeys((step.row.scope, step.row.scope_id) for step in settlement.steps)
    for scope, scope_id in holders:
        if store.knowledge.find(conn, scope=scope, scope_id=scope_id, holding=True, after=settlement.newest, limit=1):  # type: ignore[arg-type]
            raise ChangedError("Something else came to be known meanwhile.", "Nothing was written; it is settled anew.")
    touched = {step.row.id: step.row.version for step in reversed(settlement.steps) if not is_new(step.row.id)}
    now = {row.id: row.version for row in store.knowledge.get(conn, touched)}
    if any(now.get(key) != version for key, version in touched.items()):
        raise ChangedError("Something that is known was changed meanwhile.", "Nothing was written; it is settled anew.")
