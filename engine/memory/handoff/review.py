"""Proposals that wait for a person: looked at chunk by chunk, edited, asked for anew, then committed or rejected (DESIGN 7).

What waits is on disk, and so is each verdict the moment it is given: a restart in between loses neither the proposal nor the
buffer. Nothing of a proposal is in the ledger before `finish`.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeVar, get_args

from engine.errors import HandoffError
from engine.events import HandoffFailed, HandoffProposed, Listener, ProposalClosed
from engine.llm.protocol import Embedder
from engine.memory.embedding import embedded
from engine.memory.handoff.commit import Committed, brings_news, check_unchanged
from engine.memory.handoff.rewording import reworded
from engine.memory.handoff.spans import Said, said_in, said_in_memories
from engine.memory.text import plain
from engine.records.base import EntityId
from engine.records.memory import Chunk, HandoffRun, Proposal, RunKind
from engine.records.policies import HandoffPolicy
from engine.records.review import ChunkEdit, PendingProposal, Verdict
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.store import Store

T = TypeVar("T")

_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Commit = Callable[[sqlite3.Connection, Store, World, Proposal], Committed]
"""Writes a proposal inside a transaction. Raises `HandoffError` when what it was made of has changed."""


class Redraft(Protocol):
    """Asks the model anew for one chunk of a proposal, which may become several in its place, or for all of it.

    `attempt` counts from 1 and gives each call a seed of its own. Raises `ModelError`, `HandoffError`; writes nothing.
    """

    async def __call__(self, world: World, proposal: Proposal, index: int | None, attempt: int) -> Proposal:
        """The proposal as it would be."""
        ...


class Kind(NamedTuple):
    """How proposals of one kind are asked for anew and written."""

    commit: Commit
    redraft: Redraft


class Review:
    """Everything a person does to proposals. Each method raises `HandoffError` when nothing waits in that mind."""

    def __init__(
        self, store: Store, embedder: Embedder, policy: HandoffPolicy, emit: Listener, kinds: Mapping[RunKind, Kind]
    ) -> None:
        self._store, self._embedder, self._policy, self._emit = store, embedder, policy, emit
        self._kinds = dict(kinds)
        self._tries: dict[str, int] = {}
        self._seconds: dict[str, float] = {}
        """Wall-clock time of model calls, by proposal: it is no part of what waits, which is the same for the same play."""

    def add_kind(self, kind: RunKind, commit: Commit, redraft: Redraft) -> None:
        """Review proposals of another kind, too."""
        self._kinds[kind] = Kind(commit, redraft)

    def forget(self) -> None:
        """Hold nothing of any proposal: the one that bears its key now may be another."""
        self._tries.clear()
        self._seconds.clear()

    async def wait(self, world: World, proposal: Proposal) -> PendingProposal:
        """Keep a proposal until a person has decided on it, then tell of it. What says nothing that the ledger does not say needs no
        word of a person: it is accepted from the beginning, and can be judged otherwise.

        Raises `HandoffError` when another one waits in that mind, or what it was made of has changed; then nothing is written.
        """
        kept = _timeless(proposal)

        def write(conn: sqlite3.Connection) -> PendingProposal:
            if proposal.owner_id in self._store.proposals.owners(conn):
                raise HandoffError("Another proposal waits in this mind already.", "Decide on that one first.")
            check_unchanged(conn, self._store, kept)
            added = self._store.proposals.add(conn, kept, world.round, world.now)
            begun = added.model_copy(update={"verdicts": self._first_verdicts(conn, kept)})
            self._store.proposals.replace(conn, begun)
            self._store.journal.note(conn, "proposal", f"{token(proposal.owner_id)}: a {proposal.kind} waits for your word")
            return begun

        pending = await self._store.db.write(write)
        self._seconds[pending.id] = proposal.seconds
        return self._told(pending)

    async def pending(self) -> list[PendingProposal]:
        """Everything that waits, in the order it was proposed."""
        return await self._store.db.read(self._store.proposals.all)

    async def pending_of(self, owner: EntityId) -> PendingProposal | None:
        """What waits in one mind, if anything."""
        return await self._store.db.read(lambda conn: self._store.proposals.of_owner(conn, owner))

    async def judge(self, owner: EntityId, index: int, verdict: Verdict) -> PendingProposal:
        """Say of one chunk, counted from 0, what is to become of it. On disk when this returns."""
        if verdict not in _VERDICTS:
            raise HandoffError(f'"{verdict}" is no verdict.', f"Choose one of {', '.join(_VERDICTS)}.")

        def change(_: sqlite3.Connection, pending: PendingProposal) -> PendingProposal:
            _chunk(pending, index)
            return pending.model_copy(update={"verdicts": _replaced(pending.verdicts, index, verdict)})

        return await self._change(owner, f"chunk {index + 1} {'left open' if verdict == 'open' else verdict}", change)

    async def edit(self, world: World, owner: EntityId, index: int, edit: ChunkEdit) -> PendingProposal:
        """Put one chunk into a person's words, and accept it. Raises `HandoffError` that says what cannot be kept."""

        def change(conn: sqlite3.Connection, pending: PendingProposal) -> PendingProposal:
            chunk = reworded(world, owner, _chunk(pending, index), edit, self._said(conn, pending.proposal, index))
            proposal = pending.proposal.model_copy(update={"chunks": _replaced(pending.proposal.chunks, index, chunk)})
            self._check_pins(proposal)
            _check_rewritings(proposal)
            verdicts = _replaced(pending.verdicts, index, "accepted")
            return pending.model_copy(update={"proposal": proposal, "verdicts": verdicts})

        return await self._change(owner, f"chunk {index + 1} put into other words", change)

    async def reroll(self, world: World, owner: EntityId, index: int | None = None) -> PendingProposal:
        """Ask the model anew for one chunk's sources, or for the whole pool. Whatever comes takes the chunk's place, open; a whole
        pool is judged as at first.

        Raises `ModelError` and `HandoffError` when no good reply comes; the proposal is as it was then.
        """
        before = await self._waiting(owner)
        if index is not None:
            _chunk(before, index)
        try:
            await self._store.db.read(lambda conn: check_unchanged(conn, self._store, before.proposal))
        except HandoffError as error:
            await self._fail(world, before, error)
            raise
        attempt = self._tries[before.id] = max(before.attempt, self._tries.get(before.id, 0)) + 1
        proposal = await self._kinds[before.proposal.kind].redraft(world, before.proposal, index, attempt)
        fresh = len(proposal.chunks) - (0 if index is None else len(before.proposal.chunks) - 1)

        def change(conn: sqlite3.Connection, pending: PendingProposal) -> PendingProposal:
            if (pending.id, pending.proposal) != (before.id, before.proposal):
                raise HandoffError("The proposal has changed while the model thought.", "Ask again.")
            if index is None:
                verdicts = self._first_verdicts(conn, proposal)
            else:
                verdicts = (*pending.verdicts[:index], *_open(fresh), *pending.verdicts[index + 1 :])
            return pending.model_copy(update={"proposal": _timeless(proposal), "verdicts": verdicts, "attempt": attempt})

        what = "the proposal" if index is None else f"chunk {index + 1}"
        changed = await self._change(owner, f"{what} asked for anew", change)
        self._seconds[before.id] = self._seconds.get(before.id, 0.0) + proposal.seconds
        return changed

    async def finish(self, world: World, owner: EntityId) -> HandoffRun:
        """Commit what was accepted. Sources of what was rejected are forgotten like all that no chunk keeps, unless the ledger holds
        them already; what the checks left undecided stays in the buffer.

        Raises `HandoffError` while a chunk is open, and `ModelError` when the embedder fails: the proposal waits on. Raises
        `HandoffError` when a memory it was made of, or would rewrite, has changed meanwhile: then the proposal is closed, a failed
        run says so, and the next round proposes anew.
        """
        pending = await self._waiting(owner)
        left = pending.verdicts.count("open")
        if left:
            raise HandoffError(f"{_counted(left, 'chunk')} not decided yet.", "Accept or reject each, then finish.")
        proposal = _decided(pending)
        vectors = await embedded(self._embedder, [plain(chunk.content, chunk.quotes) for chunk in proposal.chunks])
        proposal = proposal.model_copy(
            update={
                "vectors": tuple(vector.tobytes() for vector in vectors), "embedder": self._embedder.name, "dim": self._embedder.dim,
                "seconds": self._seconds.get(pending.id, 0.0),
            }
        )
        commit = self._kinds[proposal.kind].commit

        def write(conn: sqlite3.Connection) -> Committed | None:
            if self._store.proposals.of_owner(conn, owner) != pending:
                return None
            done = commit(conn, self._store, world, proposal)
            self._store.proposals.remove(conn, pending.id)
            return done

        try:
            done = await self._store.db.write(write)
        except HandoffError as error:
            await self._fail(world, pending, error)
            raise
        if done is None:
            raise HandoffError("The proposal has changed while it was being committed.", "Look at it again, then finish.")
        self._forget(pending)
        self._emit(done.event)
        self._emit(ProposalClosed(entity=owner, reason="accepted"))
        return done.run

    async def reject(self, world: World, owner: EntityId) -> HandoffRun:
        """Write nothing of a proposal but a run that says so. The buffer stays, and nothing is proposed for it before a batch of
        further candidates has come."""
        pending = await self._waiting(owner)
        run = await self._close(world, pending, "rejected", "Rejected by hand.")
        self._emit(ProposalClosed(entity=owner, reason="rejected"))
        return run

    async def _fail(self, world: World, pending: PendingProposal, error: HandoffError) -> None:
        run = await self._close(world, pending, "accepted", str(error))
        self._emit(HandoffFailed(entity=run.owner_id, run=run))
        self._emit(ProposalClosed(entity=run.owner_id, reason="what it was made of has changed"))

    async def _close(self, world: World, pending: PendingProposal, decision: Literal["accepted", "rejected"], error: str) -> HandoffRun:
        """Take a proposal away and keep a failed run in its place. A rejected one names its whole pool: all of that was rejected."""
        proposal = pending.proposal
        candidates = tuple(entry.id for entry in (proposal.candidates or proposal.memories))
        failed = HandoffRun(
            id="", kind=proposal.kind, owner_id=proposal.owner_id, round=world.round, timestamp=world.now, trigger=proposal.trigger,
            reason=proposal.report.reason, status="failed", decision=decision, error=error,
            candidate_ids=proposal.pool if decision == "rejected" and proposal.pool else candidates, prompt=proposal.prompt,
            reply=proposal.reply, model=proposal.model, template=proposal.template, notes=proposal.notes,
        )

        def write(conn: sqlite3.Connection) -> HandoffRun:
            held = self._store.proposals.of_owner(conn, proposal.owner_id)
            if held is None or held.id != pending.id:
                raise HandoffError("The proposal waits no longer.", "Somebody has decided on it.")
            self._store.proposals.remove(conn, pending.id)
            run = self._store.handoffs.add(conn, failed)
            self._store.handoffs.log_time(conn, run.id, self._seconds.get(pending.id, 0.0))
            fate = "was rejected" if decision == "rejected" else "could not be kept"
            self._store.journal.note(conn, "review", f"{token(run.owner_id)}: a {run.kind} {fate}")
            return run

        run = await self._store.db.write(write)
        self._forget(pending)
        return run

    def _forget(self, pending: PendingProposal) -> None:
        self._tries.pop(pending.id, None)
        self._seconds.pop(pending.id, None)

    async def _change(
        self, owner: EntityId, label: str, change: Callable[[sqlite3.Connection, PendingProposal], PendingProposal]
    ) -> PendingProposal:
        """Change what waits in one transaction, then tell of it. `label` says in the journal what was done to it."""

        def write(conn: sqlite3.Connection) -> PendingProposal:
            changed = change(conn, self._found(conn, owner))
            self._store.proposals.replace(conn, changed)
            self._store.journal.note(conn, "review", f"{token(owner)}: {label}")
            return changed

        return self._told(await self._store.db.write(write))

    async def _waiting(self, owner: EntityId) -> PendingProposal:
        return await self._store.db.read(lambda conn: self._found(conn, owner))

    def _found(self, conn: sqlite3.Connection, owner: EntityId) -> PendingProposal:
        pending = self._store.proposals.of_owner(conn, owner)
        if pending is None:
            raise HandoffError("No proposal waits in this mind.", "With review on, handoffs propose at the beginning of a round.")
        return pending

    def _told(self, pending: PendingProposal) -> PendingProposal:
        self._emit(HandoffProposed(entity=pending.proposal.owner_id, pending=pending))
        return pending

    def _first_verdicts(self, conn: sqlite3.Connection, proposal: Proposal) -> tuple[Verdict, ...]:
        if proposal.kind == "compression":
            return _open(len(proposal.chunks))
        first: Sequence[Verdict] = ["open" if news else "accepted" for news in brings_news(conn, self._store, proposal)]
        return tuple(first)

    def _said(self, conn: sqlite3.Connection, proposal: Proposal, index: int) -> Said:
        """What was said in the moments that a chunk, or the entry it rewrites, is made of."""
        chunk = proposal.chunks[index]
        if proposal.kind == "compression":
            return said_in_memories([memory for memory in proposal.memories if memory.id in chunk.source_ids])
        earlier = self._store.ledger.sources(conn, chunk.updates) if chunk.updates else ()
        return said_in(self._store.buffer.find(conn, [*chunk.source_ids, *earlier]))

    def _check_pins(self, proposal: Proposal) -> None:
        pinned = sum(len(chunk.source_ids) for chunk in proposal.chunks if chunk.retain)
        if proposal.kind == "compression" and pinned:
            raise HandoffError("Only moments of working memory can stay pinned.", "Leave `retain` off.")
        if pinned > self._policy.max_entries:
            raise HandoffError(
                f"{pinned} moments would stay pinned, and at most {self._policy.max_entries} may.", "Let go of another thread first."
            )


def _chunk(pending: PendingProposal, index: int) -> Chunk:
    chunks = pending.proposal.chunks
    if not 0 <= index < len(chunks):
        raise HandoffError(f"There is no chunk {index + 1}.", f"The proposal has {_counted(len(chunks), 'chunk', '')}.")
    return chunks[index]


def _open(count: int) -> tuple[Verdict, ...]:
    undecided: tuple[Verdict, ...] = ("open",)
    return undecided * count


def _timeless(proposal: Proposal) -> Proposal:
    """A proposal as it is kept: without what another play of the same would not have."""
    return proposal.model_copy(update={"vectors": (), "seconds": 0.0})


def _check_rewritings(proposal: Proposal) -> None:
    """A memory is worded once in a proposal; what only repeats it may be said any number of times."""
    worded = [chunk.updates for chunk in proposal.chunks if chunk.updates and (chunk.by_hand or not chunk.repeats)]
    if len(set(worded)) < len(worded):
        raise HandoffError("Another part of the proposal rewrites the same memory.", "Put it into your words there, or reject this one.")


def _decided(pending: PendingProposal) -> Proposal:
    """What was accepted, with notes of what was not."""
    proposal = pending.proposal
    chunks = tuple(chunk for chunk, verdict in zip(proposal.chunks, pending.verdicts, strict=True) if verdict == "accepted")
    counts = {"rejected": len(proposal.chunks) - len(chunks), "edited": sum(chunk.by_hand for chunk in chunks)}
    notes = [f"{_counted(count, 'chunk', '')} {what} by hand" for what, count in counts.items() if count]
    return proposal.model_copy(update={"chunks": chunks, "notes": (*proposal.notes, *notes), "decision": "accepted"})


def _replaced(values: Sequence[T], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _counted(count: int, noun: str, verb: str = "is") -> str:
    text = f"{count} {noun}" if count == 1 else f"{count} {noun}s"
    return f"{text} {verb if count == 1 else 'are'}" if verb else text
