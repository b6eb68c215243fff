"""What became of events and memories, as the save has it. Each function runs inside one read."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from engine.records.base import BufferId, EntityId, LedgerId
from engine.records.memory import ArchivedEntry, ArchivedMemory, BufferEntry, HandoffRun, LedgerEntry, Use
from engine.storage.store import Store


class Events(NamedTuple):
    """Some events, wherever they are."""

    entries: dict[BufferId, BufferEntry]
    gone: dict[BufferId, ArchivedEntry]
    """Those of them that left the buffer."""


class Past(NamedTuple):
    """Everything that is known of how a memory came to be."""

    entry: LedgerEntry
    source_ids: tuple[BufferId, ...]
    events: Events
    told: list[ArchivedMemory]
    """Memories that went into it."""
    tellers: dict[LedgerId, LedgerEntry]
    versions: list[LedgerEntry]
    run: HandoffRun | None
    use: Use | None


def tellers(conn: sqlite3.Connection, store: Store, keys: Iterable[LedgerId | None]) -> dict[LedgerId, LedgerEntry]:
    """For each memory the one that tells it now: itself, the one it went into, or the one that one went into.

    A memory that was removed in the end has no other: it is given itself, as the archive has it. Unknown ids are left out.
    """
    wanted = list(dict.fromkeys(key for key in keys if key))
    found = {entry.id: entry for entry in store.ledger.get(conn, wanted)}
    for key in wanted:
        way: list[LedgerId] = []
        at: LedgerId | None = key
        while at is not None and at not in found:
            way.append(at)
            held = store.ledger.get(conn, [at])
            gone = None if held else store.ledger_archive.get(conn, at)
            if held:
                found[at] = held[0]
            elif gone is None:
                break
            elif gone.into_id is None:
                found[at] = gone.entry
            else:
                at = gone.into_id
        if at in found:
            found.update(dict.fromkeys(way, found[at]))
    return {key: found[key] for key in wanted if key in found}


def events(conn: sqlite3.Connection, store: Store, keys: Iterable[BufferId]) -> Events:
    """Events in buffer or archive."""
    entries = {entry.id: entry for entry in store.buffer.find(conn, keys)}
    gone = {key: held for key in entries if (held := store.buffer.get_archived(conn, key)) is not None}
    return Events(entries, gone)


def past(conn: sqlite3.Connection, store: Store, key: LedgerId) -> Past | None:
    """How a memory, living or archived, came to be. None for an unknown id."""
    living = store.ledger.get(conn, [key])
    gone = None if living else store.ledger_archive.get(conn, key)
    if not living and gone is None:
        return None
    entry = living[0] if gone is None else gone.entry
    source_ids = store.ledger.sources(conn, key) if gone is None else gone.source_ids
    told = store.ledger_archive.told_by(conn, key)
    return Past(
        entry, source_ids, events(conn, store, source_ids), told, tellers(conn, store, [each.into_id for each in told]),
        store.ledger_archive.versions(conn, key), store.handoffs.get(conn, entry.run_id) if entry.run_id else None,
        store.ledger_archive.uses(conn, [key]).get(key),
    )


def archive_of(
    conn: sqlite3.Connection, store: Store, owner: EntityId
) -> tuple[dict[BufferId, ArchivedEntry], dict[LedgerId, LedgerEntry]]:
    """What left an entity's buffer, and for each memory it went to the one that tells it now."""
    gone = {each.entry.id: each for each in store.buffer.archived(conn, owner)}
    return gone, tellers(conn, store, (each.ledger_id for each in gone.values()))
