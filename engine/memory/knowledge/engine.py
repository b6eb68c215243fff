"""Knowledge of a running world: settled when it is new, promoted and swept as time passes (DESIGN 10).

`settle` and `propose` run beside play and write nothing. What writes takes a connection, runs inside one transaction and is called between
two rounds, in a fixed order.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial

from engine.events import Listener
from engine.llm.protocol import Embedder
from engine.llm.router import Router
from engine.memory.embedding import Vectors
from engine.memory.knowledge import lifecycle, promoting
from engine.memory.knowledge.checking import Checker
from engine.memory.knowledge.lifecycle import Uses
from engine.memory.knowledge.placing import Origin, Placed, place
from engine.memory.knowledge.promotion import Promoter, Promotion
from engine.memory.knowledge.settler import Settler
from engine.memory.knowledge.settling import Settlement
from engine.records.knowledge import Knowledge, KnowledgeId, NewKnowledge, PromotionRun
from engine.records.policies import Policies
from engine.records.world import World
from engine.storage.store import Store

__all__ = ["KnowledgeEngine", "Origin", "Placed", "Promotion", "Settlement", "Uses"]


class KnowledgeEngine:
    """What is done to knowledge without a hand."""

    def __init__(self, store: Store, router: Router, embedder: Embedder, policies: Policies, emit: Listener) -> None:
        self._store, self._embedder, self._policies = store, embedder, policies
        checker = Checker(router, emit)
        self._settler = Settler(store, embedder, checker, policies.promotion)
        self._promoter = Promoter(store, embedder, checker, policies.promotion)

    # new knowledge
    async def settle(self, world: World, news: Sequence[NewKnowledge], vectors: Sequence[Vectors] = ()) -> Settlement:
        """What new pieces come to beside what their holders know, not written yet: merged, added, or added in the place of what they
        end. `vectors` are of their texts without tokens, when they are embedded already.

        Raises `ModelError`, `CapReachedError`: then nothing of it may be written.
        """
        return await self._settler.settle(world, news, vectors)

    def place(self, conn: sqlite3.Connection, settlement: Settlement, origin: Origin) -> Placed:
        """Write a settlement. Raises `ChangedError` when what it was made of has changed since: then it has to be settled anew."""
        return place(conn, self._store, settlement, origin, self._embedder.name, self._embedder.dim)

    # promotion
    async def promotion_due(self, world: World) -> bool:
        """Whether it is time for a promotion, by the world's clock and by what there is to promote."""
        return await self._promoter.due(world)

    async def propose(self, world: World) -> Promotion | None:
        """What a promotion would do now, due or not; None when there is nothing to look at. Raises nothing that a model raises."""
        return await self._promoter.propose(world)

    def commit(self, conn: sqlite3.Connection, world: World, promotion: Promotion) -> PromotionRun:
        """Write a promotion and its run. What has changed since it was proposed waits for the next."""
        return promoting.commit(conn, self._store, world, promotion)

    # lifecycle
    async def sweep_due(self, world: World) -> bool:
        """Whether it is time to let sink what is not used."""
        policy = self._policies.lifecycle
        return await self._store.db.read(partial(lifecycle.sweep_due, store=self._store, world=world, policy=policy))

    def sweep(self, conn: sqlite3.Connection, world: World) -> tuple[Knowledge, ...]:
        """Let sink what is not used, by one tier. Returns what sank."""
        return lifecycle.sweep(conn, self._store, world, self._policies.lifecycle)

    def reinforce(self, conn: sqlite3.Connection, found: Mapping[KnowledgeId, Uses]) -> None:
        """Note what entered the prompts of committed beats, and lift it by one tier."""
        lifecycle.reinforce(conn, self._store, found)
