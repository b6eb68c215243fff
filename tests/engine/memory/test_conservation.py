"""Invariant 3: whatever happens, every buffer entry ever written is in the buffer or in the archive, exactly once."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ModelError
from engine.llm.scripted import Reply
from engine.records.authored import AuthoredWorld
from engine.records.memory import BufferEntry
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

REPLIES = st.lists(
    st.fixed_dictionaries({
        "sourceEntryIds": st.lists(st.integers(1, 14).map(lambda n: f"M{n}"), min_size=1, max_size=6),
        "content": st.sampled_from(["P2 spoke of the rope.", "P1 listened.", "P2 sang.", "P2 left.", "", "I saw it."]),
        "quotes": st.lists(st.sampled_from(["Line anchor number 0.", "No."]), max_size=1),
        "importance": st.integers(1, 10), "involvedEntityIds": st.just(["P2"]), "retainInBuffer": st.booleans(),
    }),
    min_size=1, max_size=5,
)  # fmt: skip
TALK = st.tuples(st.just("talk"), st.integers(5, 25))
HANDOFF = st.tuples(st.just("handoff"), REPLIES)
STEPS = st.one_of(
    TALK,
    HANDOFF,
    st.tuples(TALK, HANDOFF),
    st.tuples(st.just("fail"), st.sampled_from(["{", "", "error", "embedder"])),
    st.tuples(st.just("pin"), st.integers(0, 40)),
    st.tuples(st.just("unpin"), st.integers(0, 40)),
    st.tuples(st.just("move"), st.sampled_from(["pl_bar", "pl_quay"])),
    st.tuples(st.just("pass"), st.integers(1, 300)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=14))
def test_every_entry_is_in_one_place(inn: Inn, wire: Any, steps: list[Any]) -> None:
    single = [one for step in steps for one in (step if isinstance(step[0], tuple) else (step,))]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(inn, wire, Path(folder), single))


async def play(inn: Inn, wire: Any, folder: Path, steps: list[tuple[str, Any]]) -> None:
    world = inn.world()
    store = await Store.create(folder / "inn.db", AuthoredWorld(world=world))
    desk = wire.desk(inn, store, world)
    written: dict[str, BufferEntry] = {}
    ago = 2000.0
    for kind, value in steps:
        if kind == "talk":
            entries = await desk.fill(inn.talk(value, oldest=ago, newest=ago - value))
            written |= {entry.id: entry for entry in entries}
            ago -= value + 1
        elif kind in ("handoff", "fail"):
            desk.world = desk.world.model_copy(update={"round": desk.world.round + 1})
            await hand_over(desk, wire, kind, value)
        elif kind in ("pin", "unpin"):
            buffer = await desk.buffer()
            if buffer:
                await desk.pin(buffer[value % len(buffer)].id, "hand" if kind == "pin" else "none")
        elif kind == "move":
            desk.world = inn.moved(desk.world, "en_bryn", value)
        else:
            ago = max(1.0, ago - value)
        await check(desk, written)
    await store.close()


async def hand_over(desk: Any, wire: Any, kind: str, value: Any) -> None:
    good: Reply = wire.reply(*value) if kind == "handoff" else wire.reply(wire.chunk(["M1"], "P2 spoke."))
    bad: Reply = ModelError("gone") if value == "error" else value if isinstance(value, str) and value != "embedder" else good
    embedder = wire.broken("nan") if value == "embedder" else None
    before, ledger = await desk.rows(), {entry.id: entry for entry in await desk.ledger()}
    runs = await desk.engine(bad, bad, bad, bad, embedder=embedder).run_all(desk.world)
    if all(run.status == "failed" for run in runs):
        assert await desk.rows() == before
    after = {entry.id: entry for entry in await desk.ledger()}
    assert ledger.keys() <= after.keys()
    assert len(after) - len(ledger) == sum(run.added for run in runs)


async def check(desk: Any, written: dict[str, BufferEntry]) -> None:
    found = await desk.whereabouts()
    assert found.keys() == written.keys()
    assert all(len(places) == 1 for places in found.values())
    entries = await desk.store.db.read(lambda conn: desk.store.buffer.find(conn, written))
    assert {entry.id: entry.intent for entry in entries} == {key: entry.intent for key, entry in written.items()}
    held = {entry.id for entry in await desk.buffer() if entry.pinned == "hand"}
    assert all(found[key] == ["buffer"] for key in held)
    keys = {entry.id for entry in await desk.ledger()}
    archived = await desk.store.db.read(lambda conn: desk.store.buffer.archived(conn, "en_bryn"))
    assert all((gone.ledger_id in keys) == (gone.fate == "promoted") for gone in archived)
    ids, _ = await desk.store.db.read(lambda conn: desk.store.embeddings.of_owner(conn, "en_bryn", "hash768"))
    assert set(ids) == keys
