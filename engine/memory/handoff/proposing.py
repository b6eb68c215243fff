"""From an owner's buffer to a proposal: what a handoff would do, checked and embedded, with nothing written (DESIGN 7)."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import BadOutputError, CapReachedError, HandoffError, OthermindsError, SaveError
from engine.events import ChunkDecided, HandoffStarted, Listener
from engine.llm.fitting import fitted, shorter
from engine.llm.protocol import Embedder, LanguageModel
from engine.llm.router import Router
from engine.memory.embedding import TextVectors
from engine.memory.handoff.asking import selected
from engine.memory.handoff.finding import Found, Newcomer, find, newcomers
from engine.memory.handoff.merging import merged
from engine.memory.handoff.selection import Selection
from engine.memory.handoff.slicing import first_slice
from engine.memory.handoff.trigger import check_handoff_trigger
from engine.memory.handoff.updating import let_go, with_updates
from engine.memory.handoff.watermark import is_new, partition
from engine.memory.text import plain
from engine.mind.voice import events_section
from engine.records.base import BufferId, EntityId
from engine.records.clean import clean
from engine.records.memory import BufferEntry, Chunk, HandoffRun, Partition, Proposal, TriggerReport
from engine.records.policies import HandoffPolicy
from engine.records.world import World
from engine.storage.store import Store


@dataclass(frozen=True, slots=True)
class Seen:
    """What the save says about one entity's buffer."""

    owner: EntityId
    entries: list[BufferEntry]
    last: HandoffRun | None
    last_outward: int
    waiting: bool
    """Whether a proposal waits for a person."""


@dataclass(slots=True)
class Attempt:
    """A handoff on its way: what a failed one leaves for the record."""

    owner: EntityId
    report: TriggerReport
    candidates: tuple[BufferEntry, ...]
    """All that is still to be handed over; once a call is made, what it was about."""
    pool: tuple[BufferId, ...]
    """All that was to be handed over when this began, in slices or at once."""
    handed: frozenset[BufferId] = frozenset()
    """What earlier slices were about."""
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

    def __init__(self, cause: OthermindsError, attempt: Attempt) -> None:
        super().__init__(str(cause))
        self.attempt = attempt


class Proposer:
    """Sees which handoffs are due and drafts them. Writes nothing; `timer` gives wall-clock seconds for the run log."""

    def __init__(
        self, store: Store, router: Router, embedder: Embedder, policy: HandoffPolicy, emit: Listener, timer: Callable[[], float]
    ) -> None:
        self._store, self._router, self._embedder = store, router, embedder
        self._policy, self._emit, self._timer = policy, emit, timer

    async def look(self, owners: Sequence[EntityId]) -> list[Seen]:
        """What the trigger needs to know of these minds."""
        store = self._store

        def read(conn: sqlite3.Connection) -> list[Seen]:
            waiting = store.proposals.owners(conn)
            return [
                Seen(
                    owner, store.buffer.of_owner(conn, owner), store.handoffs.last(conn, owner),
                    store.story.last_outward_round(conn, owner), owner in waiting,
                )
                for owner in owners
            ]

        return await store.db.read(read)

    def judge(self, world: World, seen: Seen, rounds: int) -> tuple[TriggerReport, Partition]:
        """Trigger and watermark after `rounds` whole rounds."""
        actor = self._router.model("actor")
        report = check_handoff_trigger(
            world.entities[seen.owner], seen.entries, world.now, actor.context_window, policy=self._policy,
            tokens=actor.count_tokens(events_section(world, seen.owner, seen.entries, world.now)) if seen.entries else 0,
            idle_rounds=max(0, rounds - seen.last_outward),
        )
        return report, partition(seen.entries, world.now, self._policy, report.trigger)

    def begin(self, world: World, seen: Seen, rounds: int) -> Attempt | None:
        """The attempt that is due, if any: none without a trigger, when nothing new has become a candidate, or while a proposal waits."""
        if seen.waiting or not any(is_new(entry) for entry in seen.entries):
            return None
        report, parts = self.judge(world, seen, rounds)
        fresh = [entry.id for entry in parts.candidates if is_new(entry)]
        if report.trigger == "none" or not fresh or self._too_soon(world, seen, report, fresh):
            return None
        return Attempt(seen.owner, report, parts.candidates, tuple(entry.id for entry in parts.candidates))

    def following(self, seen: Seen, attempt: Attempt) -> Attempt | None:
        """What is left of a pool after a slice of it was committed: what no slice was about, and threads that slices left pinned.
        None when nothing of it is new."""
        handed = attempt.handed.union(entry.id for entry in attempt.candidates)
        pool = set(attempt.pool)
        rest = tuple(
            entry for entry in seen.entries
            if entry.id in pool and entry.pinned != "hand" and (entry.id not in handed or not is_new(entry))
        )
        if not any(is_new(entry) for entry in rest):
            return None
        return Attempt(attempt.owner, attempt.report, rest, attempt.pool, handed)

    def _too_soon(self, world: World, seen: Seen, report: TriggerReport, fresh: Sequence[BufferId]) -> bool:
        """Whether a handoff can wait for more candidates: any, when a person has rejected what there was; a soft one, when a
        handoff has just been committed."""
        last, batch = seen.last, self._policy.batch
        if last is not None and last.decision == "rejected":
            return len(set(fresh) - set(last.candidate_ids)) < batch
        if report.trigger != "voluntary" or last is None or last.status != "committed" or len(fresh) >= batch:
            return False
        return world.round - last.round < self._policy.idle_rounds

    async def propose(self, world: World, attempt: Attempt) -> Proposal:
        """Draft an attempt, and tell of it. Raises `ProposalError` when the model, its reply or the embedder fails."""
        self._emit(
            HandoffStarted(entity=attempt.owner, report=attempt.report, candidate_ids=tuple(e.id for e in attempt.candidates))
        )
        started = self._timer()
        try:
            made = TextVectors(self._embedder)
            proposal = await self._draft(world, attempt, 0, made)
            vectors = await made.of([plain(chunk.content, chunk.quotes) for chunk in proposal.chunks])
        except (SaveError, CapReachedError):
            raise
        except OthermindsError as error:
            if isinstance(error, BadOutputError):
                attempt.reply = clean(error.reply)
            attempt.seconds = self._timer() - started
            raise ProposalError(error, attempt) from error
        attempt.seconds = self._timer() - started
        for chunk in proposal.chunks:
            self._emit(ChunkDecided(entity=attempt.owner, chunk=chunk))
        return proposal.model_copy(
            update={"vectors": tuple(vector.tobytes() for vector in vectors), "seconds": attempt.seconds}
        )

    async def redraft(self, world: World, proposal: Proposal, index: int | None, attempt: int) -> Proposal:
        """A proposal with one chunk asked for anew, which may become several, or all of it. Without vectors.

        Each `attempt` has a seed of its own. Raises `ModelError` and `HandoffError` as drafting does.
        """
        started, vectors = self._timer(), TextVectors(self._embedder)
        if index is None:
            [seen] = await self.look([proposal.owner_id])
            pool = set(proposal.pool)
            entries = tuple(entry for entry in seen.entries if entry.id in pool and entry.pinned != "hand")
            drafted = await self._draft(world, Attempt(proposal.owner_id, proposal.report, entries, proposal.pool), attempt, vectors)
        else:
            drafted = await self._redraft(world, proposal, index, attempt, vectors)
        return drafted.model_copy(update={"seconds": proposal.seconds + self._timer() - started})

    async def _redraft(self, world: World, proposal: Proposal, index: int, attempt: int, vectors: TextVectors) -> Proposal:
        sources = set(proposal.chunks[index].source_ids)
        entries = tuple(entry for entry in proposal.candidates if entry.id in sources)
        began = Attempt(proposal.owner_id, proposal.report, entries, tuple(entry.id for entry in entries))
        selection = await self._ask(world, began, attempt)
        if not began.whole:
            raise HandoffError("The moments of this part do not fit into the window of the handoff model.", "Edit it by hand.")
        before, after = proposal.chunks[:index], proposal.chunks[index + 1 :]
        decided = tuple(entry for entry in entries if entry.id not in selection.undecided)
        chunks, notes = await self.settled(world, proposal.owner_id, selection.chunks, decided, vectors, (*before, *after))
        return proposal.model_copy(
            update={
                "chunks": (*before, *chunks, *after),
                "candidates": tuple(entry for entry in proposal.candidates if entry.id not in selection.undecided),
                "prompt": f"{proposal.prompt}\n\n{began.prompt}", "reply": f"{proposal.reply}\n\n{began.reply}",
                "notes": (*proposal.notes, f"chunk {index + 1} was asked for anew", *began.notes, *notes),
            }
        )

    async def _draft(self, world: World, attempt: Attempt, number: int, vectors: TextVectors) -> Proposal:
        """What one call over the attempt's oldest candidates gives, checked, without vectors: those that were needed are in `vectors`."""
        selection = await self._ask(world, attempt, number)
        decided = tuple(entry for entry in attempt.candidates if entry.id not in selection.undecided)
        chunks, notes = await self.settled(world, attempt.owner, selection.chunks, decided, vectors)
        attempt.notes = (*attempt.notes, *notes)
        return Proposal(
            owner_id=attempt.owner, trigger=attempt.report.trigger, report=attempt.report, candidates=decided, pool=attempt.pool,
            chunks=tuple(chunks), embedder=self._embedder.name, dim=self._embedder.dim, prompt=attempt.prompt, reply=attempt.reply,
            model=attempt.model, template=attempt.template, notes=attempt.notes,
        )

    async def _ask(self, world: World, attempt: Attempt, number: int) -> Selection:
        model, candidates = self._router.model("handoff"), attempt.candidates
        return await fitted(
            model, lambda: self._ask_of(model, world, attempt, candidates, number), lambda: self._emit(shorter("handoff", model))
        )

    async def _ask_of(
        self, model: LanguageModel, world: World, attempt: Attempt, candidates: Sequence[BufferEntry], number: int
    ) -> Selection:
        """The oldest candidates that the model takes, judged by it."""
        attempt.model = model.name
        piece = first_slice(world, attempt.owner, candidates, model)
        attempt.candidates, attempt.whole = piece.candidates, piece.whole
        selection = await selected(world, piece, model, attempt, number)
        attempt.notes = selection.notes
        return selection

    async def settled(
        self, world: World, owner: EntityId, chunks: Sequence[Chunk], decided: Sequence[BufferEntry], vectors: TextVectors,
        beside: Sequence[Chunk] = (),
    ) -> tuple[list[Chunk], list[str]]:
        """The chunks with the ledger entries they go on with or tell anew, and no more pins than the buffer bears; what was changed,
        for people.

        `beside` are chunks of the same proposal that stay as they are: an entry that one of them rewrites is left to it.
        """
        store = self._store
        taken = frozenset(chunk.updates for chunk in beside if chunk.updates)

        events = {entry.id: entry for entry in decided}

        def read(conn: sqlite3.Connection) -> tuple[list[Chunk], list[Newcomer], list[Found]]:
            held = store.ledger.holding(conn, events)
            holding = {source: key for source, key in held.items() if key not in taken}
            entries = {entry.id: entry for entry in store.ledger.get(conn, sorted(set(holding.values())))}
            sources = {key: store.ledger.sources(conn, key) for key in entries}
            order = {key: index for index, key in enumerate(events)}
            going_on = with_updates(chunks, holding, entries, sources, order)
            fresh = newcomers(owner, going_on, events)
            return going_on, fresh, find(conn, store, world, fresh, vectors.model)

        going_on, fresh, found = await store.db.read(read)
        merge = await merged(world, owner, going_on, events, fresh, found, vectors, taken)
        pinned = sum(len(chunk.source_ids) for chunk in beside if chunk.retain)
        settled, notes = let_go(merge.chunks, self._policy.max_entries - pinned)
        return settled, [*merge.notes, *notes]
