"""New knowledge settled beside what its holders know: read, embedded, judged. Writes nothing (DESIGN 9, de-duplicate)."""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from engine.llm.protocol import Embedder
from engine.memory.embedding import TextVectors, Vectors, from_bytes
from engine.memory.knowledge.bearing import Holder, Kept, Nearness, by_words
from engine.memory.knowledge.checking import Checker
from engine.memory.knowledge.nearness import thresholds
from engine.memory.knowledge.settling import Settlement, Settling
from engine.memory.text import bare
from engine.records.knowledge import KnowledgeId, NewKnowledge, PromotionPolicy
from engine.records.world import World
from engine.storage.knowledge_bearing import Outline, outlines
from engine.storage.store import Store

_MOST_MADE: Final = 500
"""Vectors that are made for what is held without one yet: the rest is found by words and topic until it has been embedded."""


class Settler:
    """Settles new knowledge. `Settlement`s are written by `placing.place`, between two rounds."""

    def __init__(self, store: Store, embedder: Embedder, checker: Checker, policy: PromotionPolicy) -> None:
        self._store, self._embedder, self._checker, self._policy = store, embedder, checker, policy
        self._kept, self._reading = Kept(), asyncio.Lock()

    async def settle(self, world: World, news: Sequence[NewKnowledge], vectors: Sequence[Vectors] = ()) -> Settlement:
        """What new pieces come to, in this order. `vectors` are theirs, when they are embedded already (their text without tokens).

        Each is held against what its own holder knows, never against what somebody else does. Raises `ModelError`, `CapReachedError`.
        """
        if not news:
            return Settlement()
        texts = TextVectors(self._embedder)
        own = list(vectors) if len(vectors) == len(news) else list(await texts.of([bare(new.content) for new in news]))
        limits = thresholds(self._policy, self._embedder)
        held = await self._store.db.read(partial(_held, holders=list(dict.fromkeys((new.scope, new.scope_id) for new in news))))
        known: dict[KnowledgeId, Vectors] = {}
        bearing: dict[int, frozenset[KnowledgeId]] = {}
        for holder, rows in held.items():
            theirs = {at: (new, own[at]) for at, new in enumerate(news) if (new.scope, new.scope_id) == holder}
            near = await self._embedded(holder, rows, texts)
            found = await asyncio.to_thread(_bearing, rows, near, theirs, limits.conflict)
            bearing |= found
            known |= near.vectors({key for keys in found.values() for key in keys})
        keys = {key for each in bearing.values() for key in each}
        there = sorted(await self._store.db.read(partial(self._store.knowledge.get, keys=keys)), key=lambda row: row.seq)
        settling = Settling(there, known, limits, partial(self._checker.judge, world))
        for at, (new, vector) in enumerate(zip(news, own, strict=True)):
            await settling.place(new, vector, bearing[at])
            await asyncio.sleep(0)  # many statements take a while, and others have things to do
        return settling.done(max((row.seq for rows in held.values() for row in rows), default=0))

    async def _embedded(self, holder: Holder, rows: Sequence[Outline], texts: TextVectors) -> Nearness:
        """Vectors of what a holder knows: at hand, from the save, or made where there are none yet."""
        async with self._reading:  # what one finds at hand another must not take away meanwhile
            return await self._renewed(holder, rows, texts)

    async def _renewed(self, holder: Holder, rows: Sequence[Outline], texts: TextVectors) -> Nearness:
        unread = await asyncio.to_thread(self._kept.missing, holder, rows)
        find = partial(self._store.embeddings.of_knowledge, keys=[row.id for row in unread], model=self._embedder.name)
        more = {key: from_bytes(blob) for key, blob in (await self._store.db.read(find) if unread else {}).items()}
        missing = [row for row in unread if row.id not in more][-_MOST_MADE:]
        made = await texts.of([row.plain for row in missing])
        more |= {row.id: vector for row, vector in zip(missing, made, strict=True)}
        return await asyncio.to_thread(self._kept.renewed, holder, rows, more)


def _held(conn: sqlite3.Connection, holders: Sequence[Holder]) -> dict[Holder, list[Outline]]:
    return {(scope, scope_id): outlines(conn, scope, scope_id) for scope, scope_id in holders}


def _bearing(
    rows: Sequence[Outline], near: Nearness, news: Mapping[int, tuple[NewKnowledge, Vectors]], least: float
) -> dict[int, frozenset[KnowledgeId]]:
    """What of all that a holder knows can bear on each new piece."""
    return {at: frozenset((*by_words(rows, new), *near.nearest(new, vector, least))) for at, (new, vector) in news.items()}
