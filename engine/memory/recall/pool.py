"""Phase 1 and 2 for the ledger: an owner's matrix, the pool of candidates, their order, and how each was found."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from engine.llm.protocol import Embedder
from engine.memory.embedding import Vectors, embedded
from engine.memory.recall.candidates import thirds
from engine.memory.recall.dispatch import side_by_side, within
from engine.memory.recall.query import Query
from engine.memory.recall.reading import Reading, known_of, read, take_in
from engine.memory.recall.scoring import Ranked, rank
from engine.memory.recall.vectors import OwnerVectors, VectorCache
from engine.records.base import EntityId, PlaceId
from engine.records.policies import RecallPolicy
from engine.records.prompts import Leg
from engine.storage.ledger_search import IMPORTANT
from engine.storage.store import Store

_THREADED = 50_000
"""Entries from which scoring leaves the event loop alone (invariant 10)."""
_OF_QUESTION = 6
"""Share of the pool, one in so many, that structure fills for a person's question instead of a third: it is not asked about here and
now, so that the newest are no likelier than others. Worth 0.005 of evidence recall on observations, costs nothing on turns."""
_UNREAD = "Long-term memory could not be read"
_UNLIKE = "Memories were not compared by meaning"


@dataclass(frozen=True, slots=True)
class Pool:
    """The ledger's part of a recollection, before texts are read."""

    vectors: OwnerVectors
    ranked: Ranked
    legs: Mapping[int, tuple[Leg, ...]]
    """How each row of the pool was found; nothing when nobody looks."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is put to a ledger."""

    owner: EntityId
    place: PlaceId | None
    attention: tuple[EntityId, ...]
    query: Query
    now: datetime
    by_person: bool = False
    """Whether a person asks, instead of a scene: then nothing is near because it happened here."""
    explained: bool = True
    """Whether somebody looks at how each candidate was found."""


@dataclass(slots=True)
class LedgerTier:
    """Finds candidates in ledgers. Holds the matrices of those asked for last."""

    store: Store
    embedder: Embedder
    policy: RecallPolicy
    cache: VectorCache
    _changes: dict[EntityId, int] = field(default_factory=dict)
    """How often an owner's matrix was dropped: what was read before does not come back after."""

    def forget(self, owner: EntityId) -> None:
        """Drop what is held of an owner."""
        self._changes[owner] = self._changes.get(owner, 0) + 1
        self.cache.drop(owner)

    async def pool(self, asked: Asked) -> tuple[Pool | None, tuple[str, ...]]:
        """The candidates of an owner in the order of their scores, and what was missing. None when there are none."""
        patience = self.policy.patience
        if self.cache.get(asked.owner):
            (found, unread), (dense, unlike) = await side_by_side(within(patience, self._read(asked), _UNREAD), self._embed(asked.query))
        else:  # an owner without memories needs no vector
            found, unread = await within(patience, self._read(asked), _UNREAD)
            dense, unlike = await self._embed(asked.query) if found and len(found[0]) else (None, ())
        if found is None or not len(found[0]):
            return None, unread
        vectors, reading = found
        if dense is not None and (count := vectors.missing):
            late = f"{self.embedder.name} has not embedded them yet. Open the save to embed them, or run `otherminds embed`."
            unlike = (*unlike, f"{count} of {len(vectors)} memories are found by words only: {late}")
        if len(vectors) < _THREADED:
            return self._ranked(vectors, reading, dense, asked), unlike
        return await asyncio.to_thread(self._ranked, vectors, reading, dense, asked), unlike

    async def _read(self, asked: Asked) -> tuple[OwnerVectors, Reading]:
        owner, place, attention = asked.owner, asked.place, asked.attention
        known, changes = known_of(self.cache.get(owner)), self._changes.get(owner, 0)
        store, embedder, size = self.store, self.embedder, self.policy.pool
        reading = await store.db.read(lambda conn: read(conn, store, embedder, owner, place, attention, asked.query, size, known))
        held = self.cache.get(owner)
        if reading.fresh is not None:
            held = reading.fresh
        elif held is None:  # dropped meanwhile: read all of it
            return await self._read(asked)
        elif reading.news is not None:
            take_in(held, reading.news)
        if changes == self._changes.get(owner, 0):
            self.cache.put(owner, held)
        return held, reading

    async def _embed(self, query: Query) -> tuple[Vectors | None, tuple[str, ...]]:
        """The query's vector, or what was missing instead: then words and structure find what they can."""
        if not query.dense.strip():
            return None, ()
        found, missing = await within(None, embedded(self.embedder, [query.dense]), _UNLIKE)
        return (None if found is None else found[0]), missing

    def _ranked(self, vectors: OwnerVectors, reading: Reading, dense: Vectors | None, asked: Asked) -> Pool:
        policy = self.policy
        meaning = vectors.nearest(dense, policy.pool) if dense is not None else []
        words = dict(zip(vectors.rows([seq for seq, _ in reading.words]), (value for _, value in reading.words), strict=True))
        words.pop(-1, None)
        structural = [row for row in vectors.rows(reading.structural) if row >= 0]
        if asked.by_person and dense is not None:
            structural = structural[: policy.pool // _OF_QUESTION]
        rows = thirds(structural, list(words), meaning, vectors.newest(policy.pool), policy.pool)
        ranked = rank(vectors, rows, words, dense, asked.attention, asked.now, self.embedder.meaning, policy)
        return Pool(vectors, ranked, legs(vectors, rows, structural, words, meaning, asked) if asked.explained else {})


def legs(
    vectors: OwnerVectors, rows: Sequence[int], structural: Sequence[int], words: Collection[int], meaning: Sequence[int], asked: Asked
) -> dict[int, tuple[Leg, ...]]:
    """By row how it came into the pool: each way that would have led to it. Rows that only filled up the pool are the newest."""
    by_cue, by_meaning, attention = set(structural), set(meaning), set(asked.attention)
    index = np.array(rows, dtype=np.int64)
    here = vectors.at(index, asked.place).tolist() if asked.place is not None else [False] * len(rows)
    grave = (vectors.importance(index) >= IMPORTANT).tolist()
    found: dict[int, tuple[Leg, ...]] = {}
    for position, row in enumerate(rows):
        ways: list[Leg] = []
        if row in by_cue:
            ways += ["place"] if here[position] else []
            ways += ["people"] if not attention.isdisjoint(vectors.people[row]) else []
            ways += ["grave"] if grave[position] else []
        ways += ["words"] if row in words else []
        ways += ["meaning"] if row in by_meaning else []
        found[row] = tuple(ways) or ("newest",)
    return found
