"""How often memories entered prompts: counted with committed beats only, written down off their path."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from engine.events import BeatEnded, EngineEvent, Trouble
from engine.llm.hashing import Hash768
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.records.authored import AuthoredWorld
from engine.records.memory import NewLedgerEntry, Use
from engine.records.policies import Policies
from engine.records.world import SetAttribute, World
from engine.storage.diff import differences
from engine.storage.ledger_archive import LedgerArchive
from engine.storage.store import Store
from engine.turns.actor import Actor
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee
from engine.turns.simulation import SimulationManager
from engine.world.rules import apply

AYE = json.dumps({"intents": [{"type": "dialogue", "verb": "say", "text": "Aye.", "summary": "", "targets": [], "modifiers": []}]})


class Stopping(Scripted):
    """Says aye, and hangs on the call of a given number."""

    def __init__(self, calls: int = 1_000) -> None:
        super().__init__()
        self.left, self.hangs = calls, asyncio.Event()

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        self.left -= 1
        if self.left < 0:
            self.hangs.set()
            await asyncio.Event().wait()
        return Completion(text=AYE if request.task == "decode" else '"Aye."', model="aye", usage=Usage(prompt_tokens=1, reply_tokens=1))



class Play:
    """A save in which Ada and Bo remember something."""

    def __init__(self, path: Path, store: Store, world: World, model: Stopping) -> None:
        self.path, self.store, self.model, self.events = path, store, model, list[EngineEvent]()
        router, policies, embedder = Router(model), Policies(), Hash768()
        self.actor = Actor(store, router, RecallEngine(store, embedder, policies), policies)
        handoff = HandoffEngine(store, router, embedder, policies, self.events.append)
        self.simulation = SimulationManager(store, world, self.actor, Decoder(router), Referee(router), handoff, self.events.append)

    async def uses(self) -> dict[str, Use]:
        """By the words of the memory."""

        def read(conn: sqlite3.Connection) -> dict[str, Use]:
            entries = [entry for owner in ("ada_1", "bo_1") for entry in self.store.ledger.of_owner(conn, owner)]
            found = self.store.ledger_archive.uses(conn, [entry.id for entry in entries])
            return {entry.content: found[entry.id] for entry in entries if entry.id in found}

        return await self.store.db.read(read)


Begin = Callable[..., Awaitable[Play]]


@pytest.fixture
async def begin(tmp_path: Path, house: World) -> AsyncIterator[Begin]:
    opened: list[Store] = []
    house = apply(house, SetAttribute(entity="cyd_1", name="status", value="unconscious"))

    async def start(model: Stopping | None = None, memories: int = 1) -> Play:
        ledger = tuple(
            NewLedgerEntry(
                owner_id=owner, timestamp=house.now - timedelta(days=3 + n), ended=house.now - timedelta(days=3 + n), location_id="pl_hall",
                content=f"{owner[:3]} saw a ship {n}.", importance=5,
            )
            for owner in ("ada_1", "bo_1")
            for n in range(memories)
        )
        path = tmp_path / f"{len(opened)}.db"
        opened.append(await Store.create(path, AuthoredWorld(world=house, ledger=ledger)))
        return Play(path, opened[-1], house, model or Stopping())

    yield start
    for store in opened:
        await store.close()


async def test_a_round_counts_what_entered_its_prompts_at_the_beats_own_time(begin: Begin, house: World) -> None:
    play = await begin()
    await play.simulation.step()
    assert await play.uses() == {
        "ada saw a ship 0.": Use(retrieval_count=1, last_retrieved_at=house.now),
        "bo_ saw a ship 0.": Use(retrieval_count=1, last_retrieved_at=house.now + timedelta(minutes=1)),
    }
    await play.simulation.step()
    assert [use.retrieval_count for use in (await play.uses()).values()] == [2, 2]
    assert {use.last_retrieved_at for use in (await play.uses()).values()} == {datetime(1247, 3, 1, 18, 2), datetime(1247, 3, 1, 18, 3)}


async def test_only_what_entered_the_prompt_counts(begin: Begin) -> None:
    play = await begin(memories=30)
    await play.simulation.step(held=frozenset({"bo_1"}))
    assert len(await play.uses()) == Policies().recall.section_limit


async def test_nothing_but_the_count_is_written(begin: Begin) -> None:
    play = await begin()
    tables = ("ledger_entries", "ledger_sources", "embeddings", "ledger_archive", "ledger_versions")

    def rows(conn: sqlite3.Connection) -> list[list[object]]:
        return [conn.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]

    before = await play.store.db.read(rows)
    await play.simulation.step()
    assert await play.store.db.read(rows) == before
    assert len(await play.uses()) == 2


async def test_drafts_and_beats_by_hand_count_nothing(begin: Begin) -> None:
    play = await begin()
    await play.actor.draft(play.simulation.world, "ada_1")
    intents = await play.simulation.understand("ada_1", '"Well?"')
    await play.simulation.step({"ada_1": ('"Well?"', intents)}, held=frozenset({"ada_1", "bo_1"}))
    assert await play.uses() == {}


async def test_a_failed_beat_counts_nothing(begin: Begin) -> None:
    class Mute(Stopping):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            return (await super().complete(request)).model_copy(update={"text": ""})

    play = await begin(Mute())
    assert (await play.simulation.step()).failed_beats == 2
    assert await play.uses() == {}


async def test_a_cancelled_round_counts_the_beats_that_were_committed(begin: Begin) -> None:
    play = await begin(Stopping(calls=2))
    task = asyncio.ensure_future(play.simulation.step())
    await play.model.hangs.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sum(isinstance(event, BeatEnded) for event in play.events) == 1
    assert list(await play.uses()) == ["ada saw a ship 0."]


async def test_a_count_that_cannot_be_written_fails_no_round(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    play = await begin()

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(LedgerArchive, "used", fail)
        report = await play.simulation.step()
    assert (report.beats, report.failed_beats) == (2, 0)
    [trouble] = [event for event in play.events if isinstance(event, Trouble)]
    assert "disk I/O error" in trouble.text
    assert await play.uses() == {}
    await play.simulation.step()
    assert [use.retrieval_count for use in (await play.uses()).values()] == [1, 1]


async def test_equal_runs_count_equally(begin: Begin) -> None:
    plays = [await begin(memories=30) for _ in range(2)]
    for play in plays:
        for _ in range(4):
            await play.simulation.step()
        assert await play.uses()
        await play.store.close()
    assert differences(plays[0].path, plays[1].path) == []
