"""Nothing is lost: every memory ever written is in the ledger or in its archive, exactly once, whatever hand and maintenance do."""

from __future__ import annotations

import asyncio
import json
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from engine.desk import MemoryDesk
from engine.errors import CommandError
from engine.llm.protocol import ModelRequest
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.compression.engine import CompressionEngine
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.records.authored import AuthoredWorld
from engine.records.policies import CompressionPolicy, Policies
from engine.records.review import MemoryEdit
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

OWNER = "en_bryn"
PICK = st.integers(0, 60)
POLICIES = Policies(compression=CompressionPolicy(limit=10, newest=2, group=5, importance=6))
STEPS = st.one_of(
    st.tuples(st.just("lived"), st.integers(1, 8)),
    st.tuples(st.just("add"), st.integers(0, 300)),
    st.tuples(st.just("edit"), PICK),
    st.tuples(st.just("remove"), PICK),
    st.tuples(st.just("bring back"), PICK),
    st.tuples(st.just("merge"), st.tuples(PICK, PICK)),
    st.tuples(st.just("handoff"), st.booleans()),
    st.tuples(st.just("restore"), PICK),
    st.tuples(st.just("press"), st.sampled_from(["all", "all", "all", "some", "none", "junk"])),
    st.tuples(st.just("press"), st.just("all")),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(STEPS, min_size=5, max_size=25))
def test_every_memory_is_in_one_place(inn: Inn, wire: Any, steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(Play(inn, wire).run(Path(folder), [("lived", 9), ("lived", 8), *steps]))


class Play:
    """One play of steps over a real save, and what must hold after each."""

    def __init__(self, inn: Inn, wire: Any) -> None:
        self.inn, self.wire = inn, wire
        self.written: set[str] = set()
        self.by_hand: set[str] = set()

    async def run(self, folder: Path, steps: list[tuple[str, Any]]) -> None:
        store = await Store.create(folder / "inn.db", AuthoredWorld(world=self.inn.world()))
        desk = self.wire.desk(self.inn, store, self.inn.world())
        recall = RecallEngine(store, desk.embedder, POLICIES)
        handoff = HandoffEngine(store, Router(Scripted()), desk.embedder, POLICIES, desk.events.append)
        hand = MemoryDesk(store, lambda: desk.world, recall, desk.embedder, handoff, POLICIES, desk.events.append)
        for number, (kind, value) in enumerate(steps):
            desk.world = desk.world.model_copy(update={"round": desk.world.round + 1})
            before = {entry.id for entry in await desk.ledger() if entry.origin == "hand"}
            touched: set[str] = set()
            with suppress(CommandError):  # a memory merged with itself
                touched = await self.step(desk, hand, number, kind, value)
            held = {entry.id for entry in await desk.ledger()}
            assert before - touched <= held, "only a hand takes away what is of a hand"
            await self.check(desk, hand)
        await store.close()

    async def step(self, desk: Desk, hand: MemoryDesk, number: int, kind: str, value: Any) -> set[str]:
        """Do it; the memories that a hand has taken away by it."""
        ledger = await desk.ledger()
        gone = await hand.archived_memories(OWNER)
        if kind == "lived":
            more = [self.inn.memory(f"It was hour {number}.{n}.", 400 - 3 * number - n / 9, importance=3) for n in range(value)]
            await desk.remember(more)
        elif kind == "add":
            await hand.add_memory(OWNER, f"The wet stranger came {value} times.", ago=self.inn.now - self.inn.now.replace(hour=1))
        elif kind == "edit" and ledger:
            await hand.edit_memory(ledger[value % len(ledger)].id, MemoryEdit(content=f"Tom Reed came in step {number}."))
        elif kind == "remove" and ledger:
            await hand.remove_memory(ledger[value % len(ledger)].id)
            return {ledger[value % len(ledger)].id}
        elif kind == "bring back" and gone:
            await hand.restore_memory(gone[value % len(gone)].memory.entry.id)
        elif kind == "merge" and ledger:
            keep, other = (ledger[at % len(ledger)].id for at in value)
            await hand.merge(keep, other)
            return {other}
        elif kind == "handoff":
            await self.hand_over(desk, number, value)
        elif kind == "restore":
            archive = await hand.archive(OWNER)
            if archive:
                await hand.restore(archive[value % len(archive)].entry.id, pin=value % 2 == 0)
        elif kind == "press":
            await self.press(desk, value)
        return set()

    async def hand_over(self, desk: Desk, number: int, retain: bool) -> None:
        await desk.fill(self.inn.talk(24, oldest=2000 - 60 * number, newest=1960 - 60 * number))
        chunk = self.wire.chunk(["M1", "M2", "M3"], f"P2 spoke of step {number}.", importance=3, retainInBuffer=retain)
        await desk.engine(self.wire.reply(chunk)).run_all(desk.world)

    async def press(self, desk: Desk, how: str) -> None:
        def reply(request: ModelRequest) -> str:
            count = request.text.count("\nM") if how == "all" else 2 if how == "some" else 0
            cited = [f"M{n}" for n in range(1, count + 1)]
            content = "The old times were told." if how != "none" else "I tell it."
            reply = {"sourceEntryIds": cited, "content": content, "quotes": [], "involvedEntityIds": []}
            return json.dumps(reply) if how != "junk" else "?"

        before = await desk.rows()
        engine = CompressionEngine(desk.store, Router(Scripted([reply] * 8)), desk.embedder, POLICIES, desk.events.append)
        runs = await engine.run_all(desk.world)
        event(f"compressions: {sum(run.status == 'committed' for run in runs)} committed of {len(runs)}")
        if all(run.status == "failed" for run in runs):
            assert await desk.rows() == before

    async def check(self, desk: Desk, hand: MemoryDesk) -> None:
        store = desk.store
        ledger, gone = await desk.ledger(), await hand.archived_memories(OWNER)
        living, archived = {entry.id for entry in ledger}, {line.memory.entry.id for line in gone}
        assert not living & archived
        assert len(gone) == len(archived)
        [(count,)] = await store.db.read(lambda conn: conn.execute("SELECT value FROM counters WHERE name = 'led'").fetchall())
        assert living | archived == {f"led-{n:06d}" for n in range(1, count + 1)}
        assert all(len(places) == 1 for places in (await desk.whereabouts()).values())
        # each event of what was consolidated is a source of what tells it
        for entry in ledger:
            if entry.origin == "compression":
                told = await store.db.read(partial(store.ledger_archive.told_by, key=entry.id))
                sources = set(await desk.sources(entry.id))
                assert all(set(memory.source_ids) <= sources for memory in told)
        words = await store.db.read(lambda conn: conn.execute("SELECT count(*) FROM ledger_words").fetchall())
        assert words == [(len(ledger),)]
