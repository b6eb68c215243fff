"""A checked compression becomes rows: all of them, or none."""

import sqlite3

from engine.errors import HandoffError
from engine.memory.compression.telling import mode_of
from engine.memory.handoff.commit import Committed
from engine.memory.text import plain
from engine.records.base import BufferId
from engine.records.memory import Chunk, HandoffRun, LedgerEntry, NewLedgerEntry, Proposal
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.store import Store


def commit(conn: sqlite3.Connection, store: Store, world: World, proposal: Proposal) -> Committed:
    """Write a compression. Runs inside one transaction.

    The new memory spans the old ones in time, stands in their place and has all their sources; they go to the archive, which knows
    what tells them now. Raises `HandoffError` when one of the memories is no longer as it was read, or belongs to a thread that
    goes on again.
    """
    memories = {memory.id: memory for memory in proposal.memories}
    held = {memory.id: memory for memory in store.ledger.get(conn, memories)}
    changed = sum(held.get(key) != memory or store.old_memories.still_held(conn, key) for key, memory in memories.items())
    if changed:
        what = "One memory was" if changed == 1 else f"{changed} memories were"
        raise HandoffError(f"{what} changed while they were being told as one.", "Nothing was written; a later round tries again.")
    run = store.handoffs.add(
        conn,
        HandoffRun(
            id="", kind="compression", owner_id=proposal.owner_id, round=world.round, timestamp=world.now, trigger=proposal.trigger,
            reason=proposal.report.reason, status="committed", decision=proposal.decision, candidate_ids=tuple(memories),
            prompt=proposal.prompt, reply=proposal.reply, model=proposal.model, template=proposal.template, notes=proposal.notes,
            added=len(proposal.chunks),
        ),
    )
    written: list[LedgerEntry] = []
    for chunk, vector in zip(proposal.chunks, proposal.vectors, strict=True):
        told = [memories[key] for key in chunk.source_ids]
        sources = dict.fromkeys(source for memory in told for source in store.ledger.sources(conn, memory.id))
        entry = _write(conn, store, world, chunk, told, run, list(sources))
        store.embeddings.put(conn, "ledger", entry.id, proposal.embedder, proposal.dim, vector)
        store.ledger_archive.archive(conn, chunk.source_ids, "consolidated", world.round, run_id=run.id, into=entry.id)
        written.append(entry)
    store.handoffs.log_time(conn, run.id, proposal.seconds)
    store.journal.note(conn, "compression", f"{token(run.owner_id)}: {len(memories)} old memories told as {len(written)}")
    gone = tuple(key for chunk in proposal.chunks for key in chunk.source_ids)
    return Committed(run, tuple(written), (), (), (), gone)


def _write(
    conn: sqlite3.Connection, store: Store, world: World, chunk: Chunk, told: list[LedgerEntry], run: HandoffRun, sources: list[BufferId]
) -> LedgerEntry:
    new = NewLedgerEntry(
        owner_id=run.owner_id, timestamp=min(memory.timestamp for memory in told), ended=max(memory.ended for memory in told),
        location_id=told[0].location_id, involved_entity_ids=chunk.involved_entity_ids, content=chunk.content, quotes=chunk.quotes,
        importance=chunk.importance, mode=mode_of(told), run_id=run.id, origin="hand" if chunk.by_hand else "compression",
        created_round=world.round,
    )
    return store.ledger.add(conn, new, sources, plain(new.content, new.quotes))
