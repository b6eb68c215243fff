"""What a game is made of, and how its parts get hold of each other."""

import time

from engine.backing import Backing
from engine.beside import Beside
from engine.desk import MemoryDesk
from engine.errors import SaveError
from engine.events import EngineEvent, FactionsChanged, HandoffCommitted, KnowledgeChanged, Listener, Trouble
from engine.history_desk import HistoryDesk
from engine.knowledge_desk import KnowledgeDesk
from engine.llm.cassette import Playback, Recorder, recorded, recorded_embedder, replayed, replayed_embedder
from engine.llm.embedders import open_embedder_or_stand_in
from engine.llm.observed import Observed
from engine.llm.opening import Models
from engine.llm.protocol import Embedder
from engine.llm.router import Router
from engine.memory.compression.engine import CompressionEngine
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.knowledge.engine import KnowledgeEngine
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import EmbeddingJob
from engine.memory.sessions.collapse import Collapser
from engine.model_desk import ModelDesk
from engine.model_proposals import Due
from engine.records.base import EntityId
from engine.records.hints import ModelHints
from engine.records.policies import Policies
from engine.records.rounds import OpenRound
from engine.records.world import World
from engine.session_desk import SessionDesk
from engine.settings import load_or_stand_in, load_settings
from engine.setup import Setup
from engine.storage.store import Store
from engine.turning import Turning
from engine.turns.actor import Actor
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee
from engine.turns.schedule import acting
from engine.turns.simulation import SimulationManager

__all__ = ["Parts", "assemble"]


class Parts:
    """The parts of one game over an open save."""

    def __init__(
        self, store: Store, world: World, policies: Policies, embedder: Embedder | None, hints: ModelHints, setup: Setup,
        listener: Listener | None, unfinished: OpenRound | None,
    ) -> None:
        """Without an `embedder` vectors come from the tape of `setup`. `unfinished` is the round that the save is in the middle of."""
        self.store, self.policies, self.setup = store, policies, setup
        self.listeners: list[Listener] = [listener] if listener else []
        self.models = ModelDesk(self.emit, hints=hints, setup=setup, due=self._due, apply=self._route, save=store.db.path)
        if isinstance(setup.tape, Recorder):
            setup.tape.tell = lambda text: self.emit(Trouble(text=text))
        if setup.tape is not None:
            setup.tape.begin(world, self.models.meter)
        self.embedder = embedder = _taped(embedder, setup)
        self.held: frozenset[EntityId] = frozenset()
        """Who acts by a person's hand only."""
        self.router = Router(self.models.models.default)
        self._route(self.models.models)
        self.recall = RecallEngine(store, embedder, policies)
        self.handoff = HandoffEngine(store, self.router, embedder, policies, self.emit, time.perf_counter)
        self.compression = CompressionEngine(
            store, self.router, embedder, policies, self.emit, time.perf_counter, self.handoff
        )
        self.actor = Actor(store, self.router, self.recall, policies)
        self.simulation = SimulationManager(
            store, world, self.actor, Decoder(self.router), Referee(self.router), self.handoff, self.emit,
            self.compression, policies.sessions, unfinished,
        )
        self.desk = MemoryDesk(store, lambda: self.simulation.world, self.recall, embedder, self.handoff, policies, self.emit)
        self.knowledge_engine = KnowledgeEngine(store, self.router, embedder, policies, self.emit)
        self.knowledge = KnowledgeDesk(
            store, lambda: self.simulation.world, self.knowledge_engine, embedder, policies, self.emit, self.simulation.set_factions
        )
        collapser = Collapser(store, self.router, embedder, self.knowledge_engine, self.emit)
        self.beside = Beside(store, lambda: self.simulation.world, collapser, self.knowledge_engine, self.emit)
        self.sessions = SessionDesk(
            store, lambda: self.simulation.world, policies, self.emit, self.beside, collapser.foretold
        )
        self.backing = Backing(store.db.path, self.emit) if setup.backups and not store.db.read_only else None
        self.job = EmbeddingJob(store, embedder, self.emit, self.recall.forget)
        turning = Turning(store, self.simulation, self.beside, self.recall, self.handoff, self.compression, self.job)
        self.history = HistoryDesk(store, lambda: self.simulation.world, turning, self.emit)

    def emit(self, event: EngineEvent) -> None:
        """Tell everybody who listens. What recall holds is read anew when memories have left a mind, and when knowledge or who may know
        it has changed."""
        if isinstance(event, HandoffCommitted) and event.gone_ids:
            self.recall.forget(event.entity)
        elif isinstance(event, KnowledgeChanged | FactionsChanged):
            self.recall.forget_knowledge()
        for listener in tuple(self.listeners):
            listener(event)

    async def ready(self) -> None:
        """Know how much the models read, before anything is measured by it. Nothing is asked when all comes from a tape."""
        if not isinstance(self.setup.tape, Playback):
            await self.models.refresh()
            await self.models.ready()

    def _route(self, models: Models) -> None:
        """Let these models answer from the next call on."""
        default, routes, tape = models.default, dict(models.routes), self.setup.tape
        if isinstance(tape, Playback):
            default, routes = replayed(tape)
        if (sink := self.setup.sink) is not None:
            default, routes = Observed(default, sink), {task: Observed(model, sink) for task, model in routes.items()}
        if isinstance(tape, Recorder):
            default, routes = recorded(default, routes, tape)
        self.router.reroute(default, routes)

    async def _due(self) -> Due:
        world = self.simulation.world
        acts = [entity for entity in acting(world) if entity not in self.held]
        prompt = (await self.actor.draft(world, acts[0], explained=False)).report.tokens if acts else 0
        handovers = await self.handoff.all_due(world)
        return Due(len(acts), len(handovers), prompt, max((report.tokens for report in handovers), default=0))


async def assemble(store: Store, setup: Setup, listener: Listener | None) -> Parts:
    """The parts of the game in an open save, which is closed when that fails. Raises `SaveError`, `ModelError`, `SettingsError`."""
    try:
        try:
            world, unfinished = await store.db.read(lambda conn: (store.worlds.load(conn), store.story.open_round(conn)))
        except (ValueError, KeyError, TypeError) as error:
            raise SaveError(f"{store.db.path} is damaged: its world cannot be read.", "Take an earlier copy of it.") from error
        policies, hints = await store.db.read(lambda conn: (store.worlds.policies(conn), store.worlds.hints(conn)))
        return Parts(store, world, policies, await _embedder(store, setup), hints, setup, listener, unfinished)
    except BaseException:
        await store.close()
        raise


async def _embedder(store: Store, setup: Setup) -> Embedder | None:
    """The embedder of the settings; None when vectors come from a tape."""
    if isinstance(setup.tape, Playback):
        return None
    known = await store.db.read(store.embeddings.models)
    settings = load_or_stand_in()[0] if setup.stand_in else load_settings()
    return await open_embedder_or_stand_in(settings.models.embed, {name: dim for name, (dim, _) in known.items()})


def _taped(embedder: Embedder | None, setup: Setup) -> Embedder:
    if isinstance(setup.tape, Playback):
        return replayed_embedder(setup.tape)
    assert embedder is not None
    return recorded_embedder(embedder, setup.tape) if isinstance(setup.tape, Recorder) else embedder

