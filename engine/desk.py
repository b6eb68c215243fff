"""Everything a person asks of memories and does to them: the archive, provenance, edits by hand, review."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Literal, TypeVar

from engine.errors import CommandError, ModelError, SaveError
from engine.events import EntryRestored, Listener, MemoryChanged
from engine.llm.protocol import Embedder
from engine.memory import editing, history
from engine.memory.audit import near_duplicates
from engine.memory.embedding import embedded
from engine.memory.handoff.commit import brings_news
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import put_vectors
from engine.memory.text import plain
from engine.memory_views import (
    ArchivedMemoryLine,
    ArchiveLine,
    ChunkLine,
    Provenance,
    SourceLine,
    archive_lines,
    archived_memory_lines,
    chunk_lines,
    provenance,
)
from engine.records.base import BufferId, EntityId, LedgerId
from engine.records.memory import BufferEntry, HandoffRun, LedgerEntry
from engine.records.policies import Policies
from engine.records.prompts import Recollection
from engine.records.review import ChunkEdit, MemoryEdit, NearDuplicate, PendingProposal, Verdict
from engine.records.world import World
from engine.storage.store import Store
from engine.views import LedgerLine, ledger_line

__all__ = ["ArchiveLine", "ArchivedMemoryLine", "ChunkLine", "MemoryDesk", "Provenance", "SourceLine"]

T = TypeVar("T")


class MemoryDesk:
    """A person's desk over the memories of one open save. `world` gives the world as of the last commit.

    Looking changes nothing. Each change is one transaction, told of when it is safe on disk, and may come at any time: a handoff that
    is being decided over what was changed writes nothing.
    """

    def __init__(
        self, store: Store, world: Callable[[], World], recall: RecallEngine, embedder: Embedder, handoff: HandoffEngine,
        policies: Policies, emit: Listener,
    ) -> None:
        self._store, self._world, self._recall, self._embedder, self._emit = store, world, recall, embedder, emit
        self._handoff, self._patience = handoff, policies.recall.patience

    # looking; nothing here changes anything
    async def archive(self, entity: EntityId) -> Sequence[ArchiveLine]:
        """What left the working memory of `entity`, newest first. Raises `CommandError` for nobody's id, as all here do."""
        world = self._world_with(entity)
        gone, tellers = await self._store.db.read(lambda conn: history.archive_of(conn, self._store, entity))
        runs = await self._store.db.read(lambda conn: self._store.handoffs.reasons(conn, entity))
        return await asyncio.to_thread(archive_lines, world, gone.values(), tellers, runs)

    async def archived_memories(self, entity: EntityId) -> Sequence[ArchivedMemoryLine]:
        """What left the ledger of `entity`, newest first."""
        world, store = self._world_with(entity), self._store

        def read(conn: sqlite3.Connection) -> Sequence[ArchivedMemoryLine]:
            memories = store.ledger_archive.of_owner(conn, entity)
            tellers = history.tellers(conn, store, (memory.into_id for memory in memories))
            return archived_memory_lines(world, reversed(memories), tellers)

        return await store.db.read(read)

    async def provenance(self, key: LedgerId) -> Provenance:
        """Where a memory, living or archived, comes from."""
        found = await self._store.db.read(lambda conn: history.past(conn, self._store, key))
        if found is None:
            raise CommandError("There is no such memory.", "Choose one of the ledger or of its archive.")
        return provenance(self._world(), found)

    async def lines(self, keys: Sequence[LedgerId]) -> dict[LedgerId, LedgerLine]:
        """Memories of the ledger as their owners read them now. Those that are not there are left out."""
        world = self._world()
        return {entry.id: ledger_line(world, entry) for entry in await self._store.db.read(lambda conn: self._store.ledger.get(conn, keys))}

    async def near_duplicates(self, entity: EntityId) -> Sequence[NearDuplicate]:
        """Pairs of memories of `entity` that tell nearly the same, nearest first. `merge` makes one of two."""
        self._world_with(entity)
        return await near_duplicates(self._store, self._embedder, entity)

    async def recall(self, entity: EntityId, query: str | None = None) -> Recollection:
        """What would come to the mind of `entity` now, asked by the scene or by `query`, with all receipts."""
        world = self._world_with(entity)
        entries = await self._store.db.read(lambda conn: self._store.buffer.of_owner(conn, entity))
        return await self._recall.recall(world, entity, entries, world.now, query=query)

    async def chunk_lines(self, pending: PendingProposal) -> Sequence[ChunkLine]:
        """The chunks of a proposal, told for its owner."""
        world, store, proposal = self._world(), self._store, pending.proposal

        def read(conn: sqlite3.Connection) -> Sequence[ChunkLine]:
            sources = {memory.id: store.ledger.sources(conn, memory.id) for memory in proposal.memories}
            keys = [key for chunk in proposal.chunks for key in chunk.source_ids] + [key for held in sources.values() for key in held]
            rewritten = history.tellers(conn, store, (chunk.updates for chunk in proposal.chunks))
            lines = chunk_lines(world, pending, history.events(conn, store, keys), rewritten, sources)
            if proposal.kind == "compression":
                return lines
            return [line.model_copy(update={"news": news}) for line, news in zip(lines, brings_news(conn, store, proposal), strict=True)]

        return await store.db.read(read)

    # by hand
    async def add_memory(
        self, owner: EntityId, text: str, *, importance: int = 5, quotes: Sequence[str] = (), involved: Sequence[EntityId] = (),
        ago: timedelta | None = None,
    ) -> LedgerEntry:
        """Give `owner` a memory in a person's words, of its place now, `ago` before now. No maintenance takes it away.

        `text` names people as the owner calls them, by true name, as `@id` or by reference token. Words find it at once, meaning once
        it is embedded: now, or when the save is opened again. Raises `CommandError` with what to do instead, as every change here does.
        """
        new = editing.draft(self._world(), owner, text, importance, quotes, involved, ago)
        entry = await self._change(partial(editing.add, store=self._store, new=new))
        await self._told(entry)
        return entry

    async def edit_memory(self, key: LedgerId, edit: MemoryEdit) -> LedgerEntry:
        """Change words, quotes, importance or people of a memory. Its earlier wording stays readable."""
        entry = await self._change(partial(editing.edit, store=self._store, world=self._world(), key=key, change=edit))
        await self._told(entry)
        return entry

    async def remove_memory(self, key: LedgerId) -> None:
        """Take a memory out of the ledger; `restore_memory` brings it back."""
        entry = await self._change(partial(editing.remove, store=self._store, world=self._world(), key=key))
        self._recall.forget(entry.owner_id)
        self._emit(MemoryChanged(entity=entry.owner_id, gone_ids=(key,)))

    async def merge(self, keep: LedgerId, other: LedgerId) -> LedgerEntry:
        """Let the memory `keep` stand for both: `other` goes to the archive, its sources and quotes to `keep`."""
        entry = await self._change(partial(editing.merge, store=self._store, world=self._world(), keep=keep, other=other))
        await self._told(entry, gone=(other,))
        return entry

    async def restore(self, key: BufferId, pin: bool = True) -> BufferEntry:
        """Bring a forgotten or promoted event back into its place in working memory.

        Pinned by hand, unless told otherwise, so that the next handoff does not take it again at once.
        """
        back = partial(editing.restore_entry, store=self._store, world=self._world(), key=key, pin="hand" if pin else "none")
        entry = await self._change(back)
        self._emit(EntryRestored(entry=entry))
        return entry

    async def restore_memory(self, key: LedgerId) -> LedgerEntry:
        """Bring a memory that left the ledger back into it, as one by hand. What tells it meanwhile stays too."""
        entry = await self._change(partial(editing.restore_memory, store=self._store, world=self._world(), key=key))
        await self._told(entry)
        return entry

    # review: what a person says of proposals that wait; each raises `HandoffError` when nothing waits in that mind
    @property
    def review(self) -> Literal["auto", "ask"]:
        """Whether handoffs and compressions wait for a person (`ask`)."""
        return self._handoff.review_mode

    async def set_review(self, mode: Literal["auto", "ask"]) -> None:
        """Let handoffs wait for a person from now on, or commit by themselves. The save remembers it. What waits goes on waiting."""
        if mode not in ("auto", "ask"):
            raise CommandError(f'"{mode}" is no way of review.', "Choose auto or ask.")
        await self._change(partial(_set_review, store=self._store, mode=mode))
        self._handoff.review_mode = mode

    async def pending(self) -> Sequence[PendingProposal]:
        """Everything that waits, in the order it was proposed."""
        return await self._handoff.review.pending()

    async def pending_of(self, owner: EntityId) -> PendingProposal | None:
        """What waits in one mind."""
        return await self._handoff.review.pending_of(owner)

    async def judge(self, owner: EntityId, index: int, verdict: Verdict) -> PendingProposal:
        """Accept or reject one chunk, counted from 0, or leave it open again."""
        return await self._handoff.review.judge(owner, index, verdict)

    async def edit_chunk(self, owner: EntityId, index: int, edit: ChunkEdit) -> PendingProposal:
        """Put one chunk into a person's words, which accepts it."""
        return await self._handoff.review.edit(self._world(), owner, index, edit)

    async def reroll(self, owner: EntityId, index: int | None = None) -> PendingProposal:
        """Ask the model anew for one chunk, or for all of it. Raises `ModelError` too."""
        return await self._handoff.review.reroll(self._world(), owner, index)

    async def finish(self, owner: EntityId) -> HandoffRun:
        """Commit what was accepted. Raises `ModelError` too."""
        return await self._handoff.review.finish(self._world(), owner)

    async def reject(self, owner: EntityId) -> HandoffRun:
        """Write nothing of what waits but that it was rejected."""
        return await self._handoff.review.reject(self._world(), owner)

    def _world_with(self, entity: EntityId) -> World:
        world = self._world()
        if entity not in world.entities:
            raise CommandError("Nobody here has that id.", "Choose one of the people of this world.")
        return world

    async def _change(self, change: Callable[[sqlite3.Connection], T]) -> T:
        return await self._store.db.write(change)

    async def _told(self, entry: LedgerEntry, gone: tuple[LedgerId, ...] = ()) -> None:
        """Tell of a memory that was written, and embed it if the embedder answers; else that is done when the save is opened again."""
        self._recall.forget(entry.owner_id)
        self._emit(MemoryChanged(entity=entry.owner_id, changed=(entry,), gone_ids=gone))
        try:
            vectors = await asyncio.wait_for(embedded(self._embedder, [plain(entry.content, entry.quotes)]), self._patience)
            await self._change(partial(put_vectors, store=self._store, embedder=self._embedder, made=[(entry, vectors[0].tobytes())]))
        except (ModelError, SaveError, TimeoutError):  # the memory itself is safe: words find it
            return
        self._recall.forget(entry.owner_id)


def _set_review(conn: sqlite3.Connection, store: Store, mode: Literal["auto", "ask"]) -> None:
    policies = store.worlds.policies(conn)
    handoff = policies.handoff.model_copy(update={"review": mode})
    store.worlds.set_policies(conn, policies.model_copy(update={"handoff": handoff}))
    store.journal.note(conn, "hand", "Handoffs ask first" if mode == "ask" else "Handoffs do not ask")
