"""From an owner's buffer to a proposal: what a handoff would do, checked and embedded, with nothing written (DESIGN 7)."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import BadOutputError, HandoffError, OthermindsError, SaveError
from engine.events import ChunkDecided, HandoffStarted, Listener
from engine.llm.protocol import Embedder, ModelRequest
from engine.llm.router import Router
from engine.llm.structured import ask
from engine.memory.embedding import embedded
from engine.memory.handoff.selection import Brief, select
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
from engine.records.policies import HandoffPolicy
from engine.records.wire import HandoffReply
from engine.records.world import World
from engine.storage.store import Store


@dataclass(frozen=True, slots=True)
class Seen:
    """What the save says about one entity's buffer."""

    owner: EntityId
    entries: list[BufferEntry]
    last: HandoffRun | None
    last_outward: int


@dataclass(slots=True)
class Attempt:
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
            return [
                Seen(
                    owner, store.buffer.of_owner(conn, owner), store.handoffs.last(conn, owner),
                    store.story.last_outward_round(conn, owner),
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
        """The attempt that is due, if any: none without a trigger or when nothing new has become a candidate."""
        if not any(is_new(entry) for entry in seen.entries):
            return None
        report, parts = self.judge(world, seen, rounds)
        fresh = sum(is_new(entry) for entry in parts.candidates)
        if report.trigger == "none" or not fresh or self._too_soon(world, seen, report, fresh):
            return None
        return Attempt(seen.owner, report, parts.candidates)

    def _too_soon(self, world: World, seen: Seen, report: TriggerReport, fresh: int) -> bool:
        """Whether a soft trigger can wait for more candidates, because a handoff has just been committed."""
        last = seen.last
        if report.trigger != "voluntary" or last is None or last.status != "committed" or fresh >= self._policy.batch:
            return False
        return world.round - last.round < self._policy.idle_rounds

    async def propose(self, world: World, attempt: Attempt) -> Proposal:
        """Draft an attempt, and tell of it. Raises `ProposalError` when the model, its reply or the embedder fails."""
        self._emit(
            HandoffStarted(entity=attempt.owner, report=attempt.report, candidate_ids=tuple(e.id for e in attempt.candidates))
        )
        started = self._timer()
        try:
            proposal = await self._decide(world, attempt, started)
        except SaveError:
            raise
        except OthermindsError as error:
            if isinstance(error, BadOutputError):
                attempt.reply = clean(error.reply)
            attempt.seconds = self._timer() - started
            raise ProposalError(error, attempt) from error
        for chunk in proposal.chunks:
            self._emit(ChunkDecided(entity=attempt.owner, chunk=chunk))
        return proposal

    async def _decide(self, world: World, attempt: Attempt, started: float) -> Proposal:
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
        chunks, notes = await self.settled(attempt.owner, selection.chunks, decided)
        attempt.notes = (*selection.notes, *notes)
        vectors = await embedded(self._embedder, [plain(chunk.content, chunk.quotes) for chunk in chunks])
        attempt.seconds = self._timer() - started
        return Proposal(
            owner_id=attempt.owner, trigger=attempt.report.trigger, report=attempt.report, candidates=decided, chunks=tuple(chunks),
            vectors=tuple(vector.tobytes() for vector in vectors), embedder=self._embedder.name, dim=self._embedder.dim,
            prompt=attempt.prompt, reply=attempt.reply, model=attempt.model, template=attempt.template, notes=attempt.notes,
            seconds=attempt.seconds,
        )

    async def settled(
        self, owner: EntityId, chunks: Sequence[Chunk], decided: Sequence[BufferEntry]
    ) -> tuple[list[Chunk], list[str]]:
        """The chunks with the ledger entries they go on with, and no more pins than the buffer bears; what was changed, for people."""
        store = self._store

        def read(conn: sqlite3.Connection) -> list[Chunk]:
            holding = store.ledger.holding(conn, [entry.id for entry in decided])
            entries = {entry.id: entry for entry in store.ledger.get(conn, sorted(set(holding.values())))}
            sources = {key: store.ledger.sources(conn, key) for key in entries}
            order = {entry.id: index for index, entry in enumerate(decided)}
            return with_updates(chunks, holding, entries, sources, order)

        going_on = await store.db.read(read)
        return let_go(going_on, self._policy.max_entries)


def _brief(world: World, piece: Slice) -> Brief:
    """What a reply to this prompt may speak of."""
    owner = piece.prompt.entity
    people = people_of(owner, piece.candidates)
    names = vocabulary(world, owner, people) | {own_name(world.entities[owner]): owner}
    return Brief(
        owner=owner, candidates=piece.candidates, handles=piece.handles, names=names, known=frozenset(people),
        ids=world.entities.keys(), template=piece.prompt.messages[0].content,
    )
