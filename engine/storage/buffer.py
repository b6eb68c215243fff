"""Tier 1 in a save: the buffers, and the archive of what left them."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from engine.records.base import BufferId, EntityId, LedgerId, RunId
from engine.records.intents import Intent, Outcome
from engine.records.memory import ArchivedEntry, BufferEntry, Fate, Grasp, NewBufferEntry, Pin
from engine.storage.numbers import next_numbers
from engine.storage.rows import Row, marks, time_text

_COLUMNS = "seq, id, owner_id, timestamp, location_id, round, intent_json, outcome_json, grasp, pinned"
_ADD = """
INSERT INTO buffer_entries (seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
OF_OWNER = f"SELECT {_COLUMNS} FROM buffer_entries WHERE owner_id = ? ORDER BY timestamp, seq"
_LATEST = f"SELECT {_COLUMNS} FROM buffer_entries WHERE owner_id = ? AND grasp = ? ORDER BY timestamp DESC, seq DESC LIMIT 1"
_ARM = f"SELECT * FROM (SELECT {_COLUMNS} FROM %s WHERE owner_id = ? AND round > 0 ORDER BY timestamp DESC, seq DESC LIMIT ?)"
LIVED = f"{_ARM % 'buffer_entries'} UNION ALL {_ARM % 'buffer_archive'}"
_GET = f"SELECT {_COLUMNS} FROM buffer_entries WHERE id = ?"
_FIND = f"""
SELECT {_COLUMNS} FROM buffer_entries WHERE id IN (%s) UNION ALL SELECT {_COLUMNS} FROM buffer_archive WHERE id IN (%s)
"""
_SET_PIN = "UPDATE buffer_entries SET pinned = ? WHERE id = ?"
_ARCHIVE = """
INSERT INTO buffer_archive (seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned,
    fate, run_id, ledger_id)
SELECT seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned, ?, ?, ?
FROM buffer_entries WHERE id = ?
"""
_REMOVE = "DELETE FROM buffer_entries WHERE id = ?"
ARCHIVED = f"SELECT {_COLUMNS}, fate, run_id, ledger_id FROM buffer_archive WHERE owner_id = ? ORDER BY timestamp, seq"
_ARCHIVED_ONE = f"SELECT {_COLUMNS}, fate, run_id, ledger_id FROM buffer_archive WHERE id = ?"
_RESTORE = """
INSERT INTO restorations (kind, id, round, pinned, fate, left_round, run_id, ledger_id)
SELECT 'buffer', gone.id, ?, ?, gone.fate, run.round, gone.run_id, gone.ledger_id
FROM buffer_archive AS gone JOIN handoff_runs AS run ON run.id = gone.run_id WHERE gone.id = ?
"""
_COUNT = "SELECT count(*) FROM buffer_entries WHERE owner_id = ?"
_COUNTS = "SELECT (SELECT count(*) FROM buffer_entries), (SELECT count(*) FROM buffer_archive)"

_BATCH = 400
"""Ids in one statement. SQLite takes 32,766 values; few are enough to make the rest of a call cheap."""


class BufferRepository:
    """Reads and writes buffer entries. Never loses one: what leaves the buffer goes to the archive in the same transaction."""

    def add(self, conn: sqlite3.Connection, entry: NewBufferEntry) -> BufferEntry:
        """Write an entry and give it its id and place in the order of writing."""
        [kept] = self.add_all(conn, [entry])
        return kept

    def add_all(self, conn: sqlite3.Connection, entries: Sequence[NewBufferEntry]) -> list[BufferEntry]:
        """Write entries in this order: one event that many perceive costs little more than for one."""
        if not entries:
            return []
        numbers, made = next_numbers(conn, "buf", len(entries)), dict[int, str]()
        conn.executemany(
            _ADD,
            [
                (
                    seq, key, entry.owner_id, time_text(entry.timestamp), entry.location_id, entry.round, entry.intent.type,
                    _json(entry.intent, made), _json(entry.outcome, made) if entry.outcome else None, entry.grasp, entry.pinned,
                )
                for (seq, key), entry in zip(numbers, entries, strict=True)
            ],
        )
        return [
            BufferEntry(id=key, seq=seq, **{name: getattr(entry, name) for name in NewBufferEntry.model_fields})
            for (seq, key), entry in zip(numbers, entries, strict=True)
        ]

    def of_owner(self, conn: sqlite3.Connection, owner: EntityId) -> list[BufferEntry]:
        """The buffer of one entity, chronological."""
        return [_known_entry(row) for row in conn.execute(OF_OWNER, (owner,))]

    def lived(self, conn: sqlite3.Connection, owner: EntityId, limit: int) -> list[BufferEntry]:
        """The last events that one entity perceived since play began, whether still in its buffer or not, in order of writing."""
        found = [_entry(row) for row in conn.execute(LIVED, (owner, limit, owner, limit))]
        return sorted(found, key=lambda entry: entry.seq)[-limit:]

    def latest(self, conn: sqlite3.Connection, owner: EntityId, grasp: Grasp) -> BufferEntry | None:
        """The newest entry in the buffer of one entity that was perceived like this, if any."""
        rows = conn.execute(_LATEST, (owner, grasp)).fetchall()
        return _known_entry(rows[0]) if rows else None

    def count(self, conn: sqlite3.Connection, owner: EntityId) -> int:
        """How many entries an entity's buffer holds."""
        [(found,)] = conn.execute(_COUNT, (owner,)).fetchall()
        return int(found)

    def counts(self, conn: sqlite3.Connection) -> tuple[int, int]:
        """Entries in all buffers, and in the archive."""
        [(held, archived)] = conn.execute(_COUNTS).fetchall()
        return int(held), int(archived)

    def get(self, conn: sqlite3.Connection, key: BufferId) -> BufferEntry | None:
        """An entry that is still in a buffer."""
        rows = conn.execute(_GET, (key,)).fetchall()
        return _entry(rows[0]) if rows else None

    def find(self, conn: sqlite3.Connection, keys: Iterable[BufferId]) -> list[BufferEntry]:
        """Entries in buffer or archive, chronological. Unknown ids are left out."""
        wanted = list(dict.fromkeys(keys))
        found: list[BufferEntry] = []
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            holes = marks(len(batch))
            found += [_entry(row) for row in conn.execute(_FIND % (holes, holes), [*batch, *batch])]
        return sorted(found, key=lambda entry: (entry.timestamp, entry.seq))

    def set_pin(self, conn: sqlite3.Connection, key: BufferId, pin: Pin) -> None:
        """Pin an entry or let go of it. Raises `KeyError` when it is not in a buffer."""
        if conn.execute(_SET_PIN, (pin, key)).rowcount != 1:
            raise KeyError(key)

    def archive(
        self,
        conn: sqlite3.Connection,
        entries: Sequence[BufferEntry],
        fate: Fate,
        run_id: RunId,
        ledger_of: Mapping[BufferId, LedgerId],
    ) -> None:
        """Move entries to the archive. Promoted ones name in `ledger_of` the ledger entry that holds them.

        Raises `KeyError` when an entry is not in a buffer, or was promoted to nowhere.
        """
        for entry in entries:
            ledger = ledger_of[entry.id] if fate == "promoted" else None
            if conn.execute(_ARCHIVE, (fate, run_id, ledger, entry.id)).rowcount != 1:
                raise KeyError(entry.id)
            conn.execute(_REMOVE, (entry.id,))

    def archived(self, conn: sqlite3.Connection, owner: EntityId) -> list[ArchivedEntry]:
        """What left an entity's buffer, chronological."""
        return [_archived(row) for row in conn.execute(ARCHIVED, (owner,))]

    def get_archived(self, conn: sqlite3.Connection, key: BufferId) -> ArchivedEntry | None:
        """An entry that left its buffer."""
        rows = conn.execute(_ARCHIVED_ONE, (key,)).fetchall()
        return _archived(rows[0]) if rows else None

    def restore(self, conn: sqlite3.Connection, key: BufferId, round_number: int, pin: Pin) -> None:
        """Bring an archived entry back to its place in the buffer, pinned as told. Raises `KeyError` when it is not archived."""
        if conn.execute(_RESTORE, (round_number, pin, key)).rowcount != 1:
            raise KeyError(key)


def _json(value: Intent | Outcome, made: dict[int, str]) -> str:
    """A record as JSON, which is made once for all rows of a batch that hold that very record. The batch keeps the records alive."""
    return made.get(id(value)) or made.setdefault(id(value), value.model_dump_json())


def _archived(row: Row) -> ArchivedEntry:
    return ArchivedEntry(entry=_entry(row[:10]), fate=row[10], run_id=row[11], ledger_id=row[12])


def _entry(row: Row) -> BufferEntry:
    seq, key, owner, timestamp, location, number, intent, outcome, grasp, pinned = row
    return BufferEntry.model_validate(
        {
            "id": key,
            "seq": seq,
            "owner_id": owner,
            "timestamp": datetime.fromisoformat(timestamp),
            "location_id": location,
            "round": number,
            "intent": _intent(intent),
            "outcome": Outcome.model_validate_json(outcome) if outcome is not None else None,
            "grasp": grasp,
            "pinned": pinned,
        }
    )


_known_entry = lru_cache(maxsize=8192)(_entry)
"""Buffers are read at each beat, and few of their rows are new. Entries are values, so that the same row may give the same one."""


@lru_cache(maxsize=2048)
def _intent(text: str) -> Intent:
    """An event from its JSON. Those who perceived it alike share it."""
    return Intent.model_validate_json(text)
