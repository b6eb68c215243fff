"""What a game is made of, and how its parts get hold of each other."""

import time

from engine.desk import MemoryDesk
from engine.errors import SaveError
from engine.events import EngineEvent, HandoffCommitted, Listener
from engine.llm.caps import Caps
from engine.llm.embedders import open_embedder_or_stand_in
from engine.llm.meter import Meter
from engine.llm.metered import Metered
from engine.llm.observed import CallSink, Observed
from engine.llm.protocol import Embedder, LanguageModel
from engine.llm.router import Router
from engine.llm.storyteller import Storyteller
from engine.memory.compression.engine import CompressionEngine
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import EmbeddingJob
from engine.records.policies import Policies
from engine.records.world import World
from engine.settings import CapSettings, load_settings
from engine.storage.store import Store
from engine.turns.actor import Actor
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee
from engine.turns.simulation import SimulationManager

__all__ = ["Parts", "assemble"]


class Parts:
    """The parts of one game over an open save."""

    def __init__(
        self, store: Store, world: World, policies: Policies, embedder: Embedder, sink: CallSink | None,
        listener: Listener | None,
    ) -> None:
        self.store, self.policies, self.embedder = store, policies, embedder
        self.meter = Meter()
        self.listeners: list[Listener] = [listener] if listener else []
        model: LanguageModel = Metered(Storyteller(), self.meter, Caps(CapSettings(), self.meter))
        self.router = Router(Observed(model, sink) if sink else model)
        self.recall = RecallEngine(store, embedder, policies)
        self.handoff = HandoffEngine(store, self.router, embedder, policies, self.emit, time.perf_counter)
        self.compression = CompressionEngine(
            store, self.router, embedder, policies, self.emit, time.perf_counter, self.handoff
        )
        self.actor = Actor(store, self.router, self.recall, policies)
        self.simulation = SimulationManager(
            store, world, self.actor, Decoder(self.router), Referee(self.router), self.handoff, self.emit,
            self.compression,
        )
        self.desk = MemoryDesk(store, lambda: self.simulation.world, self.recall, embedder, self.handoff, policies, self.emit)
        self.job = EmbeddingJob(store, embedder, self.emit, self.recall.forget)

    def emit(self, event: EngineEvent) -> None:
        """Tell everybody who listens. What recall holds of a mind is read anew when memories have left it."""
        if isinstance(event, HandoffCommitted) and event.gone_ids:
            self.recall.forget(event.entity)
        for listener in self.listeners:
            listener(event)


async def assemble(store: Store, sink: CallSink | None, listener: Listener | None) -> Parts:
    """The parts of the game in an open save, which is closed when that fails. Raises `SaveError`, `ModelError`, `SettingsError`."""
    try:
        try:
            world = await store.db.read(store.worlds.load)
        except (ValueError, KeyError, TypeError) as error:
            raise SaveError(f"{store.db.path} is damaged: its world cannot be read.", "Take an earlier copy of it.") from error
        policies = await store.db.read(store.worlds.policies)
        known = await store.db.read(store.embeddings.models)
        embedder = await open_embedder_or_stand_in(load_settings().models.embed, {name: dim for name, (dim, _) in known.items()})
        return Parts(store, world, policies, embedder, sink, listener)
    except BaseException:
        await store.close()
        raise
