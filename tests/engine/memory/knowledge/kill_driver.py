"""Settles and promotes in processes that die before one of their SQL statements, one statement after the other.

`python kill_driver.py FOLDER` prints, as one line of JSON, how many statements each of the two writes has, and what was wrong after a
death or after another try. Nothing here is imported by pytest.
"""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from engine.llm.hashing import Hash768
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.knowledge.engine import KnowledgeEngine, Origin
from engine.records.authored import AuthoredWorld
from engine.records.knowledge import NewKnowledge, PromotionPolicy
from engine.records.policies import Policies
from engine.records.tokens import token
from engine.records.world import Entity, Place, World
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store

NOW = datetime(1247, 3, 1, 18)
TABLES = (
    "knowledge", "knowledge_versions", "knowledge_keepers", "audit", "review_queue", "promotion_runs", "embeddings", "counters", "meta",
)
G = token("dan")
POLICIES = Policies(promotion=PromotionPolicy(scope="faction"))


def piece(content: str, hours: float, **more: Any) -> NewKnowledge:
    """What Ann learned of Dan so many hours ago."""
    values: dict[str, Any] = {"owner_id": "ann", "subject_id": "dan", "kind": "fact", "content": content, "confidence": 0.8} | more
    return NewKnowledge(**{"scope_id": values["owner_id"], **values, "valid_from": NOW - timedelta(hours=hours)})


HELD = (
    piece(f"{G} owns a boat.", 50),
    piece(f"{G} owes the harbour master forty crowns.", 50, scope="faction", scope_id="harbour", term="long"),
    piece(f"{G} serves the Duke.", 40, topic_key="service"), piece(f"{G} serves the Duke.", 30, owner_id="bob"),
    piece(f"{G} owes the harbour master fifty crowns.", 20), piece(f"{G} killed the ferryman.", 20),
    piece("The tavern opens at seven.", 20, subject_id=None, scope="faction", scope_id="harbour", term="long", confidence=0.95),
    piece("The tavern opens at six.", 10, subject_id=None), piece("The well is dry.", 10, subject_id=None, owner_id="cyd"),
)  # fmt: skip
NEWS = (
    piece(f"{G} sold the boat.", 0), piece(f"{G} serves the Duke and nobody else.", 0, topic_key="service"),
    piece(f"{G} fears water.", 0),
)  # fmt: skip


def world() -> World:
    """Ann is of the harbour and the guild, Bob of the harbour, Cyd of nothing."""
    factions = {"ann": ("harbour", "guild"), "bob": ("harbour",)}
    people = [
        Entity(id=key, agent=True, place="quay", order=at, factions=factions.get(key, ()))
        for at, key in enumerate(("ann", "bob", "cyd", "dan"))
    ]
    return World(
        slug="quay", name="Quay", now=NOW, round=9, places={"quay": Place(id="quay", name="the quay")}, portals={},
        entities={one.id: one for one in people},
    )


async def begin(path: Path) -> None:
    """A save in which something is known already."""
    store = await Store.create(path, AuthoredWorld(world=world(), policies=POLICIES))
    await store.db.write(lambda conn: [store.knowledge.add(conn, new, Change("added", "world", "", new.valid_from)) for new in HELD])
    await store.close()


async def work(path: Path, what: str, die_before: int) -> int:
    """Settle or promote; die before a statement of the write, counted from 1, or with 0 never. Returns how many there were."""
    store = await Store.open(path)
    verdict = json.dumps({"reason": "x", "against": ["K1"], "verdict": "supported", "confidence": 0.9})
    engine = KnowledgeEngine(store, Router(Scripted([verdict] * 9)), Hash768(), POLICIES, lambda _: None)
    now, count = await store.db.read(store.worlds.load), 0

    def traced(conn: sqlite3.Connection, write: Callable[[sqlite3.Connection], object]) -> None:
        def before(_: str) -> None:
            nonlocal count
            count += 1
            if count == die_before:
                os.kill(os.getpid(), signal.SIGKILL)

        conn.set_trace_callback(before)
        write(conn)

    if what == "settle":
        settlement = await engine.settle(now, NEWS)
        await store.db.write(lambda conn: traced(conn, lambda at: engine.place(at, settlement, Origin("collapse", NOW, "col-000001"))))
    else:
        promotion = await engine.propose(now)
        assert promotion is not None
        await store.db.write(lambda conn: traced(conn, lambda at: engine.commit(at, now, promotion)))
    await store.close()
    return count


def apart(run: Callable[[], int | None]) -> int | None:
    """Run in a process of its own. Returns what it gave, or None when it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, str(run()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None
    return int(said)


def rows(path: Path) -> list[Any]:
    """All rows of knowledge."""
    with closing(sqlite3.connect(path)) as conn:
        return [conn.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES]


def sweep(folder: Path, what: str) -> dict[str, Any]:
    """Die before every statement of one of the two, each time in a fresh copy, and try again."""
    start, whole = rows(folder / "start.db"), folder / f"{what}.db"
    shutil.copy(folder / "start.db", whole)
    total = apart(lambda: asyncio.run(work(whole, what, 0))) or 0
    expected, wrong = rows(whole), []
    for number in range(1, total + 1):
        path = folder / f"{what}-{number}.db"
        shutil.copy(folder / "start.db", path)
        if apart(lambda path=path, number=number: asyncio.run(work(path, what, number))) is not None:  # type: ignore[misc]
            wrong.append(f"{what} outlived statement {number}")
        if rows(path) != start:
            wrong.append(f"{what} left something behind at statement {number}")
        apart(lambda path=path: asyncio.run(work(path, what, 0)))  # type: ignore[misc]
        if rows(path) != expected:
            wrong.append(f"{what} came out otherwise after statement {number}")
    return {"statements": total, "changed": expected != start, "wrong": wrong}


def main(folder: Path) -> None:
    """Both, one after the other."""
    apart(lambda: asyncio.run(begin(folder / "start.db")) or 0)
    print(json.dumps({what: sweep(folder, what) for what in ("settle", "promote")}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
