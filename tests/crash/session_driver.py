"""Plays one save whose sessions fill, and dies again and again within its beats.

`python session_driver.py FOLDER MODE BEATS` plays `FOLDER/whole.db` to its end, and `FOLDER/game.db` in processes of which each kills
itself before an SQL statement of its beats, each a statement later than the one before, and the next goes on from there. Prints what was
wrong after each death as one line of JSON. With MODE `torn` the turns of a beat wrongly are a transaction of their own. Nothing here is
imported by pytest.
"""

import asyncio
import dataclasses
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.sessions.filling import Filling
from engine.records.authored import AuthoredWorld
from engine.records.intents import Intent
from engine.records.sessions import NewTurn, SessionId, SessionPolicy, Turn
from engine.records.world import Entity, Place, World
from engine.storage.sessions import SessionRepository
from engine.storage.store import Store
from engine.turns.beat import plan, write
from engine.turns.referee import Referee

START = datetime(1247, 3, 1, 18, 5)
PEOPLE = ("ann", "bob", "cyd")
FILLING = Filling(SessionPolicy(pairs="all"))
COUNTED = ("beats", "buffer_entries", "sessions", "session_turns", "audit")


class TornSessions(SessionRepository):
    """The turns of a beat come in a transaction of their own: the fault that the checks have to notice."""

    def add_turns(self, conn: sqlite3.Connection, turns: Sequence[tuple[SessionId, NewTurn]]) -> list[Turn]:
        """As the real one, after a commit."""
        conn.execute("COMMIT")
        conn.execute("BEGIN IMMEDIATE")
        return super().add_turns(conn, turns)


def start() -> World:
    """Three minds at a bar."""
    people = {key: Entity(id=key, agent=True, place="bar", order=order) for order, key in enumerate(PEOPLE)}
    return World(slug="w", name="w", now=START, places={"bar": Place(id="bar", name="the bar")}, portals={}, entities=people)


def said(number: int) -> Intent:
    """What is said in a beat, and to whom: one, two, or nobody in particular."""
    speaker, *others = (PEOPLE[(number + step) % 3] for step in range(3))
    return Intent(type="dialogue", verb="say", text=f"The tide is {number} feet high.", actor=speaker, targets=tuple(others[: number % 3]))


async def play(path: Path, beats: int, mode: str, log: int = -1, death: int = 0) -> None:
    """Beats until there are so many, or until the process dies before its `death`-th statement."""
    store = await Store.open(path)
    if mode == "torn":
        store = dataclasses.replace(store, sessions=TornSessions())
    left, last = death, ""

    def watch(sql: str) -> None:
        nonlocal left, last
        left, last = left - (sql != last), sql  # what a trigger does is told as the statement that it follows, once more
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    if death:
        await store.db.read(lambda conn: conn.set_trace_callback(watch))
    referee = Referee(Router(Scripted()))
    world = await store.db.read(store.worlds.load)
    while (number := await store.db.read(lambda conn: conn.execute("SELECT count(*) FROM beats").fetchone()[0])) < beats:
        beat = await plan(referee, world, said(number).actor, "prose", "by hand", [said(number)])
        written = await store.db.write(lambda conn, b=beat, w=world: write(store, conn, b, w, FILLING))  # type: ignore[misc]
        world = written.world
        if log >= 0:
            os.write(log, f"{number + 1}\n".encode())
    await store.close()


def sizes(path: Path) -> tuple[int, ...]:
    """How many rows each counted table has."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as conn:
        return tuple(conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in COUNTED)


async def whole(folder: Path, beats: int) -> list[tuple[int, ...]]:
    """Play without a death. Returns the sizes after each beat."""
    path, found = folder / "whole.db", []
    await (await Store.create(path, AuthoredWorld(world=start()))).close()
    for number in range(beats + 1):
        await play(path, number, "whole")
        found.append(sizes(path))
    return found


def died(folder: Path, beats: int, mode: str, death: int) -> bool:
    """Play on in a forked process. Whether it died."""
    child = os.fork()
    if not child:
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        asyncio.run(play(folder / "game.db", beats, mode, log, death))
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main() -> None:
    folder, mode, beats = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    expected = asyncio.run(whole(folder, beats))
    asyncio.run(_create(folder / "game.db"))
    death, goes_on = 0, True
    while goes_on:
        death += 1
        goes_on = died(folder, beats, mode, 4 + death % 80)  # the first statements only open the save
        found, told = sizes(folder / "game.db"), (folder / "log").read_text().split() if (folder / "log").exists() else []
        wrong = [] if found == expected[found[0]] else [f"a beat is half written: {dict(zip(COUNTED, found, strict=True))}"]
        if told and not int(told[-1]) <= found[0] <= int(told[-1]) + 1:
            wrong.append("an acknowledged beat is lost")
        print(json.dumps({"beats": found[0], "found": wrong}), flush=True)
        if wrong:
            return


async def _create(path: Path) -> None:
    await (await Store.create(path, AuthoredWorld(world=start()))).close()


if __name__ == "__main__":
    main()
