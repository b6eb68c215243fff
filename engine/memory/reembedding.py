"""The job that gives every memory a vector of the present embedder, beside play and in small steps."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

from engine.errors import ModelError
from engine.events import Embedding, Listener, Trouble
from engine.llm.protocol import Embedder
from engine.memory.embedding import embedded
from engine.memory.text import plain
from engine.records.base import EntityId
from engine.records.memory import LedgerEntry
from engine.storage.store import Store

_BATCH = 64
"""Entries embedded between two transactions: what was done stays done when the rest is broken off."""
_DROPPED = 500
"""Vectors of an earlier embedder that go in one transaction."""


class EmbeddingJob:
    """Embeds what the present embedder has not embedded yet, then lets go of the vectors of others.

    Resumable: each step is a transaction, and the next run begins where the last one was broken off, in whatever process. Until an
    entry is embedded it is found by words. `forget` is told of each owner whose vectors were made.
    """

    def __init__(self, store: Store, embedder: Embedder, emit: Listener, forget: Callable[[EntityId], None]) -> None:
        self._store, self._embedder, self._emit, self._forget = store, embedder, emit, forget

    async def missing(self) -> int:
        """How many memories have no vector of this embedder."""
        return await self._store.db.read(partial(self._store.embeddings.count_missing, model=self._embedder.name))

    async def run(self) -> int:
        """Embed everything that is missing. Returns how many entries were embedded. Can be cancelled at any time.

        Tells how far it has come. Trouble with the embedder ends it with a word to the reader; nothing that was done is lost.
        """
        total, done, after = await self.missing(), 0, 0
        owners: set[EntityId] = set()
        try:
            while total and (found := await self._next(after)):
                after = found[-1][0]
                made = await self._embed([key for _, key, _ in found])
                owners.update(owner for _, _, owner in found)
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
            while await self._store.db.write(partial(self._store.embeddings.drop_others, model=self._embedder.name, limit=_DROPPED)):
                pass
        return done

    async def _next(self, after: int) -> list[tuple[int, str, EntityId]]:
        read = partial(self._store.embeddings.missing_any, model=self._embedder.name, after=after, limit=_BATCH)
        return await self._store.db.read(read)

    async def _embed(self, keys: Sequence[str]) -> int:
        entries = await self._store.db.read(partial(self._store.ledger.get, keys=keys))
        vectors = await embedded(self._embedder, [plain(entry.content, entry.quotes) for entry in entries])
        made = [(entry, vector.tobytes()) for entry, vector in zip(entries, vectors, strict=True)]
        return await self._store.db.write(partial(put_vectors, store=self._store, embedder=self._embedder, made=made))


async def embed_missing(store: Store, embedder: Embedder) -> int:
    """Do the whole job at once, telling nobody. Returns how many entries were embedded."""
    return await EmbeddingJob(store, embedder, lambda _: None, lambda _: None).run()


def put_vectors(conn: sqlite3.Connection, store: Store, embedder: Embedder, made: Sequence[tuple[LedgerEntry, bytes]]) -> int:
    """Keep the vectors of entries that are still worded as they were. Returns how many were kept."""
    now = {entry.id: entry.version for entry in store.ledger.get(conn, [entry.id for entry, _ in made])}
    kept = [(entry.id, blob) for entry, blob in made if now.get(entry.id) == entry.version]
    for key, blob in kept:
        store.embeddings.put(conn, "ledger", key, embedder.name, embedder.dim, blob)
    return len(kept)
