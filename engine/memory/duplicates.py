"""Whether two memories tell the same, and the pairs of a ledger that nearly do (DESIGN 7 and 8, item 7)."""

import asyncio
import heapq
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.llm.protocol import Embedder
from engine.memory.embedding import Vectors
from engine.memory.text import bare, plain
from engine.memory.wording import content, held_by, in_order, names, negations, numbers, opposed
from engine.records.base import EntityId
from engine.records.memory import LedgerEntry
from engine.records.review import NearDuplicate
from engine.records.tokens import referred
from engine.storage.store import Store

BY_PEOPLE = ("world", "hand")
"""Origins of memories that a person wrote: no run touches their wording."""
MOST = 500
"""Pairs that an audit lists."""

_ENOUGH = 3
"""Content words from which an equal set of them is no coincidence."""
_SAID_ALREADY = 0.8
"""Share of a quote's content words in another from which it adds nothing."""
_LOOKED_AT = 50 * MOST
"""Pairs above the threshold, the best of all, that are looked at closely."""
_BLOCK = 256
"""Rows that are compared with all others in one product: large enough for a matrix product, small enough to keep memory flat."""
_THREADED = 500
"""Memories from which comparing leaves the event loop alone (invariant 10)."""


class Telling(Protocol):
    """What a chunk and a ledger entry have in common."""

    @property
    def content(self) -> str:
        """The account, with reference tokens."""
        ...

    @property
    def quotes(self) -> tuple[str, ...]:
        """What was said."""
        ...

    @property
    def involved_entity_ids(self) -> tuple[EntityId, ...]:
        """Whom it is about, beside the owner."""
        ...


def says_the_same(a: Telling, b: Telling) -> bool:
    """Whether two accounts whose vectors are near agree in numbers, negations and names too.

    Those they refer to and the words they share have to come in the same order: who gave and who took is told by nothing else.
    Quotes are compared only where both have some.
    """
    if _named(a, b) != _named(b, a) or not _agree(a.content, b.content) or not in_order(a.content, b.content):
        return False
    return not (a.quotes and b.quotes) or _agree(" ".join(a.quotes), " ".join(b.quotes))


def same_people(a: Telling, b: Telling) -> bool:
    """Whether all whom one involves are involved in the other too."""
    one, other = set(a.involved_entity_ids), set(b.involved_entity_ids)
    return one <= other or other <= one


def same_words(a: Telling, b: Telling) -> bool:
    """Whether two accounts are the same text, or the same content words in other forms."""
    if bare(a.content).casefold() == bare(b.content).casefold():
        return True
    stems = content(a.content)
    return len(stems) >= _ENOUGH and stems == content(b.content)


def at_odds(a: Telling, b: Telling) -> bool:
    """Whether each has content words that the other lacks: a horse here, a mule there. One that merely says more is not."""
    one, other = content(a.content), content(b.content)
    return not (one <= other or other <= one)


def adds_nothing(a: Telling, b: Telling) -> bool:
    """Whether `b` says all that `a` says: its content words, numbers and people, and nothing of it denied."""
    return (
        len(content(a.content)) >= _ENOUGH
        and content(a.content) <= content(b.content)
        and not Counter(numbers(a.content)) - Counter(numbers(b.content))
        and set(referred(a.content)) <= set(referred(b.content))
        and (negations(a.content) > 0) == (negations(b.content) > 0)
        and not opposed(a.content, b.content)
    )


def all_quotes(held: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """The quotes that a memory holds and those of `more` that they do not say already, in the same words or nearly."""
    found = list(dict.fromkeys(held))
    for quote in more:
        if quote not in found and not any(_said(quote, other) for other in found):
            found.append(quote)
    return tuple(found)


async def near_duplicates(store: Store, embedder: Embedder, owner: EntityId) -> list[NearDuplicate]:
    """The pairs of an owner's memories that tell nearly the same, nearest first, at most `MOST`.

    Those are memories whose cosine reaches the embedder's `merge` and that agree in numbers, negations, names and people; when they
    were and where is not looked at, so that a person sees what happened twice as well. A memory without a vector is compared by its
    text alone. Only reads. Raises `SaveError`.
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
            found.append(NearDuplicate(first=first.id, second=second.id, cosine=min(1.0, cosine)))
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


def _named(a: Telling, b: Telling) -> tuple[EntityId, ...]:
    """Whom `a` refers to, in order. What `b` leaves out and does not count among the others is its owner: it may go unsaid."""
    others = referred(b.content)
    return tuple(entity for entity in referred(a.content) if entity in others or entity in a.involved_entity_ids)


def _said(quote: str, other: str) -> bool:
    words = content(quote)
    if not words or held_by(words, content(other)) < _SAID_ALREADY or not in_order(quote, other):
        return False
    return not Counter(numbers(quote)) - Counter(numbers(other)) and negations(quote) == negations(other) and not opposed(quote, other)


def _agree(a: str, b: str) -> bool:
    return numbers(a) == numbers(b) and negations(a) == negations(b) and names(a) == names(b) and not opposed(a, b)
