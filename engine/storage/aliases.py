"""The alias timeline in a save: who called whom what, since when and why."""

import sqlite3
from datetime import datetime

from engine.records.base import EntityId
from engine.records.memory import AliasCause, AliasChange, NewAliasChange
from engine.storage.rows import Row, time_text

_COLUMNS = "seq, viewer_id, target_id, old, new, timestamp, round, cause, evidence"
_ADD = """
INSERT INTO alias_changes (viewer_id, target_id, old, new, timestamp, round, cause, evidence) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
RETURNING seq
"""
BETWEEN = f"SELECT {_COLUMNS} FROM alias_changes WHERE viewer_id = ? AND target_id = ? ORDER BY seq"
_OF_VIEWER = f"SELECT {_COLUMNS} FROM alias_changes WHERE viewer_id = ? ORDER BY seq"
_SINCE = f"""
SELECT {_COLUMNS} FROM alias_changes
WHERE round >= :round AND (:viewer IS NULL OR viewer_id = :viewer) AND cause NOT IN ('authored', 'label') ORDER BY seq DESC LIMIT :limit
"""
LAST_CAUSE = "SELECT cause FROM alias_changes WHERE viewer_id = ? AND target_id = ? ORDER BY seq DESC LIMIT 1"


class AliasRepository:
    """Reads and writes alias changes. The present aliases are the world's (`Entity.aliases`)."""

    def add(self, conn: sqlite3.Connection, change: NewAliasChange) -> AliasChange:
        """Write a change."""
        [(seq,)] = conn.execute(
            _ADD,
            (
                change.viewer_id,
                change.target_id,
                change.old,
                change.new,
                time_text(change.timestamp),
                change.round,
                change.cause,
                change.evidence,
            ),
        ).fetchall()
        return AliasChange(seq=seq, **{name: getattr(change, name) for name in NewAliasChange.model_fields})

    def between(self, conn: sqlite3.Connection, viewer: EntityId, target: EntityId) -> list[AliasChange]:
        """The timeline of a pair, oldest first."""
        return [_change(row) for row in conn.execute(BETWEEN, (viewer, target))]

    def of_viewer(self, conn: sqlite3.Connection, viewer: EntityId) -> list[AliasChange]:
        """All changes of what a viewer calls others, oldest first."""
        return [_change(row) for row in conn.execute(_OF_VIEWER, (viewer,))]

    def since(self, conn: sqlite3.Connection, round_number: int, viewer: EntityId | None, limit: int) -> list[AliasChange]:
        """The newest changes since a round that play or a person made, of one viewer or of all, oldest first."""
        rows = conn.execute(_SINCE, {"round": round_number, "viewer": viewer, "limit": limit}).fetchall()
        return [_change(row) for row in reversed(rows)]

    def last_cause(self, conn: sqlite3.Connection, viewer: EntityId, target: EntityId) -> AliasCause | None:
        """Why the pair's alias is what it is; None when it never had one."""
        rows: list[tuple[AliasCause]] = conn.execute(LAST_CAUSE, (viewer, target)).fetchall()
        return rows[0][0] if rows else None


def _change(row: Row) -> AliasChange:
    seq, viewer, target, old, new, timestamp, number, cause, evidence = row
    return AliasChange(
        seq=seq,
        viewer_id=viewer,
        target_id=target,
        old=old,
        new=new,
        timestamp=datetime.fromisoformat(timestamp),
        round=number,
        cause=cause,
        evidence=evidence,
    )
