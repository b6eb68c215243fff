"""Rounds over a real save with a scripted model: what a beat leaves behind, and what a failed or cancelled one does not."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.events import BeatFailed, EngineEvent, Happened
from engine.llm.hashing import Hash768
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.llm.router import Router
from engine.llm.scripted import Reply, Scripted
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.records.authored import AuthoredWorld
from engine.records.intents import Intent
from engine.records.policies import Policies
from engine.records.prompts import Task
from engine.records.rounds import OpenRound
from engine.records.tokens import substitute
from engine.records.world import SetAttribute, World
from engine.storage.store import Store
from engine.turns.actor import Actor
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee
from engine.turns.simulation import SimulationManager
from engine.world.rules import apply


def said(text: str, *targets: str, verb: str = "say") -> str:
    return json.dumps({"intents": [
        {"type": "dialogue", "verb": verb, "text": text, "summary": "", "targets": list(targets), "modifiers": []}
    ]})


def done(summary: str, *targets: str, verb: str = "other", text: str = "I do it.") -> str:
    return json.dumps({"intents": [
        {"type": "action", "verb": verb, "text": text, "summary": summary, "targets": list(targets), "modifiers": []}
    ]})


class Play:
    """A save of the house under a scripted model."""

    def __init__(self, store: Store, world: World, model: Scripted, unfinished: OpenRound | None = None) -> None:
        self.store, self.model, self.events = store, model, list[EngineEvent]()
        router, policies, embedder = Router(model), Policies(), Hash768()
        actor = Actor(store, router, RecallEngine(store, embedder, policies), policies)
        handoff = HandoffEngine(store, router, embedder, policies, self.events.append)
        self.simulation = SimulationManager(
            store, world, actor, Decoder(router), Referee(router), handoff, self.events.append, unfinished=unfinished
        )

    async def entries(self, owner: str) -> list[Intent]:
        return [entry.intent for entry in await self.store.db.read(lambda conn: self.store.buffer.of_owner(conn, owner))]

    def failures(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, BeatFailed)]


@pytest.fixture
async def start(tmp_path: Path, house: World) -> AsyncIterator[object]:
    opened: list[Store] = []

    async def begin(script: dict[str, list[Reply]], world: World = house) -> Play:
        store = await Store.create(tmp_path / f"{len(opened)}.db", AuthoredWorld(world=world))
        opened.append(store)
        return Play(store, world, Scripted(script))

    yield begin
    for store in opened:
        await store.close()


def only(world: World, *awake: str) -> World:
    for entity in world.entities.values():
        if entity.agent and entity.id not in awake:
            world = apply(world, SetAttribute(entity=entity.id, name="status", value="unconscious"))
    return world


async def test_a_word_reaches_everybody_in_hearing_and_takes_a_minute(start, house: World) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": ['"Soup is on."'] * 3, "decode": [said("Soup is on.")] * 3})
    report = await play.simulation.step()
    assert (report.beats, report.failed_beats) == (3, 0)
    assert [i.text for i in await play.entries("cyd_1")] == ["Soup is on."] * 3
    assert (play.simulation.world.now - house.now).total_seconds() == 180
    assert await play.store.db.read(play.store.worlds.load) == play.simulation.world


async def test_a_name_given_is_learned_by_those_who_hear_it(start, house: World) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": ['"I\'m Bo Reed."'], "decode": [said("I'm Bo Reed.", "P2")]}, only(house, "bo_1", "cyd_1"))
    await play.simulation.step(held=frozenset({"cyd_1"}))
    assert play.simulation.world.entities["cyd_1"].aliases["bo_1"] == "Bo Reed"
    [change] = await play.store.db.read(lambda conn: play.store.aliases.of_viewer(conn, "cyd_1"))
    assert (change.new, change.cause) == ("Bo Reed", "introduction")
    [heard] = await play.store.db.read(lambda conn: play.store.buffer.of_owner(conn, "cyd_1"))
    assert change.evidence == heard.id
    assert not play.simulation.world.entities["ada_1"].aliases.get("cyd_1")


async def test_an_alias_set_by_hand_is_not_overwritten(start, house: World) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": ['"I\'m Bo Reed."'], "decode": [said("I'm Bo Reed.", "P2")]}, only(house, "bo_1", "cyd_1"))
    await play.simulation.set_alias("cyd_1", "bo_1", "the liar")
    await play.simulation.step(held=frozenset({"cyd_1"}))
    assert play.simulation.world.entities["cyd_1"].aliases["bo_1"] == "the liar"


async def test_an_alias_set_while_a_beat_is_on_its_way_stands(start, house: World) -> None:  # type: ignore[no-untyped-def]
    play: Play

    def meanwhile(request: ModelRequest) -> str:
        edits.append(asyncio.ensure_future(play.simulation.set_alias("bo_1", "ada_1", "the thief")))
        return said("Evening.")

    edits: list[asyncio.Future[None]] = []
    play = await start({"actor": ['"Evening."'], "decode": [meanwhile]}, only(house, "ada_1"))
    await play.simulation.step()
    await asyncio.gather(*edits)
    assert play.simulation.world.entities["bo_1"].aliases == {"ada_1": "the thief"}
    assert await play.store.db.read(play.store.worlds.load) == play.simulation.world


async def test_factions_and_aliases_set_while_a_deed_is_judged_stand(start, house: World) -> None:  # type: ignore[no-untyped-def]
    class Disturbed(Scripted):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            if request.task == "referee":
                await play.simulation.set_factions("bo_1", ["harbour"])
                await play.simulation.set_alias("cyd_1", "ada_1", "the dancer")
            return await super().complete(request, heard)

    ruling = json.dumps({"reason": "There is room.", "possible": True, "minutes": 1, "changes": []})
    script: dict[Task, list[Reply]] = {"actor": ["I dance."], "decode": [done("danced")], "referee": [ruling]}
    world = only(house, "ada_1")
    play = Play((await start({}, world)).store, world, Disturbed(script))
    await play.simulation.step()
    assert play.failures() == []
    assert play.simulation.world.entities["bo_1"].factions == ("harbour",)
    assert play.simulation.world.entities["cyd_1"].aliases == {"ada_1": "the dancer"}
    assert await play.store.db.read(play.store.worlds.load) == play.simulation.world


async def test_a_refused_deed_is_remembered_with_its_reason(start, house: World) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": ["I go down."], "decode": [done("went down", "L2", verb="go")]}, only(house, "ada_1", "bo_1"))
    await play.simulation.step(held=frozenset({"bo_1"}))
    entries = await play.store.db.read(lambda conn: play.store.buffer.of_owner(conn, "ada_1"))
    assert [(e.outcome.is_valid, e.outcome.reason) for e in entries if e.outcome] == [(False, "the cellar door is locked")]
    [seen] = await play.store.db.read(lambda conn: play.store.buffer.of_owner(conn, "bo_1"))
    assert seen.outcome is not None
    assert seen.outcome.reason == ""  # why it failed is the actor's to know


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ({"actor": [""]}, "answered with nothing"),
        ({"actor": ["I wait."], "decode": ["no JSON at all", "still none"]}, ""),
        ({"actor": ["I wait."], "decode": ['{"intents":[]}']}, "found nothing"),
        ({"actor": ["I dance."], "decode": [done("danced")], "referee": ["{", "{"]}, ""),
    ],
)
async def test_a_failed_beat_leaves_no_trace(start, house: World, script: dict[str, list[Reply]], reason: str) -> None:  # type: ignore[no-untyped-def]
    play = await start(script, only(house, "ada_1"))
    report = await play.simulation.step()
    assert (report.beats, report.failed_beats) == (0, 1)
    assert reason in play.failures()[0]
    assert await play.entries("ada_1") == []
    assert await play.store.db.read(play.store.story.beats) == 0
    assert play.simulation.world.now == house.now


async def test_who_arrives_is_seen_at_both_ends(start, house: World) -> None:  # type: ignore[no-untyped-def]
    script = {"actor": ["I go out."], "decode": [done("went out", "L1", verb="go")]}
    play = await start(script, only(house, "ada_1", "bo_1", "cyd_1"))
    await play.simulation.step(held=frozenset({"bo_1", "cyd_1"}))
    happened = [event for event in play.events if isinstance(event, Happened)]
    assert [e.owner_id for e in happened[0].entries] == ["ada_1", "bo_1", "cyd_1"]
    assert play.simulation.world.entities["ada_1"].place == "pl_yard"
    assert {e.owner_id: e.location_id for e in happened[0].entries} == {"ada_1": "pl_yard", "bo_1": "pl_hall", "cyd_1": "pl_yard"}


async def test_a_hand_acts_first_and_a_held_entity_waits(start, house: World) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": ['"Aye."'] * 2, "decode": [said("Aye.")] * 2})
    intents = await play.simulation.understand("cyd_1", '"Anybody there?"')
    report = await play.simulation.step({"cyd_1": ('"Anybody there?"', intents)}, held=frozenset({"cyd_1"}))
    assert report.beats == 3
    assert [i.text for i in await play.entries("ada_1")] == ["Anybody there?", "Aye.", "Aye."]
    assert (await play.simulation.step(held=frozenset({"ada_1", "bo_1", "cyd_1"}))).beats == 0


async def test_a_cancelled_beat_is_not_consumed(start, house: World) -> None:  # type: ignore[no-untyped-def]
    class Hanging(Scripted):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            waiting.set()
            await asyncio.Event().wait()
            raise AssertionError

    waiting = asyncio.Event()
    play = await start({})
    hanging = Play(play.store, house, Hanging({"actor": ['"Aye."']}))
    task = asyncio.create_task(hanging.simulation.step())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await hanging.entries("ada_1") == []
    assert hanging.simulation.world == await play.store.db.read(play.store.worlds.load)
    assert hanging.simulation.world.round == 1


async def test_sleepers_wake_and_the_night_passes_when_all_sleep(start, house: World) -> None:  # type: ignore[no-untyped-def]
    sleep = [done("slept", verb="sleep", text="I sleep.")] * 3
    play = await start({"actor": ["I sleep."] * 3 + ['"Morning."'] * 3, "decode": [*sleep, *[said("Morning.")] * 3]})
    await play.simulation.step()
    assert (await play.simulation.step()).beats == 3
    assert play.simulation.world.now.isoformat() == "1247-03-02T02:03:00"
    assert [i.verb for i in await play.entries("ada_1")] == ["sleep", "wake", "say", "say", "say"]


async def test_a_murmur_that_goes_on_is_noticed_once(start, house: World) -> None:  # type: ignore[no-untyped-def]
    thin = house.portals["po_arch"].model_copy(update={"state": "closed", "vision": 0, "sound": 7})
    world = only(house.model_copy(update={"portals": {**house.portals, "po_arch": thin}}), "ada_1", "cyd_1")
    lines = [f"Word {number}." for number in range(25)]
    play = await start({"actor": [f'"{line}"' for line in lines], "decode": [said(line) for line in lines]}, world)
    for _ in lines:
        await play.simulation.step(held=frozenset({"cyd_1"}))
    heard = [entry for entry in await play.store.db.read(lambda conn: play.store.buffer.of_owner(conn, "cyd_1")) if entry.grasp == "faint"]
    assert [entry.timestamp.minute for entry in heard] == [0, 15]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "set", "target": "P2", "name": "name ", "value": "Nobody"},
        {"kind": "set", "target": "P2", "name": "la\u200bbel", "value": "Nobody"},
        {"kind": "set", "target": "P1", "name": "asleep_since\t", "value": "rubbish"},
        {"kind": "learn", "target": "P2", "name": "name", "to": "P1"},
        {"kind": "move", "target": "P2", "to": "L2"},
        {"kind": "move", "target": "P1", "to": "L2"},
    ],
)
async def test_a_hostile_referee_changes_nothing_it_may_not(start, house: World, change: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    verdict = json.dumps({"reason": "So be it.", "possible": True, "minutes": 0, "changes": [change]})
    play = await start({"actor": ["I dance."], "decode": [done("danced")], "referee": [verdict]}, only(house, "ada_1", "bo_1"))
    before = play.simulation.world
    await play.simulation.step(held=frozenset({"bo_1"}))
    assert play.simulation.world.entities == before.entities
    assert play.failures() == []


async def test_no_reason_is_cut_in_the_middle_of_a_token(start, house: World) -> None:  # type: ignore[no-untyped-def]
    verdict = json.dumps({"reason": "P2 " * 200, "possible": False, "minutes": 0, "changes": []})
    play = await start({"actor": ["I dance."], "decode": [done("danced")], "referee": [verdict]}, only(house, "ada_1", "bo_1"))
    await play.simulation.step(held=frozenset({"bo_1"}))
    [entry] = await play.store.db.read(lambda conn: play.store.buffer.of_owner(conn, "ada_1"))
    assert entry.outcome is not None
    assert "{{e:" not in substitute(entry.outcome.reason, lambda entity: "")


async def test_speech_is_bounded_and_holds_no_token(start, house: World) -> None:  # type: ignore[no-untyped-def]
    words = "{{e:ada_1}} " + "word " * 30_000
    play = await start({"actor": ["I talk."], "decode": [said(words)]}, only(house, "ada_1", "bo_1"))
    await play.simulation.step(held=frozenset({"bo_1"}))
    [heard] = await play.entries("bo_1")
    assert len(heard.text) <= 4000
    assert "{{e:" not in heard.text


async def test_a_deed_is_told_in_bounds_and_no_handle_is_cut(start, house: World) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": ["I wait."], "decode": [done("P2 " * 9_000, verb="wait")]}, only(house, "ada_1", "bo_1"))
    await play.simulation.step(held=frozenset({"bo_1"}))
    [told] = await play.entries("bo_1")
    assert 0 < len(told.summary) < 4000
    assert "{{" not in substitute(told.summary, lambda entity: "")
