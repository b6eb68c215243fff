"""A hundred rounds with a model whose replies are spoilt at random: no crash, no row from a bad reply, no beat half done."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from engine.llm.hashing import Hash768
from engine.llm.router import Router
from engine.llm.storyteller import Storyteller
from engine.memory.compression.engine import CompressionEngine
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.records.authored import AuthoredWorld
from engine.records.clean import clean
from engine.records.policies import CompressionPolicy, HandoffPolicy, Policies
from engine.records.prompts import Task
from engine.records.world import World
from engine.storage.store import Store
from engine.turns.actor import Actor
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee
from engine.turns.simulation import SimulationManager
from tests.engine.turns.corrupting import HANG, TROUBLES, Corrupting
from tests.engine.turns.spoiling import kinds
from tests.engine.turns.witness import Save, Witness

ROUNDS = 100
SEEDS = (1, 2, 3)
SMALL = 3
"""The seed of the game whose model is a small one, which is asked in halves."""
SHARES: Mapping[Task, float] = {"actor": 0.3, "decode": 0.4, "referee": 0.7, "handoff": 0.5}
"""Of replies that are spoilt. A referee is asked seldom."""
_RAW = frozenset({("handoff_runs", "reply"), ("handoff_runs", "error"), ("handoff_runs", "notes_json")})
"""Where the raw words of a model are kept, for people to look at."""
POLICIES = Policies(
    handoff=HandoffPolicy(floor=2, max_entries=5, idle_rounds=1, batch=1),
    compression=CompressionPolicy(limit=10, newest=2, group=4),
)


class SmallStoryteller(Storyteller):
    """Asked as a small model is."""

    @property
    def small(self) -> bool:
        return True


class Play:
    """A save of the house under a storyteller whose replies are spoilt."""

    def __init__(self, store: Store, world: World, seed: int) -> None:
        self.store, self.save = store, Save(store.db.path)
        self.witness, self.model = Witness(self.save), Corrupting(SmallStoryteller() if seed == SMALL else Storyteller(), seed, SHARES)
        router, embedder, emit = Router(self.model), Hash768(), self.witness
        self.actor = Actor(store, router, RecallEngine(store, embedder, POLICIES), POLICIES)
        handoff = HandoffEngine(store, router, embedder, POLICIES, emit)
        self.simulation = SimulationManager(
            store, world, self.actor, Decoder(router), Referee(router), handoff, emit,
            CompressionEngine(store, router, embedder, POLICIES, emit, None, handoff),
        )
        self.stopped = 0

    async def step(self) -> None:
        """One round, or the rest of one that was stopped; cancelled, as a person does, when the model hangs."""
        self.model.hangs.clear()
        self.witness.look()
        playing = asyncio.ensure_future(self.simulation.step())
        hanging = asyncio.ensure_future(self.model.hangs.wait())
        await asyncio.wait({playing, hanging}, return_when=asyncio.FIRST_COMPLETED)
        hanging.cancel()
        if not playing.done():
            playing.cancel()
            self.stopped += 1
        with contextlib.suppress(asyncio.CancelledError):
            await playing
        assert playing.cancelled() or playing.result().round == self.simulation.world.round

    async def check(self) -> None:
        """What holds after every step."""
        assert self.witness.faults == []
        assert self.witness.changed() <= {"ledger_use"}  # counts of use are written last, and nobody is told
        assert await self.store.db.read(self.store.worlds.load) == self.simulation.world
        for agent in self.simulation.world.agents():
            assert (await self.actor.draft(self.simulation.world, agent.id)).report.problems == ()


@pytest.fixture(scope="module", params=[pytest.param(s, marks=pytest.mark.xdist_group(f"corrupted {s}")) for s in SEEDS])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, house: World) -> Iterator[Play]:
    """The save after a hundred rounds, closed, with what was seen meanwhile."""
    play = asyncio.run(_played(tmp_path_factory.mktemp("corrupted") / "house.db", house, request.param))
    yield play
    play.save.close()


async def _played(path: Path, world: World, seed: int) -> Play:
    store = await Store.create(path, AuthoredWorld(world=world))
    play = Play(store, world, seed)
    try:
        while play.simulation.world.round < ROUNDS:
            await play.step()
            await play.check()
    finally:
        await store.close()
    return play


def test_everything_was_tried_and_play_went_on(played: Play) -> None:
    counted, record = played.witness.counted, played.model.record
    assert played.simulation.world.round == ROUNDS
    assert counted["beat_ended"] > 80
    assert counted["beat_failed"] > 80
    assert counted["handoff_committed"] > 20
    assert counted["handoff_failed"] > 10
    assert played.stopped > 0
    assert len(set(kinds()) - record.done.keys()) <= 8
    assert record.raised.keys() == {*TROUBLES, HANG}


def test_nothing_of_an_unusable_reply_stands_in_any_row(played: Play) -> None:
    text = "\n".join(
        value for table, column, value in played.save.cells() if isinstance(value, str) and (table, column) not in _RAW
    )
    assert len(played.model.record.marks) > 100
    assert [found for found in played.model.record.marks if found[2] in text] == []


def test_every_event_is_in_one_place_as_it_was(played: Play) -> None:
    kept = played.save.ask("SELECT id, intent_json, timestamp FROM buffer_entries")
    kept += played.save.ask("SELECT id, intent_json, timestamp FROM buffer_archive")
    assert Counter(key for key, *_ in kept) == Counter(played.witness.entries.keys())
    for key, intent, timestamp in kept:
        entry = played.witness.entries[key]
        assert json.loads(intent) == json.loads(entry.intent.model_dump_json())
        assert timestamp == entry.timestamp.isoformat()


def test_every_beat_is_whole(played: Play) -> None:
    save = played.save
    assert save.ask("PRAGMA integrity_check") == [("ok",)]
    assert save.ask("PRAGMA foreign_key_check") == []
    by_model = save.ask("SELECT prose FROM beats WHERE template NOT IN ('schedule', 'by hand') ORDER BY seq")
    assert [prose for (prose,) in by_model] == played.witness.acts
    assert save.ask("SELECT count(*) FROM happenings") == [(played.witness.counted["happened"],)]
    assert save.ask("SELECT seq FROM beats WHERE seq NOT IN (SELECT beat FROM happenings)") == []
    times = [time for (time,) in save.ask("SELECT timestamp FROM happenings ORDER BY seq")]
    assert times == sorted(times)
    assert save.ask("SELECT count(*) FROM rounds") == [(ROUNDS,)]


def test_prose_is_what_a_usable_reply_said(played: Play) -> None:
    usable = {" ".join(clean(text).split()) for text in played.model.record.prose}
    for prose in played.witness.acts:
        said = " ".join(prose.split())
        assert said in usable or any(text.startswith(said) for text in usable)


def test_promoted_events_have_a_memory_and_memories_have_events(played: Play) -> None:
    save = played.save
    ledger = {key for table in ("ledger_entries", "ledger_archive") for (key,) in save.ask(f"SELECT id FROM {table}")}
    for fate, key in save.ask("SELECT fate, ledger_id FROM buffer_archive"):
        assert (key in ledger) == (fate == "promoted")
    for (key,) in save.ask("SELECT id FROM ledger_entries"):
        assert save.ask(f"SELECT 1 FROM ledger_sources WHERE ledger_id = '{key}'")
        assert save.ask(f"SELECT 1 FROM embeddings WHERE owner_kind = 'ledger' AND id = '{key}'")


def test_no_row_holds_what_a_terminal_obeys(played: Play) -> None:
    for table, column, value in played.save.cells():
        if isinstance(value, str):
            for text in _texts(json.loads(value)) if column.endswith("_json") else (value,):
                assert clean(text) == text, (table, column)


def test_speech_holds_no_token(played: Play) -> None:
    for (intent,) in played.save.ask("SELECT intent_json FROM happenings"):
        assert "{{" not in json.loads(intent)["text"]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, held in value.items() for text in (str(key), *_texts(held)))
    elif isinstance(value, list):
        yield from (text for each in value for text in _texts(each))
