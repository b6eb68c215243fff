"""Vectors for ledger entries that have none: authored memories of a new game, hand-made ones, those of another embedder."""

import sqlite3
from functools import partial

from engine.llm.protocol import Embedder
from engine.memory.embedding import embedded
from engine.memory.text import plain
from engine.records.base import EntityId
from engine.records.memory import LedgerEntry
from engine.storage.store import Store

_BATCH = 64
"""Entries embedded between two transactions: what was done stays done when the rest is broken off."""


async def backfill(store: Store, embedder: Embedder, owner: EntityId) -> int:
    """Embed those of an owner's ledger entries that this embedder has not embedded as they are worded now.

    Returns how many. Can be cancelled and taken up again at any time. Raises `ModelError` when the embedder fails.
    """
    done = 0
    keys = await store.db.read(lambda conn: store.embeddings.missing(conn, owner, embedder.name))
    for start in range(0, len(keys), _BATCH):
        batch = keys[start : start + _BATCH]
        entries = await store.db.read(partial(store.ledger.get, keys=batch))
        vectors = await embedded(embedder, [plain(entry.content, entry.quotes) for entry in entries])
        made = [(entry, vector.tobytes()) for entry, vector in zip(entries, vectors, strict=True)]
        done += await store.db.write(partial(_put, store=store, embedder=embedder, made=made))
    return done


def _put(conn: sqlite3.Connection, store: Store, embedder: Embedder, made: list[tuple[LedgerEntry, bytes]]) -> int:
    """Keep the vectors of entries that are still worded as they were."""
    now = {entry.id: entry.version for entry in store.ledger.get(conn, [entry.id for entry, _ in made])}
    kept = [(entry.id, blob) for entry, blob in made if now.get(entry.id) == entry.version]
    for key, blob in kept:
        store.embeddings.put(conn, "ledger", key, embedder.name, embedder.dim, blob)
    return len(kept)
