"""What a person says of knowledge that waits, of whose it is, and of promotions that went wrong. Each function runs inside one transaction
of its own; all raise `KnowledgeError` for what is not there."""

import sqlite3
from typing import Final

from engine.errors import KnowledgeError
from engine.memory.knowledge.arriving import Arrival, arrive, contradicting
from engine.memory.knowledge.by_hand import living
from engine.memory.knowledge.conflict import same_words
from engine.memory.knowledge.placing import Origin
from engine.memory.knowledge.scopes import Holder, holder_of, is_wider, members, targets, would_forget
from engine.records.knowledge import AuditAction, Knowledge, KnowledgeId, NewKnowledge, PromotionPolicy, ReviewItem
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.store import Store

_OF_A_PROMOTION: Final = ("term", "scope", "scope_id", "promoted_round")
"""What a promotion changes of a row."""
_ALL: Final = 1_000_000
"""More rows than an audit trail has of anything."""


def approve(conn: sqlite3.Connection, store: Store, world: World, key: str, policy: PromotionPolicy) -> Arrival:
    """Let what waits become what it would have: long-term, believed, and held by whom the policy says. What stands against it there is
    retired."""
    item, row = waiting(conn, store, key)
    store.journal.note(conn, "review", f"{token(row.owner_id)}: a piece of knowledge was approved")
    store.promotions.settle(conn, item.id)
    arrival = _promote(conn, store, world, row, (item.scope, item.scope_id), "approved", "by a person's word")
    if item.scope == "faction" and policy.scope == "faction":
        for holder in targets(world, row, policy):
            if holder != (item.scope, item.scope_id):
                _copy(conn, store, world, arrival.row, holder)
    return arrival


def reject(conn: sqlite3.Connection, store: Store, world: World, key: str) -> Knowledge:
    """Let what waits go: it is not promoted, and believed no longer. To keep it for its owner alone, narrow it instead."""
    item, row = waiting(conn, store, key)
    store.journal.note(conn, "review", f"{token(row.owner_id)}: a piece of knowledge was rejected")
    store.promotions.settle(conn, item.id)
    origin = Origin("hand", world.now)
    ended = row.model_copy(update={"valid_to": row.valid_to or max(row.valid_from, world.now)})
    return store.knowledge.update(conn, ended, origin.change("rejected", item.reason))


def rescope(conn: sqlite3.Connection, store: Store, world: World, key: KnowledgeId, to: Holder) -> Arrival:
    """Widen or narrow who holds a piece; one that waits is decided on so, and becomes long-term.

    Widened, nobody forgets it: who knew it and would not by the new scope keeps it. Narrowed, the others know it no longer.
    """
    row = living(conn, store, key)
    item = store.promotions.waiting_for(conn, key)
    if to == holder_of(row) and item is None:
        raise KnowledgeError("That is whose it is already.", "Choose another scope.", kind="nothing_to_do")
    known = next((one for one in twins(conn, store, row) if not is_wider(to, holder_of(one)) and to != holder_of(one)), None)
    if known is not None and is_wider(to, holder_of(row)) and set(members(world, to)) <= set(members(world, holder_of(known))):
        raise KnowledgeError(
            f"All of them know it already: {known.id} says the same in the same words.", f"Delete this one, or narrow {known.id}.",
            kind="nothing_to_do",
        )
    if item is not None:
        store.promotions.settle(conn, item.id)
    wider = is_wider(to, holder_of(row))
    store.journal.note(conn, "hand", f"{token(row.owner_id)}: a piece of knowledge was {'widened' if wider else 'narrowed'}")
    arrival = _promote(conn, store, world, row, to, "widened" if wider else "narrowed", "by hand")
    if wider and row.holds:
        change = Origin("hand", world.now).change("kept", "it was widened, and nobody forgets by that")
        for entity in would_forget(world, row, to):
            store.knowledge_history.keep(conn, entity, [arrival.row.id], change)
    return arrival


def twins(conn: sqlite3.Connection, store: Store, row: Knowledge) -> list[Knowledge]:
    """Other pieces that are believed and say the same word for word, whoever holds them."""
    found = store.knowledge.find(conn, subject=row.subject_id, kind=row.kind, holding=True, limit=_ALL)
    return [one for one in found if one.id != row.id and same_words(one, row)]


def reverse(conn: sqlite3.Connection, store: Store, world: World, key: KnowledgeId) -> tuple[Knowledge, ...]:
    """Take a promotion back: the piece is short-term and its owner's again, what was retired for it is believed again where it does not
    stand beside it, and one that was merged away is there again. It is not promoted anew until more is told of it.

    Returns all that changed, as it is now.
    """
    origin = Origin("hand", world.now)
    store.journal.note(conn, "hand", "A promotion of knowledge was taken back")
    found = store.knowledge.get(conn, [key])
    if not found:
        return _unmerge(conn, store, key, origin)
    [row] = found
    versions = store.knowledge.versions(conn, key)
    before = next((one.before for one in reversed(versions) if one.before.term == "short"), None)
    if row.term != "long" or (before is None and not _is_copy(conn, store, key)):
        raise KnowledgeError("That was never promoted.", "Choose a long-term piece that was short-term once.", kind="nothing_to_do")
    if before is None:
        store.knowledge.remove(conn, row, origin.change("reversed", "its promotion was taken back"))
        return (*_revived(conn, store, row, None, origin), row)
    back = row.model_copy(update={name: getattr(before, name) for name in _OF_A_PROMOTION})
    if rivals := contradicting(conn, store, back):  # learned meanwhile, and later
        back = _ended(back, max(rivals, key=lambda one: (one.valid_from, one.seq)), origin)
    now = store.knowledge.update(conn, back, origin.change("reversed", "its promotion was taken back"))
    return (now, *_revived(conn, store, row, now, origin))


def waiting(conn: sqlite3.Connection, store: Store, key: str) -> tuple[ReviewItem, Knowledge]:
    """An item of the queue, by its own id or that of its knowledge. Raises `KnowledgeError`."""
    item = store.promotions.item(conn, key) or store.promotions.waiting_for(conn, key)
    if item is None:
        raise KnowledgeError("Nothing waits under that name.", "It may have been decided on: look at the queue.", kind="unknown_item")
    return item, living(conn, store, item.knowledge_id)


def _promote(
    conn: sqlite3.Connection, store: Store, world: World, row: Knowledge, to: Holder, action: AuditAction, why: str
) -> Arrival:
    """Make a piece long-term and another holder's. One that had lost against another takes its place."""
    origin = Origin("hand", world.now)
    lost_to = row.superseded_by if not row.holds else None
    update = {
        "term": "long", "scope": to[0], "scope_id": to[1], "valid_to": None, "superseded_by": None, "tier": "hot",
        "promoted_round": world.round if row.term == "short" else row.promoted_round,
    }
    return arrive(conn, store, row.model_copy(update=update), action, why, origin, lost_to)


def _copy(conn: sqlite3.Connection, store: Store, world: World, row: Knowledge, holder: Holder) -> None:
    """What one faction knows now, another learns too."""
    values = {name: getattr(row, name) for name in NewKnowledge.model_fields}
    new = NewKnowledge(**values | {"scope": holder[0], "scope_id": holder[1]})
    now = store.knowledge.add(conn, new, Origin("hand", world.now).change("promoted", "by a person's word"))
    arrive(conn, store, now.model_copy(update={"promoted_round": world.round}), "approved", "by a person's word", Origin("hand", world.now))


def _is_copy(conn: sqlite3.Connection, store: Store, key: KnowledgeId) -> bool:
    """Whether a piece was written by a promotion that told several factions."""
    first = store.audit.find(conn, knowledge=key, limit=_ALL)
    return bool(first) and first[-1].action == "promoted"


def _revived(
    conn: sqlite3.Connection, store: Store, promoted: Knowledge, now: Knowledge | None, origin: Origin
) -> tuple[Knowledge, ...]:
    """Let what a promotion retired hold again, but for what is held beside the piece itself: of those the later counts."""
    found = store.audit.find(conn, actions=["retired"], causes=["promotion", "hand"], limit=_ALL)
    keys = {row.knowledge_id for row in found if row.knowledge_id is not None}
    rows = [row for row in store.knowledge.get(conn, sorted(keys)) if row.superseded_by == promoted.id and not row.holds]
    return tuple(
        store.knowledge.update(
            conn, row.model_copy(update={"valid_to": None, "superseded_by": None}),
            origin.change("restored", "what had stood against it was taken back"),
        )
        for row in rows if (now is None or holder_of(row) != holder_of(now)) and not contradicting(conn, store, row)
    )  # fmt: skip


def _unmerge(conn: sqlite3.Connection, store: Store, key: KnowledgeId, origin: Origin) -> tuple[Knowledge, ...]:
    """Bring back a piece that a promotion merged into another. The other stays as sure as it has come to be."""
    last = store.audit.find(conn, knowledge=key, limit=1)
    if not last or last[0].action != "merged" or not store.knowledge.versions(conn, key):
        raise KnowledgeError("There is no such knowledge.", "Choose one of the list.", kind="unknown_knowledge")
    row = store.knowledge.restore(conn, key, origin.change("reversed", "it was merged by a promotion, and that was taken back"))
    if rivals := contradicting(conn, store, row):
        over = _ended(row, max(rivals, key=lambda one: (one.valid_from, one.seq)), origin)
        row = store.knowledge.update(conn, over, origin.change("retired", "something else came to be known meanwhile"))
    return (row,)


def _ended(row: Knowledge, by: Knowledge, origin: Origin) -> Knowledge:
    """A piece that holds no longer beside another."""
    return row.model_copy(update={"valid_to": max(row.valid_from, min(by.valid_from, origin.at)), "superseded_by": by.id})
