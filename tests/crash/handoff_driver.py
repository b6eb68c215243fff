"""Plays one save with hundreds of handoffs of several minds, and dies again and again on the way.

`python handoff_driver.py FOLDER MODE DEATHS HANDOFFS` forks a process that plays `FOLDER/game.db` until it kills itself before one of its
SQL statements; looks at what is left; forks the next, which goes on from there. After DEATHS deaths a last one plays on until HANDOFFS
handoffs are committed. Every other death falls within the writing of a handoff, statement after statement. Prints what was wrong after
each death as one line of JSON. With MODE `torn` a handoff wrongly is two transactions. Nothing here is imported by pytest.
"""

import asyncio
import dataclasses
import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from engine.events import EngineEvent, HandoffCommitted, HandoffFailed
from engine.llm.hashing import Hash768
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.router import Router
from engine.memory.handoff.engine import HandoffEngine
from engine.records.authored import AuthoredWorld
from engine.records.base import BufferId, LedgerId, RunId
from engine.records.intents import Intent
from engine.records.memory import BufferEntry, Fate, NewBufferEntry
from engine.records.policies import Policies
from engine.records.world import Entity, Place, World
from engine.storage.buffer import BufferRepository
from engine.storage.opening import open_save
from engine.storage.store import Store

START = datetime(1247, 3, 1, 18, 5)
PEOPLE = ("ann", "bob", "cyd", "dan")
TALK = 7
"""Lines that are said in a round; everybody hears each."""
WITHIN = 90
"""Statements of a handoff before which a process dies, one after the other."""
ANYWHERE = 1500
"""Statements within which other deaths fall: some three rounds."""
THINGS = ("anchor", "barrel", "candle", "drum", "ember", "fog", "gull", "harbour", "iron", "jetty", "kelp", "ladder", "mast", "net", "oar",
          "plank", "quill", "rope", "salt", "tide", "urn", "veil", "wharf")  # fmt: skip


class Keeper:
    """Tells two moments in full, one as it tells another every time, pins one, and lets go of the rest."""

    name, context_window, small = "keeper", 16_000, False

    def count_tokens(self, text: str) -> int:
        """Estimated."""
        return len(text) // 4

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """A handoff's reply."""
        found = re.findall(r'^(M\d+) \[said(?:, pinned)?\] .*"Where are the (\w+) and the (\w+)\?', request.text, re.MULTILINE)
        handles = [handle for handle, _, _ in found]
        chunks = [
            _chunk([handle], f"Somebody asked for the {one} and the {other}.", False) for handle, one, other in found[:2]
        ]
        chunks += [_chunk(handles[2:6], "Somebody kept asking where everything was gone.", False, 4)] if len(handles) > 6 else []
        chunks += [_chunk(handles[-1:], f"Nobody has found the {found[-1][1]} yet.", True)] if len(handles) > 4 else []
        return Completion(text=json.dumps({"chunks": chunks}), model=self.name, usage=Usage(prompt_tokens=0, reply_tokens=0))



def _chunk(sources: Sequence[str], content: str, retain: bool, importance: int = 5) -> dict[str, object]:
    return {  # what is told every time is routine, and words of all four: then it is one memory, however long nobody told it
        "sourceEntryIds": list(sources), "content": content, "quotes": [], "importance": importance, "involvedEntityIds": [],
        "retainInBuffer": retain,
    }


class TornBuffer(BufferRepository):
    """What a handoff does to the buffer comes in a transaction of its own: the fault that the checks have to notice."""

    def archive(
        self, conn: sqlite3.Connection, entries: Sequence[BufferEntry], fate: Fate, run_id: RunId, ledger_of: Mapping[BufferId, LedgerId]
    ) -> None:
        """As the real one, after a commit."""
        if fate == "promoted":
            conn.execute("COMMIT")
            conn.execute("BEGIN IMMEDIATE")
        super().archive(conn, entries, fate, run_id, ledger_of)


def start() -> World:
    """Four minds at a bar."""
    people = {key: Entity(id=key, agent=True, place="bar", order=order) for order, key in enumerate(PEOPLE)}
    return World(slug="w", name="w", now=START, places={"bar": Place(id="bar", name="the bar")}, portals={}, entities=people)


def talk(store: Store, conn: sqlite3.Connection, before: World) -> World:
    """A round's talk: one transaction."""
    after = before.model_copy(update={"round": before.round + 1, "now": before.now + timedelta(hours=1)})
    for line in range(TALK):
        number = before.round * TALK + line
        one, other = THINGS[number % len(THINGS)], THINGS[(number // 3) % len(THINGS)]
        intent = Intent(type="dialogue", verb="say", actor=PEOPLE[number % 4], text=f"Where are the {one} and the {other}?", place="bar")
        for owner in PEOPLE:
            store.buffer.add(
                conn, NewBufferEntry(owner_id=owner, timestamp=after.now, location_id="bar", round=after.round, intent=intent)
            )
    store.worlds.update(conn, before, after)
    return after


class Death:
    """Kills its process before a statement: the `at`-th, counted from the beginning or from the writing of a handoff."""

    def __init__(self, number: int) -> None:
        self._within = number % 2 == 1
        self._at = 1 + (number // 2) % WITHIN if self._within else 1 + number * 977 % ANYWHERE
        self._handoffs = 1 + number % 7 if self._within else 0
        self._seen = 0
        self._last = ""

    def watch(self, sql: str) -> None:
        """One statement is about to run. What triggers do is told as the statement that they follow, once more."""
        if sql == self._last:
            return
        self._last = sql
        if self._handoffs:
            self._handoffs -= sql.lstrip().startswith("INSERT INTO handoff_runs")
            return
        self._seen += 1
        if self._seen == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


async def play(path: Path, log: int, mode: str, death: Death | None, handoffs: int) -> None:
    """Rounds until `handoffs` are committed in all, or until death."""
    store = await Store.open(path)
    if mode == "torn":
        store = dataclasses.replace(store, buffer=TornBuffer())
    if death is not None:
        await store.db.read(lambda conn: conn.set_trace_callback(death.watch))

    def heard(event: EngineEvent) -> None:
        if isinstance(event, HandoffCommitted):
            _note(log, f"run {event.run.id}")
        elif isinstance(event, HandoffFailed):
            _note(log, f"failed {event.run.error}")

    engine = HandoffEngine(store, Router(Keeper()), Hash768(), Policies(), heard)
    world = await store.db.read(store.worlds.load)
    while await store.db.read(lambda conn: conn.execute("SELECT count(*) FROM handoff_runs").fetchone()[0]) < handoffs:
        world = await store.db.write(lambda conn, w=world: talk(store, conn, w))  # type: ignore[misc]
        _note(log, f"round {world.round}")
        await engine.run_all(world)
    await store.close()


def _note(log: int, text: str) -> None:
    os.write(log, f"{text}\n".encode())


def violations(path: Path, told: Sequence[str]) -> tuple[list[str], int, int]:
    """What is wrong with the save by what was told to be safe; its rounds and its handoffs."""
    found: list[str] = []
    opened = open_save(path)
    conn = opened.conn

    def number(sql: str) -> int:
        return int(conn.execute(sql).fetchone()[0] or 0)

    def must(holds: bool, what: str) -> None:
        if not holds:
            found.append(what)

    must(conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "integrity")
    must(conn.execute("PRAGMA foreign_key_check").fetchall() == [], "foreign keys")
    conn.execute("INSERT INTO ledger_words (ledger_words, rank) VALUES ('integrity-check', 1)")
    must(not any(line.startswith("failed") for line in told), "a handoff failed")
    rounds = number("SELECT value FROM meta WHERE key = 'round'")
    acknowledged = max((int(line.split()[1]) for line in told if line.startswith("round")), default=0)
    must(acknowledged <= rounds <= acknowledged + 1, "acknowledged talk is lost")
    held = sorted(key for (key,) in conn.execute("SELECT id FROM buffer_entries UNION ALL SELECT id FROM buffer_archive"))
    must(held == [f"buf-{n:06d}" for n in range(1, rounds * TALK * len(PEOPLE) + 1)], "an entry is lost or doubled")
    runs = {key for (key,) in conn.execute("SELECT id FROM handoff_runs WHERE status = 'committed'")}
    safe = {line.split()[1] for line in told if line.startswith("run")}
    must(safe <= runs and len(runs) <= len(safe) + 1, "an acknowledged handoff is lost or doubled")
    memories = number("SELECT count(*) FROM ledger_entries")
    must(memories == number("SELECT sum(added) FROM handoff_runs"), "a memory is lost or doubled")
    must(number("SELECT count(*) FROM ledger_versions") >= number("SELECT sum(updated) FROM handoff_runs"), "an earlier wording is lost")
    embedded = "SELECT count(*) FROM ledger_entries WHERE id IN (SELECT id FROM embeddings WHERE model = 'hash768')"
    must(number(embedded) == memories == number("SELECT count(*) FROM embeddings"), "a vector is lost")
    for fate in ("promoted", "forgotten"):
        archived = number(f"SELECT count(*) FROM buffer_archive WHERE fate = '{fate}'")
        must(archived == number(f"SELECT sum({fate}) FROM handoff_runs"), f"a run did not do all it says: {fate}")
    homeless = """
        SELECT count(*) FROM buffer_archive AS gone WHERE fate = 'promoted'
        AND NOT EXISTS (SELECT 1 FROM ledger_sources WHERE buffer_id = gone.id AND ledger_id = gone.ledger_id)
    """
    must(number(homeless) == 0, "a promoted entry is no source of its memory")
    copies = number("SELECT count(*) - count(DISTINCT owner_id || involved_json) FROM ledger_entries WHERE content LIKE '%kept asking%'")
    must(copies == 0, "what is told each time is held twice")
    opened.close()
    return found, rounds, len(runs)


def one(folder: Path, mode: str, death: Death | None, handoffs: int) -> None:
    """Play in a forked process, to its death if there is one."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    log = os.open(folder / "game.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    asyncio.run(play(folder / "game.db", log, mode, death, handoffs))
    os._exit(0)


async def create(path: Path) -> None:
    """A save to begin with."""
    store = await Store.create(path, AuthoredWorld(world=start()))
    await store.close()


def main() -> None:
    """Play, die, look, go on."""
    folder, mode, deaths, handoffs = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    path, log = folder / "game.db", folder / "game.log"
    asyncio.run(create(path))
    log.touch()
    for number in range(deaths + 1):
        last = number == deaths
        one(folder, mode, None if last else Death(number), handoffs if last else 1 << 30)
        found, rounds, runs = violations(path, log.read_text().splitlines())
        print(json.dumps({"found": found, "rounds": rounds, "handoffs": runs, "last": last}), flush=True)
        with log.open("a") as file:  # what stands now is safe from now on
            file.write(f"round {rounds}\n")
            with sqlite3.connect(path) as conn:
                file.writelines(f"run {key}\n" for (key,) in conn.execute("SELECT id FROM handoff_runs WHERE status = 'committed'"))


if __name__ == "__main__":
    main()
