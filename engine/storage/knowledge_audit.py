"""The audit trail in a save: each change to sessions and knowledge, with what was before, what after, why and by what (DESIGN 10)."""

import sqlite3
from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from engine.records.base import EntityId
from engine.records.knowledge import AuditAction, AuditRow, Cause, KnowledgeId
from engine.records.sessions import SessionId
from engine.storage.rows import Row, marks, time_text

_COLUMNS = "seq, round, timestamp, action, cause, owner_id, knowledge_id, session_id, run_id, before, after, why"
_ADD = """
INSERT INTO audit (round, timestamp, action, cause, owner_id, knowledge_id, session_id, run_id, before, after, why)
VALUES ((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq, round
"""


class Change(NamedTuple):
    """What is done to a session or a piece of knowledge, by what and why: goes to the audit trail with it."""

    action: AuditAction
    cause: Cause
    why: str
    """For people; with reference tokens."""
    at: datetime
    """World time."""
    run_id: str | None = None
    """The collapse or promotion behind it."""
    session_id: SessionId | None = None
    """The session behind it, when the row itself names none."""


class AuditRepository:
    """Adds to the audit trail and reads it. Rows carry the round the world is in; nothing ever changes or removes one."""

    def add(
        self, conn: sqlite3.Connection, change: Change, *, owner: EntityId | None = None, knowledge: KnowledgeId | None = None,
        session: SessionId | None = None, before: str = "", after: str = "",
    ) -> AuditRow:
        """Write down a change. `before` and `after` have reference tokens; `owner` is whose mind it concerns."""
        about = session if session is not None else change.session_id
        [(seq, number)] = conn.execute(
            _ADD,
            (time_text(change.at), change.action, change.cause, owner, knowledge, about, change.run_id, before, after, change.why),
        ).fetchall()
        return AuditRow(
            seq=seq, round=number, timestamp=change.at, action=change.action, cause=change.cause, owner_id=owner,
            knowledge_id=knowledge, session_id=about, run_id=change.run_id, before=before, after=after, why=change.why,
        )

    def find(
        self, conn: sqlite3.Connection, *, owner: EntityId | None = None, knowledge: KnowledgeId | None = None,
        session: SessionId | None = None, run: str | None = None, actions: Collection[AuditAction] = (), causes: Collection[Cause] = (),
        first_round: int | None = None, last_round: int | None = None, before: int | None = None, limit: int = 100,
    ) -> list[AuditRow]:
        """The newest rows that fit every filter given, newest first. The next page is `before` the `seq` of the last row of this one."""
        sql, values = query(
            owner=owner, knowledge=knowledge, session=session, run=run, actions=actions, causes=causes, first_round=first_round,
            last_round=last_round, before=before, limit=limit,
        )
        return [_row(row) for row in conn.execute(sql, values)]


def query(
    *, owner: EntityId | None = None, knowledge: KnowledgeId | None = None, session: SessionId | None = None, run: str | None = None,
    actions: Collection[AuditAction] = (), causes: Collection[Cause] = (), first_round: int | None = None,
    last_round: int | None = None, before: int | None = None, limit: int = 100,
) -> tuple[str, list[object]]:
    """The statement behind `AuditRepository.find`, with its values."""
    equal = {"owner_id": owner, "knowledge_id": knowledge, "session_id": session, "run_id": run}
    conditions = [f"{column} = ?" for column, value in equal.items() if value is not None]
    values: list[object] = [value for value in equal.values() if value is not None]
    for column, chosen in (("action", actions), ("cause", causes)):
        if chosen:
            conditions.append(f"{column} IN ({marks(len(chosen))})")
            values += sorted(chosen)
    for condition, bound in (("round >= ?", first_round), ("round <= ?", last_round), ("seq < ?", before)):
        if bound is not None:
            conditions.append(condition)
            values.append(bound)
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    return f"SELECT {_COLUMNS} FROM audit {where}ORDER BY seq DESC LIMIT ?", [*values, limit]


def _row(row: Row) -> AuditRow:
    seq, number, timestamp, action, cause, owner, knowledge, session, run, before, after, why = row
    return AuditRow(
        seq=seq, round=number, timestamp=datetime.fromisoformat(timestamp), action=action, cause=cause, owner_id=owner,
        knowledge_id=knowledge, session_id=session, run_id=run, before=before, after=after, why=why,
    )
