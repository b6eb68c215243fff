"""Handoff runs in a save, failed ones too."""

import sqlite3
from datetime import datetime

from engine.records.base import EntityId, RunId
from engine.records.memory import HandoffRun, RunKind
from engine.storage.numbers import next_number
from engine.storage.rows import Row, list_text, text_list, time_text

_COLUMNS = """
id, owner_id, round, timestamp, cause, reason, status, error, candidates_json, prompt, reply, model, template, notes_json,
added, updated, promoted, forgotten, pinned, kind, decision
"""
_ADD = f"INSERT INTO handoff_runs (seq, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
OF_OWNER = f"SELECT {_COLUMNS} FROM handoff_runs WHERE owner_id = ? ORDER BY seq DESC LIMIT ?"
LAST = f"SELECT {_COLUMNS} FROM handoff_runs WHERE owner_id = ? AND kind = ? ORDER BY seq DESC LIMIT 1"
LAST_ID = "SELECT id FROM handoff_runs WHERE owner_id = ? AND kind = ? ORDER BY seq DESC LIMIT 1"
_GET = f"SELECT {_COLUMNS} FROM handoff_runs WHERE id = ?"
REASONS = "SELECT id, round, reason FROM handoff_runs WHERE owner_id = ?"
_SINCE = """
SELECT id, owner_id, round, timestamp, cause, reason, status, error, candidates_json, '', '', model, template, notes_json,
added, updated, promoted, forgotten, pinned, kind, decision
FROM handoff_runs WHERE round >= :round AND (:owner IS NULL OR owner_id = :owner) ORDER BY seq DESC LIMIT :limit
"""
_LOG = "INSERT INTO run_log (run_id, seconds) VALUES (?, ?)"


class HandoffRepository:
    """Reads and writes handoff runs."""

    def add(self, conn: sqlite3.Connection, run: HandoffRun) -> HandoffRun:
        """Write a run. Whatever its `id` was, the returned run has the one it is kept under."""
        seq, key = next_number(conn, "run")
        kept = run.model_copy(update={"id": key})
        conn.execute(
            _ADD,
            (
                seq,
                key,
                run.owner_id,
                run.round,
                time_text(run.timestamp),
                run.trigger,
                run.reason,
                run.status,
                run.error,
                list_text(run.candidate_ids),
                run.prompt,
                run.reply,
                run.model,
                run.template,
                list_text(run.notes),
                run.added,
                run.updated,
                run.promoted,
                run.forgotten,
                run.pinned,
                run.kind,
                run.decision,
            ),
        )
        return kept

    def of_owner(self, conn: sqlite3.Connection, owner: EntityId, limit: int = 50) -> list[HandoffRun]:
        """The newest runs of an entity, newest first."""
        return [_run(row) for row in conn.execute(OF_OWNER, (owner, limit))]

    def last(self, conn: sqlite3.Connection, owner: EntityId, kind: RunKind = "handoff") -> HandoffRun | None:
        """The newest run of a kind, committed or failed."""
        rows = conn.execute(LAST, (owner, kind)).fetchall()
        return _run(rows[0]) if rows else None

    def last_id(self, conn: sqlite3.Connection, owner: EntityId, kind: RunKind = "handoff") -> RunId | None:
        """Which run `last` gives, without reading it."""
        rows = conn.execute(LAST_ID, (owner, kind)).fetchall()
        return rows[0][0] if rows else None

    def get(self, conn: sqlite3.Connection, key: RunId) -> HandoffRun | None:
        """One run."""
        rows = conn.execute(_GET, (key,)).fetchall()
        return _run(rows[0]) if rows else None

    def reasons(self, conn: sqlite3.Connection, owner: EntityId) -> dict[RunId, tuple[int, str]]:
        """Round and reason of each run of an entity, without the long texts of it."""
        return {key: (number, reason) for key, number, reason in conn.execute(REASONS, (owner,))}

    def since(self, conn: sqlite3.Connection, round_number: int, owner: EntityId | None, limit: int) -> list[HandoffRun]:
        """The newest runs since a round, of one entity or of all, oldest first and without the long texts of their calls."""
        rows = conn.execute(_SINCE, {"round": round_number, "owner": owner, "limit": limit}).fetchall()
        return [_run(row) for row in reversed(rows)]

    def log_time(self, conn: sqlite3.Connection, run_id: RunId, seconds: float) -> None:
        """Note how long a run's model call took, in seconds of wall-clock time."""
        conn.execute(_LOG, (run_id, seconds))


def _run(row: Row) -> HandoffRun:
    return HandoffRun.model_validate(
        {
            "id": row[0],
            "owner_id": row[1],
            "round": row[2],
            "timestamp": datetime.fromisoformat(row[3]),
            "trigger": row[4],
            "reason": row[5],
            "status": row[6],
            "error": row[7],
            "candidate_ids": text_list(row[8]),
            "prompt": row[9],
            "reply": row[10],
            "model": row[11],
            "template": row[12],
            "notes": text_list(row[13]),
            "added": row[14],
            "updated": row[15],
            "promoted": row[16],
            "forgotten": row[17],
            "pinned": row[18],
            "kind": row[19],
            "decision": row[20],
        }
    )
