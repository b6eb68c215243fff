"""The job that gives every memory and piece of knowledge a vector of the present embedder, beside play and in small steps."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

from engine.errors import ModelError
from engine.events import Embedding, Listener, Trouble
from engine.llm.protocol import Embedder
from engine.memory.embedding import embedded
from engine.memory.text import bare, plain
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge
from engine.records.memory import LedgerEntry
from engine.storage.store import Store

_BATCH = 64
"""Entries embedded between two transactions: what was done stays done when the rest is broken off."""
_DROPPED = 500
"""Vectors of an earlier embedder that go in one transaction."""


class EmbeddingJob:
    """Embeds memories and knowledge that the present embedder has not embedded yet, then lets go of the vectors of others.

    Resumable: each step is a transaction, and the next run begins where the last one was broken off, in whatever process. Until an
    entry is embedded it is found by words. `forget` is told of each owner of memories whose vectors were made.
    """

    def __init__(self, store: Store, embedder: Embedder, emit: Listener, forget: Callable[[EntityId], None]) -> None:
        self._store, self._embedder, self._emit, self._forget = store, embedder, emit, forget

    async def missing(self) -> int:
        """How many memories and pieces of knowledge have no vector of this embedder."""
        held, model = self._store.embeddings, self._embedder.name
        return await self._store.db.read(lambda conn: held.count_missing(conn, model) + held.count_missing_knowledge(conn, model))

    async def run(self) -> int:
        """Embed everything that is missing, memories first. Returns how much was embedded. Can be cancelled at any time.

        Tells how far it has come. Trouble with the embedder ends it with a word to the reader; nothing that was done is lost.
        """
        total, done = await self.missing(), 0
        owners: set[EntityId] = set()
        try:
            for step in (partial(self._memories, owners=owners), self._knowledge) if total else ():
                after = 0
                while (one := await step(after)) is not None:
                    after, made = one
                    done += made
                    self._emit(Embedding(model=self._embedder.name, done=min(done, total), total=max(total, done)))
            if total and done != total:  # some went or were reworded meanwhile: the count ends all the same
                self._emit(Embedding(model=self._embedder.name, done=total, total=total))
        except ModelError as error:
            self._emit(Trouble(text=f"{total - done} memories are found by words only for now: {error}"))
            return done
        finally:
            for owner in owners:
                self._forget(owner)
        if (await self._store.db.read(self._store.embeddings.models)).keys() - {self._embedder.name}:
            while await self._store.db.write(partial(_drop_others, store=self._store, model=self._embedder.name)):
                pass
        return done

    async def _memories(self, after: int, owners: set[EntityId]) -> tuple[int, int] | None:
        """Embed the next memories numbered above `after`. Returns the number of the last and how many were embedded; None at the end."""
        read = partial(self._store.embeddings.missing_any, model=self._embedder.name, after=after, limit=_BATCH)
        found = await self._store.db.read(read)
        if not found:
            return None
        entries = await self._store.db.read(partial(self._store.ledger.get, keys=[key for _, key, _ in found]))
        vectors = await embedded(self._embedder, [plain(entry.content, entry.quotes) for entry in entries])
        made = [(entry, vector.tobytes()) for entry, vector in zip(entries, vectors, strict=True)]
        count = await self._store.db.write(partial(put_vectors, store=self._store, embedder=self._embedder, made=made))
        owners.update(owner for _, _, owner in found)
        return found[-1][0], count

    async def _knowledge(self, after: int) -> tuple[int, int] | None:
        """As `_memories`, for knowledge."""
        read = partial(self._store.embeddings.missing_knowledge, model=self._embedder.name, after=after, limit=_BATCH)
        found = await self._store.db.read(read)
        if not found:
            return None
        rows = await self._store.db.read(partial(self._store.knowledge.get, keys=[key for _, key in found]))
        vectors = await embedded(self._embedder, [bare(row.content) for row in rows])
        made = [(row, vector.tobytes()) for row, vector in zip(rows, vectors, strict=True)]
        count = await self._store.db.write(partial(_put_knowledge, store=self._store, embedder=self._embedder, made=made))
        return found[-1][0], count


def _drop_others(conn: sqlite3.Connection, store: Store, model: str) -> int:
    """Let go of some vectors of other embedders. Returns how many. No way leads back to them: they can be made anew."""
    store.journal.derived(conn)
    return store.embeddings.drop_others(conn, model, _DROPPED)


async def embed_missing(store: Store, embedder: Embedder) -> int:
    """Do the whole job at once, telling nobody. Returns how many entries were embedded."""
    return await EmbeddingJob(store, embedder, lambda _: None, lambda _: None).run()


def put_vectors(conn: sqlite3.Connection, store: Store, embedder: Embedder, made: Sequence[tuple[LedgerEntry, bytes]]) -> int:
    """Keep the vectors of entries that are still worded as they were. Returns how many were kept."""
    now = {entry.id: (entry.content, entry.quotes) for entry in store.ledger.get(conn, [entry.id for entry, _ in made])}
    kept = [(entry.id, blob) for entry, blob in made if now.get(entry.id) == (entry.content, entry.quotes)]
    for key, blob in kept:
        store.embeddings.put(conn, "ledger", key, embedder.name, embedder.dim, blob)
    return len(kept)


def _put_knowledge(conn: sqlite3.Connection, store: Store, embedder: Embedder, made: Sequence[tuple[Knowledge, bytes]]) -> int:
    """As `put_vectors`, for knowledge."""
    now = {row.id: row.content for row in store.knowledge.get(conn, [row.id for row, _ in made])}
    kept = [(row.id, blob) for row, blob in made if now.get(row.id) == row.content]
    for key, blob in kept:
        store.embeddings.put(conn, "knowledge", key, embedder.name, embedder.dim, blob)
    return len(kept)
