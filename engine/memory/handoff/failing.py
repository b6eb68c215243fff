"""The record of a handoff or a compression that failed: what a person needs to see what happened."""

import sqlite3

from engine.events import HandoffFailed, Listener
from engine.records.memory import HandoffRun
from engine.records.tokens import token
from engine.storage.store import Store


async def record_failure(store: Store, emit: Listener, failed: HandoffRun, seconds: float) -> HandoffRun:
    """Keep a failed run with the wall-clock seconds its call took, tell of it, and return it as it is kept."""

    def write(conn: sqlite3.Connection) -> HandoffRun:
        run = store.handoffs.add(conn, failed)
        store.handoffs.log_time(conn, run.id, seconds)
        store.journal.note(conn, failed.kind, f"{token(run.owner_id)}: a {failed.kind} failed")
        return run

    run = await store.db.write(write)
    emit(HandoffFailed(entity=run.owner_id, run=run))
    return run
