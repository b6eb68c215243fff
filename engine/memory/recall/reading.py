"""What recall reads of a save: the owner's matrix, kept up to date, and the two thirds of the pool that SQL finds."""

import sqlite3
from typing import NamedTuple

from engine.llm.protocol import Embedder
from engine.memory.recall.query import Query
from engine.memory.recall.vectors import OwnerVectors
from engine.records.base import EntityId, LedgerId, PlaceId, RunId
from engine.records.memory import LedgerEntry
from engine.storage.ledger import LedgerFacts
from engine.storage.store import Store

_RUNS = 50
"""Handoffs of one owner since its last recall, beyond which everything is read anew."""
_LATE = 400
"""Entries without a vector that are looked up once more at each recall."""


class Known(NamedTuple):
    """What is already held of an owner."""

    stamp: RunId | None
    last_seq: int
    without_vector: tuple[LedgerId, ...]


class News(NamedTuple):
    """What has to be taken into it."""

    stamp: RunId | None
    added: list[LedgerFacts]
    rewritten: list[LedgerFacts]
    vectors: dict[LedgerId, bytes]


class Reading(NamedTuple):
    """One look at the save."""

    fresh: OwnerVectors | None
    """The whole matrix, when nothing of it was known."""
    news: News | None
    structural: list[int]
    """By `seq`."""
    words: list[tuple[int, float]]
    """By `seq`, with scores, best first."""


def known_of(vectors: OwnerVectors | None) -> Known | None:
    """What `read` needs to know of a held matrix."""
    if vectors is None:
        return None
    return Known(vectors.stamp, vectors.last_seq, tuple(vectors.without_vector(_LATE)))


def read(
    conn: sqlite3.Connection, store: Store, embedder: Embedder, owner: EntityId, place: PlaceId | None, focus: tuple[EntityId, ...],
    query: Query, pool: int, known: Known | None,
) -> Reading:
    """Everything for one recall but the texts, in one transaction. Runs on the database's thread and changes nothing shared."""
    news = _news(conn, store, embedder, owner, known) if known else None
    fresh = _whole(conn, store, embedder, owner) if news is None else None
    structural = store.ledger.structural(conn, owner, place, focus, pool)
    return Reading(fresh, news, structural, store.ledger.numbers_by_words(conn, owner, query.terms, pool))


def take_in(vectors: OwnerVectors, news: News) -> None:
    """Bring a held matrix up to date. Safe to do twice with the same news."""
    vectors.replace(news.rewritten, news.vectors)
    vectors.extend(news.added, news.vectors)
    vectors.stamp = news.stamp


def _whole(conn: sqlite3.Connection, store: Store, embedder: Embedder, owner: EntityId) -> OwnerVectors:
    vectors = OwnerVectors(embedder.dim, _stamp(conn, store, owner))
    vectors.fill(store.embeddings.whole(conn, owner, embedder.name), store.ledger.count(conn, owner))
    return vectors


def _stamp(conn: sqlite3.Connection, store: Store, owner: EntityId) -> RunId | None:
    return store.handoffs.last_id(conn, owner)


def _news(conn: sqlite3.Connection, store: Store, embedder: Embedder, owner: EntityId, known: Known) -> News | None:
    """What handoffs have written since, or None when that cannot be told."""
    added = store.ledger.scan(conn, owner, known.last_seq)
    vectors = store.embeddings.of_entries(conn, [*known.without_vector, *(fact.id for fact in added)], embedder.name)
    stamp = _stamp(conn, store, owner)
    rewritten: list[LedgerFacts] = []
    if stamp != known.stamp:
        runs = store.handoffs.of_owner(conn, owner, _RUNS)
        ids = [run.id for run in runs]
        if known.stamp in ids:
            runs = runs[: ids.index(known.stamp)]
        elif len(runs) == _RUNS or known.stamp is not None:
            return None
        touched = [source for run in runs if run.updated for source in run.candidate_ids]
        entries = store.ledger.get(conn, sorted(set(store.ledger.holding(conn, touched).values()))) if touched else []
        rewritten = [_facts(entry) for entry in entries if entry.seq <= known.last_seq]
        vectors |= store.embeddings.of_entries(conn, [fact.id for fact in rewritten], embedder.name)
    return News(stamp, added, rewritten, vectors)


def _facts(entry: LedgerEntry) -> LedgerFacts:
    return LedgerFacts(entry.id, entry.seq, entry.timestamp, entry.importance, entry.location_id, entry.involved_entity_ids)
