"""Invariant 4: whatever fails, the rows are as before and the failed run is on record."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import HandoffError, ModelError, SaveError
from engine.events import ChunkDecided, HandoffFailed
from engine.llm.protocol import ModelRequest
from engine.records.wire import HandoffReply

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk


GOOD = '{"chunks":[{"sourceEntryIds":["M1"],"content":"P2 asked for a room.","quotes":[],"importance":5,"involvedEntityIds":[],'
FAULTS: dict[str, tuple[str | ModelError, ...]] = {
    "model error": (ModelError("The model cannot be reached."),),
    "empty reply": ("", ""),
    "empty chunk list": ('{"chunks":[]}',),
    "thoughts only": ("<think>{} the room matters</think>", "<think>still thinking"),
    "cut in mid-string": (GOOD + '"retainInBuffer":fal', '{"chunks":[{"sourceEntryIds":["M1"],"content":"P2 asked for a ro'),
    "schema echoed": (json.dumps(HandoffReply.model_json_schema()),) * 2,
    "template's example": (
        '{"chunks":[{"sourceEntryIds":["M2","M3"],"content":"P3 demanded the toll from P1 and swore to come back at dawn.",'
        '"quotes":["At dawn I take the horse."],"importance":7,"involvedEntityIds":["P3"],"retainInBuffer":true}]}',
    ),
    "no candidate cited": (GOOD.replace("M1", "M99") + '"retainInBuffer":false}]}',),
    "refusal": ("I'm sorry, but I cannot help with that.",) * 2,
    "prose": ("Bryn will remember the stranger.",) * 2,
    "missing field": ('{"chunks":[{"sourceEntryIds":["M1"]}]}',) * 2,
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_a_model_does_wrong_changes_no_row_and_is_recorded(desk: Desk, fault: str) -> None:
    await desk.old_pool()
    before = await desk.rows()
    [run] = await desk.engine(*FAULTS[fault]).run_all(desk.world)
    assert await desk.rows() == before
    assert run.status == "failed"
    assert run.error
    assert run.prompt
    assert run.candidate_ids == tuple(f"buf-{n:06d}" for n in range(1, 5))
    assert [run] == await desk.store.db.read(lambda conn: desk.store.handoffs.of_owner(conn, "en_bryn"))
    failed = desk.events[-1]
    assert isinstance(failed, HandoffFailed)
    assert failed.run == run
    if fault not in ("model error", "empty reply"):
        assert run.reply


@pytest.mark.parametrize("spoil", ["error", "nan", "zero", "short", "narrow"])
async def test_an_embedder_that_fails_on_the_second_chunk_changes_no_row(desk: Desk, wire: Any, spoil: str) -> None:
    await desk.old_pool()
    before = await desk.rows()
    answer = wire.reply(wire.chunk(["M1"], "P2 asked for a room."), wire.chunk(["M2"], "P1 set a mug down."))
    [run] = await desk.engine(answer, embedder=wire.broken(spoil, after=1)).run_all(desk.world)
    assert (run.status, await desk.rows()) == ("failed", before)
    assert not any(isinstance(event, ChunkDecided) for event in desk.events)


async def test_the_next_round_tries_a_failed_handoff_again(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    engine = desk.engine('{"chunks":[]}', wire.reply(wire.chunk(["M1"], "P2 asked for a room.")))
    assert [r.status for r in await engine.run_all(desk.world)] == ["failed"]
    assert [r.status for r in await engine.run_all(desk.world)] == ["committed"]


async def test_a_pin_set_by_hand_while_the_model_thinks_aborts_the_run(desk: Desk, wire: Any) -> None:
    await desk.old_pool()

    async def think(_: ModelRequest) -> str:
        await desk.pin("buf-000002", "hand")
        return str(wire.reply(wire.chunk(["M1"], "P2 asked for a room.")))

    [run] = await desk.thinking(think).run_all(desk.world)
    assert run.status == "failed"
    assert await desk.ledger() == []
    pins = {entry.id: entry.pinned for entry in await desk.buffer()}
    assert len(pins) == 12
    assert pins.pop("buf-000002") == "hand"
    assert set(pins.values()) == {"none"}


async def test_an_entry_that_comes_in_while_the_model_thinks_does_no_harm(desk: Desk, wire: Any) -> None:
    await desk.old_pool()

    async def think(_: ModelRequest) -> str:
        await desk.fill([desk.inn.said("One more thing.", 0)])
        return str(wire.reply(wire.chunk(["M1"], "P2 asked for a room.")))

    [run] = await desk.thinking(think).run_all(desk.world)
    assert run.status == "committed"
    assert len(await desk.buffer()) == 9


async def test_the_same_pool_handed_over_twice_is_taken_once(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    answer = wire.reply(wire.chunk(["M1"], "P2 asked for a room."))
    engine = desk.engine(answer, answer)
    first, second = await engine.propose(desk.world, "en_bryn"), await engine.propose(desk.world, "en_bryn")
    assert first is not None
    assert second is not None
    await engine.commit(desk.world, first)
    before = await desk.rows()
    with pytest.raises(HandoffError):
        await engine.commit(desk.world, second)
    assert await desk.rows() == before
    assert len(await desk.ledger()) == 1


async def test_a_ledger_entry_changed_meanwhile_aborts_its_update(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    retain = wire.reply(wire.chunk(["M1"], "P2 is hunted.", retainInBuffer=True))
    engine = desk.engine(retain, retain)
    await engine.run_all(desk.world)
    await desk.fill(desk.inn.talk(5, oldest=279, newest=270))
    proposal = await engine.propose(desk.world, "en_bryn")
    assert proposal is not None
    [entry] = await desk.ledger()
    by_hand = desk.inn.memory("{{e:en_stranger}} is hunted, by hand.", 5)
    await desk.store.db.write(lambda conn: desk.store.ledger.rewrite(conn, entry.id, by_hand, (), "is hunted by hand"))
    with pytest.raises(HandoffError):
        await engine.commit(desk.world, proposal)
    assert (await desk.ledger())[0].content.endswith("by hand.")


async def test_a_save_that_fails_stops_the_round_and_all_calls(desk: Desk) -> None:
    for owner in ("en_bryn", "en_smith"):
        await desk.fill([e.model_copy(update={"owner_id": owner}) for e in desk.inn.talk(21, oldest=300, newest=200)])
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def think(request: ModelRequest) -> str:
        if request.entity == "en_bryn":
            await begun.wait()
            await desk.store.close()
            return '{"chunks":[]}'
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return ""

    with pytest.raises(SaveError):
        await desk.thinking(think).run_all(desk.world)
    assert stopped.is_set()


async def test_cancelled_while_the_model_thinks_it_leaves_nothing(desk: Desk) -> None:
    await desk.old_pool()
    before, begun = await desk.rows(), asyncio.Event()

    async def think(_: ModelRequest) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    task = asyncio.create_task(desk.thinking(think).run_all(desk.world))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await desk.rows() == before
    assert await desk.store.db.read(lambda conn: desk.store.handoffs.of_owner(conn, "en_bryn")) == []


async def test_one_memory_longer_than_the_window_fails_closed(desk: Desk) -> None:
    await desk.fill([desk.inn.said("word " * 9000, 400), *desk.inn.talk(21, oldest=390, newest=300)])
    before = await desk.rows()
    [run] = await desk.engine(window=4000).run_all(desk.world)
    assert (run.status, await desk.rows()) == ("failed", before)
