"""When handoffs run, side by side and one after the other."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError
from engine.llm.protocol import ModelRequest
from engine.records.policies import HandoffPolicy
from engine.records.prompts import split_sections

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk


async def test_no_call_is_made_when_nothing_new_has_become_a_candidate(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    engine = desk.engine(wire.reply(wire.chunk(["M1"], "P2 is hunted.", retainInBuffer=True)))
    assert len(await engine.run_all(desk.world)) == 1
    report, parts = await engine.due(desk.world, "en_bryn")
    assert (report.trigger, [e.pinned for e in parts.candidates]) == ("voluntary", ["model"])
    for rounds in range(9):
        assert await engine.run_all(desk.world.model_copy(update={"round": desk.world.round + rounds})) == ()
    assert await engine.propose(desk.world, "en_bryn") is None


async def test_a_soft_trigger_waits_for_a_few_candidates_after_a_handoff(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    answer = wire.reply(wire.chunk(["M1"], "P2 spoke."))
    engine = desk.engine(answer, answer, answer)
    await engine.run_all(desk.world)
    await desk.fill(desk.inn.talk(3, oldest=270, newest=260))
    assert await engine.run_all(desk.world) == ()
    await desk.fill(desk.inn.talk(1, oldest=255, newest=255))
    assert len(await engine.run_all(desk.world)) == 1
    await desk.fill(desk.inn.talk(1, oldest=250, newest=250))
    assert await engine.run_all(desk.world) == ()
    assert len(await engine.run_all(desk.world.model_copy(update={"round": desk.world.round + 5}))) == 1


async def test_the_trigger_is_counted_in_tokens_of_the_actors_model(desk: Desk) -> None:
    await desk.fill([desk.inn.said("A long story. " * 60, 120 - n) for n in range(10)])
    await desk.fill([desk.inn.said("So.", 100, by="en_bryn", to=(), round_=20)])
    wide, _ = await desk.engine(actor_window=32000).due(desk.world, "en_bryn")
    narrow, _ = await desk.engine(actor_window=2000).due(desk.world, "en_bryn")
    assert (narrow.trigger, narrow.max_tokens) == ("involuntary", 1200)
    assert narrow.tokens == wide.tokens > 2000
    assert wide.trigger != "involuntary"


async def test_a_run_that_fails_stops_no_other_and_commits_follow_the_order_of_agents(desk: Desk, wire: Any) -> None:
    for owner in ("en_smith", "en_sailor", "en_bryn"):
        await desk.fill([e.model_copy(update={"owner_id": owner}) for e in desk.inn.talk(21, oldest=300, newest=200)])
    gates = {owner: asyncio.Event() for owner in ("en_bryn", "en_sailor", "en_smith")}
    ended: list[str] = []

    async def think(request: ModelRequest) -> str:
        if request.entity == "en_bryn":
            await gates["en_smith"].wait()  # the first in order is the last to get its answer
        elif request.entity == "en_smith":
            gates["en_smith"].set()
        ended.append(request.entity)
        if request.entity == "en_sailor":
            raise ModelError("The model is down.")
        return str(wire.reply(wire.chunk(["M1"], "P2 spoke of an anchor.")))

    runs = await desk.thinking(think).run_all(desk.world)
    assert [(r.id, r.owner_id, r.status) for r in runs] == [
        ("run-000001", "en_bryn", "committed"), ("run-000002", "en_sailor", "failed"), ("run-000003", "en_smith", "committed"),
    ]  # fmt: skip
    assert ended[-1] == "en_bryn"


async def test_idleness_is_counted_in_whole_rounds(desk: Desk, wire: Any) -> None:
    entries = await desk.fill(desk.inn.talk(9, oldest=300, newest=200))
    acted = entries[0].intent.model_copy(update={"actor": "en_bryn"})

    def act(conn: sqlite3.Connection) -> None:
        beat = desk.store.story.add_beat(conn, 15, "en_bryn", desk.inn.now, "", "")
        desk.store.story.add_happening(conn, beat, 15, desk.inn.now, "pl_bar", acted, None)

    await desk.store.db.write(act)
    engine = desk.engine(wire.reply(wire.chunk(["M1"], "P2 spoke of an anchor.")))
    at = [desk.world.model_copy(update={"round": number}) for number in (19, 20, 21)]
    assert (await engine.due(at[0], "en_bryn"))[0].trigger == "none"  # rounds 16 to 19 are over
    assert (await engine.due(at[1], "en_bryn"))[0].trigger == "voluntary"
    assert await engine.run_all(at[1]) == ()  # round 20 has only begun
    assert [run.reason for run in await engine.run_all(at[2])] == ["idle for 5 rounds"]


async def test_no_more_calls_run_at_once_than_policy_allows(desk: Desk, wire: Any) -> None:
    for owner in desk.world.entities:
        if owner.startswith("en_"):
            await desk.fill([e.model_copy(update={"owner_id": owner}) for e in desk.inn.talk(21, oldest=300, newest=200)])
    running = most = 0

    async def think(_: ModelRequest) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _turn in range(5):
            await asyncio.sleep(0)
        running -= 1
        return str(wire.reply(wire.chunk(["M1"], "P2 spoke of an anchor.")))

    runs = await desk.thinking(think, HandoffPolicy(concurrency=2)).run_all(desk.world)
    assert (len(runs), most) == (5, 2)


async def test_a_pool_larger_than_the_window_is_handed_over_in_slices(desk: Desk) -> None:
    await desk.fill([desk.inn.said(f"{'A very long tale of the sea. ' * 12}Number {n}.", 400 - n) for n in range(40)])
    sizes: list[int] = []

    async def think(request: ModelRequest) -> str:
        handles = re.findall(r"^(M\d+) ", split_sections(request.text)["ENTRIES"], re.MULTILINE)
        sizes.append(len(handles))
        chunk = {"sourceEntryIds": handles, "content": "P2 told tales.", "quotes": [], "importance": 4, "involvedEntityIds": [],
                 "retainInBuffer": False}  # fmt: skip
        return json.dumps({"chunks": [chunk]})

    runs = await desk.thinking(think, window=4000).run_all(desk.world)
    assert [r.status for r in runs] == ["committed"] * len(sizes)
    assert len(sizes) > 1
    assert sum(sizes) == 32
    assert len(await desk.buffer()) == 8


async def test_200_lines_of_talk_in_20_minutes_leave_the_buffer_bounded(desk: Desk) -> None:
    async def think(request: ModelRequest) -> str:
        handles = re.findall(r"^(M\d+) ", split_sections(request.text)["ENTRIES"], re.MULTILINE)
        chunk = {"sourceEntryIds": handles, "content": "P2 talked on and on.", "quotes": [], "importance": 4,
                 "involvedEntityIds": [], "retainInBuffer": False}  # fmt: skip
        return json.dumps({"chunks": [chunk]})

    engine = desk.thinking(think)
    for line in range(200):
        await desk.fill([desk.inn.said(f"Line {line}.", 20 - line / 10)])
        await engine.run_all(desk.world)
        assert len(await desk.buffer()) <= 20
    found = await desk.whereabouts()
    assert len(found) == 200
    assert all(places in (["buffer"], ["promoted"]) for places in found.values())
