"""Handoffs of a running world: which are due, what they would do, and doing it (DESIGN 7)."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import BadOutputError, HandoffError, OthermindsError, SaveError
from engine.events import ChunkDecided, HandoffCommitted, HandoffFailed, HandoffStarted, Listener
from engine.llm.protocol import Embedder, ModelRequest
from engine.llm.router import Router
from engine.llm.structured import ask
from engine.memory.embedding import embedded
from engine.memory.handoff.commit import commit
from engine.memory.handoff.selection import Brief, Selection, select
from engine.memory.handoff.slicing import Slice, first_slice
from engine.memory.handoff.trigger import check_handoff_trigger
from engine.memory.handoff.updating import let_go, with_updates
from engine.memory.handoff.watermark import is_new, partition
from engine.memory.text import plain
from engine.mind.aliases import vocabulary
from engine.mind.voice import events_section
from engine.prompts.handoff import own_name, people_of
from engine.records.base import EntityId
from engine.records.clean import clean
from engine.records.memory import BufferEntry, Chunk, HandoffRun, Partition, Proposal, TriggerReport
from engine.records.policies import Policies
from engine.records.wire import HandoffReply
from engine.records.world import World
from engine.storage.store import Store

_MOST_SLICES = 8
"""Slices of one buffer that are handed over in one round."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the save says about one entity's buffer."""

    owner: EntityId
    entries: list[BufferEntry]
    last: HandoffRun | None
    last_outward: int


@dataclass(slots=True)
class _Attempt:
    """A handoff on its way: what a failed one leaves for the record."""

    owner: EntityId
    report: TriggerReport
    candidates: tuple[BufferEntry, ...]
    prompt: str = ""
    reply: str = ""
    model: str = ""
    template: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    whole: bool = True
    """Whether all candidates fitted into one call."""


class ProposalError(HandoffError):
    """A handoff could not be proposed. `attempt` is what there was of it."""

    def __init__(self, cause: OthermindsError, attempt: _Attempt) -> None:
        super().__init__(str(cause))
        self.attempt = attempt


class HandoffEngine:
    """Promotes old buffer entries to the ledger and forgets the rest.

    `propose` and `commit` are apart, so that a person can look in between. No model is called inside a transaction, and
    whatever fails leaves the world's rows as they were. `timer` gives wall-clock seconds for the run log.
    """

    def __init__(
        self, store: Store, router: Router, embedder: Embedder, policies: Policies, emit: Listener, timer: Callable[[], float] | None = None
    ) -> None:
        self._store, self._router, self._embedder = store, router, embedder
        self._policy, self._emit = policies.handoff, emit
        self._timer = timer or (lambda: 0.0)

    async def due(self, world: World, entity_id: EntityId) -> tuple[TriggerReport, Partition]:
        """What the trigger says of an entity between two rounds, and its buffer split at the watermark. Changes nothing."""
        [seen] = await self._look([entity_id])
        return self._judge(world, seen, world.round)

    async def propose(self, world: World, entity_id: EntityId) -> Proposal | None:
        """What a handoff of this entity would do now, or None when none is due. Writes nothing.

        Raises `ProposalError` when the model, its reply or the embedder fails.
        """
        [seen] = await self._look([entity_id])
        attempt = self._begin(world, seen, world.round)
        return await self._propose(world, attempt) if attempt else None

    async def commit(self, world: World, proposal: Proposal) -> HandoffRun:
        """Write a proposal in one transaction and tell of it. Raises `HandoffError` when the memories it was made of, or rewrites,
        have changed since; then nothing is written."""
        done = await self._store.db.write(lambda conn: commit(conn, self._store, world, proposal))
        self._emit(
            HandoffCommitted(
                entity=proposal.owner_id, run=done.run, ledger=done.ledger, promoted_ids=done.promoted,
                forgotten_ids=done.forgotten, pinned_ids=done.pinned,
            )
        )
        return done.run

    async def run_all(self, world: World) -> tuple[HandoffRun, ...]:
        """The handoffs at the start of round `world.round`: proposals side by side, commits in the fixed order of agents.

        A run that fails is recorded and told of; the others go on. Cancelled, it leaves no proposal behind.
        """
        seen = await self._look([agent.id for agent in world.agents()])
        attempts = [attempt for one in seen if (attempt := self._begin(world, one, world.round - 1))]
        limit = asyncio.Semaphore(self._policy.concurrency)
        tasks = [asyncio.create_task(self._bounded(limit, world, attempt)) for attempt in attempts]
        runs: list[HandoffRun] = []
        try:
            for attempt, task in zip(attempts, tasks, strict=True):
                runs += await self._finish(world, attempt, await task)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return tuple(runs)

    async def _bounded(self, limit: asyncio.Semaphore, world: World, attempt: _Attempt) -> Proposal | ProposalError:
        async with limit:
            try:
                return await self._propose(world, attempt)
            except ProposalError as error:
                return error

    async def _finish(self, world: World, attempt: _Attempt, outcome: Proposal | ProposalError) -> list[HandoffRun]:
        """Commit a proposal, or record its failure; then go on with what did not fit into one call."""
        runs = [await self._settle(world, attempt, outcome)]
        while runs[-1].status == "committed" and not attempt.whole and len(runs) < _MOST_SLICES:
            [seen] = await self._look([attempt.owner])
            following = self._begin(world, seen, world.round - 1)
            if following is None:
                break
            attempt = following
            try:
                outcome = await self._propose(world, attempt)
            except ProposalError as error:
                outcome = error
            runs.append(await self._settle(world, attempt, outcome))
        return runs

    async def _settle(self, world: World, attempt: _Attempt, outcome: Proposal | ProposalError) -> HandoffRun:
        if isinstance(outcome, ProposalError):
            return await self._record(world, attempt, outcome)
        try:
            return await self.commit(world, outcome)
        except HandoffError as error:
            return await self._record(world, attempt, error)

    async def _record(self, world: World, attempt: _Attempt, error: OthermindsError) -> HandoffRun:
        """Keep a failed run, so that a person can see what happened."""
        failed = HandoffRun(
            id="", owner_id=attempt.owner, round=world.round, timestamp=world.now, trigger=attempt.report.trigger,
            reason=attempt.report.reason, status="failed", error=str(error), prompt=attempt.prompt, reply=attempt.reply,
            candidate_ids=tuple(entry.id for entry in attempt.candidates), model=attempt.model, template=attempt.template,
            notes=attempt.notes,
        )

        def write(conn: sqlite3.Connection) -> HandoffRun:
            run = self._store.handoffs.add(conn, failed)
            self._store.handoffs.log_time(conn, run.id, attempt.seconds)
            return run

        run = await self._store.db.write(write)
        self._emit(HandoffFailed(entity=attempt.owner, run=run))
        return run

    async def _look(self, owners: Sequence[EntityId]) -> list[_Seen]:
        store = self._store

        def read(conn: sqlite3.Connection) -> list[_Seen]:
            return [
                _Seen(
                    owner, store.buffer.of_owner(conn, owner), store.handoffs.last(conn, owner),
                    store.story.last_outward_round(conn, owner),
                )
                for owner in owners
            ]

        return await store.db.read(read)

    def _judge(self, world: World, seen: _Seen, rounds: int) -> tuple[TriggerReport, Partition]:
        """Trigger and watermark after `rounds` whole rounds."""
        actor = self._router.model("actor")
        report = check_handoff_trigger(
            world.entities[seen.owner], seen.entries, world.now, actor.context_window, policy=self._policy,
            tokens=actor.count_tokens(events_section(world, seen.owner, seen.entries, world.now)) if seen.entries else 0,
            idle_rounds=max(0, rounds - seen.last_outward),
        )
        return report, partition(seen.entries, world.now, self._policy, report.trigger)

    def _begin(self, world: World, seen: _Seen, rounds: int) -> _Attempt | None:
        """The attempt that is due, if any: none without a trigger or when nothing new has become a candidate."""
        if not any(is_new(entry) for entry in seen.entries):
            return None
        report, parts = self._judge(world, seen, rounds)
        fresh = sum(is_new(entry) for entry in parts.candidates)
        if report.trigger == "none" or not fresh or self._too_soon(world, seen, report, fresh):
            return None
        return _Attempt(seen.owner, report, parts.candidates)

    def _too_soon(self, world: World, seen: _Seen, report: TriggerReport, fresh: int) -> bool:
        """Whether a soft trigger can wait for more candidates, because a handoff has just been committed."""
        last = seen.last
        if report.trigger != "voluntary" or last is None or last.status != "committed" or fresh >= self._policy.batch:
            return False
        return world.round - last.round < self._policy.idle_rounds

    async def _propose(self, world: World, attempt: _Attempt) -> Proposal:
        self._emit(
            HandoffStarted(entity=attempt.owner, report=attempt.report, candidate_ids=tuple(e.id for e in attempt.candidates))
        )
        started = self._timer()
        try:
            return await self._decide(world, attempt, started)
        except SaveError:
            raise
        except OthermindsError as error:
            if isinstance(error, BadOutputError):
                attempt.reply = clean(error.reply)
            attempt.seconds = self._timer() - started
            raise ProposalError(error, attempt) from error

    async def _decide(self, world: World, attempt: _Attempt, started: float) -> Proposal:
        model = self._router.model("handoff")
        attempt.model = model.name
        piece = first_slice(world, attempt.owner, attempt.candidates, model)
        attempt.candidates, attempt.whole = piece.candidates, piece.whole
        attempt.prompt, attempt.template = piece.prompt.text, piece.prompt.template
        request = ModelRequest(
            task="handoff", entity=attempt.owner, round=world.round, seed=world.seed, messages=piece.prompt.messages,
            max_tokens=piece.prompt.report.reserved,
        )
        reply, completion = await ask(model, request, HandoffReply)
        attempt.reply, attempt.model = clean(completion.text), completion.model
        selection = select(reply, _brief(world, piece))
        attempt.notes = selection.notes
        decided = tuple(entry for entry in piece.candidates if entry.id not in selection.undecided)
        chunks, notes = await self._threads(selection, decided)
        attempt.notes = (*selection.notes, *notes)
        vectors = await embedded(self._embedder, [plain(chunk.content, chunk.quotes) for chunk in chunks])
        attempt.seconds = self._timer() - started
        for chunk in chunks:
            self._emit(ChunkDecided(entity=attempt.owner, chunk=chunk))
        return Proposal(
            owner_id=attempt.owner, trigger=attempt.report.trigger, report=attempt.report, candidates=decided, chunks=tuple(chunks),
            vectors=tuple(vector.tobytes() for vector in vectors), embedder=self._embedder.name, dim=self._embedder.dim,
            prompt=attempt.prompt, reply=attempt.reply, model=attempt.model, template=attempt.template, notes=attempt.notes,
            seconds=attempt.seconds,
        )

    async def _threads(self, selection: Selection, decided: Sequence[BufferEntry]) -> tuple[list[Chunk], list[str]]:
        """The chunks with the ledger entries they go on with, and no more pins than the buffer bears."""
        store = self._store

        def read(conn: sqlite3.Connection) -> list[Chunk]:
            holding = store.ledger.holding(conn, [entry.id for entry in decided])
            entries = {entry.id: entry for entry in store.ledger.get(conn, sorted(set(holding.values())))}
            sources = {key: store.ledger.sources(conn, key) for key in entries}
            order = {entry.id: index for index, entry in enumerate(decided)}
            return with_updates(selection.chunks, holding, entries, sources, order)

        return let_go(await store.db.read(read), self._policy.max_entries)


def _brief(world: World, piece: Slice) -> Brief:
    """What a reply to this prompt may speak of."""
    owner = piece.prompt.entity
    people = people_of(owner, piece.candidates)
    names = vocabulary(world, owner, people) | {own_name(world.entities[owner]): owner}
    return Brief(
        owner=owner, candidates=piece.candidates, handles=piece.handles, names=names, known=frozenset(people),
        ids=world.entities.keys(), template=piece.prompt.messages[0].content,
    )
