"""Compression of old memories: when a ledger has grown past its size, small old neighbours are told as one.

The path is that of a handoff: propose, commit, archive. Nothing is lost: what went into a memory stays in the archive, can be read
from the memory that tells it, and brought back by hand.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from engine.errors import BadOutputError, CapReachedError, HandoffError, OthermindsError, SaveError
from engine.events import Listener
from engine.llm.fitting import fitted, shorter
from engine.llm.protocol import Embedder, LanguageModel, ModelRequest
from engine.llm.router import Router
from engine.llm.structured import ask
from engine.memory.closing import compress_reply
from engine.memory.compression.choose import DAY, neighbours, protected
from engine.memory.compression.commit import commit
from engine.memory.compression.telling import select
from engine.memory.embedding import embedded
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.handoff.failing import record_failure
from engine.memory.text import plain
from engine.mind.handles import Handles
from engine.prompts.compression import build
from engine.records.base import EntityId
from engine.records.clean import clean
from engine.records.memory import HandoffRun, LedgerEntry, Proposal, TriggerReport
from engine.records.policies import Policies
from engine.records.prompts import Prompt
from engine.records.world import World
from engine.storage.old_memories import OldMemory, PastCompression
from engine.storage.store import Store

_MOST = 2
"""Groups of one mind that are told as one in one round."""
_LEAST = 2
"""Memories that must fit into one call."""
_OLDEST = 400
"""Memories that are looked at once more from the beginning, when nothing is left where the last compression was."""
_STRIDE = 1_000_003
"""From the seed of one attempt to that of the next, as for handoffs."""


@dataclass(slots=True)
class _Attempt:
    """A compression on its way: what a failed one leaves for the record."""

    owner: EntityId
    report: TriggerReport
    memories: tuple[LedgerEntry, ...]
    prompt: str = ""
    reply: str = ""
    model: str = ""
    template: str = ""
    notes: tuple[str, ...] = field(default=())
    seconds: float = 0.0


class CompressionEngine:
    """Tells old, unimportant memories as one, a few groups of a mind each round, as long as its ledger is too large.

    What a person wrote, changed or brought back is never taken, nor are threads that go on. A failed call changes nothing but the
    record of runs; its mind is left alone until its ledger has grown by a group, and the memories it was about for longer.
    `handoff` lends its review, so that with `ask` a compression waits for a person as handoffs do. `timer` gives wall-clock seconds
    for the run log.
    """

    def __init__(
        self, store: Store, router: Router, embedder: Embedder, policies: Policies, emit: Listener,
        timer: Callable[[], float] | None = None, handoff: HandoffEngine | None = None,
    ) -> None:
        self._store, self._router, self._embedder, self._emit = store, router, embedder, emit
        self._policy, self._concurrency = policies.compression, policies.handoff.concurrency
        self._timer = timer or (lambda: 0.0)
        self._handoff = handoff
        self._fruitless: dict[EntityId, tuple[object, ...]] = {}
        """How things stood in minds that had nothing to be told as one: until that changes there is no need to look again."""
        if handoff is not None:
            handoff.review.add_kind("compression", commit, self.redraft)

    def forget(self) -> None:
        """Look again everywhere: memories are not what they were."""
        self._fruitless.clear()

    async def run_all(self, world: World) -> tuple[HandoffRun, ...]:
        """The compressions at the start of round `world.round`: proposals side by side, commits in the fixed order of agents.

        A run that fails is recorded and told of; the others go on. Proposals that are left for a person are no runs yet.
        Raises `CapReachedError` for calls that a cap forbade, once what was paid for is written.
        """
        attempts = await self._store.db.read(lambda conn: self._due(conn, world))
        limit = asyncio.Semaphore(self._concurrency)
        tasks = [asyncio.create_task(self._outcome(limit, world, attempt)) for attempt in attempts]
        runs: list[HandoffRun] = []
        capped: CapReachedError | None = None
        try:
            for attempt, task in zip(attempts, tasks, strict=True):
                try:
                    run = await self._settle(world, attempt, await task)
                except CapReachedError as error:
                    capped = error
                else:
                    runs += [run] if run else []
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if capped is not None:
            raise capped
        return tuple(runs)

    async def commit(self, world: World, proposal: Proposal) -> HandoffRun:
        """Write a proposal in one transaction and tell of it. Raises `HandoffError` when one of its memories has changed since."""
        done = await self._store.db.write(lambda conn: commit(conn, self._store, world, proposal))
        self._emit(done.event)
        return done.run

    async def redraft(self, world: World, proposal: Proposal, index: int | None, attempt: int) -> Proposal:
        """A proposal with its one memory told anew; without vectors. Raises `ModelError`, `HandoffError`."""
        began = _Attempt(proposal.owner_id, proposal.report, proposal.memories)
        started = self._timer()
        drafted = await self._draft(world, began, attempt)
        return drafted.model_copy(update={"seconds": proposal.seconds + self._timer() - started})

    def _asks(self) -> bool:
        return self._handoff is not None and self._handoff.review_mode == "ask"

    # choosing
    def _due(self, conn: sqlite3.Connection, world: World) -> list[_Attempt]:
        waiting = self._store.proposals.owners(conn)
        return [
            attempt for agent in world.agents() if agent.id not in waiting for attempt in self._due_in(conn, agent.id)
        ]

    def _due_in(self, conn: sqlite3.Connection, owner: EntityId) -> list[_Attempt]:
        """What is to be told as one in one mind. Costs a few index steps while its ledger has not passed the limit."""
        old, policy = self._store.old_memories, self._policy
        count = old.count_over(conn, owner, policy.limit)
        standing = old.standing(conn, owner, protected(policy)) if count else ()
        if not count or self._fruitless.get(owner) == standing:
            return []
        past = old.compressions(conn, owner)
        if past and not past[0].committed and not old.grown(conn, owner, policy.group, past[0].round):
            return []
        failed = {key for run in past if not run.committed for key in run.memory_ids}
        most = 1 if self._asks() else _MOST  # one proposal waits in a mind at the most
        rows = (row for row in self._from_last(conn, owner, past) if row.id not in failed)
        groups = neighbours(rows, policy, count - policy.limit, most)
        if not groups:
            rows = (row for row in self._eligible(conn, owner, datetime.min, _OLDEST) if row.id not in failed)
            groups = neighbours(rows, policy, count - policy.limit, most)
        if not groups:
            self._fruitless[owner] = standing
        report = TriggerReport(
            trigger="none", reason=f"{count} memories, limit {policy.limit}", entries=count, max_entries=policy.limit
        )
        return [_Attempt(owner, report, tuple(self._store.ledger.get(conn, group))) for group in groups]

    def _from_last(self, conn: sqlite3.Connection, owner: EntityId, past: list[PastCompression]) -> Iterable[OldMemory]:
        """Eligible memories from where the last compression was: before that there was nothing left to tell as one."""
        old = self._store.old_memories
        last = next((moment for run in past if run.committed and (moment := old.reached(conn, run))), None)
        return self._eligible(conn, owner, last - DAY if last and last > datetime.min + DAY else datetime.min, None)

    def _eligible(self, conn: sqlite3.Connection, owner: EntityId, start: datetime, most: int | None) -> Iterable[OldMemory]:
        policy = self._policy
        return self._store.old_memories.eligible(conn, owner, policy.importance, protected(policy), start, most)

    # proposing
    async def _outcome(self, limit: asyncio.Semaphore, world: World, attempt: _Attempt) -> Proposal | HandoffError:
        async with limit:
            started = self._timer()
            try:
                proposal = await self._draft(world, attempt, 0)
                vectors = await embedded(self._embedder, [plain(chunk.content, chunk.quotes) for chunk in proposal.chunks])
            except (SaveError, CapReachedError):
                raise
            except OthermindsError as error:
                attempt.reply = clean(error.reply) if isinstance(error, BadOutputError) else attempt.reply
                attempt.seconds = self._timer() - started
                return HandoffError(str(error))
            attempt.seconds = self._timer() - started
            blobs = tuple(vector.tobytes() for vector in vectors)
            return proposal.model_copy(update={"vectors": blobs, "seconds": attempt.seconds})

    async def _draft(self, world: World, attempt: _Attempt, number: int) -> Proposal:
        model = self._router.model("handoff")
        return await fitted(
            model, lambda: self._draft_by(model, world, attempt, number), lambda: self._emit(shorter("handoff", model))
        )

    async def _draft_by(self, model: LanguageModel, world: World, attempt: _Attempt, number: int) -> Proposal:
        """One call over the oldest memories that it takes."""
        attempt.model = model.name
        attempt.memories, prompt, handles = _fitting(world, attempt.owner, attempt.memories, model)
        attempt.prompt, attempt.template = prompt.text, prompt.template
        closed = compress_reply(attempt.memories, handles, model.count_tokens, prompt.report.reserved)
        request = ModelRequest(
            task="handoff", entity=attempt.owner, round=world.round, seed=world.seed + _STRIDE * number, attempt=number,
            template=prompt.template, messages=prompt.messages, choices=closed.choices, max_tokens=closed.max_tokens,
        )
        reply, completion = await ask(model, request, closed.shape)
        attempt.reply, attempt.model = clean(completion.text), completion.model
        chunk, attempt.notes = select(reply, world, attempt.memories, prompt, handles)
        return Proposal(
            kind="compression", owner_id=attempt.owner, trigger="none", report=attempt.report, candidates=(), memories=attempt.memories,
            chunks=(chunk,), embedder=self._embedder.name, dim=self._embedder.dim, prompt=attempt.prompt, reply=attempt.reply,
            model=attempt.model, template=attempt.template, notes=attempt.notes,
        )

    # settling
    async def _settle(self, world: World, attempt: _Attempt, outcome: Proposal | HandoffError) -> HandoffRun | None:
        """The run, committed or failed; None when the proposal waits for a person."""
        if isinstance(outcome, HandoffError):
            return await self._record(world, attempt, outcome)
        try:
            if self._handoff is not None and self._asks():
                await self._handoff.review.wait(world, outcome)
                return None
            return await self.commit(world, outcome)
        except HandoffError as error:
            return await self._record(world, attempt, error)

    async def _record(self, world: World, attempt: _Attempt, error: HandoffError) -> HandoffRun:
        failed = HandoffRun(
            id="", kind="compression", owner_id=attempt.owner, round=world.round, timestamp=world.now, trigger="none",
            reason=attempt.report.reason, status="failed", error=str(error), prompt=attempt.prompt, reply=attempt.reply,
            candidate_ids=tuple(memory.id for memory in attempt.memories), model=attempt.model, template=attempt.template,
            notes=attempt.notes,
        )
        return await record_failure(self._store, self._emit, failed, attempt.seconds)


def _fitting(
    world: World, owner: EntityId, memories: tuple[LedgerEntry, ...], model: LanguageModel
) -> tuple[tuple[LedgerEntry, ...], Prompt, Handles]:
    """The oldest of the memories whose prompt and reply fit the model's window. Raises `HandoffError` when not even two do."""
    for size in range(len(memories), _LEAST - 1, -1):
        told = memories[:size]
        prompt, handles = build(
            world, owner, told, world.now, count_tokens=model.count_tokens, context_window=model.context_window
        )
        if prompt.report.tokens + prompt.report.reserved <= model.context_window:
            return told, prompt, handles
    raise HandoffError(
        f"Two memories are too long for the window of {model.name} ({model.context_window} tokens).",
        "Route the task handoff to a model with a larger window.",
    )
