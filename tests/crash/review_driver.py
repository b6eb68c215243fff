"""Plays handoffs of the real engine into saves, with a person in between or without, and dies on the way.

`python review_driver.py FOLDER MODE COUNT` forks one process for each save, which is killed before one of its SQL statements: at the
beginning of each transaction, and at COUNT others spread over a whole play. MODE is `auto` or `ask`. It prints how many saves died.
`go_on FOLDER MODE COUNT` plays COUNT saves, and the whole one, to the end that a death had cut short. Nothing here is imported by
pytest: the test runs it as a process of its own.
"""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from engine.llm.hashing import Hash768
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.router import Router
from engine.llm.tokens import estimate_tokens
from engine.memory.handoff.engine import HandoffEngine
from engine.records.authored import AuthoredWorld
from engine.records.intents import Intent
from engine.records.memory import NewBufferEntry
from engine.records.policies import HandoffPolicy, Policies
from engine.records.review import ChunkEdit
from engine.records.world import Entity, Place, World
from engine.storage.store import Store

START = datetime(1247, 3, 1, 18, 5)
HANDOFFS, TALK = 5, 22
"""Handoffs of a whole play, and entries that come in before each."""
THINGS = ("anchor", "barrel", "candle", "drum", "ember", "fog", "gull", "harbour", "iron", "jetty", "kelp", "ladder", "mast", "net",
          "oar", "plank", "quill", "rope", "salt", "tide", "urn", "veil", "wharf", "yarn")  # fmt: skip


class Talker:
    """Keeps the first third of what it is shown as one chunk, pins one more, spoils one, and lets the rest go."""

    name, context_window, small = "talker", 8192, False

    def count_tokens(self, text: str) -> int:
        """Estimated."""
        return estimate_tokens(text)

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """A handoff's reply."""
        handles = re.findall(r"^(M\d+) ", request.text, re.MULTILINE)
        kept = handles[: len(handles) // 3]
        told = re.findall(r"the (\w+) of (\w+)", request.text)
        chunks = [_chunk(kept, f"P1 spoke of the {told[0][0]} of {told[0][1]}.", False)]
        chunks += [_chunk([handles[-1]], f"P1 has not found the {told[-1][0]} of {told[-1][1]} yet.", True)]
        chunks += [_chunk([handles[-2]], "I said something.", False)]
        return Completion(
            text='{"chunks":[' + ",".join(chunks) + "]}", model=self.name, usage=Usage(prompt_tokens=0, reply_tokens=0)
        )



def _chunk(sources: list[str], content: str, retain: bool) -> str:
    cited = ",".join(f'"{source}"' for source in sources)
    return (
        f'{{"sourceEntryIds":[{cited}],"content":"{content}","quotes":[],"importance":5,"involvedEntityIds":[],'
        f'"retainInBuffer":{str(retain).lower()}}}'
    )


def world(number: int) -> World:
    """The world at the beginning of a round."""
    return World(
        slug="w", name="w", now=START + timedelta(hours=number), round=number, places={"bar": Place(id="bar", name="the bar")},
        portals={}, entities={"bob": Entity(id="bob", agent=True, place="bar")},
    )  # fmt: skip


async def play(store: Store, mode: str, acknowledged: Callable[[str], None]) -> None:
    """What is left of a whole play: entries come in, are handed over, and a person decides when asked."""
    policy = HandoffPolicy(review="ask" if mode == "ask" else "auto")
    engine = HandoffEngine(store, Router(Talker()), Hash768(), Policies(handoff=policy), lambda _: None)
    while (done := len(await store.db.read(lambda conn: store.handoffs.of_owner(conn, "bob", 99)))) < HANDOFFS:
        now = world(done + 1)
        if await store.db.read(lambda conn: _written(conn)) < (done + 1) * TALK:
            await store.db.write(lambda conn, n=now, d=done: _talk(store, conn, n, d))  # type: ignore[misc]
            acknowledged(f"talk {done + 1}")
        await engine.run_all(now)
        if mode == "ask":
            acknowledged(f"proposed {done + 1}")
            await engine.review.edit(now, "bob", 0, ChunkEdit(importance=6))
            acknowledged(f"edited {done + 1}")
            await engine.review.judge("bob", 1, "accepted" if done % 2 else "rejected")
            acknowledged(f"judged {done + 1}")
            await engine.review.finish(now, "bob")
        acknowledged(f"handoff {done + 1}")


def _written(conn: object) -> int:
    sql = "SELECT (SELECT count(*) FROM buffer_entries) + (SELECT count(*) FROM buffer_archive)"
    return int(conn.execute(sql).fetchone()[0])  # type: ignore[attr-defined]


def _talk(store: Store, conn: object, now: World, done: int) -> None:
    for number in range(TALK):
        text = f"Where is the {THINGS[number]} of {THINGS[(done * 5 + number + 1) % len(THINGS)]}?"
        intent = Intent(type="dialogue", actor="bob", text=text)
        entry = NewBufferEntry(
            owner_id="bob", timestamp=now.now - timedelta(minutes=58 - number), location_id="bar", round=now.round, intent=intent
        )
        store.buffer.add(conn, entry)  # type: ignore[arg-type]


def one(folder: Path, number: int, mode: str, statement: int) -> list[int]:
    """Play in a forked process that dies at the given statement, or not. Returns, of one that lived, the statements that begin a
    transaction, then how many there were."""
    counted = os.pipe()
    child = os.fork()
    if child:
        os.close(counted[1])
        os.waitpid(child, 0)
        with os.fdopen(counted[0]) as pipe:
            return [int(word) for word in pipe.read().split()]
    log = os.open(folder / f"{number}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    seen, begun = 0, []

    def watch(sql: str) -> None:
        nonlocal seen
        seen += 1
        if sql.startswith("BEGIN IMMEDIATE"):
            begun.append(seen)
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    async def whole() -> None:
        store = await Store.create(folder / f"{number}.db", AuthoredWorld(world=world(0)))
        await store.db.read(lambda conn: conn.set_trace_callback(watch))
        await play(store, mode, lambda text: _note(log, text))
        await store.close()

    asyncio.run(whole())
    os.write(counted[1], " ".join(map(str, [*begun, seen])).encode())
    os._exit(0)


async def go_on(folder: Path, mode: str, count: int) -> None:
    """Play saves to their end."""
    for number in range(count + 1):
        store = await Store.open(folder / f"{number}.db")
        await play(store, mode, lambda _: None)
        await store.close()


def _note(log: int, text: str) -> None:
    os.write(log, f"{text}\n".encode())


def main() -> None:
    """Make saves, or go on with them."""
    if sys.argv[1] == "go_on":
        asyncio.run(go_on(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
        return
    folder, mode, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    *begun, statements = one(folder, 0, mode, 0)
    deaths = sorted({*begun, *(max(1, number * statements // count) for number in range(1, count + 1))})
    for number, statement in enumerate(deaths, 1):
        one(folder, number, mode, statement)
    print(len(deaths))


if __name__ == "__main__":
    main()
