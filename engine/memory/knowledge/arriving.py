"""A piece of knowledge comes to a holder by a person's word: merged with what says the same there, in the place of what it contradicts.

By rules alone, inside one transaction: a person waits for it, and has decided already what a model would be asked.
"""

import sqlite3
from typing import NamedTuple

from engine.memory.knowledge.conflict import CONTRADICTS
from engine.memory.knowledge.merging import merged
from engine.memory.knowledge.placing import Origin
from engine.memory.knowledge.promotion import bears_on
from engine.memory.knowledge.scopes import Holder, holder_of
from engine.memory.knowledge.settling import stands_to
from engine.records.knowledge import AuditAction, Knowledge, KnowledgeId, NewKnowledge
from engine.storage.knowledge import EVERYTHING
from engine.storage.store import Store


class Arrival(NamedTuple):
    """What came of it."""

    row: Knowledge
    """As it is now; of one that was merged, what tells it."""
    retired: tuple[Knowledge, ...] = ()
    gone: tuple[str, ...] = ()
    """Ids of rows that are no more: it was merged into another."""


def alike(conn: sqlite3.Connection, store: Store, row: Knowledge, holder: Holder) -> Knowledge | None:
    """What says the same to a holder, or None."""
    there = (other for other in _there(conn, store, row, holder) if stands_to(other, row) == "same")
    return max(there, key=lambda other: (other.term == "long", -other.seq), default=None)


def arrive(
    conn: sqlite3.Connection, store: Store, row: Knowledge, action: AuditAction, why: str, origin: Origin, rival: KnowledgeId | None = None
) -> Arrival:
    """Write `row`, a changed copy of what was read, to the holder that it names. `rival` is what it had lost against before: there it is
    retired, whatever the rules say. Raises as `KnowledgeRepository.update` does."""
    arrival = _arrive(conn, store, row, action, why, origin)
    stands = next((one for one in store.knowledge.get(conn, [rival] if rival else []) if one.holds), None)
    if stands is None or stands.id == arrival.row.id or holder_of(stands) != holder_of(arrival.row) or not row.holds:
        return arrival
    over = stands.model_copy(update={"valid_to": max(stands.valid_from, origin.at), "superseded_by": arrival.row.id})
    retired = store.knowledge.update(conn, over, origin.change("retired", f"it is contradicted: {row.content}"))
    return arrival._replace(retired=(*arrival.retired, retired))


def _arrive(conn: sqlite3.Connection, store: Store, row: Knowledge, action: AuditAction, why: str, origin: Origin) -> Arrival:
    same = alike(conn, store, row, (row.scope, row.scope_id)) if row.holds else None
    if same is not None:
        term = "long" if "long" in (row.term, same.term) else "short"
        both = merged(same, row).model_copy(
            update={"term": term, "promoted_round": same.promoted_round or row.promoted_round, "pinned": same.pinned or row.pinned}
        )
        into = store.knowledge.update(conn, both, origin.change("merged", f"{why}: {row.content}"))
        store.knowledge.remove(conn, row, origin.change(action, f"{why}; what it says is known there already: the two became one"))
        return Arrival(into, retire_contradicted(conn, store, into, origin), (row.id,))
    now = store.knowledge.update(conn, row, origin.change(action, why))
    return Arrival(now, retire_contradicted(conn, store, now, origin))


def settle_new(conn: sqlite3.Connection, store: Store, new: NewKnowledge, why: str, origin: Origin) -> Arrival:
    """Write a new piece. What says the same is looked for before."""
    now = store.knowledge.add(conn, new, origin.change("added", why))
    return Arrival(now, retire_contradicted(conn, store, now, origin))


def retire_contradicted(conn: sqlite3.Connection, store: Store, row: Knowledge, origin: Origin) -> tuple[Knowledge, ...]:
    """Retire what a piece contradicts where it is held, also what the author wrote: a person has said so."""
    if not row.holds:
        return ()
    return tuple(
        store.knowledge.update(
            conn, other.model_copy(update={"valid_to": max(other.valid_from, origin.at), "superseded_by": row.id}),
            origin.change("retired", f"it is over, or contradicted: {row.content}"),
        )
        for other in contradicting(conn, store, row)
    )


def contradicting(conn: sqlite3.Connection, store: Store, row: Knowledge) -> list[Knowledge]:
    """What is believed where a piece is held, or would be, and cannot hold beside it."""
    return [other for other in _there(conn, store, row, holder_of(row)) if stands_to(other, row) in CONTRADICTS]


def _there(conn: sqlite3.Connection, store: Store, row: Knowledge, holder: Holder) -> list[Knowledge]:
    found = store.knowledge.find(conn, scope=holder[0], scope_id=holder[1], holding=True, limit=EVERYTHING)
    return [other for other in found if other.id != row.id and bears_on(other, row)]
