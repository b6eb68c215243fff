"""Tier 2 in a save: ledger entries, what they were made of and whom they involve."""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from engine.records.base import BufferId, EntityId, LedgerId, PlaceId
from engine.records.memory import LedgerEntry, NewLedgerEntry
from engine.storage import ledger_search, ledger_words
from engine.storage.numbers import next_number
from engine.storage.rows import Row, list_text, marks, text_list, time_text

COLUMNS = """
seq, id, owner_id, timestamp, ended, location_id, involved_json, content, quotes_json, importance, mode, run_id, version, origin,
created_round
"""
_ADD = """
INSERT INTO ledger_entries (seq, id, owner_id, created_round, timestamp, ended, location_id, involved_json, content, quotes_json,
    importance, mode, run_id, origin, plain, version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
"""
_REWRITE = f"""
UPDATE ledger_entries SET timestamp = ?, ended = ?, location_id = ?, involved_json = ?, content = ?, quotes_json = ?, importance = ?,
    mode = ?, run_id = ?, origin = ?, plain = ?, version = version + 1
WHERE id = ? AND owner_id = ? RETURNING {COLUMNS}
"""
_GET = f"SELECT {COLUMNS} FROM ledger_entries WHERE id IN (%s)"
_WORDINGS = "SELECT id, content, plain, involved_json FROM ledger_entries WHERE id IN (%s)"
_NUMBERED = f"SELECT {COLUMNS} FROM ledger_entries WHERE seq IN (%s)"
OF_OWNER = f"SELECT {COLUMNS} FROM ledger_entries WHERE owner_id = ? ORDER BY timestamp, seq"
NEWEST = f"SELECT {COLUMNS} FROM ledger_entries WHERE owner_id = ? ORDER BY timestamp DESC, seq DESC LIMIT ?"
_ADD_SOURCE = """
INSERT INTO ledger_sources (buffer_id, ledger_id, round) VALUES (?, ?, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'))
ON CONFLICT DO NOTHING
"""
_LASTED = "UPDATE ledger_entries SET ended = ? WHERE id = ? AND ended < ?"
_SOURCES = "SELECT buffer_id FROM ledger_sources WHERE ledger_id = ? ORDER BY buffer_id"
_SOURCES_OF = "SELECT ledger_id, buffer_id FROM ledger_sources WHERE ledger_id IN (%s)"
_HOLDING = """
SELECT source.buffer_id, entry.id FROM ledger_sources AS source JOIN ledger_entries AS entry ON entry.id = source.ledger_id
WHERE source.buffer_id IN (%s) ORDER BY entry.seq DESC
"""
SCAN = """
SELECT id, seq, timestamp, importance, location_id, involved_json FROM ledger_entries WHERE owner_id = ? AND seq > ? ORDER BY seq
"""
_COUNT = "SELECT count(*) FROM ledger_entries"
COUNT_OF_OWNER = "SELECT count(*) FROM ledger_entries WHERE owner_id = ?"

_BATCH = 400
"""Ids in one statement."""


class LedgerFacts(NamedTuple):
    """What ranking needs of an entry, without its texts."""

    id: LedgerId
    seq: int
    timestamp: datetime
    importance: int
    location_id: PlaceId | None
    involved: tuple[EntityId, ...]


class Wording(NamedTuple):
    """What an entry says, without the rest of it."""

    content: str
    plain: str
    """Content and quotes without tokens, as the word index has them."""
    involved: tuple[EntityId, ...]


class LedgerRepository:
    """Reads and writes ledger entries."""

    def add(self, conn: sqlite3.Connection, entry: NewLedgerEntry, sources: Iterable[BufferId], plain: str) -> LedgerEntry:
        """Write an entry and give it its id. `plain`, its words without tokens, is what `by_words` finds it by."""
        seq, key = next_number(conn, "led")
        conn.execute(_ADD, (seq, key, entry.owner_id, entry.created_round, *_values(entry, plain)))
        conn.executemany(_ADD_SOURCE, [(source, key) for source in sources])
        return LedgerEntry(id=key, seq=seq, **{name: getattr(entry, name) for name in NewLedgerEntry.model_fields})

    def rewrite(
        self, conn: sqlite3.Connection, key: LedgerId, entry: NewLedgerEntry, sources: Iterable[BufferId], plain: str
    ) -> LedgerEntry:
        """Put `entry` in the place of an older version of itself, which is kept as such. Sources are added to those it has; its
        vectors are dropped when `plain` differs. It stays in the ledger since when it was. Raises `KeyError` when the owner has
        no such entry."""
        rows = conn.execute(_REWRITE, (*_values(entry, plain), key, entry.owner_id)).fetchall()
        if not rows:
            raise KeyError(key)
        conn.executemany(_ADD_SOURCE, [(source, key) for source in sources])
        return ledger_entry(rows[0])

    def add_sources(
        self, conn: sqlite3.Connection, key: LedgerId, sources: Iterable[BufferId], ended: datetime | None = None
    ) -> None:
        """Give an entry further sources that change no word of it: it stays the version that it is. Its events lasted until `ended`, if
        that is later than what is known."""
        conn.executemany(_ADD_SOURCE, [(source, key) for source in sources])
        if ended is not None:
            conn.execute(_LASTED, (time_text(ended), key, time_text(ended)))

    def get(self, conn: sqlite3.Connection, keys: Iterable[LedgerId]) -> list[LedgerEntry]:
        """Entries in the order asked for. Unknown ids are left out."""
        wanted = list(dict.fromkeys(keys))
        found: dict[LedgerId, LedgerEntry] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            found.update((row[1], ledger_entry(row)) for row in conn.execute(_GET % marks(len(batch)), batch))
        return [found[key] for key in wanted if key in found]

    def wordings(self, conn: sqlite3.Connection, keys: Iterable[LedgerId]) -> dict[LedgerId, Wording]:
        """What entries say, in the order asked for: a fraction of what reading them whole costs. Unknown ids are left out."""
        wanted = list(dict.fromkeys(keys))
        found: dict[LedgerId, Wording] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            for key, content, plain, involved in conn.execute(_WORDINGS % marks(len(batch)), batch):
                found[key] = Wording(content, plain, people(involved))
        return {key: found[key] for key in wanted if key in found}

    def numbered(self, conn: sqlite3.Connection, seqs: Iterable[int]) -> list[LedgerEntry]:
        """As `get`, by `seq`, which is the shorter way."""
        wanted = list(dict.fromkeys(seqs))
        found: dict[int, LedgerEntry] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            found.update((row[0], _known_entry(row)) for row in conn.execute(_NUMBERED % marks(len(batch)), batch))
        return [found[seq] for seq in wanted if seq in found]

    def of_owner(self, conn: sqlite3.Connection, owner: EntityId, limit: int | None = None) -> list[LedgerEntry]:
        """The ledger of one entity, chronological; with `limit` only its newest entries."""
        if limit is None:
            return [ledger_entry(row) for row in conn.execute(OF_OWNER, (owner,))]
        return [ledger_entry(row) for row in reversed(conn.execute(NEWEST, (owner, limit)).fetchall())]

    def sources(self, conn: sqlite3.Connection, key: LedgerId) -> tuple[BufferId, ...]:
        """The buffer entries an entry was made of, in order of writing."""
        found = [source for (source,) in conn.execute(_SOURCES, (key,))]
        return tuple(sorted(found, key=lambda source: (len(source), source)))

    def sources_of(self, conn: sqlite3.Connection, keys: Iterable[LedgerId]) -> dict[LedgerId, set[BufferId]]:
        """The buffer entries that each of some entries was made of. Entries without sources are left out."""
        wanted = list(dict.fromkeys(keys))
        found: dict[LedgerId, set[BufferId]] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            for key, source in conn.execute(_SOURCES_OF % marks(len(batch)), batch):
                found.setdefault(key, set()).add(source)
        return found

    def holding(self, conn: sqlite3.Connection, buffer_ids: Iterable[BufferId]) -> dict[BufferId, LedgerId]:
        """The ledger entry that has a buffer entry as a source; the oldest, when several have. Others are left out."""
        wanted = list(dict.fromkeys(buffer_ids))
        found: dict[BufferId, LedgerId] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            found.update(conn.execute(_HOLDING % marks(len(batch)), batch).fetchall())
        return {source: found[source] for source in wanted if source in found}

    def structural(
        self, conn: sqlite3.Connection, owner: EntityId, place: PlaceId | None, focus: Sequence[EntityId], limit: int
    ) -> list[int]:
        """Newest entries of `owner`, by `seq`, that happened in `place`, involve somebody in `focus` or have importance 8 or more.

        Newest first. Costs as many index steps as `limit` allows, whatever the size of the ledger.
        """
        sql, values = ledger_search.structural_query(owner, place, focus, limit)
        return [seq for (seq,) in conn.execute(sql, values)]

    def by_words(self, conn: sqlite3.Connection, owner: EntityId, terms: Sequence[str], limit: int) -> list[tuple[LedgerId, float]]:
        """Entries of `owner` that hold one of the rarest of the terms or another form of it, with their scores above 0, best first.

        A term is literal text, not a query. Punctuation parts words, and a term of several words is found as a phrase.
        """
        return ledger_words.search(conn, owner, terms, limit)

    def numbers_by_words(self, conn: sqlite3.Connection, owner: EntityId, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """As `by_words`, by `seq`: for who holds the ledger's rows in memory."""
        return ledger_words.numbers(conn, owner, terms, limit)

    def settle(self, conn: sqlite3.Connection) -> None:
        """Put the word index in one piece, after many entries were written at once: a search then costs a third. Takes about 2 ms
        for each 1,000 entries of the ledger. Entries of a play are merged by and by without this."""
        conn.execute(ledger_words.SETTLE)

    def scan(self, conn: sqlite3.Connection, owner: EntityId, after: int = 0) -> list[LedgerFacts]:
        """What ranking needs of an owner's entries with a `seq` above `after`, in order of writing."""
        return [
            LedgerFacts(key, seq, datetime.fromisoformat(timestamp), importance, place, people(involved))
            for key, seq, timestamp, importance, place, involved in conn.execute(SCAN, (owner, after))
        ]

    def count(self, conn: sqlite3.Connection, owner: EntityId | None = None) -> int:
        """How many entries an owner has, or all together."""
        cursor = conn.execute(_COUNT) if owner is None else conn.execute(COUNT_OF_OWNER, (owner,))
        [(found,)] = cursor.fetchall()
        return int(found)


@lru_cache(maxsize=4096)
def people(text: str) -> tuple[EntityId, ...]:
    """Who an entry involves, from `involved_json`. Few sets of people make most of a ledger: each is parsed once."""
    return text_list(text)


def _values(entry: NewLedgerEntry, plain: str) -> tuple[object, ...]:
    """What a rewriting replaces, in the order of both statements."""
    return (
        time_text(entry.timestamp), time_text(entry.ended), entry.location_id, list_text(entry.involved_entity_ids), entry.content,
        list_text(entry.quotes), entry.importance, entry.mode, entry.run_id, entry.origin, plain,
    )


def ledger_entry(row: Row) -> LedgerEntry:
    """An entry from a row of `COLUMNS`."""
    seq, key, owner, timestamp, ended, location, involved, content, quotes, importance, mode, run, version, origin, created = row
    return LedgerEntry.model_validate(
        {
            "id": key,
            "seq": seq,
            "owner_id": owner,
            "timestamp": datetime.fromisoformat(timestamp),
            "ended": datetime.fromisoformat(ended),
            "location_id": location,
            "involved_entity_ids": people(involved),
            "content": content,
            "quotes": text_list(quotes),
            "importance": importance,
            "mode": mode,
            "run_id": run,
            "version": version,
            "origin": origin,
            "created_round": created,
        }
    )


_known_entry = lru_cache(maxsize=8192)(ledger_entry)
"""What comes to mind at one beat mostly comes to mind at the next. Entries are values, so that the same row may give the same one."""
