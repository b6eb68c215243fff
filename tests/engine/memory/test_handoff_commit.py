"""What a handoff leaves behind."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from engine.events import ChunkDecided, HandoffCommitted, HandoffStarted
from engine.llm.protocol import ModelRequest
from engine.records.prompts import split_sections
from engine.records.tokens import token

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn


async def test_a_handoff_promotes_forgets_and_keeps_the_tail(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
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
    await desk.old_pool()
    [run] = await desk.engine(wire.reply(wire.chunk(["M1"], "P2 asked for a room."))).run_all(desk.world)
    started, decided, committed = desk.events
    assert isinstance(started, HandoffStarted)
    assert started.candidate_ids == tuple(f"buf-{n:06d}" for n in range(1, 5))
    assert isinstance(decided, ChunkDecided)
    assert isinstance(committed, HandoffCommitted)
    assert committed.run == run
    assert list(committed.ledger) == await desk.ledger()
    assert set(committed.promoted_ids) | set(committed.forgotten_ids) == set(started.candidate_ids)


async def test_sources_3_4_and_99_cited(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    [run] = await desk.engine(wire.reply(wire.chunk(["M3", "M4", "M99"], "P1 thought P2 was running."))).run_all(desk.world)
    [entry] = await desk.ledger()
    assert await desk.sources(entry.id) == ("buf-000003", "buf-000004")
    assert (run.promoted, run.forgotten) == (2, 2)
    assert "M99" in run.notes[0]


async def test_a_quote_changed_by_one_word_is_dropped_and_noted(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    said = ["The harbour keeper is after me.", "Have you a room?"]
    [run] = await desk.engine(wire.reply(wire.chunk(["M1"], "P2 asked for a room.", quotes=said))).run_all(desk.world)
    assert (await desk.ledger())[0].quotes == ("Have you a room?",)
    assert "harbour keeper" in run.notes[0]


async def test_sources_of_a_rejected_chunk_stay_in_the_buffer(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    answer = wire.reply(wire.chunk(["M1"], "I was asked for a room."), wire.chunk(["M2"], "P1 set a mug before P2."))
    [run] = await desk.engine(answer).run_all(desk.world)
    assert (run.promoted, run.forgotten) == (1, 2)
    assert (await desk.buffer())[0].id == "buf-000001"


async def test_propose_writes_nothing(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    before = await desk.rows()
    proposal = await desk.engine(wire.reply(wire.chunk(["M1"], "P2 asked for a room."))).propose(desk.world, "en_bryn")
    assert proposal is not None
    assert await desk.rows() == before


async def test_a_pinned_thread_updates_its_ledger_entry_until_the_model_lets_go(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
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


async def test_a_thread_told_again_in_the_same_words_is_not_written_again(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    same = wire.chunk(["M1"], "P2 is hunted by the harbour master.", quotes=["Have you a room?"], retainInBuffer=True)
    engine = desk.engine(wire.reply(same), wire.reply(same, wire.chunk(["M2"], "Somebody spoke of a drum.")))
    await engine.run_all(desk.world)
    [first] = await desk.ledger()
    await desk.fill(desk.inn.talk(5, oldest=279, newest=270))
    [run] = await engine.run_all(desk.world)
    assert (run.added, run.updated, run.pinned) == (1, 0, 1)
    assert first in await desk.ledger()


async def test_a_thread_told_in_part_keeps_its_older_account(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
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


async def test_a_model_that_pins_everything_does_not_fill_the_buffer(desk: Desk) -> None:
    async def think(request: ModelRequest) -> str:
        entries = split_sections(request.text)["ENTRIES"]
        handles = re.findall(r"^(M\d+) ", entries, re.MULTILINE)
        chunks = [{"sourceEntryIds": [h], "content": "P2 spoke of the rope.", "quotes": [], "importance": 5, "involvedEntityIds": [],
                   "retainInBuffer": True} for h in handles]  # fmt: skip
        return json.dumps({"chunks": chunks})

    engine = desk.thinking(think)
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


async def test_a_handmade_memory_without_a_source_survives_handoffs(desk: Desk, wire: Any) -> None:
    [mine] = await desk.remember([desk.inn.memory("{{e:en_bryn}} was born at sea.", 9000, place=None, importance=9)])
    await desk.old_pool()
    answer = wire.reply(wire.chunk(["M1"], "P1 was born at sea."))
    engine = desk.engine(answer, answer, answer)
    for number in range(3):
        await engine.run_all(desk.world)
        await desk.fill(desk.inn.talk(6, oldest=270 - 10 * number, newest=265 - 10 * number))
    assert len(await desk.ledger()) == 2  # the three tellings are one
    assert mine in await desk.ledger()


async def test_the_prompt_holds_no_id_and_no_name_that_was_not_heard(desk: Desk, inn: Inn, wire: Any) -> None:
    await desk.old_pool()
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
