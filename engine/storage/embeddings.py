"""Vectors of ledger entries and knowledge in a save, apart from the rows so that reading those stays fast."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from engine.errors import SaveError
from engine.records.base import EntityId, LedgerId, PlaceId
from engine.records.knowledge import KnowledgeId
from engine.storage.ledger import people
from engine.storage.rows import Row, marks

OwnerKind = Literal["ledger", "knowledge"]
"""What kind of row a vector belongs to."""

_PUT = """
INSERT INTO embeddings (owner_kind, id, model, dim, vector) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (owner_kind, id, model) DO UPDATE SET dim = excluded.dim, vector = excluded.vector
"""
SINCE = """
SELECT entry.id, held.vector FROM ledger_entries AS entry
CROSS JOIN embeddings AS held ON held.owner_kind = 'ledger' AND held.id = entry.id AND held.model = ?
WHERE entry.owner_id = ? AND entry.seq > ? ORDER BY entry.seq
"""
WHOLE = """
SELECT entry.id, entry.seq, entry.timestamp, entry.importance, entry.location_id, entry.involved_json, held.vector
FROM ledger_entries AS entry
LEFT JOIN embeddings AS held ON held.owner_kind = 'ledger' AND held.id = entry.id AND held.model = ?
WHERE entry.owner_id = ? ORDER BY entry.seq
"""
MISSING = """
SELECT entry.id FROM ledger_entries AS entry
WHERE entry.owner_id = ? AND NOT EXISTS (
    SELECT 1 FROM embeddings AS held WHERE held.owner_kind = 'ledger' AND held.id = entry.id AND held.model = ?
) ORDER BY entry.seq
"""

MISSING_ANY = """
SELECT entry.seq, entry.id, entry.owner_id FROM ledger_entries AS entry
WHERE entry.seq > ? AND NOT EXISTS (
    SELECT 1 FROM embeddings AS held WHERE held.owner_kind = 'ledger' AND held.id = entry.id AND held.model = ?
) ORDER BY entry.seq LIMIT ?
"""
_COUNT_MISSING = """
SELECT (SELECT count(*) FROM ledger_entries) - (SELECT count(*) FROM embeddings WHERE owner_kind = 'ledger' AND model = ?)
"""
_MODELS = "SELECT model, count(*) FROM embeddings GROUP BY model ORDER BY model"
_DIM = "SELECT dim FROM embeddings WHERE model = ? LIMIT 1"
_DROP_OTHERS = "DELETE FROM embeddings WHERE seq IN (SELECT seq FROM embeddings WHERE model <> ? LIMIT ?)"
_OF_ROWS = "SELECT id, vector FROM embeddings WHERE owner_kind = '%s' AND model = ? AND id IN (%s)"
MISSING_KNOWLEDGE = """
SELECT row.seq, row.id FROM knowledge AS row
WHERE row.seq > ? AND NOT EXISTS (
    SELECT 1 FROM embeddings AS held WHERE held.owner_kind = 'knowledge' AND held.id = row.id AND held.model = ?
) ORDER BY row.seq LIMIT ?
"""
_COUNT_MISSING_KNOWLEDGE = """
SELECT (SELECT count(*) FROM knowledge) - (SELECT count(*) FROM embeddings WHERE owner_kind = 'knowledge' AND model = ?)
"""

_BATCH = 400
"""Ids in one statement."""
_SLICE = 128
"""Entries of one slice of a ledger: its vectors stay in the processor's cache until they are where they belong."""


class LedgerSlice(NamedTuple):
    """What ranking needs of some entries, a tuple for each column: made a row at a time, a large ledger takes twice as long."""

    ids: tuple[LedgerId, ...]
    seqs: tuple[int, ...]
    timestamps: tuple[str, ...]
    """ISO text, 19 characters."""
    importance: tuple[int, ...]
    places: tuple[PlaceId | None, ...]
    people: tuple[tuple[EntityId, ...], ...]
    vectors: tuple[bytes | None, ...]


class EmbeddingRepository:
    """Reads and writes vectors: little-endian float32, each with the id of the model that made it.

    Vectors of different models are never given together. A row that is reworded loses its vectors.
    """

    def put(self, conn: sqlite3.Connection, owner_kind: OwnerKind, key: str, model: str, dim: int, blob: bytes) -> None:
        """Keep the vector of a row, in place of an older one by the same model.

        Raises `SaveError` when the blob's length is not that of `dim` numbers.
        """
        if len(blob) != 4 * dim:
            raise SaveError(f"A vector by {model} has {len(blob)} bytes instead of {4 * dim}.", "Nothing was written.")
        conn.execute(_PUT, (owner_kind, key, model, dim, blob))

    def of_owner(self, conn: sqlite3.Connection, owner: EntityId, model: str) -> tuple[list[LedgerId], list[bytes]]:
        """Ids and vectors of an owner's ledger entries, in order of writing. Entries without a vector are left out."""
        return self.since(conn, owner, model, 0)

    def since(self, conn: sqlite3.Connection, owner: EntityId, model: str, seq: int) -> tuple[list[LedgerId], list[bytes]]:
        """As `of_owner`, for ledger entries with a higher `seq` only. Does not show which older ones were rewritten."""
        return _columns(conn.execute(SINCE, (model, owner, seq)))

    def whole(self, conn: sqlite3.Connection, owner: EntityId, model: str) -> Iterator[LedgerSlice]:
        """An owner's whole ledger with its vectors, in order of writing, read as it is asked for: a large ledger's vectors are never
        in memory twice."""
        cursor = conn.execute(WHOLE, (model, owner))
        while rows := cursor.fetchmany(_SLICE):
            ids, seqs, timestamps, importance, places, involved, vectors = zip(*rows, strict=True)
            yield LedgerSlice(ids, seqs, timestamps, importance, places, tuple(map(people, involved)), vectors)

    def of_entries(self, conn: sqlite3.Connection, keys: Iterable[LedgerId], model: str) -> dict[LedgerId, bytes]:
        """Vectors of some ledger entries. Those that `model` has not embedded are left out."""
        return _of_rows(conn, "ledger", keys, model)

    def of_knowledge(self, conn: sqlite3.Connection, keys: Iterable[KnowledgeId], model: str) -> dict[KnowledgeId, bytes]:
        """Vectors of some knowledge. Rows that `model` has not embedded as they are worded now are left out."""
        return _of_rows(conn, "knowledge", keys, model)

    def missing_knowledge(self, conn: sqlite3.Connection, model: str, after: int, limit: int) -> list[tuple[int, KnowledgeId]]:
        """Number and id of knowledge, numbered above `after`, that `model` has not embedded as it is worded now."""
        return conn.execute(MISSING_KNOWLEDGE, (after, model, limit)).fetchall()

    def count_missing_knowledge(self, conn: sqlite3.Connection, model: str) -> int:
        """How many rows of knowledge `model` has not embedded."""
        [(count,)] = conn.execute(_COUNT_MISSING_KNOWLEDGE, (model,)).fetchall()
        return int(count)

    def missing_any(
        self, conn: sqlite3.Connection, model: str, after: int, limit: int
    ) -> list[tuple[int, LedgerId, EntityId]]:
        """Number, id and owner of ledger entries of all owners, numbered above `after`, that `model` has not embedded."""
        return conn.execute(MISSING_ANY, (after, model, limit)).fetchall()

    def count_missing(self, conn: sqlite3.Connection, model: str) -> int:
        """How many ledger entries `model` has not embedded."""
        [(count,)] = conn.execute(_COUNT_MISSING, (model,)).fetchall()
        return int(count)

    def models(self, conn: sqlite3.Connection) -> dict[str, tuple[int, int]]:
        """Which models have embedded something here, with the length of their vectors and how many there are."""
        found = conn.execute(_MODELS).fetchall()
        return {model: (int(conn.execute(_DIM, (model,)).fetchone()[0]), count) for model, count in found}

    def drop_others(self, conn: sqlite3.Connection, model: str, limit: int) -> int:
        """Delete up to `limit` vectors of other models. Returns how many."""
        return conn.execute(_DROP_OTHERS, (model, limit)).rowcount

    def missing(self, conn: sqlite3.Connection, owner: EntityId, model: str) -> list[LedgerId]:
        """Ledger entries of an owner that `model` has not embedded as they are worded now, in order of writing."""
        return [key for (key,) in conn.execute(MISSING, (owner, model))]


def _of_rows(conn: sqlite3.Connection, kind: OwnerKind, keys: Iterable[str], model: str) -> dict[str, bytes]:
    wanted = list(dict.fromkeys(keys))
    found: dict[str, bytes] = {}
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        found.update(conn.execute(_OF_ROWS % (kind, marks(len(batch))), [model, *batch]).fetchall())
    return {key: found[key] for key in wanted if key in found}


def _columns(rows: Iterable[Row]) -> tuple[list[LedgerId], list[bytes]]:
    found: Sequence[Row] = list(rows)
    return [row[0] for row in found], [row[1] for row in found]
