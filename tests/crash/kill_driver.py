"""Plays a small story into saves and dies on the way, once for each point where it can.

`python kill_driver.py FOLDER MODE KIND COUNT` forks one process for each save. With KIND `statement` the n-th dies before its
n-th SQL statement; with `time` after a share of the time that a whole play takes. It prints how many saves it left.
Nothing here is imported by pytest: the test runs it as a process of its own.
"""

import asyncio
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from engine.records.authored import AuthoredWorld
from engine.records.intents import Intent
from engine.records.memory import HandoffRun, NewBufferEntry, NewLedgerEntry
from engine.records.world import Entity, Place, World
from engine.storage.store import Store

START = datetime(1247, 3, 1, 18, 5)
ROUNDS = 4
BEAT = 5
"""Buffer entries that one beat writes."""
KEEP = 3
"""Entries that a handoff leaves in the buffer."""


def world() -> World:
    people = {key: Entity(id=key, agent=True, place="bar") for key in ("bob", "mira")}
    return World(slug="w", name="w", now=START, places={"bar": Place(id="bar", name="the bar")}, portals={}, entities=people)


def beat(store: Store, conn: sqlite3.Connection, before: World, owner: str) -> World:
    """Some entries, the story and the clock: one transaction."""
    after = before.model_copy(update={"round": before.round + 1, "now": before.now + timedelta(minutes=1)})
    number = store.story.add_beat(conn, after.round, owner, after.now, "prose", "actor.1")
    for _ in range(BEAT):
        intent = Intent(type="dialogue", actor=owner, text="Evening.")
        store.story.add_happening(conn, number, after.round, after.now, "bar", intent, None)
        store.buffer.add(
            conn, NewBufferEntry(owner_id=owner, timestamp=after.now, location_id="bar", round=after.round, intent=intent)
        )
    store.worlds.update(conn, before, after)
    return after


def handoff(store: Store, conn: sqlite3.Connection, now: World, owner: str, *, only_first: bool = False) -> None:
    """All but the newest entries are promoted or forgotten by turns, one stays pinned: one transaction."""
    entries = store.buffer.of_owner(conn, owner)[:-KEEP]
    pinned, rest = entries[0], entries[1:]
    promoted, forgotten = rest[::2], rest[1::2]
    run = store.handoffs.add(
        conn,
        HandoffRun(
            id="", owner_id=owner, round=now.round, timestamp=now.now, trigger="voluntary", reason="", status="committed",
            promoted=len(promoted), forgotten=len(forgotten), pinned=1,
        ),
    )
    memory = store.ledger.add(
        conn,
        NewLedgerEntry(
            owner_id=owner, timestamp=now.now, ended=now.now, location_id="bar", involved_entity_ids=("bob", "mira"),
            content="They talked.", importance=5, run_id=run.id,
        ),
        [entry.id for entry in (pinned, *promoted)],
        "They talked",
    )
    store.embeddings.put(conn, "ledger", memory.id, "m", 2, b"\0" * 8)
    if only_first:
        return
    store.buffer.set_pin(conn, pinned.id, "model")
    store.buffer.archive(conn, promoted, "promoted", run.id, {entry.id: memory.id for entry in promoted})
    store.buffer.archive(conn, forgotten, "forgotten", run.id, {})


def handoff_rest(store: Store, conn: sqlite3.Connection, owner: str) -> None:
    """The second half of a handoff that wrongly is two transactions."""
    run = store.handoffs.last(conn, owner)
    assert run is not None
    entries = store.buffer.of_owner(conn, owner)[:-KEEP]
    pinned, rest = entries[0], entries[1:]
    memory = store.ledger.of_owner(conn, owner, 1)[0]
    store.buffer.set_pin(conn, pinned.id, "model")
    store.buffer.archive(conn, rest[::2], "promoted", run.id, {entry.id: memory.id for entry in rest[::2]})
    store.buffer.archive(conn, rest[1::2], "forgotten", run.id, {})


async def play(path: Path, acknowledged: Callable[[str], None], mode: str, watch: Callable[[str], None] | None) -> None:
    store = await Store.create(path, AuthoredWorld(world=world()))
    acknowledged("created")
    if watch is not None:
        await store.db.read(lambda conn: conn.set_trace_callback(watch))
    now = await store.db.read(store.worlds.load)
    for _ in range(ROUNDS):
        for owner in ("bob", "mira"):
            before = now
            now = await store.db.write(lambda conn, b=before, o=owner: beat(store, conn, b, o))  # type: ignore[misc]
            acknowledged(f"round {now.round}")
            if mode == "torn":
                await store.db.write(lambda conn, n=now, o=owner: handoff(store, conn, n, o, only_first=True))  # type: ignore[misc]
                await store.db.write(lambda conn, o=owner: handoff_rest(store, conn, o))  # type: ignore[misc]
            else:
                await store.db.write(lambda conn, n=now, o=owner: handoff(store, conn, n, o))  # type: ignore[misc]
            acknowledged(f"handoff {now.round}")
    await store.close()


def one(folder: Path, number: int, mode: str, *, statement: int = 0, seconds: float = 0.0) -> int:
    """Play in a forked process that dies at the given point. Returns how many statements it came to, 0 when it died."""
    counted = os.pipe()
    child = os.fork()
    if child:
        os.close(counted[1])
        _, _ = os.waitpid(child, 0)
        with os.fdopen(counted[0]) as pipe:
            return int(pipe.read() or 0)
    log = os.open(folder / f"{number}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    seen = 0

    def watch(_: str) -> None:
        nonlocal seen
        seen += 1
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    if seconds:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process as abruptly as SIGKILL
        signal.setitimer(signal.ITIMER_REAL, seconds)
    asyncio.run(play(folder / f"{number}.db", lambda text: _note(log, text), mode, watch))
    os.write(counted[1], str(seen).encode())
    os._exit(0)


def _note(log: int, text: str) -> None:
    os.write(log, f"{text}\n".encode())


def main() -> None:
    folder, mode, kind, count = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    began = time.perf_counter()
    statements = one(folder, 0, mode)
    whole = time.perf_counter() - began
    for number in range(1, count + 1):
        if kind == "statement":
            one(folder, number, mode, statement=max(1, number * statements // count))
        else:
            one(folder, number, mode, seconds=whole * number / count)
    print(statements)


if __name__ == "__main__":
    main()
