"""Memories that left the ledger, the way back, earlier wordings, and how often memories entered prompts."""

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from engine.records.base import LedgerId, RunId
from engine.records.memory import ArchivedMemory, LedgerEntry, LedgerFate, Use
from engine.storage.ledger import COLUMNS, ledger_entry
from engine.storage.rows import Row, marks, text_list, time_text

_ARCHIVE = f"""
INSERT INTO ledger_archive ({COLUMNS}, plain, sources_json, source_rounds_json, fate, archived_round, by_run, into_id)
SELECT {COLUMNS}, plain,
    (SELECT json_group_array(buffer_id) FROM (SELECT buffer_id FROM ledger_sources WHERE ledger_id = entry.id ORDER BY buffer_id)),
    (SELECT json_group_array(round) FROM (SELECT round FROM ledger_sources WHERE ledger_id = entry.id ORDER BY buffer_id)),
    ?, ?, ?, ?
FROM ledger_entries AS entry WHERE id = ?
"""
_REMOVE = "DELETE FROM ledger_entries WHERE id = ?"
_ARCHIVED_COLUMNS = f"{COLUMNS}, sources_json, fate, archived_round, by_run, into_id"
OF_OWNER = f"SELECT {_ARCHIVED_COLUMNS} FROM ledger_archive WHERE owner_id = ? ORDER BY timestamp, seq"
INTO = f"SELECT {_ARCHIVED_COLUMNS} FROM ledger_archive WHERE into_id = ? ORDER BY timestamp, seq"
_GET = f"SELECT {_ARCHIVED_COLUMNS} FROM ledger_archive WHERE id = ?"
_RESTORE = """
INSERT INTO restorations (kind, id, round, pinned, fate, left_round, run_id, ledger_id, origin)
SELECT 'ledger', id, ?, 'none', fate, archived_round, by_run, into_id, origin FROM ledger_archive WHERE id = ?
"""
_VERSIONS = """
SELECT entry.seq, held.entry_id, entry.owner_id, held.timestamp, held.ended, held.location_id, held.involved_json, held.content,
    held.quotes_json, held.importance, held.mode, held.run_id, held.version, held.origin, entry.created_round
FROM ledger_versions AS held JOIN (
    SELECT id, seq, owner_id, created_round FROM ledger_entries UNION ALL SELECT id, seq, owner_id, created_round FROM ledger_archive
) AS entry ON entry.id = held.entry_id
WHERE held.entry_id = ? ORDER BY held.version
"""
_USED = """
INSERT INTO ledger_use (entry_id, retrieval_count, last_retrieved_at)
SELECT id, 1, ? FROM ledger_entries WHERE id = ?
ON CONFLICT (entry_id) DO UPDATE SET retrieval_count = retrieval_count + 1,
    last_retrieved_at = max(last_retrieved_at, excluded.last_retrieved_at)
"""
_USE = "SELECT entry_id, retrieval_count, last_retrieved_at FROM ledger_use WHERE entry_id IN (%s)"

_BATCH = 400
"""Ids in one statement."""


class LedgerArchive:
    """Reads and writes what became of memories. A memory leaves the ledger for the archive only, and comes back from it whole."""

    def archive(
        self, conn: sqlite3.Connection, keys: Iterable[LedgerId], fate: LedgerFate, round_number: int, *,
        run_id: RunId | None = None, into: LedgerId | None = None,
    ) -> None:
        """Move memories out of the ledger. `into` is the memory that tells them now, for every fate but `removed`.

        Raises `KeyError` when one is not in the ledger.
        """
        for key in keys:
            if conn.execute(_ARCHIVE, (fate, round_number, run_id, into, key)).rowcount != 1:
                raise KeyError(key)
            conn.execute(_REMOVE, (key,))

    def restore(self, conn: sqlite3.Connection, key: LedgerId, round_number: int) -> None:
        """Bring an archived memory back to its place, as one by hand. Its vector has to be made anew. Raises `KeyError`."""
        if conn.execute(_RESTORE, (round_number, key)).rowcount != 1:
            raise KeyError(key)

    def get(self, conn: sqlite3.Connection, key: LedgerId) -> ArchivedMemory | None:
        """An archived memory."""
        rows = conn.execute(_GET, (key,)).fetchall()
        return _archived(rows[0]) if rows else None

    def of_owner(self, conn: sqlite3.Connection, owner: str) -> list[ArchivedMemory]:
        """What left an owner's ledger, chronological."""
        return [_archived(row) for row in conn.execute(OF_OWNER, (owner,))]

    def told_by(self, conn: sqlite3.Connection, key: LedgerId) -> list[ArchivedMemory]:
        """The memories that went into this one, chronological."""
        return [_archived(row) for row in conn.execute(INTO, (key,))]

    def versions(self, conn: sqlite3.Connection, key: LedgerId) -> list[LedgerEntry]:
        """Earlier wordings of a memory, oldest first."""
        return [ledger_entry(row) for row in conn.execute(_VERSIONS, (key,))]

    def used(self, conn: sqlite3.Connection, keys: Iterable[LedgerId], now: datetime) -> None:
        """Note that memories entered a prompt at `now`. Those that are gone meanwhile are left out."""
        conn.executemany(_USED, [(time_text(now), key) for key in keys])

    def uses(self, conn: sqlite3.Connection, keys: Iterable[LedgerId]) -> dict[LedgerId, Use]:
        """How memories were used. Those that never entered a prompt are left out."""
        wanted = list(dict.fromkeys(keys))
        found: dict[LedgerId, Use] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            for key, count, last in conn.execute(_USE % marks(len(batch)), batch):
                found[key] = Use(retrieval_count=count, last_retrieved_at=datetime.fromisoformat(last))
        return found


def _archived(row: Row) -> ArchivedMemory:
    *entry, sources, fate, left, run, into = row
    return ArchivedMemory(
        entry=ledger_entry(tuple(entry)), source_ids=text_list(sources), fate=fate, round=left, run_id=run, into_id=into
    )
