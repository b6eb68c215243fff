"""Handoffs of a running world: doing those that are due, side by side (DESIGN 7)."""

import asyncio
from collections.abc import Callable
from typing import Literal

from engine.errors import CapReachedError, HandoffError, OthermindsError, ProviderError, Trouble
from engine.events import Listener
from engine.llm.protocol import Embedder
from engine.llm.router import Router
from engine.memory.handoff.commit import commit
from engine.memory.handoff.failing import record_failure
from engine.memory.handoff.proposing import Attempt, ProposalError, Proposer
from engine.memory.handoff.review import Kind, Review
from engine.records.base import EntityId
from engine.records.memory import HandoffRun, Partition, Proposal, TriggerReport
from engine.records.policies import Policies
from engine.records.world import World
from engine.storage.store import Store

_WANTS_A_PERSON: frozenset[Trouble] = frozenset({"no_key", "unknown_model"})
"""Troubles that are the same for every mind and every round until somebody does something: play pauses, and no run has failed."""
_MOST_SLICES = 8
"""Slices of one buffer that are handed over in one round."""


class HandoffEngine:
    """Promotes old buffer entries to the ledger and forgets the rest.

    `propose` and `commit` are apart, so that a person can look in between. No model is called inside a transaction, and
    whatever fails leaves the world's rows as they were. `timer` gives wall-clock seconds for the run log.

    `review_mode` says whether `run_all` commits (`auto`) or lets proposals wait for a person (`ask`), and may change at any time:
    what waits goes on waiting until it is decided on, and in its mind nothing else is proposed until then. `review` is what the
    person does to proposals.
    """

    def __init__(
        self, store: Store, router: Router, embedder: Embedder, policies: Policies, emit: Listener, timer: Callable[[], float] | None = None
    ) -> None:
        self._store, self._policy, self._emit = store, policies.handoff, emit
        self._proposer = Proposer(store, router, embedder, policies.handoff, emit, timer or (lambda: 0.0))
        self.review_mode: Literal["auto", "ask"] = policies.handoff.review
        self.review = Review(store, embedder, policies.handoff, emit, {"handoff": Kind(commit, self._proposer.redraft)})

    async def due(self, world: World, entity_id: EntityId) -> tuple[TriggerReport, Partition]:
        """What the trigger says of an entity between two rounds, and its buffer split at the watermark. Changes nothing."""
        [seen] = await self._proposer.look([entity_id])
        return self._proposer.judge(world, seen, world.round)

    async def all_due(self, world: World) -> list[TriggerReport]:
        """Reports of the handoffs that the next round would begin with. Changes nothing."""
        seen = await self._proposer.look([agent.id for agent in world.agents()])
        return [attempt.report for one in seen if (attempt := self._proposer.begin(world, one, world.round))]

    async def propose(self, world: World, entity_id: EntityId) -> Proposal | None:
        """What a handoff of this entity would do now, or None when none is due or another waits for a person. Writes nothing.

        Raises `ProposalError` when the model, its reply or the embedder fails.
        """
        [seen] = await self._proposer.look([entity_id])
        attempt = self._proposer.begin(world, seen, world.round)
        return await self._proposer.propose(world, attempt) if attempt else None

    async def commit(self, world: World, proposal: Proposal) -> HandoffRun:
        """Write a proposal in one transaction and tell of it. Raises `HandoffError` when the memories it was made of, or rewrites,
        have changed since; then nothing is written."""
        done = await self._store.db.write(lambda conn: commit(conn, self._store, world, proposal))
        self._emit(done.event)
        return done.run

    async def run_all(self, world: World) -> tuple[HandoffRun, ...]:
        """The handoffs at the start of round `world.round`: proposals side by side, commits in the fixed order of agents.

        A run that fails is recorded and told of; the others go on. Proposals that are left for a person are no runs yet.
        Cancelled, it leaves no proposal behind but those that were told of. Raises `CapReachedError` for calls that a cap forbade, once
        what was paid for is written, and `ProviderError` when a model cannot be used before a person has done something.
        """
        seen = await self._proposer.look([agent.id for agent in world.agents()])
        attempts = [attempt for one in seen if (attempt := self._proposer.begin(world, one, world.round - 1))]
        limit = asyncio.Semaphore(self._policy.concurrency)
        tasks = [asyncio.create_task(self._bounded(limit, world, attempt)) for attempt in attempts]
        runs: list[HandoffRun] = []
        stopped: CapReachedError | ProviderError | None = None
        try:
            for attempt, task in zip(attempts, tasks, strict=True):
                try:
                    runs += await self._finish(world, attempt, await task)
                except (CapReachedError, ProviderError) as error:
                    stopped = error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if stopped is not None:
            raise stopped
        return tuple(runs)

    async def _bounded(self, limit: asyncio.Semaphore, world: World, attempt: Attempt) -> Proposal | ProposalError:
        async with limit:
            return await self._outcome(world, attempt)

    async def _outcome(self, world: World, attempt: Attempt) -> Proposal | ProposalError:
        try:
            return await self._proposer.propose(world, attempt)
        except ProposalError as error:
            cause = error.__cause__
            if isinstance(cause, ProviderError) and cause.trouble in _WANTS_A_PERSON:
                raise cause from None
            return error

    async def _finish(self, world: World, attempt: Attempt, outcome: Proposal | ProposalError) -> list[HandoffRun]:
        """Commit a proposal, record its failure or leave it for a person; then go on with what did not fit into one call."""
        runs: list[HandoffRun] = []
        while run := await self._settle(world, attempt, outcome):
            runs.append(run)
            if run.status == "failed" or attempt.whole or len(runs) == _MOST_SLICES:
                break
            [seen] = await self._proposer.look([attempt.owner])
            following = self._proposer.following(seen, attempt)
            if following is None:
                break
            attempt, outcome = following, await self._outcome(world, following)
        return runs

    async def _settle(self, world: World, attempt: Attempt, outcome: Proposal | ProposalError) -> HandoffRun | None:
        """The run, committed or failed; None when the proposal waits for a person."""
        if isinstance(outcome, ProposalError):
            return await self._record(world, attempt, outcome)
        try:
            if self.review_mode == "ask":
                await self.review.wait(world, outcome)
                return None
            return await self.commit(world, outcome)
        except HandoffError as error:
            return await self._record(world, attempt, error)

    async def _record(self, world: World, attempt: Attempt, error: OthermindsError) -> HandoffRun:
        """Keep a failed run, so that a person can see what happened."""
        failed = HandoffRun(
            id="", owner_id=attempt.owner, round=world.round, timestamp=world.now, trigger=attempt.report.trigger,
            reason=attempt.report.reason, status="failed", error=str(error), prompt=attempt.prompt, reply=attempt.reply,
            candidate_ids=tuple(entry.id for entry in attempt.candidates), model=attempt.model, template=attempt.template,
            notes=attempt.notes,
        )
        return await record_failure(self._store, self._emit, failed, attempt.seconds)
