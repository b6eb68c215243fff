"""What minds know, as recall holds it between prompts: read once, and anew when knowledge or membership has changed."""

import math
import re
import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from engine.llm.protocol import Embedder
from engine.llm.stems import STOP_WORDS, stem
from engine.memory.embedding import Vectors, from_bytes
from engine.memory.knowledge.shadows import unshadowed
from engine.memory.text import bare
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, KnowledgeId, Tier
from engine.records.world import Entity
from engine.storage.store import Store

NEAR: Final[tuple[Tier, ...]] = ("hot", "warm")
"""Tiers that come to mind by themselves."""
SOUGHT: Final[tuple[Tier, ...]] = (*NEAR, "cold")
"""Tiers that a question reaches, too."""
_ROWS: Final = 20_000
"""Rows that all holdings may have together: about 100 MB with their vectors."""
_LATE: Final = 400
"""Rows without a vector that are looked up once more at each recall."""
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_USE: Final = ("retrieval_count", "last_retrieved_at", "activation", "strength", "tier")
"""What being used changes of a row."""


class Holding(NamedTuple):
    """What one mind knows now."""

    rows: tuple[Knowledge, ...] = ()
    """In order of writing."""
    words: tuple[frozenset[str], ...] = ()
    """The stems of each row's words that say something."""
    vectors: Vectors | None = None
    """A row each, zeros where there is none; None when there are none at all."""
    rarity: Mapping[str, float] = {}
    """Of each stem: the fewer rows have it, the higher."""
    late: tuple[KnowledgeId, ...] = ()
    """Rows that have no vector yet: they are found by words."""


@dataclass(slots=True)
class Holdings:
    """The holdings of those asked for last. Only reads."""

    store: Store
    embedder: Embedder
    _held: OrderedDict[tuple[EntityId, tuple[str, ...]], Holding] = field(default_factory=OrderedDict)
    _size: int = 0
    _changes: int = 0
    """How often something was forgotten: what was read before does not come back after."""

    def forget(self) -> None:
        """Drop all: a piece that changes hands may be anybody's."""
        self._changes += 1
        self._held.clear()
        self._size = 0

    def renew(self, rows: Iterable[Knowledge]) -> None:
        """Take in how often rows have been used by now; nothing else of them has changed."""
        self._changes += 1
        by_id = {row.id: row for row in rows}
        for key, holding in self._held.items():
            if any(row.id in by_id for row in holding.rows):
                self._held[key] = holding._replace(rows=tuple(_renewed(row, by_id.get(row.id)) for row in holding.rows))

    def held(self, entity: Entity) -> Holding | None:
        """What is held of a mind in its present factions; None when it has to be read."""
        return self._held.get((entity.id, entity.factions))

    async def of(self, entity: Entity, tiers: Collection[Tier] = NEAR) -> Holding:
        """What a mind knows now. Raises `SaveError`."""
        key, changes = (entity.id, entity.factions), self._changes
        if tiers == NEAR and key in self._held:
            self._held.move_to_end(key)
            held = self._held[key]
            return await self._completed(key, held) if held.late else held
        rows, blobs = await self.store.db.read(lambda conn: self._read(conn, entity, tiers))
        holding = holding_of(rows, blobs, self.embedder.dim)
        if tiers == NEAR and changes == self._changes and key not in self._held:
            self._held[key] = holding
            self._size += len(rows)
            while self._size > _ROWS and len(self._held) > 1:
                self._size -= len(self._held.popitem(last=False)[1].rows)
        return holding

    async def _completed(self, key: tuple[EntityId, tuple[str, ...]], held: Holding) -> Holding:
        """A holding with the vectors that some of its rows have got since it was read."""
        changes, late, model = self._changes, held.late[:_LATE], self.embedder.name
        blobs = await self.store.db.read(lambda conn: self.store.embeddings.of_knowledge(conn, late, model))
        if not blobs:
            return held
        vectors = np.zeros((len(held.rows), self.embedder.dim), dtype=np.float32) if held.vectors is None else held.vectors.copy()
        whole = held._replace(vectors=vectors, late=_filled(vectors, held.rows, blobs, held.late))
        if changes == self._changes:
            self._held[key] = whole
        return whole

    def _read(
        self, conn: sqlite3.Connection, entity: Entity, tiers: Collection[Tier]
    ) -> tuple[list[Knowledge], dict[KnowledgeId, bytes]]:
        rows = unshadowed(self.store.knowledge.held_by(conn, entity.id, entity.factions, tiers=tiers))
        return rows, self.store.embeddings.of_knowledge(conn, [row.id for row in rows], self.embedder.name)


def holding_of(rows: Sequence[Knowledge], blobs: Mapping[KnowledgeId, bytes], dim: int) -> Holding:
    """Rows with what ranking needs of them."""
    if not rows:
        return Holding()
    words = tuple(stems(bare(row.content)) for row in rows)
    many = Counter(word for each in words for word in each)
    vectors = np.zeros((len(rows), dim), dtype=np.float32)
    late = _filled(vectors, rows, blobs, [row.id for row in rows])
    rarity = {word: math.log1p(len(rows) / count) for word, count in many.items()}
    return Holding(tuple(rows), words, vectors if len(late) < len(rows) else None, rarity, late)


def _filled(
    vectors: Vectors, rows: Sequence[Knowledge], blobs: Mapping[KnowledgeId, bytes], late: Sequence[KnowledgeId]
) -> tuple[KnowledgeId, ...]:
    """Put vectors into their rows. Returns which of `late` have none still."""
    for at, row in enumerate(rows):
        if len(blob := blobs.get(row.id, b"")) == 4 * vectors.shape[1]:  # another length is another model's: never compared
            vectors[at] = from_bytes(blob)
    return tuple(key for key in late if len(blobs.get(key, b"")) != 4 * vectors.shape[1])


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The stems of the words of a text that say something."""
    return frozenset(stem(word) for word in _WORD.findall(text.casefold()) if len(word) > 2 and word not in STOP_WORDS)


def _renewed(row: Knowledge, now: Knowledge | None) -> Knowledge:
    return row if now is None else row.model_copy(update={name: getattr(now, name) for name in _USE})
