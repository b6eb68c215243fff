"""What a person does to memories by hand. Each function runs inside one transaction of its own."""

import sqlite3
from collections.abc import Sequence
from datetime import timedelta

from engine.errors import CommandError
from engine.memory.hand_words import account, check_third_person, people, spoken
from engine.memory.handoff.selection import united
from engine.memory.text import plain
from engine.mind.voice import remembered
from engine.records.base import BufferId, EntityId, LedgerId
from engine.records.memory import BufferEntry, LedgerEntry, NewLedgerEntry, Pin
from engine.records.review import MemoryEdit
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.store import Store


def draft(
    world: World, owner: EntityId, text: str, importance: int, quotes: Sequence[str], involved: Sequence[EntityId], ago: timedelta | None
) -> NewLedgerEntry:
    """A memory in a person's words, at the owner's place now, `ago` before now. Raises `CommandError`. Pure."""
    if owner not in world.entities or not world.entities[owner].agent:
        raise CommandError("Only somebody with a mind can remember.", "Choose one of the people.")
    _check_importance(importance)
    content, back = account(world, owner, text), ago or timedelta()
    check_third_person(world, owner, content)
    if back < timedelta():
        raise CommandError("A memory cannot be of what is still to come.", "Give how long ago it was.")
    try:
        then = (world.now - back).replace(microsecond=0)
    except OverflowError:
        raise CommandError("That is before the first year.", "Give a shorter time.") from None
    return NewLedgerEntry(
        owner_id=owner, timestamp=then, ended=then, location_id=world.entities[owner].place,
        involved_entity_ids=people(world, owner, involved, content), content=content, quotes=spoken(world, quotes),
        importance=importance, mode="done", origin="hand", created_round=world.round,
    )


def add(conn: sqlite3.Connection, store: Store, new: NewLedgerEntry) -> LedgerEntry:
    """Write a drafted memory. It has no sources: nothing in the buffer was made into it."""
    store.journal.note(conn, "hand", f"{token(new.owner_id)}: a memory was written")
    return store.ledger.add(conn, new, (), plain(new.content, new.quotes))


def edit(conn: sqlite3.Connection, store: Store, world: World, key: LedgerId, change: MemoryEdit) -> LedgerEntry:
    """Put a memory into a person's words; the earlier wording is kept. One that says what it said before is left as it is.

    Raises `CommandError` for a memory that is not in the ledger and for words that cannot be kept.
    """
    entry = living(conn, store, key)
    owner = entry.owner_id
    content, quotes = entry.content, entry.quotes
    if change.content is not None:
        content = account(world, owner, change.content, [*remembered(entry), *entry.involved_entity_ids])
        if content != entry.content:  # one that came so with its world may stay so
            check_third_person(world, owner, content)
    if change.quotes is not None:
        quotes = spoken(world, change.quotes, entry.quotes)
    involved = entry.involved_entity_ids
    if change.involved is not None or content != entry.content:
        involved = people(world, owner, involved if change.involved is None else change.involved, content)
    update = {
        "content": content, "quotes": quotes, "involved_entity_ids": involved,
        "importance": entry.importance if change.importance is None else change.importance,
    }
    if all(getattr(entry, name) == value for name, value in update.items()):
        return entry
    store.journal.note(conn, "hand", f"{token(owner)}: a memory was edited")
    return _rewrite(conn, store, entry, update, ())


def remove(conn: sqlite3.Connection, store: Store, world: World, key: LedgerId) -> LedgerEntry:
    """Take a memory out of the ledger. The archive keeps it. Returns it as it was. Raises `CommandError`."""
    entry = living(conn, store, key)
    store.ledger_archive.archive(conn, [key], "removed", world.round)
    store.journal.note(conn, "hand", f"{token(entry.owner_id)}: a memory was taken away")
    return entry


def merge(conn: sqlite3.Connection, store: Store, world: World, keep: LedgerId, other: LedgerId) -> LedgerEntry:
    """Let one memory stand for two: it keeps its words and takes quotes, people, sources, span and weight of the other.

    The other goes to the archive. Raises `CommandError` when one is not in the ledger, or they are not of one mind.
    """
    if keep == other:
        raise CommandError("That is one and the same memory.", "Choose two.")
    kept, gone = living(conn, store, keep), living(conn, store, other)
    if kept.owner_id != gone.owner_id:
        raise CommandError("Those are memories of two minds, which never share one.", "Choose two of one mind.")
    update = {
        "quotes": united(kept.quotes, gone.quotes),
        "involved_entity_ids": united(kept.involved_entity_ids, gone.involved_entity_ids),
        "importance": max(kept.importance, gone.importance),
        "timestamp": min(kept.timestamp, gone.timestamp), "ended": max(kept.ended, gone.ended),
        "mode": gone.mode if kept.mode == "thought" else kept.mode,
    }
    merged = _rewrite(conn, store, kept, update, store.ledger.sources(conn, other))
    store.ledger_archive.archive(conn, [other], "merged", world.round, into=keep)
    store.journal.note(conn, "hand", f"{token(kept.owner_id)}: two memories became one")
    return merged


def restore_entry(conn: sqlite3.Connection, store: Store, world: World, key: BufferId, pin: Pin) -> BufferEntry:
    """Bring an event back into its place in working memory. Raises `CommandError` when it is not in the archive."""
    if store.buffer.get(conn, key) is not None:
        raise CommandError("That moment is in working memory already.", "Pin it there to keep it.")
    if store.buffer.get_archived(conn, key) is None:
        raise CommandError("There is no such moment.", "Choose one of the archive.")
    store.buffer.restore(conn, key, world.round, pin)
    [entry] = store.buffer.find(conn, [key])
    store.journal.note(conn, "hand", f"{token(entry.owner_id)}: a moment was brought back")
    return entry


def restore_memory(conn: sqlite3.Connection, store: Store, world: World, key: LedgerId) -> LedgerEntry:
    """Bring a memory back from the archive; it counts as one by hand. Raises `CommandError` when it is not there."""
    if store.ledger.get(conn, [key]):
        raise CommandError("That memory is in the ledger already.", "There is nothing to bring back.")
    if store.ledger_archive.get(conn, key) is None:
        raise CommandError("There is no such memory.", "Choose one of the archive.")
    store.ledger_archive.restore(conn, key, world.round)
    entry = living(conn, store, key)
    store.journal.note(conn, "hand", f"{token(entry.owner_id)}: a memory was brought back")
    return entry


def living(conn: sqlite3.Connection, store: Store, key: LedgerId) -> LedgerEntry:
    """A memory that is in the ledger. Raises `CommandError` for any other."""
    found = store.ledger.get(conn, [key])
    if found:
        return found[0]
    if store.ledger_archive.get(conn, key) is not None:
        raise CommandError("That memory has left the ledger.", "Restore it from the archive first.")
    raise CommandError("There is no such memory.", "Choose one of the ledger.")


def _rewrite(
    conn: sqlite3.Connection, store: Store, entry: LedgerEntry, update: dict[str, object], sources: Sequence[BufferId]
) -> LedgerEntry:
    """A new version of a memory, by hand."""
    values = {name: getattr(entry, name) for name in NewLedgerEntry.model_fields} | update | {"origin": "hand"}
    new = NewLedgerEntry.model_validate(values)
    return store.ledger.rewrite(conn, entry.id, new, sources, plain(new.content, new.quotes))


def _check_importance(importance: int) -> None:
    if not 1 <= importance <= 10:
        raise CommandError(f"An importance of {importance} is none.", "Give a number from 1 to 10.")
