"""The pairs of a ledger that tell nearly the same, for a person to look at (DESIGN 8, item 7)."""

import asyncio
import heapq
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.llm.protocol import Embedder
from engine.memory.duplicates import same_people, says_the_same
from engine.memory.embedding import Vectors
from engine.memory.occasions import why_apart
from engine.memory.text import plain
from engine.records.base import EntityId
from engine.records.memory import LedgerEntry
from engine.records.review import NearDuplicate
from engine.storage.store import Store

MOST = 500
"""Pairs that an audit lists."""

_LOOKED_AT = 50 * MOST
"""Pairs above the threshold, the best of all, that are looked at closely."""
_BLOCK = 256
"""Rows that are compared with all others in one product: large enough for a matrix product, small enough to keep memory flat."""
_THREADED = 500
"""Memories from which comparing leaves the event loop alone (invariant 10)."""


async def near_duplicates(store: Store, embedder: Embedder, owner: EntityId) -> list[NearDuplicate]:
    """The pairs of an owner's memories that tell nearly the same, nearest first, at most `MOST`.

    Those are memories whose cosine reaches the embedder's `merge` and that agree in numbers, negations, names and people; when they
    were and where is not looked at, so that a person sees what happened twice as well. A memory without a vector is compared by its
    text alone. Each pair comes with why its two were kept apart. Only reads. Raises `SaveError`.
    """
    ledger = await store.db.read(lambda conn: _read(conn, store, embedder, owner))
    if len(ledger.entries) < _THREADED:
        return _audit(ledger, embedder.merge)
    return await asyncio.to_thread(_audit, ledger, embedder.merge)


class _Ledger(NamedTuple):
    entries: list[LedgerEntry]
    """In order of writing, those with a vector first."""
    vectors: Vectors
    """One row for each of the first entries."""


def _read(conn: sqlite3.Connection, store: Store, embedder: Embedder, owner: EntityId) -> _Ledger:
    entries = sorted(store.ledger.of_owner(conn, owner), key=lambda entry: entry.seq)
    ids, blobs = store.embeddings.of_owner(conn, owner, embedder.name)
    rows = {key: blob for key, blob in zip(ids, blobs, strict=True) if len(blob) == 4 * embedder.dim}
    known = [entry for entry in entries if entry.id in rows]
    vectors = np.frombuffer(b"".join(rows[entry.id] for entry in known), dtype="<f4").reshape(len(known), embedder.dim)
    return _Ledger(known + [entry for entry in entries if entry.id not in rows], vectors)


def _audit(ledger: _Ledger, threshold: float) -> list[NearDuplicate]:
    found: list[NearDuplicate] = []
    for cosine, one, other in sorted(_pairs(ledger, threshold), key=lambda pair: (-pair[0], pair[1], pair[2])):
        a, b = ledger.entries[one], ledger.entries[other]
        if same_people(a, b) and says_the_same(a, b):
            first, second = sorted((a, b), key=lambda entry: entry.seq)
            found.append(NearDuplicate(first=first.id, second=second.id, cosine=min(1.0, cosine), why=why_apart(first, second)))
            if len(found) == MOST:
                break
    return found


def _pairs(ledger: _Ledger, threshold: float) -> list[tuple[float, int, int]]:
    """The nearest pairs of rows. Their number is bounded, whatever a ledger holds."""
    best: list[tuple[float, int, int]] = []
    for pair in _equal_texts(ledger):
        if len(best) == _LOOKED_AT:
            break
        best.append(pair)
    heapq.heapify(best)
    for cosines, one, other in _products(ledger.vectors, threshold):
        order = np.argsort(-cosines, kind="stable")[:_LOOKED_AT]
        for at in order:
            pair = (float(cosines[at]), -int(one[at]), -int(other[at]))
            if len(best) < _LOOKED_AT:
                heapq.heappush(best, pair)
            elif pair > best[0]:
                heapq.heapreplace(best, pair)
            else:
                break
    return [(cosine, -one, -other) for cosine, one, other in best]


def _products(vectors: Vectors, threshold: float) -> Iterator[tuple[Vectors, NDArray[np.int64], NDArray[np.int64]]]:
    """Cosines from the threshold on, a block of rows at a time, each pair once."""
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        cosines = block @ vectors[start:].T
        one, other = np.nonzero(cosines >= threshold)
        once = one < other
        one, other = one[once], other[once]
        yield cosines[one, other], one + start, other + start


def _equal_texts(ledger: _Ledger) -> Iterator[tuple[float, int, int]]:
    """Pairs of the same text of which one has no vector. Rows are negative, as the heap has them: of equals the older come first."""
    groups: dict[str, list[int]] = defaultdict(list)
    for row, entry in enumerate(ledger.entries):
        groups[plain(entry.content, entry.quotes)].append(row)
    for rows in groups.values():
        for one, other in combinations(rows, 2):
            if other >= len(ledger.vectors):
                yield 1.0, -one, -other
