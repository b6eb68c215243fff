"""The simulation loop: handoffs, then one beat for each active agent, each beat one transaction."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from engine.errors import BadOutputError, CapReachedError, CommandError, ModelError, OthermindsError, ProviderError, Trouble
from engine.events import (
    BeatEnded,
    BeatFailed,
    BeatStarted,
    EngineEvent,
    FactionsChanged,
    Listener,
    ModelNote,
    Paused,
    ProseStreamed,
    ProseTakenBack,
    RoundEnded,
    RoundStarted,
)
from engine.llm.fitting import shorter
from engine.memory.compression.engine import CompressionEngine
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.knowledge import membership
from engine.memory.sessions.filling import Filling
from engine.records.base import EntityId, Record
from engine.records.intents import Intent, Outcome
from engine.records.knowledge import FactionChange
from engine.records.memory import HandoffRun
from engine.records.prompts import Prompt
from engine.records.rounds import OpenRound
from engine.records.sessions import SessionPolicy
from engine.records.world import SetAttribute, World
from engine.storage.store import Store
from engine.turns.actor import Actor
from engine.turns.beat import Beat, Happening, Written, alias_by_hand, plan, write
from engine.turns.commands import HELP, parse
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee, Verdict
from engine.turns.schedule import acting, due_to_wake, idle_until
from engine.turns.uses import Uses
from engine.world.access import is_active
from engine.world.clock import advance
from engine.world.rules import apply

_THE_SAME_FOR_ALL: frozenset[Trouble] = frozenset({"no_key", "unknown_model", "unreachable", "rate_limited", "overloaded"})
"""Troubles of a provider that everybody who acts after would meet too: the round ends, and a person or some time is needed."""
T = TypeVar("T")

_DEFAULT = SessionPolicy()
_BY_HAND = "by hand"
"""Template name of a beat that a person wrote."""


class RoundReport(Record):
    """What a round did."""

    round: int
    beats: int
    failed_beats: int
    handoffs: int
    failed_handoffs: int
    paused: str = ""
    """Why play pauses before a model call, in words; empty when it does not."""


class _Answer(NamedTuple):
    """What an agent answered at a moment whose beat was not finished."""

    world: World
    entity: EntityId
    prompt: Prompt
    prose: str


class SimulationManager:
    """Runs rounds over one world. Holds the world as of the last commit."""

    def __init__(
        self, store: Store, world: World, actor: Actor, decoder: Decoder, referee: Referee, handoff: HandoffEngine, emit: Listener,
        compression: CompressionEngine | None = None, sessions: SessionPolicy = _DEFAULT, unfinished: OpenRound | None = None,
    ) -> None:
        """`unfinished` is the round that the save is in the middle of."""
        self._store, self.world, self._emit = store, world, emit
        self._actor, self._decoder, self._referee, self._handoff = actor, decoder, referee, handoff
        self._compression, self._uses, self._sessions = compression, Uses(store, emit, actor.renew), sessions
        self.played: frozenset[EntityId] = frozenset()
        """Who is under a person's hand: with them agents have sessions, unless the world says otherwise."""
        self._writer = asyncio.Lock()
        self._open = unfinished
        """The round that was begun and is not finished."""
        self._kept_open = unfinished is not None
        """Whether the save says that a round is under way."""
        self._kept: _Answer | None = None

    async def understand(self, actor: EntityId, text: str) -> list[Intent]:
        """What a person means by `text`: commands and quoted speech by rule, prose by the decoder. Raises `CommandError`, `ModelError`."""
        intents = parse(self.world, actor, text)
        if intents:
            return intents
        try:
            return await self._decoder.decode(self.world, actor, text)
        except BadOutputError as error:
            short = text if len(text) <= 60 else text[:57] + "..."
            raise CommandError(f'"{short}" was not understood.', f"Write it as a sentence, or use: {HELP}.") from error

    async def act(self, entity: EntityId, prose: str, intents: Sequence[Intent]) -> bool:
        """One beat of `entity` outside any round, for what takes no time. False when it failed and left no trace. Raises
        `CapReachedError`."""
        return await self._beat(entity, (prose, intents)) is None

    async def step(
        self, inputs: Mapping[EntityId, tuple[str, Sequence[Intent]]] | None = None, held: frozenset[EntityId] = frozenset()
    ) -> RoundReport:
        """One round. `inputs` gives the prose and intents of entities under a hand: they act first. Those in `held` act only through
        `inputs`. Cancelling is safe at any moment: what was committed stands, the running beat leaves no trace. A round that was stopped or
        paused is gone on with by the next step, also when the save was closed or the process killed meanwhile: those who had no turn yet
        have it then, and no round is used up."""
        try:
            return await self._round(inputs or {}, held)
        finally:
            await self._uses.flush()

    async def _round(self, given: Mapping[EntityId, tuple[str, Sequence[Intent]]], held: frozenset[EntityId]) -> RoundReport:
        this = self._open or await self._begin_round()
        runs: tuple[HandoffRun, ...] = ()
        beats, failed, paused = 0, 0, ""
        try:
            if this.waiting is None:
                await self._wake_sleepers()
                runs = await self._handoff.run_all(self.world)
                if self._compression is not None:
                    await self._compression.run_all(self.world)
            order = [entity for entity in acting(self.world, given) if this.waiting is None or entity in this.waiting or entity in given]
            for number, entity in enumerate(order):
                self._open = this = this.model_copy(update={"waiting": tuple(order[number:])})
                if not is_active(self.world.entities[entity]) or (entity in held and entity not in given):
                    continue
                rest = tuple(other for other in order[number + 1 :] if other in given or other not in held)
                trouble = await self._beat(entity, given.get(entity), this.model_copy(update={"waiting": rest}))
                beats, failed = beats + (trouble is None), failed + (trouble is not None)
                if isinstance(trouble, ProviderError) and trouble.trouble in _THE_SAME_FOR_ALL:
                    paused = self._pause("", trouble)
                    break
                this = this.model_copy(update={"failed": this.failed + (trouble is not None)})
        except (CapReachedError, ProviderError) as error:
            paused = self._pause(error.cap if isinstance(error, CapReachedError) else "", error)
        if not paused:
            await self._end_round(this)
        self._emit(RoundEnded(round=self.world.round, now=self.world.now))
        lost = sum(run.status == "failed" for run in runs)
        return RoundReport(
            round=self.world.round, beats=beats, failed_beats=failed, handoffs=len(runs), failed_handoffs=lost, paused=paused
        )

    def _pause(self, cap: str, error: OthermindsError) -> str:
        self._emit(Paused(cap=cap, reason=str(error), advice=error.advice))
        return str(error)

    async def _begin_round(self) -> OpenRound:
        begun, now = OpenRound(began=self.world.now), idle_until(self.world) or self.world.now

        def run(conn: sqlite3.Connection, world: World) -> Written:
            after = world.model_copy(update={"round": world.round + 1, "now": now})
            self._store.worlds.update(conn, world, after)
            self._store.story.add_round(conn, after.round, now)
            self._store.story.set_open_round(conn, begun)
            self._store.journal.note(conn, "round", f"Round {after.round} began")
            return Written(after, ())

        await self._commit(run, lambda: self._now_open(begun))
        self._emit(RoundStarted(round=self.world.round, now=self.world.now))
        return begun

    async def _end_round(self, this: OpenRound) -> None:
        """Nobody waits for a turn any more. A round in which nothing took time lasts a minute: else a world of small gestures would stand
        still for ever."""
        stands = self.world.now == this.began and not this.failed

        def run(conn: sqlite3.Connection, world: World) -> Written:
            after = world.model_copy(update={"now": advance(world.now, 1)}) if stands else world
            self._store.worlds.update(conn, world, after)
            self._store.story.set_open_round(conn, None)
            self._store.journal.note(conn, "upkeep", "A minute passed" if stands else "The round ended")
            return Written(after, ())

        if stands or self._kept_open:
            await self._commit(run, lambda: self._now_open(None))
        self._open = None

    def _now_open(self, this: OpenRound | None) -> None:
        self._open, self._kept_open = this, this is not None

    async def set_alias(self, viewer: EntityId, target: EntityId, alias: str | None) -> None:
        """Change by hand what `viewer` calls `target`; None removes it. May come while a beat is running."""

        def run(conn: sqlite3.Connection, world: World) -> Written:
            return alias_by_hand(self._store, conn, world, viewer, target, alias)

        await self._commit(run)

    async def set_factions(self, entity: EntityId, factions: Sequence[str]) -> tuple[FactionChange, ...]:
        """Let an entity be in these factions from now on. May come while a beat is running. Returns those left and those joined."""
        done: list[FactionChange] = []

        def run(conn: sqlite3.Connection, world: World) -> Written:
            after, changes = membership.change(conn, self._store, world, entity, factions)
            done[:] = changes
            return Written(after, (FactionsChanged(changes=changes),) if changes else ())

        await self._commit(run)
        return tuple(done)

    async def turn(self, run: Callable[[sqlite3.Connection], T]) -> T:
        """Write what leads to another moment of the save, and take the world as it is then. What was begun is forgotten."""
        async with self._writer:
            done, world, this = await self._store.db.write(
                lambda conn: (run(conn), self._store.worlds.load(conn), self._store.story.open_round(conn))
            )
            self.world, self._kept = world, None
            self._now_open(this)
            self._uses.forget()
        return done

    async def _wake_sleepers(self) -> None:
        for sleeper in due_to_wake(self.world):
            place = self.world.entities[sleeper].place
            woken = apply(self.world, SetAttribute(entity=sleeper, name="status", value="awake"))
            intent = Intent(type="action", verb="wake", text="", summary="woke", actor=sleeper, place=place)
            verdict = Verdict(intent, Outcome(is_valid=True), 0, (), woken)
            happening = Happening(verdict, self.world.now, place, ((sleeper, "full"),))
            await self._write(Beat(sleeper, "", "schedule", self.world, woken, (happening,)))

    async def _beat(
        self, entity: EntityId, given: tuple[str, Sequence[Intent]] | None, then: OpenRound | None = None
    ) -> ModelError | None:
        """One beat of `entity`, with which its turn in a round is over: `then` is the round after it. What went wrong when it failed, and
        then it left no trace. Raises `CapReachedError`."""
        self._emit(BeatStarted(round=self.world.round, entity=entity))
        prompt: Prompt | None = None
        try:
            if given is not None:
                prose, intents, template = given[0], list(given[1]), _BY_HAND
            else:
                prompt, prose = await self._answered(entity)
                template = prompt.template
                intents = await self._decoder.decode(self.world, entity, prose)
            beat = await plan(self._referee, self.world, entity, prose, template, intents)
        except ModelError as error:
            if not isinstance(error, ProviderError):
                self._kept = None  # a reply that cannot be used is asked for anew
            self._emit(BeatFailed(entity=entity, reason=str(error), advice=error.advice))
            return error
        await self._write(beat, prompt, then)
        self._emit(BeatEnded(round=self.world.round, entity=entity, now=self.world.now, prose=prose))
        return None

    async def _answered(self, entity: EntityId) -> tuple[Prompt, str]:
        """The prompt of a beat and its answer. One that was given already, when a cap or a provider stopped the beat after it, still holds
        as long as nothing has happened since: it is not paid for twice."""
        world = self.world
        kept, self._kept = self._kept, None
        if kept is not None and kept.world is world and kept.entity == entity:
            self._emit(_prose(entity, kept.prose))
        else:
            kept = _Answer(
                world, entity,
                *await self._actor.act(world, entity, lambda piece: self._emit(_prose(entity, piece)), lambda: self._emit(self._shorter())),
            )
        self._kept = kept
        return kept.prompt, kept.prose

    def _shorter(self) -> ModelNote:
        return shorter("actor", self._actor.model)

    async def _write(self, beat: Beat, prompt: Prompt | None = None, then: OpenRound | None = None) -> None:
        left = then if then is not None and then.waiting else None

        def run(conn: sqlite3.Connection, world: World) -> Written:
            if then is not None:
                self._store.story.set_open_round(conn, left)
            return write(self._store, conn, beat, world, filling)

        def committed() -> None:
            if then is not None:
                self._open, self._kept_open = then, left is not None
            if prompt is not None:
                self._uses.note(prompt, beat.before.now, beat.before.round)

        filling = Filling(self._sessions, self.played)
        await self._commit(run, committed)

    async def _commit(
        self, run: Callable[[sqlite3.Connection, World], Written], committed: Callable[[], None] = lambda: None
    ) -> None:
        """Write over the world as it is now, take the new one, tell. A cancellation that arrives meanwhile waits for the end."""
        writing = asyncio.ensure_future(self._committed(run, committed))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await writing
            raise

    async def _committed(self, run: Callable[[sqlite3.Connection, World], Written], committed: Callable[[], None]) -> None:
        async with self._writer:  # the world in memory and the one on disk change together
            written = await self._store.db.write(lambda conn: run(conn, self.world))
            self.world = written.world
            committed()
            for event in written.events:
                self._emit(event)


def _prose(entity: EntityId, piece: str | None) -> EngineEvent:
    return ProseTakenBack(entity=entity) if piece is None else ProseStreamed(entity=entity, text=piece)
