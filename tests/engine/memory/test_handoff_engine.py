from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import HandoffError, ModelError, SaveError
from engine.events import ChunkDecided, HandoffCommitted, HandoffFailed, HandoffStarted
from engine.llm.protocol import Completion, LanguageModel, ModelRequest, Usage
from engine.llm.router import Router
from engine.memory.handoff.engine import HandoffEngine
from engine.records.policies import HandoffPolicy, Policies
from engine.records.prompts import split_sections
from engine.records.tokens import token
from engine.records.wire import HandoffReply

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn


class Thinking:
    """A model that does something before it replies."""

    name, context_window = "thinking", 8192

    def __init__(self, think: Callable[[ModelRequest], Awaitable[str]]) -> None:
        self._think = think

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    async def complete(self, request: ModelRequest) -> Completion:
        return Completion(text=await self._think(request), model=self.name, usage=Usage(prompt_tokens=1, reply_tokens=1))

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        yield (await self.complete(request)).text


def thinking(desk: Desk, think: Callable[[ModelRequest], Awaitable[str]]) -> HandoffEngine:
    model: LanguageModel = Thinking(think)
    return HandoffEngine(desk.store, Router(model), desk.embedder, Policies(), desk.events.append)


async def old_pool(desk: Desk) -> None:
    """Four candidates behind eight protected entries; the owner has left the room."""
    await desk.fill([
        desk.inn.said("Have you a room? The harbour master is after me.", 300),
        desk.inn.did("set a mug before {{e:en_stranger}}", 299, by="en_bryn", to=("en_stranger",)),
        desk.inn.thought("She is running.", 298),
        desk.inn.did("wiped the counter", 297, by="en_bryn"),
        *desk.inn.talk(8, oldest=290, newest=280),
    ])  # fmt: skip
    desk.world = desk.inn.moved(desk.world, "en_bryn", "pl_quay")


async def test_a_handoff_promotes_forgets_and_keeps_the_tail(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    engine = desk.engine(wire.reply(wire.chunk(
        ["M1", "M2"], "P2 asked P1 for a room and got a mug.", quotes=["The harbour master is after me."], importance=7)))  # fmt: skip
    [run] = await engine.run_all(desk.world)
    assert (run.status, run.added, run.updated, run.promoted, run.forgotten, run.pinned) == ("committed", 1, 0, 2, 2, 0)
    [entry] = await desk.ledger()
    assert entry.content == f"{token('en_stranger')} asked {token('en_bryn')} for a room and got a mug."
    assert entry.quotes == ("The harbour master is after me.",)
    assert entry.involved_entity_ids == ("en_stranger",)
    assert (entry.timestamp, entry.ended) == (desk.inn.now - timedelta(minutes=300), desk.inn.now - timedelta(minutes=299))
    assert (entry.location_id, entry.mode, entry.importance, entry.run_id) == ("pl_bar", "done", 7, run.id)
    assert len(await desk.buffer()) == 8
    found = await desk.whereabouts()
    assert sorted(place for places in found.values() for place in places) == ["buffer"] * 8 + ["forgotten"] * 2 + ["promoted"] * 2
    assert await desk.sources(entry.id) == ("buf-000001", "buf-000002")
    ids, vectors = await desk.store.db.read(lambda conn: desk.store.embeddings.of_owner(conn, "en_bryn", "hash768"))
    assert (ids, [len(v) for v in vectors]) == ([entry.id], [4 * 768])


async def test_the_events_of_a_handoff_follow_its_commit(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    [run] = await desk.engine(wire.reply(wire.chunk(["M1"], "P2 asked for a room."))).run_all(desk.world)
    started, decided, committed = desk.events
    assert isinstance(started, HandoffStarted)
    assert started.candidate_ids == tuple(f"buf-{n:06d}" for n in range(1, 5))
    assert isinstance(decided, ChunkDecided)
    assert isinstance(committed, HandoffCommitted)
    assert committed.run == run
    assert list(committed.ledger) == await desk.ledger()
    assert set(committed.promoted_ids) | set(committed.forgotten_ids) == set(started.candidate_ids)


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
    await old_pool(desk)
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
    await old_pool(desk)
    before = await desk.rows()
    answer = wire.reply(wire.chunk(["M1"], "P2 asked for a room."), wire.chunk(["M2"], "P1 set a mug down."))
    [run] = await desk.engine(answer, embedder=wire.broken(spoil, after=1)).run_all(desk.world)
    assert (run.status, await desk.rows()) == ("failed", before)
    assert not any(isinstance(event, ChunkDecided) for event in desk.events)


async def test_the_next_round_tries_a_failed_handoff_again(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    engine = desk.engine('{"chunks":[]}', wire.reply(wire.chunk(["M1"], "P2 asked for a room.")))
    assert [r.status for r in await engine.run_all(desk.world)] == ["failed"]
    assert [r.status for r in await engine.run_all(desk.world)] == ["committed"]


async def test_sources_3_4_and_99_cited(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    [run] = await desk.engine(wire.reply(wire.chunk(["M3", "M4", "M99"], "P1 thought P2 was running."))).run_all(desk.world)
    [entry] = await desk.ledger()
    assert await desk.sources(entry.id) == ("buf-000003", "buf-000004")
    assert (run.promoted, run.forgotten) == (2, 2)
    assert "M99" in run.notes[0]


async def test_a_quote_changed_by_one_word_is_dropped_and_noted(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    said = ["The harbour keeper is after me.", "Have you a room?"]
    [run] = await desk.engine(wire.reply(wire.chunk(["M1"], "P2 asked for a room.", quotes=said))).run_all(desk.world)
    assert (await desk.ledger())[0].quotes == ("Have you a room?",)
    assert "harbour keeper" in run.notes[0]


async def test_sources_of_a_rejected_chunk_stay_in_the_buffer(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    answer = wire.reply(wire.chunk(["M1"], "I was asked for a room."), wire.chunk(["M2"], "P1 set a mug before P2."))
    [run] = await desk.engine(answer).run_all(desk.world)
    assert (run.promoted, run.forgotten) == (1, 2)
    assert (await desk.buffer())[0].id == "buf-000001"


async def test_a_pin_set_by_hand_while_the_model_thinks_aborts_the_run(desk: Desk, wire: Any) -> None:
    await old_pool(desk)

    async def think(_: ModelRequest) -> str:
        await desk.pin("buf-000002", "hand")
        return str(wire.reply(wire.chunk(["M1"], "P2 asked for a room.")))

    [run] = await thinking(desk, think).run_all(desk.world)
    assert run.status == "failed"
    assert await desk.ledger() == []
    pins = {entry.id: entry.pinned for entry in await desk.buffer()}
    assert len(pins) == 12
    assert pins.pop("buf-000002") == "hand"
    assert set(pins.values()) == {"none"}


async def test_an_entry_that_comes_in_while_the_model_thinks_does_no_harm(desk: Desk, wire: Any) -> None:
    await old_pool(desk)

    async def think(_: ModelRequest) -> str:
        await desk.fill([desk.inn.said("One more thing.", 0)])
        return str(wire.reply(wire.chunk(["M1"], "P2 asked for a room.")))

    [run] = await thinking(desk, think).run_all(desk.world)
    assert run.status == "committed"
    assert len(await desk.buffer()) == 9


async def test_the_same_pool_handed_over_twice_is_taken_once(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
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


async def test_propose_writes_nothing(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    before = await desk.rows()
    proposal = await desk.engine(wire.reply(wire.chunk(["M1"], "P2 asked for a room."))).propose(desk.world, "en_bryn")
    assert proposal is not None
    assert await desk.rows() == before


async def test_a_pinned_thread_updates_its_ledger_entry_until_the_model_lets_go(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    engine = desk.engine(
        wire.reply(wire.chunk(["M1"], "P2 is hunted by the harbour master.", quotes=["Have you a room?"], retainInBuffer=True)),
        wire.reply(wire.chunk(["M1", "M2", "M3"], "P2 is still hunted and drinks.", importance=9, retainInBuffer=True)),
        wire.reply(wire.chunk(["M4"], "Somebody spoke of a drum.")),
    )
    [run] = await engine.run_all(desk.world)
    assert (run.promoted, run.forgotten, run.pinned) == (0, 3, 1)
    [first] = await desk.ledger()
    assert (await desk.buffer())[0].pinned == "model"

    await desk.fill(desk.inn.talk(5, oldest=279, newest=270))
    [run] = await engine.run_all(desk.world)
    assert (run.added, run.updated, run.pinned) == (0, 1, 3)
    [second] = await desk.ledger()
    assert (second.id, second.version, second.importance) == (first.id, 2, 9)
    assert second.content == f"{token('en_stranger')} is still hunted and drinks."
    assert second.quotes == ("Have you a room?",)
    assert (second.timestamp, second.ended) == (first.timestamp, desk.inn.now - timedelta(seconds=17314))
    _, [vector] = await desk.store.db.read(lambda conn: desk.store.embeddings.of_owner(conn, "en_bryn", "hash768"))
    assert len(vector) == 4 * 768

    await desk.fill(desk.inn.talk(5, oldest=269, newest=260))
    [run] = await engine.run_all(desk.world)
    assert (run.promoted, run.forgotten, run.pinned) == (4, 4, 0)
    assert len(await desk.ledger()) == 2
    archived = await desk.store.db.read(lambda conn: desk.store.buffer.archived(conn, "en_bryn"))
    assert {a.entry.id: a.ledger_id for a in archived if a.fate == "promoted"}["buf-000001"] == first.id


async def test_a_thread_told_in_part_keeps_its_older_account(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    engine = desk.engine(
        wire.reply(wire.chunk(["M1", "M3"], "P2 is hunted.", retainInBuffer=True)),
        wire.reply(wire.chunk(["M2", "M3"], "P1 means to help.", retainInBuffer=True)),
    )
    await engine.run_all(desk.world)
    await desk.fill(desk.inn.talk(5, oldest=279, newest=270))
    await engine.run_all(desk.world)
    [entry] = await desk.ledger()
    assert entry.content == f"{token('en_stranger')} is hunted. {token('en_bryn')} means to help."
    assert "buf-000001" in await desk.sources(entry.id)


async def test_a_ledger_entry_changed_meanwhile_aborts_its_update(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
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


async def test_a_model_that_pins_everything_does_not_fill_the_buffer(desk: Desk) -> None:
    async def think(request: ModelRequest) -> str:
        entries = split_sections(request.text)["ENTRIES"]
        handles = re.findall(r"^(M\d+) ", entries, re.MULTILINE)
        chunks = [{"sourceEntryIds": [h], "content": "P2 spoke of the rope.", "quotes": [], "importance": 5, "involvedEntityIds": [],
                   "retainInBuffer": True} for h in handles]  # fmt: skip
        return json.dumps({"chunks": chunks})

    engine = thinking(desk, think)
    for number in range(8):
        await desk.fill(desk.inn.talk(14, oldest=400 - 20 * number, newest=390 - 20 * number))
        await engine.run_all(desk.world)
        assert len(await desk.buffer()) <= 20 + 20 + 14
    assert all(len(places) == 1 for places in (await desk.whereabouts()).values())


async def test_a_scene_exit_after_an_event_in_another_room_keeps_its_place_and_time(desk: Desk, wire: Any) -> None:
    murder = desk.inn.said("Murder!", 240, by="en_monk", to=(), place="pl_cellar", heard_in="pl_bar")
    await desk.fill([murder, *desk.inn.talk(9, oldest=230, newest=220)])
    desk.world = desk.inn.moved(desk.world, "en_bryn", "pl_quay")
    answer = wire.reply(wire.chunk(["M1"], "Somebody cried murder.", quotes=["Murder!"], importance=10))
    [run] = await desk.engine(answer).run_all(desk.world)
    assert run.reason == "it has left the place of its newest entries"
    [entry] = await desk.ledger()
    assert (entry.location_id, entry.timestamp) == ("pl_cellar", murder.timestamp)


async def test_no_call_is_made_when_nothing_new_has_become_a_candidate(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
    engine = desk.engine(wire.reply(wire.chunk(["M1"], "P2 is hunted.", retainInBuffer=True)))
    assert len(await engine.run_all(desk.world)) == 1
    report, parts = await engine.due(desk.world, "en_bryn")
    assert (report.trigger, [e.pinned for e in parts.candidates]) == ("voluntary", ["model"])
    for rounds in range(9):
        assert await engine.run_all(desk.world.model_copy(update={"round": desk.world.round + rounds})) == ()
    assert await engine.propose(desk.world, "en_bryn") is None


async def test_a_soft_trigger_waits_for_a_few_candidates_after_a_handoff(desk: Desk, wire: Any) -> None:
    await old_pool(desk)
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

    runs = await thinking(desk, think).run_all(desk.world)
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
        await thinking(desk, think).run_all(desk.world)
    assert stopped.is_set()


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

    model: LanguageModel = Thinking(think)
    policies = Policies(handoff=HandoffPolicy(concurrency=2))
    runs = await HandoffEngine(desk.store, Router(model), desk.embedder, policies, desk.events.append).run_all(desk.world)
    assert (len(runs), most) == (5, 2)


async def test_cancelled_while_the_model_thinks_it_leaves_nothing(desk: Desk) -> None:
    await old_pool(desk)
    before, begun = await desk.rows(), asyncio.Event()

    async def think(_: ModelRequest) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    task = asyncio.create_task(thinking(desk, think).run_all(desk.world))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await desk.rows() == before
    assert await desk.store.db.read(lambda conn: desk.store.handoffs.of_owner(conn, "en_bryn")) == []


async def test_a_pool_larger_than_the_window_is_handed_over_in_slices(desk: Desk) -> None:
    await desk.fill([desk.inn.said(f"{'A very long tale of the sea. ' * 12}Number {n}.", 400 - n) for n in range(40)])
    sizes: list[int] = []

    async def think(request: ModelRequest) -> str:
        handles = re.findall(r"^(M\d+) ", split_sections(request.text)["ENTRIES"], re.MULTILINE)
        sizes.append(len(handles))
        chunk = {"sourceEntryIds": handles, "content": "P2 told tales.", "quotes": [], "importance": 4, "involvedEntityIds": [],
                 "retainInBuffer": False}  # fmt: skip
        return json.dumps({"chunks": [chunk]})

    class Small(Thinking):
        context_window = 4000

    model: LanguageModel = Small(think)
    runs = await HandoffEngine(desk.store, Router(model), desk.embedder, Policies(), desk.events.append).run_all(desk.world)
    assert [r.status for r in runs] == ["committed"] * len(sizes)
    assert len(sizes) > 1
    assert sum(sizes) == 32
    assert len(await desk.buffer()) == 8


async def test_one_memory_longer_than_the_window_fails_closed(desk: Desk) -> None:
    await desk.fill([desk.inn.said("word " * 9000, 400), *desk.inn.talk(21, oldest=390, newest=300)])
    before = await desk.rows()
    [run] = await desk.engine(window=4000).run_all(desk.world)
    assert (run.status, await desk.rows()) == ("failed", before)


async def test_200_lines_of_talk_in_20_minutes_leave_the_buffer_bounded(desk: Desk) -> None:
    async def think(request: ModelRequest) -> str:
        handles = re.findall(r"^(M\d+) ", split_sections(request.text)["ENTRIES"], re.MULTILINE)
        chunk = {"sourceEntryIds": handles, "content": "P2 talked on and on.", "quotes": [], "importance": 4,
                 "involvedEntityIds": [], "retainInBuffer": False}  # fmt: skip
        return json.dumps({"chunks": [chunk]})

    engine = thinking(desk, think)
    for line in range(200):
        await desk.fill([desk.inn.said(f"Line {line}.", 20 - line / 10)])
        await engine.run_all(desk.world)
        assert len(await desk.buffer()) <= 20
    found = await desk.whereabouts()
    assert len(found) == 200
    assert all(places in (["buffer"], ["promoted"]) for places in found.values())


async def test_a_handmade_memory_without_a_source_survives_handoffs(desk: Desk, wire: Any) -> None:
    [mine] = await desk.remember([desk.inn.memory("{{e:en_bryn}} was born at sea.", 9000, place=None, importance=9)])
    await old_pool(desk)
    answer = wire.reply(wire.chunk(["M1"], "P1 was born at sea."))
    engine = desk.engine(answer, answer, answer)
    for number in range(3):
        await engine.run_all(desk.world)
        await desk.fill(desk.inn.talk(6, oldest=270 - 10 * number, newest=265 - 10 * number))
    assert len(await desk.ledger()) == 4
    assert mine in await desk.ledger()


async def test_the_prompt_holds_no_id_and_no_name_that_was_not_heard(desk: Desk, inn: Inn, wire: Any) -> None:
    await old_pool(desk)
    await desk.fill([inn.said("", 301, by="en_monk", to=(), grasp="faint", place="pl_cellar", heard_in="pl_bar"),
                     inn.did("showed {{e:en_smith}} the {{e:th_lantern}}", 302, by="en_sailor", to=("en_smith",))])  # fmt: skip
    engine = desk.engine(wire.reply(wire.chunk(["M1"], "P2 came.")))
    await engine.run_all(desk.world)
    sent = desk.model.requests[0].text
    for hidden in ("en_", "th_", "pl_", "po_", "buf-", "{{", "Gareth", "Vale", "Ansa", "Pike", "Odo", "1247"):
        assert hidden not in sent
    people = split_sections(sent)["PEOPLE"].splitlines()
    assert people == ["P2: Tom Reed", "P3: the sooty smith", "P4: the brass lantern", "P5: the wet stranger"]
    entries = split_sections(sent)["ENTRIES"].splitlines()
    assert entries[0] == "M1 [done] a few hours ago, in the taproom: P2 showed P3 the P4. (Outcome: succeeded)"
    assert entries[1] == "M2 [said] a few hours ago, in the cellar: Somebody was speaking in the cellar, but the words did not carry."
    assert entries[2].startswith('M3 [said] a few hours ago, in the taproom: P5 spoke to P1: "Have you a room?')
