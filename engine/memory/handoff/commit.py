"""A checked proposal becomes rows: all of them, or none (DESIGN 7)."""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from engine.errors import HandoffError
from engine.events import HandoffCommitted
from engine.memory.text import plain
from engine.records.base import BufferId, LedgerId, PlaceId, RunId
from engine.records.memory import BufferEntry, Chunk, HandoffRun, LedgerEntry, Mode, NewLedgerEntry, Proposal
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.store import Store


class Committed(NamedTuple):
    """What a handoff wrote."""

    run: HandoffRun
    ledger: tuple[LedgerEntry, ...]
    promoted: tuple[BufferId, ...]
    forgotten: tuple[BufferId, ...]
    pinned: tuple[BufferId, ...]
    gone: tuple[LedgerId, ...] = ()
    """Ledger entries that left the ledger: of a compression only."""

    @property
    def event(self) -> HandoffCommitted:
        """What tells of it."""
        return HandoffCommitted(
            entity=self.run.owner_id, run=self.run, ledger=self.ledger, promoted_ids=self.promoted,
            forgotten_ids=self.forgotten, pinned_ids=self.pinned, gone_ids=self.gone,
        )


class _Fates(NamedTuple):
    """Where each candidate goes."""

    pinned: tuple[BufferEntry, ...]
    promoted: tuple[BufferEntry, ...]
    forgotten: tuple[BufferEntry, ...]


class _Telling(NamedTuple):
    """A chunk with its vector and what there is of it."""

    chunk: Chunk
    vector: bytes
    held: LedgerEntry | None
    """The memory it goes into, as read."""
    own: tuple[BufferId, ...]
    """Its sources, without those that another memory holds."""
    told: tuple[BufferEntry, ...]

    @property
    def last(self) -> datetime:
        """When its events ended."""
        return max(entry.timestamp for entry in self.told)

    @property
    def is_news(self) -> bool:
        """Whether anything of it but its sources has to be written. A memory that says it already stays the version that it is."""
        held, chunk = self.held, self.chunk
        if held is None:
            return True
        if not chunk.repeats and (
            min(entry.timestamp for entry in self.told) < held.timestamp or (held.mode == "thought" and event_mode(self.told) != "thought")
        ):
            return True
        return (held.content, set(held.quotes), held.importance, set(held.involved_entity_ids)) != (
            chunk.content, set(chunk.quotes), chunk.importance, set(chunk.involved_entity_ids)
        )


def commit(conn: sqlite3.Connection, store: Store, world: World, proposal: Proposal) -> Committed:
    """Write a proposal. Runs inside one transaction.

    Raises `HandoffError` when a candidate, or a ledger entry that a chunk rewrites, is no longer as it was read.
    """
    check_unchanged(conn, store, proposal)
    holding = store.ledger.holding(conn, [entry.id for entry in proposal.candidates])
    fates, tellings = _fates(proposal, holding), _tellings(conn, store, proposal, holding, proposal.vectors)
    run = store.handoffs.add(conn, _run(world, proposal, fates, [one.chunk for one in tellings if one.is_news]))
    written: dict[LedgerId, LedgerEntry] = {}
    home: dict[BufferId, LedgerId] = dict(holding)
    for one in tellings:
        if one.held is not None and not one.is_news:
            key = one.held.id
            store.ledger.add_sources(conn, key, one.own, None if one.chunk.repeats else one.last)
        else:
            entry = _write(conn, store, world, proposal, one, run.id)
            key = entry.id
            if (entry.content, entry.quotes) == (one.chunk.content, one.chunk.quotes):
                store.embeddings.put(conn, "ledger", key, proposal.embedder, proposal.dim, one.vector)
            written[key] = entry
        for source in one.chunk.source_ids:
            home.setdefault(source, key)
    for entry_ in fates.pinned:
        if entry_.pinned != "model":
            store.buffer.set_pin(conn, entry_.id, "model")
    store.buffer.archive(conn, fates.promoted, "promoted", run.id, home)
    store.buffer.archive(conn, fates.forgotten, "forgotten", run.id, {})
    store.handoffs.log_time(conn, run.id, proposal.seconds)
    store.journal.note(conn, "handoff", f"{token(run.owner_id)}: {_told(run)}")
    promoted, forgotten, pinned = (tuple(e.id for e in part) for part in (fates.promoted, fates.forgotten, fates.pinned))
    return Committed(run, tuple(written.values()), promoted, forgotten, pinned)


def _told(run: HandoffRun) -> str:
    """What a handoff did, for people: `handoff, 3 added, 5 promoted`."""
    counts = {
        "added": run.added, "updated": run.updated, "promoted": run.promoted, "forgotten": run.forgotten, "pinned": run.pinned,
    }  # fmt: skip
    return ", ".join(["handoff", *(f"{count} {what}" for what, count in counts.items() if count)])


def brings_news(conn: sqlite3.Connection, store: Store, proposal: Proposal) -> tuple[bool, ...]:
    """For each chunk of a handoff whether the ledger would say anything then that it does not say now. A thread that stands pinned comes
    back without. Needs no vectors."""
    holding = store.ledger.holding(conn, [entry.id for entry in proposal.candidates])
    return tuple(one.is_news for one in _tellings(conn, store, proposal, holding, [b""] * len(proposal.chunks)))


def check_unchanged(conn: sqlite3.Connection, store: Store, proposal: Proposal) -> None:
    """Raise `HandoffError` when a moment or a memory that a proposal is made of, or a ledger entry that a chunk rewrites, is no longer
    as it was read."""
    now = {entry.id: entry for entry in store.buffer.of_owner(conn, proposal.owner_id)}
    changed = sum(now.get(entry.id) != entry for entry in proposal.candidates)
    rewritten = [chunk.updates for chunk in proposal.chunks if chunk.updates]
    held = {entry.id: entry for entry in store.ledger.get(conn, [*rewritten, *(memory.id for memory in proposal.memories)])}
    changed += sum(held.get(memory.id) != memory for memory in proposal.memories)
    versions = {key: entry.version for key, entry in held.items()}
    changed += sum(versions.get(chunk.updates) != chunk.version for chunk in proposal.chunks if chunk.updates)
    if changed:
        what = "One memory was" if changed == 1 else f"{changed} memories were"
        raise HandoffError(f"{what} changed while the handoff was being decided.", "Nothing was written; the next round tries again.")


def event_span(entries: Sequence[BufferEntry]) -> tuple[BufferEntry, BufferEntry]:
    """First and last of some events. Raises ValueError for none."""
    ordered = sorted(entries, key=lambda entry: (entry.timestamp, entry.seq))
    if not ordered:
        raise ValueError("a memory needs an event")
    return ordered[0], ordered[-1]


def event_place(entries: Sequence[BufferEntry]) -> PlaceId | None:
    """Where events happened: the place of most of them, the earlier one when two have as many. Not where they were heard."""
    places = [entry.intent.place or entry.location_id for entry in sorted(entries, key=lambda e: (e.timestamp, e.seq))]
    counted = Counter(place for place in places if place is not None)
    return max(counted, key=lambda place: (counted[place], -places.index(place))) if counted else None


def event_mode(entries: Sequence[BufferEntry]) -> Mode:
    """Thought only if nothing else; else said or done, whichever there is more of, and done when there is as much of both."""
    counted = Counter(entry.mode for entry in entries)
    if counted["done"] == counted["said"] == 0:
        return "thought"
    return "said" if counted["said"] > counted["done"] else "done"


def _tellings(
    conn: sqlite3.Connection, store: Store, proposal: Proposal, holding: Mapping[BufferId, LedgerId], vectors: Sequence[bytes]
) -> list[_Telling]:
    """The chunks with all that writing them takes."""
    found = {entry.id: entry for entry in store.ledger.get(conn, [c.updates for c in proposal.chunks if c.updates])}
    events = {entry.id: entry for entry in proposal.candidates}
    tellings: list[_Telling] = []
    for chunk, vector in zip(proposal.chunks, vectors, strict=True):
        held = found.get(chunk.updates or "")
        own = [source for source in chunk.source_ids if holding.get(source) in (None, chunk.updates)]
        told = [events[source] for source in chunk.source_ids]
        tellings.append(_Telling(chunk, vector, held, tuple(own) or chunk.source_ids, tuple(told)))
    return tellings


def _fates(proposal: Proposal, holding: Mapping[BufferId, LedgerId]) -> _Fates:
    """Sources of retained chunks stay; other sources, and threads let go of that the ledger holds, are promoted; the rest is forgotten."""
    retained = {source for chunk in proposal.chunks if chunk.retain for source in chunk.source_ids}
    kept = {source for chunk in proposal.chunks for source in chunk.source_ids}
    pinned = tuple(entry for entry in proposal.candidates if entry.id in retained)
    leaving = [entry for entry in proposal.candidates if entry.id not in retained]
    promoted = tuple(entry for entry in leaving if entry.id in kept or entry.id in holding)
    gone = {entry.id for entry in promoted}
    return _Fates(pinned, promoted, tuple(entry for entry in leaving if entry.id not in gone))


def _run(world: World, proposal: Proposal, fates: _Fates, chunks: Sequence[Chunk]) -> HandoffRun:
    updated = {chunk.updates for chunk in chunks if chunk.updates}
    return HandoffRun(
        id="", owner_id=proposal.owner_id, round=world.round, timestamp=world.now, trigger=proposal.trigger,
        reason=proposal.report.reason, status="committed", candidate_ids=tuple(entry.id for entry in proposal.candidates),
        prompt=proposal.prompt, reply=proposal.reply, model=proposal.model, template=proposal.template, notes=proposal.notes,
        added=sum(chunk.updates is None for chunk in chunks), updated=len(updated), promoted=len(fates.promoted),
        forgotten=len(fates.forgotten), pinned=len(fates.pinned), decision=proposal.decision,
    )


def _write(
    conn: sqlite3.Connection, store: Store, world: World, proposal: Proposal, one: _Telling, run_id: RunId
) -> LedgerEntry:
    """Insert or rewrite the ledger entry of a chunk, with time, place and mode of all events it was made of."""
    chunk, held = one.chunk, one.held
    text = plain(chunk.content, chunk.quotes)
    if held is not None and chunk.repeats and not chunk.by_hand:
        [now] = store.ledger.get(conn, [held.id])  # another chunk may have put it into new words meanwhile
        values = {name: getattr(now, name) for name in NewLedgerEntry.model_fields}
        weight = max(now.importance, chunk.importance)
        weightier = NewLedgerEntry.model_validate(values | {"importance": weight, "run_id": run_id})
        text = plain(now.content, now.quotes)
        return store.ledger.rewrite(conn, held.id, weightier, one.own, text)
    earlier = _earlier(conn, store, one)
    told = [*one.told, *earlier]
    first, last = event_span(told)
    new = NewLedgerEntry(
        owner_id=proposal.owner_id, timestamp=first.timestamp, ended=last.timestamp, location_id=event_place(told),
        involved_entity_ids=chunk.involved_entity_ids, content=chunk.content, quotes=chunk.quotes,
        importance=chunk.importance, mode=event_mode(told), run_id=run_id, origin="hand" if chunk.by_hand else "handoff",
        created_round=world.round,
    )
    if held is None:
        return store.ledger.add(conn, new, one.own, text)
    return store.ledger.rewrite(conn, held.id, _going_on(new, held, sourceless=not earlier), one.own, text)


def _earlier(conn: sqlite3.Connection, store: Store, one: _Telling) -> list[BufferEntry]:
    """The events that a memory was made of before. What its owner only repeated of it later is among its sources, and none of them:
    that lies behind its end."""
    if one.held is None:
        return []
    sources = set(store.ledger.sources(conn, one.held.id)) - set(one.chunk.source_ids)
    return [entry for entry in store.buffer.find(conn, sorted(sources)) if entry.timestamp <= one.held.ended]


def _going_on(new: NewLedgerEntry, held: LedgerEntry, *, sourceless: bool) -> NewLedgerEntry:
    """A rewriting keeps what the entry knows beyond its events: its span, where it came from, the place and mode of one that was never
    made of events."""
    return new.model_copy(
        update={
            "timestamp": min(new.timestamp, held.timestamp), "ended": max(new.ended, held.ended),
            "origin": new.origin if new.origin == "hand" else held.origin,
            "location_id": held.location_id if sourceless else new.location_id, "mode": held.mode if sourceless else new.mode,
        }
    )
