"""Invariant 3 under review: whatever a person does to proposals, and whenever the program ends, no moment is lost or doubled."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import HandoffError, ModelError
from engine.memory.handoff.engine import HandoffEngine
from engine.records.authored import AuthoredWorld
from engine.records.policies import HandoffPolicy
from engine.records.review import ChunkEdit
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

OWNER = "en_bryn"
REPLIES = st.lists(
    st.fixed_dictionaries({
        "sourceEntryIds": st.lists(st.integers(1, 12).map(lambda n: f"M{n}"), min_size=1, max_size=5),
        "content": st.sampled_from(["P2 spoke of the rope.", "P1 listened to P2.", "P2 sang of gulls.", "P2 left.", "", "I saw it."]),
        "quotes": st.just([]), "importance": st.integers(1, 10), "involvedEntityIds": st.just([]), "retainInBuffer": st.booleans(),
    }),
    min_size=1, max_size=4,
)  # fmt: skip
INDEX = st.integers(0, 3)
EDITS = st.builds(
    ChunkEdit, content=st.sampled_from([None, "The wet stranger left.", "It rained.", "I saw it.", " "]),
    importance=st.none() | st.integers(1, 10), retain=st.none() | st.booleans(),
)  # fmt: skip
STEPS = st.one_of(
    st.tuples(st.just("talk"), st.integers(4, 20)),
    st.tuples(st.just("round"), REPLIES),
    st.tuples(st.just("judge"), st.tuples(INDEX, st.sampled_from(["accepted", "rejected", "open"]))),
    st.tuples(st.just("edit"), st.tuples(INDEX, EDITS)),
    st.tuples(st.just("reroll"), st.tuples(st.none() | INDEX, REPLIES)),
    st.tuples(st.just("finish"), st.lists(st.sampled_from(["accepted", "accepted", "rejected"]), max_size=9)),
    st.tuples(st.just("reject"), st.none()),
    st.tuples(st.just("pin"), st.tuples(st.integers(0, 40), st.sampled_from(["hand", "none"]))),
    st.tuples(st.just("restart"), st.none()),
    st.tuples(st.just("mode"), st.sampled_from(["auto", "ask", "ask"])),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=6, max_size=24))
def test_every_moment_is_in_one_place_whatever_a_person_says(inn: Inn, wire: Any, steps: list[Any]) -> None:
    start = [("talk", 20), ("round", [wire.chunk([f"M{n}"], f"P2 spoke of matter {n}.") for n in (1, 2, 3)])]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(wire.desk, inn, wire, Path(folder) / "inn.db", [*start, *steps]))


async def play(kind: type[Desk], inn: Inn, wire: Any, path: Path, steps: list[tuple[str, Any]]) -> None:
    store = await Store.create(path, AuthoredWorld(world=inn.world()))
    desk = kind(inn, store, inn.moved(inn.world(), OWNER, "pl_quay"))
    mode: Any = "ask"
    written: set[str] = set()
    ago = 2000.0
    try:
        for step, value in steps:
            if step == "talk":
                written |= {entry.id for entry in await desk.fill(inn.talk(value, oldest=ago, newest=ago - value))}
                ago -= value + 1
            elif step == "restart":
                before = (await desk.rows(), await desk.engine().review.pending())
                await desk.store.close()
                desk.store = await Store.open(path)
                assert (await desk.rows(), await desk.engine().review.pending()) == before
            elif step == "mode":
                mode = value
            elif step == "pin":
                buffer = await desk.buffer()
                await desk.pin(buffer[value[0] % len(buffer)].id, value[1])
            else:
                await said(desk, wire, mode, step, value)
            await check(desk, written)
    finally:
        await desk.store.close()


async def said(desk: Desk, wire: Any, mode: Any, step: str, value: Any) -> None:
    """One round, or one thing a person says. What is refused changes no row, and only `finish` and unasked rounds write."""
    replies = [wire.reply(*value)] * 9 if step == "round" else [wire.reply(*value[1])] if step == "reroll" else []
    engine = desk.engine(*replies, policy=HandoffPolicy(review=mode))
    desk.world = desk.world.model_copy(update={"round": desk.world.round + 1})
    before, pending = await desk.rows(), await engine.review.pending_of(OWNER)
    if step == "round":
        runs = await engine.run_all(desk.world)
        assert not (pending and runs)
        assert len(desk.model.requests) == 0 or not pending
        done = any(run.status == "committed" for run in runs)
    else:
        try:
            done = await decided(engine, desk, step, value)
        except (HandoffError, ModelError):
            done = False
    assert done or await desk.rows() == before
    if step in ("finish", "reject") and done:
        assert await engine.review.pending() == []


async def decided(engine: HandoffEngine, desk: Desk, step: str, value: Any) -> bool:
    """Do it. Whether it wrote anything to the tiers."""
    if step == "judge":
        await engine.review.judge(OWNER, *value)
    elif step == "edit":
        pending = await engine.review.edit(desk.world, OWNER, *value)
        assert pending.verdicts[value[0]] == "accepted"
    elif step == "reroll":
        await engine.review.reroll(desk.world, OWNER, value[0])
    elif step == "finish":
        held = len(await desk.ledger())
        waiting = await engine.review.pending_of(OWNER)
        for index in range(min(len(value), len(waiting.verdicts) if waiting else 0)):
            waiting = await engine.review.judge(OWNER, index, value[index])
        run = await engine.review.finish(desk.world, OWNER)
        assert waiting is not None
        assert run.added + run.updated <= waiting.verdicts.count("accepted")
        assert len(await desk.ledger()) == held + run.added
        return True
    elif step == "reject":
        assert (await engine.review.reject(desk.world, OWNER)).decision == "rejected"
    return False


async def check(desk: Desk, written: set[str]) -> None:
    found = await desk.whereabouts()
    assert found.keys() == written
    assert all(len(places) == 1 for places in found.values())
    held = {entry.id for entry in await desk.buffer() if entry.pinned == "hand"}
    assert all(found[key] == ["buffer"] for key in held)
    ids, _ = await desk.store.db.read(lambda conn: desk.store.embeddings.of_owner(conn, OWNER, "hash768"))
    assert set(ids) == {entry.id for entry in await desk.ledger()}
    for pending in await desk.engine().review.pending():
        assert len(pending.verdicts) == len(pending.proposal.chunks) > 0
        used = [source for chunk in pending.proposal.chunks for source in chunk.source_ids]
        assert len(set(used)) == len(used)
        assert set(used) <= {entry.id for entry in pending.proposal.candidates} <= written
