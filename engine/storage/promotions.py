"""Promotions in a save, and the queue of knowledge that waits for a person's word (DESIGN 10)."""

import sqlite3
from datetime import datetime

from engine.records.knowledge import KnowledgeId, PromotionRun, ReviewItem, Scope
from engine.storage.knowledge_audit import AuditRepository, Change
from engine.storage.numbers import next_number, number_of
from engine.storage.rows import Row, time_text

_ADD = "INSERT INTO promotion_runs (seq, id, round, timestamp, run_json) VALUES (?, ?, ?, ?, ?)"
RUNS = "SELECT run_json FROM promotion_runs ORDER BY seq DESC LIMIT ?"
_RUN = "SELECT run_json FROM promotion_runs WHERE id = ?"

_COLUMNS = "id, knowledge_id, reason, scope, scope_id, round, timestamp"
_FLAG = f"""
INSERT INTO review_queue (seq, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'), ?)
RETURNING round
"""
_ALL = f"SELECT {_COLUMNS} FROM review_queue ORDER BY seq"
_GET = f"SELECT {_COLUMNS} FROM review_queue WHERE id = ?"
OF_KNOWLEDGE = f"SELECT {_COLUMNS} FROM review_queue WHERE knowledge_id = ?"
_OWNER = "SELECT owner_id, content FROM knowledge WHERE id = ?"
_SETTLE = "DELETE FROM review_queue WHERE id = ?"


class PromotionRepository:
    """Reads and writes promotions and the review queue."""

    def new_run_id(self, conn: sqlite3.Connection) -> str:
        """The key of a promotion that is about to be written in this transaction: the changes it makes name it."""
        return next_number(conn, "pro")[1]

    def add_run(self, conn: sqlite3.Connection, run: PromotionRun) -> PromotionRun:
        """Keep a promotion, under the key it has from `new_run_id` or, with an empty one, under a new key."""
        kept = run if run.id else run.model_copy(update={"id": self.new_run_id(conn)})
        conn.execute(_ADD, (number_of(kept.id), kept.id, kept.round, time_text(kept.timestamp), kept.model_dump_json()))
        return kept

    def runs(self, conn: sqlite3.Connection, limit: int = 50) -> list[PromotionRun]:
        """The newest promotions, newest first."""
        return [PromotionRun.model_validate_json(text) for (text,) in conn.execute(RUNS, (limit,))]

    def last_run(self, conn: sqlite3.Connection) -> PromotionRun | None:
        """The newest promotion."""
        return next(iter(self.runs(conn, 1)), None)

    def run(self, conn: sqlite3.Connection, key: str) -> PromotionRun | None:
        """One promotion."""
        rows = conn.execute(_RUN, (key,)).fetchall()
        return PromotionRun.model_validate_json(rows[0][0]) if rows else None

    # review
    def flag(self, conn: sqlite3.Connection, key: KnowledgeId, reason: str, scope: Scope, scope_id: str, change: Change) -> ReviewItem:
        """Put knowledge into the review queue, with what it would become. Raises `KeyError` when it is gone,
        `sqlite3.IntegrityError` when it waits already."""
        rows = conn.execute(_OWNER, (key,)).fetchall()
        if not rows:
            raise KeyError(key)
        seq, item = next_number(conn, "rev")
        [(number,)] = conn.execute(_FLAG, (seq, item, key, reason, scope, scope_id, time_text(change.at))).fetchall()
        AuditRepository().add(conn, change, owner=rows[0][0], knowledge=key, before=rows[0][1], after=rows[0][1])
        return ReviewItem(
            id=item, knowledge_id=key, reason=reason, scope=scope, scope_id=scope_id, round=number, timestamp=change.at
        )

    def settle(self, conn: sqlite3.Connection, key: str) -> None:
        """Take an item out of the queue: it has been decided on, and the change of its knowledge says how. Raises `KeyError`."""
        if conn.execute(_SETTLE, (key,)).rowcount != 1:
            raise KeyError(key)

    def waiting(self, conn: sqlite3.Connection) -> list[ReviewItem]:
        """All that waits, oldest first."""
        return [_item(row) for row in conn.execute(_ALL)]

    def item(self, conn: sqlite3.Connection, key: str) -> ReviewItem | None:
        """One item of the queue."""
        rows = conn.execute(_GET, (key,)).fetchall()
        return _item(rows[0]) if rows else None

    def waiting_for(self, conn: sqlite3.Connection, key: KnowledgeId) -> ReviewItem | None:
        """The item of a piece of knowledge, if it waits."""
        rows = conn.execute(OF_KNOWLEDGE, (key,)).fetchall()
        return _item(rows[0]) if rows else None


def _item(row: Row) -> ReviewItem:
    key, about, reason, scope, scope_id, number, timestamp = row
    return ReviewItem(
        id=key, knowledge_id=about, reason=reason, scope=scope, scope_id=scope_id, round=number, timestamp=datetime.fromisoformat(timestamp)
    )
