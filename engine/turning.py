"""An open game that is put to another moment of its save: the world in memory, and all that is held of rows, follow (DESIGN 16)."""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from engine.beside import Beside
from engine.memory.compression.engine import CompressionEngine
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import EmbeddingJob
from engine.storage.store import Store
from engine.turns.simulation import SimulationManager

T = TypeVar("T")


class Turning:
    """What the journal's desk asks of the game around it."""

    def __init__(
        self, store: Store, simulation: SimulationManager, beside: Beside, recall: RecallEngine, handoff: HandoffEngine,
        compression: CompressionEngine, job: EmbeddingJob,
    ) -> None:
        self._store, self._simulation, self._beside, self._recall = store, simulation, beside, recall
        self._handoff, self._compression, self._job = handoff, compression, job

    def still(self) -> AbstractAsyncContextManager[None]:
        """While nothing is played or under way beside play. Raises `CommandError` while a round is played."""
        return self._beside.still()

    async def turn(self, run: Callable[[sqlite3.Connection], T]) -> T:
        """Write in one transaction what leads to another moment, and go on from the world as it is then."""
        return await self._simulation.turn(run)

    async def turned(self) -> None:
        """Forget all that is held of rows. Keys may stand for other rows now. What came back without a vector gets one beside play."""
        for entity in self._simulation.world.entities:
            self._recall.forget(entity)
        self._recall.forget_knowledge()
        self._compression.forget()
        self._handoff.review.forget()
        self._handoff.review_mode = (await self._store.db.read(self._store.worlds.policies)).handoff.review
        if await self._job.missing():
            self._beside.start(self._embed())

    async def _embed(self) -> None:
        await self._job.run()
