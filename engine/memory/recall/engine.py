"""Recall for one entity at one moment: query, focus, candidates, ranking, chaining, budget (DESIGN 8)."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from engine.errors import ModelError, SaveError
from engine.llm.protocol import Embedder
from engine.llm.tokens import estimate_tokens
from engine.memory.embedding import Vectors, embedded
from engine.memory.recall.backfill import backfill
from engine.memory.recall.candidates import thirds
from engine.memory.recall.chaining import chain, room_for_chain
from engine.memory.recall.choosing import Choice, Chooser, Offer
from engine.memory.recall.focus import focus
from engine.memory.recall.query import Query, asked_query, scene_query
from engine.memory.recall.names import known_names
from engine.memory.recall.ranking import Features, Scores, score
from engine.memory.recall.reading import Reading, known_of, read, take_in
from engine.memory.recall.vectors import BUDGET, OwnerVectors, VectorCache
from engine.memory.text import plain
from engine.mind.aliases import is_name, names_for, vocabulary
from engine.mind.perception import reach
from engine.mind.voice import recount, remembered
from engine.records.base import BufferId, EntityId
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.policies import Policies, RecallPolicy
from engine.records.prompts import Receipt, Recollection
from engine.records.world import World
from engine.storage.store import Store

__all__ = ["Ranked", "RecallEngine", "backfill", "rank"]

_THREADED = 50_000
"""Entries from which scoring leaves the event loop alone (invariant 10)."""
_SPARE = 16
"""Ranked entries that are fetched beyond what the section holds: repeats fall out, and the next five have receipts."""
_LINE_TOKENS = 4
"""Tokens of a memory's line beside its text: dash, time words, `Quote:`."""
_FIRST_WORDS = 90
"""Characters of a memory that a receipt shows."""


class Ranked:
    """Scored candidates of one recall: rows best first, and each row's scores."""

    def __init__(self, rows: Sequence[int], scores: Scores) -> None:
        best = scores.best_first()
        self.rows = [rows[index] for index in best]
        self._scores = scores
        self._index = {rows[index]: int(index) for index in best}

    def parts(self, row: int) -> dict[str, float]:
        """The score of a row and the parts that add up to it; zeros for a row that was no candidate."""
        at = self._index.get(row)
        names = ("recency", "importance", "cosine", "words", "involved", "smoothed")
        if at is None:
            return dict.fromkeys(("score", *names), 0.0)
        return {"score": float(self._scores.total[at])} | {name: float(getattr(self._scores, name)[at]) for name in names}


class RecallEngine:
    """Chooses ledger entries for prompts. Only reads: what a prompt recalled is never source material (invariant 11)."""

    def __init__(self, store: Store, embedder: Embedder, policies: Policies, budget_bytes: int = BUDGET) -> None:
        self._store, self._embedder, self._policy = store, embedder, policies.recall
        self._cache = VectorCache(budget_bytes)

    def forget(self, entity_id: EntityId) -> None:
        """Drop what is held of an entity's ledger. For changes that no handoff made: hand edits, undo."""
        self._cache.drop(entity_id)

    async def recall(
        self,
        world: World,
        entity_id: EntityId,
        entries: Sequence[BufferEntry],
        now: datetime,
        *,
        budget: int | None = None,
        count_tokens: Callable[[str], int] = estimate_tokens,
        query: str | None = None,
    ) -> Recollection:
        """What comes to the mind of `entity_id`, whose buffer is `entries`, in order of time.

        At most `policy.section_limit` entries and, with `budget`, as many tokens, best first. `query` asks in other words than
        the scene's. Never raises for trouble with the save or the embedder: it finds what it can and says what was missing.
        """
        present = reach(world, entity_id).here
        names = known_names(world, entity_id, present)
        attention = focus(entity_id, entries, present, {n: e for n, e in names.items() if is_name(n) and e != entity_id}, self._policy)
        asked = asked_query(query, names) if query is not None else scene_query(world, entity_id, entries, attention)
        attention = asked.named or attention
        try:
            vectors, reading = await self._read(world, entity_id, attention, asked)
            if not len(vectors):
                return Recollection(query=asked.text, focus=attention)
            dense, problems = await self._embed(asked)
            if len(vectors) < _THREADED:
                ranked = self._rank(vectors, reading, dense, attention, now)
            else:
                ranked = await asyncio.to_thread(self._rank, vectors, reading, dense, attention, now)
            choice = await self._choose(vectors, ranked, budget, count_tokens)
        except SaveError as error:
            return Recollection(query=asked.text, focus=attention, problems=(f"Long-term memory could not be read: {error}",))
        return Recollection(
            query=asked.text,
            focus=attention,
            entries=tuple(offer.entry for offer, _ in choice.chosen),
            receipts=tuple(_receipts(world, entity_id, choice, ranked)),
            problems=problems,
        )

    async def _read(
        self, world: World, owner: EntityId, attention: tuple[EntityId, ...], asked: Query
    ) -> tuple[OwnerVectors, Reading]:
        known, place = known_of(self._cache.get(owner)), world.entities[owner].place
        store, embedder, pool = self._store, self._embedder, self._policy.pool
        reading = await store.db.read(lambda conn: read(conn, store, embedder, owner, place, attention, asked, pool, known))
        held = self._cache.get(owner)
        if reading.fresh is not None:
            held = reading.fresh
        elif held is None:  # dropped meanwhile: read all of it
            return await self._read(world, owner, attention, asked)
        elif reading.news is not None:
            take_in(held, reading.news)
        self._cache.put(owner, held)
        return held, reading

    async def _embed(self, asked: Query) -> tuple[Vectors | None, tuple[str, ...]]:
        """The query's vector, or what was missing instead: then words and structure find what they can."""
        if not asked.dense.strip():
            return None, ()
        try:
            return (await embedded(self._embedder, [asked.dense]))[0], ()
        except ModelError as error:
            return None, (f"Memories were not compared by meaning: {error}",)

    def _rank(
        self, vectors: OwnerVectors, reading: Reading, dense: Vectors | None, attention: Sequence[EntityId], now: datetime
    ) -> Ranked:
        policy = self._policy
        meaning = vectors.nearest(dense, policy.pool) if dense is not None else []
        words = {row: value for key, value in reading.words for row in vectors.rows([key])}
        rows = thirds(vectors.rows(reading.structural), list(words), meaning, vectors.newest(policy.pool), policy.pool)
        return rank(vectors, rows, words, dense, attention, now, self._embedder.meaning, policy)

    async def _choose(
        self, vectors: OwnerVectors, ranked: Ranked, budget: int | None, count_tokens: Callable[[str], int]
    ) -> Choice:
        """The entries for the prompt. Texts are read for the front of the ranking only, and further back while repeats leave room."""
        policy = self._policy
        room = room_for_chain(policy, budget)
        near = chain(ranked.rows, vectors.neighbours, policy) if room else []
        ranks = {row: number for number, row in enumerate(ranked.rows, 1)}
        chooser = Chooser(policy.section_limit, budget, self._embedder.same, vectors.cosine)
        offers: dict[int, Offer] = {}
        depth = policy.section_limit + _SPARE
        while True:
            front = ranked.rows[:depth]
            wanted = [row for row in dict.fromkeys([*front, *near]) if row not in offers]
            for row, entry, sources in await self._fetch(vectors, wanted):
                tokens = count_tokens(plain(entry.content, entry.quotes)) + _LINE_TOKENS
                offers[row] = Offer(row, entry, frozenset(entry.involved_entity_ids), sources, tokens, ranks.get(row, 0))
            beside = [offers[row]._replace(rank=0) for row in near if row in offers and row not in front[: policy.section_limit]]
            choice = chooser.choose([offers[row] for row in front if row in offers], beside, room)
            if len(choice.chosen) >= policy.section_limit or depth >= len(ranked.rows) or choice.full:
                return choice
            depth *= 2

    async def _fetch(
        self, vectors: OwnerVectors, rows: Sequence[int]
    ) -> list[tuple[int, LedgerEntry, frozenset[BufferId]]]:
        """Entries of some rows, with what they were made of. Rows that are gone are left out."""
        store, by_id = self._store, {vectors.ids[row]: row for row in rows}

        def read(conn: sqlite3.Connection) -> list[tuple[int, LedgerEntry, frozenset[BufferId]]]:
            found = store.ledger.get(conn, by_id)
            return [(by_id[entry.id], entry, frozenset(store.ledger.sources(conn, entry.id))) for entry in found]

        return await store.db.read(read)


def rank(
    vectors: OwnerVectors,
    rows: Sequence[int],
    words: dict[int, float],
    dense: Vectors | None,
    attention: Sequence[EntityId],
    now: datetime,
    meaning: float,
    policy: RecallPolicy,
) -> Ranked:
    """Score the rows of a pool. Pure."""
    index = np.array(rows, dtype=np.int64)
    at = {row: position for position, row in enumerate(rows)}
    sought = set(attention)
    scenes = [vectors.scene(row) for row in rows]
    features = Features(
        hours=vectors.hours_before(index, now),
        importance=vectors.importance(index),
        cosine=vectors.cosines(index, dense),
        words=np.array([words.get(row, 0.0) for row in rows]),
        involved=np.array([not sought.isdisjoint(vectors.people[row]) for row in rows], dtype=bool),
        before=np.array([at.get(before, -1) if before is not None else -1 for before, _ in scenes], dtype=np.int64),
        after=np.array([at.get(after, -1) if after is not None else -1 for _, after in scenes], dtype=np.int64),
    )
    return Ranked(rows, score(features, policy, meaning))


def _receipts(world: World, owner: EntityId, choice: Choice, ranked: Ranked) -> list[Receipt]:
    """How each of the chosen and of those that just missed came out, in the owner's words."""
    shown = [(offer, reason, True) for offer, reason in choice.chosen] + [(offer, reason, False) for offer, reason in choice.just_missed()]
    names = names_for(world, owner, (entity for offer, _, _ in shown for entity in remembered(offer.entry)))
    return [
        Receipt(
            source=offer.entry.id, text=_first_words(recount(offer.entry, names)[0]), chosen=chosen, reason=reason, tokens=offer.tokens,
            **ranked.parts(offer.row),
        )
        for offer, reason, chosen in shown
    ]


def _first_words(text: str) -> str:
    return text if len(text) <= _FIRST_WORDS else text[: _FIRST_WORDS - 1].rstrip() + "\u2026"
