"""New knowledge settled beside what its holders know: read, embedded, judged. Writes nothing (DESIGN 9, de-duplicate)."""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from engine.llm.protocol import Embedder
from engine.memory.embedding import TextVectors, Vectors, from_bytes
from engine.memory.knowledge.checking import Checker
from engine.memory.knowledge.nearness import thresholds
from engine.memory.knowledge.settling import Settlement, Settling, bears_on
from engine.memory.text import bare
from engine.records.knowledge import Knowledge, KnowledgeId, NewKnowledge, PromotionPolicy
from engine.records.world import World
from engine.storage.store import Store

EVERYTHING: Final = 1_000_000
"""More rows than any holder has."""


class Held(NamedTuple):
    """What holders know that bears on something, with the vectors there are."""

    rows: tuple[Knowledge, ...]
    vectors: Mapping[KnowledgeId, Vectors]
    newest: int
    """The highest `seq` of all that they know."""


class Settler:
    """Settles new knowledge. `Settlement`s are written by `placing.place`, between two rounds."""

    def __init__(self, store: Store, embedder: Embedder, checker: Checker, policy: PromotionPolicy) -> None:
        self._store, self._embedder, self._checker, self._policy = store, embedder, checker, policy

    async def settle(self, world: World, news: Sequence[NewKnowledge], vectors: Sequence[Vectors] = ()) -> Settlement:
        """What new pieces come to, in this order. `vectors` are theirs, when they are embedded already (their text without tokens).

        Each is held against what its own holder knows, never against what somebody else does. Raises `ModelError`, `CapReachedError`.
        """
        if not news:
            return Settlement()
        held = await self._store.db.read(partial(self._held, news=news))
        texts = TextVectors(self._embedder)
        own = list(vectors) if len(vectors) == len(news) else list(await texts.of([bare(new.content) for new in news]))
        known = await self._embedded(held, texts)
        settling = Settling(held.rows, known, thresholds(self._policy, self._embedder), partial(self._checker.judge, world))
        for new, vector in zip(news, own, strict=True):
            await settling.place(new, vector)
            await asyncio.sleep(0)  # many statements take a while, and others have things to do
        return settling.done(held.newest)

    def _held(self, conn: sqlite3.Connection, news: Sequence[NewKnowledge]) -> Held:
        rows: list[Knowledge] = []
        newest = 0
        for scope, scope_id in dict.fromkeys((new.scope, new.scope_id) for new in news):
            found = self._store.knowledge.find(conn, scope=scope, scope_id=scope_id, holding=True, limit=EVERYTHING)
            newest = max(newest, found[-1].seq if found else 0)
            rows += [row for row in found if bears_on(row, news)]
        blobs = self._store.embeddings.of_knowledge(conn, [row.id for row in rows], self._embedder.name)
        return Held(tuple(rows), {key: from_bytes(blob) for key, blob in blobs.items()}, newest)

    async def _embedded(self, held: Held, texts: TextVectors) -> dict[KnowledgeId, Vectors]:
        """Vectors of what is held, made where there are none yet."""
        missing = [row for row in held.rows if row.id not in held.vectors]
        made = await texts.of([bare(row.content) for row in missing])
        return {**held.vectors, **{row.id: vector for row, vector in zip(missing, made, strict=True)}}
