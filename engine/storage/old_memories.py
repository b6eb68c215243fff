"""What compression asks of a save: who has too many memories, and which of them are old, small and free to be told as one."""

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from engine.records.base import EntityId, LedgerId, PlaceId
from engine.storage.ledger import COUNT_OF_OWNER
from engine.storage.rows import text_list, time_text

_MORE = "SELECT count(*) FROM (SELECT 1 FROM ledger_entries WHERE owner_id = ? LIMIT ?)"
EDGE = "SELECT timestamp, seq FROM ledger_entries WHERE owner_id = ? ORDER BY timestamp DESC, seq DESC LIMIT 1 OFFSET ?"
ELIGIBLE = """
SELECT id, seq, timestamp, location_id, origin = 'compression' FROM ledger_entries AS entry
WHERE owner_id = ? AND timestamp >= ? AND (timestamp, seq) > (?, ?) AND (timestamp, seq) < (?, ?) AND importance <= ? AND origin <> 'hand'
    AND NOT EXISTS (
        SELECT 1 FROM ledger_sources AS source JOIN buffer_entries AS held ON held.id = source.buffer_id
        WHERE source.ledger_id = entry.id
    )
ORDER BY timestamp, seq LIMIT ?
"""
_RUNS = """
SELECT round, status, candidates_json FROM (
    SELECT seq, round, status, candidates_json, kind FROM handoff_runs WHERE owner_id = ? ORDER BY seq DESC LIMIT ?
) WHERE kind = 'compression' ORDER BY seq DESC
"""
_SINCE = """
SELECT count(*), min(created_round) FROM (
    SELECT created_round FROM ledger_entries WHERE owner_id = ? ORDER BY seq DESC LIMIT ?
)
"""
_HELD = """
SELECT count(*) FROM ledger_sources AS source JOIN buffer_entries AS held ON held.id = source.buffer_id WHERE source.ledger_id = ?
"""
_WHEN = "SELECT min(timestamp) FROM ledger_archive WHERE id IN (SELECT value FROM json_each(?))"

_LAST_RUN = "SELECT max(seq) FROM handoff_runs WHERE owner_id = ?"

_PAGE = 400
"""Rows looked at between two looks at whether there are enough."""
_LATEST_RUNS = 32
"""Runs of one mind among which compressions are looked for."""


class OldMemory(NamedTuple):
    """A memory that may be told with others, without its texts."""

    id: LedgerId
    seq: int
    timestamp: datetime
    place: PlaceId | None
    told_before: bool = False
    """Whether it is itself a compression."""


class PastCompression(NamedTuple):
    """A compression that was tried."""

    round: int
    committed: bool
    memory_ids: tuple[LedgerId, ...]


class OldMemories:
    """Reads what compression chooses from. No method reads a text of a memory."""

    def count_over(self, conn: sqlite3.Connection, owner: EntityId, limit: int) -> int:
        """How many memories an owner has, when more than `limit`; else 0. Looks at `limit` index entries in the common case."""
        [(seen,)] = conn.execute(_MORE, (owner, limit + 1)).fetchall()
        if seen <= limit:
            return 0
        [(found,)] = conn.execute(COUNT_OF_OWNER, (owner,)).fetchall()
        return int(found)

    def eligible(
        self, conn: sqlite3.Connection, owner: EntityId, importance: int, newest: int, start: datetime, most: int | None = None
    ) -> Iterator[OldMemory]:
        """Memories from `start` on, in order of time, read as they are asked for, at most `most` of them.

        Not among the `newest`, no more important than told, never of a hand, and none with an event that is still in the buffer:
        those are threads that go on.
        """
        edge = conn.execute(EDGE, (owner, newest)).fetchall()  # the newest of those that are old enough
        if not edge:
            return
        [(last, last_seq)] = edge
        after, after_seq, left = time_text(start), 0, most
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            rows = conn.execute(ELIGIBLE, (owner, after, after, after_seq, last, last_seq + 1, importance, size)).fetchall()
            for key, seq, timestamp, place, told in rows:
                yield OldMemory(key, seq, datetime.fromisoformat(timestamp), place, bool(told))
            if len(rows) < size:
                return
            after, after_seq = rows[-1][2], rows[-1][1]
            left = None if left is None else left - len(rows)

    def standing(self, conn: sqlite3.Connection, owner: EntityId, newest: int) -> tuple[object, ...]:
        """What has to change before an owner has memories to choose from that it had not: where the newest begin, or the last run,
        which may have let go of a thread. All that a hand does takes memories out of the choice."""
        return (conn.execute(EDGE, (owner, newest)).fetchone(), conn.execute(_LAST_RUN, (owner,)).fetchone())

    def compressions(self, conn: sqlite3.Connection, owner: EntityId) -> list[PastCompression]:
        """The latest compressions of an owner, newest first; those long ago are left out."""
        rows = conn.execute(_RUNS, (owner, _LATEST_RUNS))
        return [PastCompression(number, status == "committed", text_list(ids)) for number, status, ids in rows]

    def grown(self, conn: sqlite3.Connection, owner: EntityId, count: int, round_number: int) -> bool:
        """Whether an owner has got at least `count` memories after a round."""
        [(found, first)] = conn.execute(_SINCE, (owner, count)).fetchall()
        return int(found) == count and int(first) > round_number

    def still_held(self, conn: sqlite3.Connection, key: LedgerId) -> bool:
        """Whether an event that a memory was made of is in the buffer."""
        [(found,)] = conn.execute(_HELD, (key,)).fetchall()
        return int(found) > 0

    def reached(self, conn: sqlite3.Connection, past: PastCompression) -> datetime | None:
        """World time of the oldest memory that a compression took; None when all of it is back in the ledger."""
        ids = "[" + ",".join(f'"{key}"' for key in past.memory_ids) + "]"
        [(found,)] = conn.execute(_WHEN, (ids,)).fetchall()
        return datetime.fromisoformat(found) if found else None
