"""Rounds of the bundled world with a real small model, and their replay without it."""

import asyncio
import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.events import BeatFailed, BeatStarted, Called, EngineEvent, HandoffFailed, ModelNote
from engine.files.bundled import bundled_worlds
from engine.game import Game, RoundReport
from engine.llm.cassette import Playback, Recorder
from engine.llm.protocol import Completion, ModelRequest
from engine.llm.schemas import closed_schema
from engine.records.models import RouteView, Spent
from engine.records.world import World
from engine.setup import Setup
from engine.storage.diff import differences
from tests.real.conftest import KEY, WINDOW, settle
from tests.real.holding import assert_holds
from tests.real.server import LlamaServer

MINDS = _, WAITING = ("ines_calder", "orla_venn")
"""Who has a mind: all seven would take a quarter of an hour."""
MODEL = "openai/smollm2-135m"


@dataclass
class Played:
    """Two rounds, with all that was seen of them. In the first one only one of the two acts, for prose takes a real model long; in the
    second one the storyteller writes it."""

    folder: Path
    calls: list[tuple[ModelRequest, Completion]] = field(default_factory=list)
    events: list[EngineEvent] = field(default_factory=list)
    reports: list[RoundReport] = field(default_factory=list)
    worlds: list[World] = field(default_factory=list)
    entries: list[set[str]] = field(default_factory=list)
    """Ids of all that was ever in a buffer, before the first round and after each."""
    spent: dict[str, Spent] = field(default_factory=dict)
    """By model."""
    routes: tuple[RouteView, ...] = ()

    @property
    def save(self) -> Path:
        return self.folder / "played.db"

    @property
    def tape(self) -> Path:
        return self.folder / "played.tape"

    def rows(self, query: str, save: Path | None = None) -> list[Any]:
        with closing(sqlite3.connect(f"file:{save or self.save}?mode=ro", uri=True)) as conn:
            return conn.execute(query).fetchall()

    def remembered(self, save: Path | None = None) -> Counter[str]:
        """Where each event is kept, by its id."""
        return Counter(key for (key,) in self.rows("SELECT id FROM buffer_entries UNION ALL SELECT id FROM buffer_archive", save))


@pytest.fixture(scope="module")
def small_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled world in which two have a mind."""
    [bundled] = [info.path for info in bundled_worlds() if info.slug == "salt-lantern"]
    folder = tmp_path_factory.mktemp("worlds") / "salt-lantern"
    shutil.copytree(bundled, folder)
    for path in (folder / "entities").glob("*.yaml"):
        if path.stem not in MINDS:
            without = re.sub(r"^(buffer|ledger):.*\n(?:[ #\n-].*\n|\n)*", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            path.write_text(without.replace("agent: true", "agent: false"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def played(llama: LlamaServer, small_world: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with pytest.MonkeyPatch.context() as patch:
        run = Played(tmp_path_factory.mktemp("played"))
        settle(run.folder, patch, llama)
        asyncio.run(_played(run, small_world))
        yield run


async def _played(run: Played, world: Path) -> None:
    recorder = Recorder(run.tape)
    setup = Setup(sink=lambda request, completion: run.calls.append((request, completion)), tape=recorder)
    game = await Game.create(world, run.save, setup=setup)
    game.listen(run.events.append)
    try:
        run.entries.append(set(run.remembered()))
        for number in range(2):
            run.worlds.append(game.world)
            game.play_as(None if number else WAITING)
            if number == 1:
                run.routes = game.models.routes()
                await game.models.set("models.actor", "storyteller")
            run.reports.append(await game.step())
            run.entries.append(set(run.remembered()))
        run.spent = dict(game.meter.by_model)
    finally:
        await game.close()
        recorder.close()


def test_every_beat_was_committed_or_failed_without_trace(played: Played) -> None:
    assert [report.round for report in played.reports] == [1, 2]
    begun = Counter(event.round for event in played.events if isinstance(event, BeatStarted))
    assert begun[1] == 1
    assert [report.beats + report.failed_beats for report in played.reports] == [begun[1], begun[2]]  # who falls asleep begins none
    assert not any(report.paused for report in played.reports)
    committed = sum(report.beats for report in played.reports)
    assert committed > 0
    assert played.rows("SELECT count(*) FROM beats WHERE template LIKE 'actor.%'") == [(committed,)]
    assert played.rows("SELECT seq FROM beats WHERE seq NOT IN (SELECT beat FROM happenings)") == []
    assert sum(isinstance(event, BeatFailed) for event in played.events) == sum(report.failed_beats for report in played.reports)


def test_handoffs_were_asked_of_the_model_in_two_halves(played: Played) -> None:
    assert played.reports[0].handoffs == len(MINDS)
    runs = played.rows("SELECT status, error, model, reply FROM handoff_runs")
    assert {model for _, _, model, _ in runs} == {MODEL}
    for status, error, _, reply in runs:
        assert (status == "failed") == bool(error)
        assert reply or status == "failed"
    assert sum(isinstance(event, HandoffFailed) for event in played.events) == sum(status == "failed" for status, *_ in runs)
    templates = {request.template.partition(".")[0] for request, _ in played.calls if request.task == "handoff"}
    assert templates >= {"choose", "tell"}


def test_nothing_was_lost(played: Played) -> None:
    assert set(played.remembered().values()) == {1}
    for before, after in zip(played.entries, played.entries[1:], strict=False):
        assert before <= after
    assert played.rows("PRAGMA integrity_check") == [("ok",)]
    assert played.rows("PRAGMA foreign_key_check") == []


def test_replies_kept_to_their_grammar_to_the_end(played: Played) -> None:
    structured = [(request, completion) for request, completion in played.calls if request.response is not None]
    assert {request.task for request, _ in structured} >= {"decode", "handoff"}
    for request, completion in structured:
        assert completion.model == MODEL
        assert not completion.cut, request.task
        assert request.response is not None
        assert_holds(json.loads(completion.text), closed_schema(request.response, request.choices))


def test_memories_speak_of_real_people_and_places_only(played: Played) -> None:
    known, places = set(played.worlds[0].entities), set(played.worlds[0].places)
    for involved, importance, place in played.rows("SELECT involved_json, importance, location_id FROM ledger_entries"):
        assert set(json.loads(involved)) <= known
        assert 1 <= importance <= 10
        assert place is None or place in places


def test_tokens_are_counted_as_the_server_did_and_cost_nothing(played: Played) -> None:
    mine = [completion for _, completion in played.calls if completion.model == MODEL]
    spent = played.spent[MODEL]
    assert spent.prompt_tokens == sum(completion.usage.prompt_tokens for completion in mine) > 0
    assert spent.reply_tokens == sum(completion.usage.reply_tokens for completion in mine) > 0
    assert (spent.estimated, spent.cost, spent.unpriced) == (0, 0.0, 0)
    assert not any(completion.usage.estimated for completion in mine)
    called = [event.call for event in played.events if isinstance(event, Called)]
    assert {call.model for call in called} == {MODEL, "storyteller"}
    assert {call.cost for call in called} == {0.0}
    assert {call.model for call in called if call.task == "actor" and call.round == 2} == {"storyteller"}


def test_the_routes_say_how_the_model_is_reached(played: Played, llama: LlamaServer) -> None:
    for route in played.routes:
        [endpoint] = route.endpoints
        assert (endpoint.name, endpoint.model, endpoint.api_base) == ("small", MODEL, llama.base)
        assert (endpoint.structured, endpoint.small, endpoint.context_window) == ("grammar", True, WINDOW)
        assert (endpoint.key, endpoint.key_names, endpoint.input_price) == ("set", (KEY,), 0.0)


def test_the_key_is_in_no_file(played: Played, llama: LlamaServer) -> None:
    files = [path for path in played.folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"played.db", "played.tape", "settings.toml"}
    assert [path for path in files if llama.key.encode() in path.read_bytes()] == []


async def test_the_record_plays_again_without_the_model(played: Played, small_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = LlamaServer("http://127.0.0.1:9", "", WINDOW)
    again = played.folder / "again"
    again.mkdir()
    settle(again, monkeypatch, nobody)
    tape, calls = Playback(played.tape), list[tuple[ModelRequest, Completion]]()
    setup = Setup(sink=lambda request, completion: calls.append((request, completion)), tape=tape)
    game = await Game.create(small_world, again / "again.db", setup=setup)
    try:
        reports = []
        for number in range(len(played.reports)):
            game.play_as(None if number else WAITING)
            reports.append(await game.step())
    finally:
        await game.close()
    assert reports == played.reports
    assert tape.missed == 0
    assert [request.text + completion.text for request, completion in calls] == [
        request.text + completion.text for request, completion in played.calls
    ]
    assert differences(played.save, again / "again.db") == []


async def test_a_prompt_too_long_for_the_model_is_cut_and_sent_again(
    narrow: LlamaServer, small_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings promise a window that the server does not have: its refusal is learned from, in the middle of a beat."""
    settle(tmp_path, monkeypatch, narrow, models='decode = "storyteller"\nhandoff = "storyteller"', endpoint="context_window = 16384")
    events: list[EngineEvent] = []
    game = await Game.create(small_world, tmp_path / "narrow.db")
    game.listen(events.append)
    game.play_as(WAITING)
    try:
        report = await game.step()
        view = next(route.endpoints[0] for route in game.models.routes() if route.task == "actor")
    finally:
        await game.close()
    assert report.beats + report.failed_beats == 1
    notes = [event.text for event in events if isinstance(event, ModelNote)]
    assert any("too long" in note and f"{narrow.window:,}" in note for note in notes), notes
    assert (view.context_window, view.window_from) == (narrow.window, "server")
    called = [event.call for event in events if isinstance(event, Called) and event.call.task == "actor"]
    assert any(not call.failed and 0 < call.prompt_tokens < narrow.window for call in called)
