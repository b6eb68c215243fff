"""A game whose model is behind HTTP: engine, stack and litellm together, against a server of our own that does as it is told."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.errors import CapReachedError
from engine.events import BeatEnded, BeatFailed, Called, HandoffCommitted, ModelNote, Paused, ProseStreamed, ProseTakenBack
from engine.game import Game
from engine.llm.protocol import Completion, ModelRequest
from engine.setup import Setup
from engine.storage.diff import differences
from tests.engine.behind import Play, a_world, playing, settle, storyteller, task_of
from tests.fake_behaviour import DOWN, WRONG_KEY, Behaviour, Wording, contents, says
from tests.fake_server import FakeServer

pytestmark = pytest.mark.timeout(600)  # on a machine that is busy with other things


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer(answer=storyteller) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return a_world(tmp_path / "house")


async def test_it_plays_as_the_storyteller_does_in_this_process(
    server: FakeServer, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row for row, with every prompt the same to the letter."""
    said: dict[str, str] = {}

    def keep(request: ModelRequest, completion: Completion) -> None:
        said[request.text] = completion.text

    here = await Game.create(world, tmp_path / "here.db", setup=Setup(sink=keep))
    for _ in range(6):
        await here.step()
    await here.close()
    settle(tmp_path, monkeypatch, server, endpoint="context_window = 9421")  # counted a seventh higher, that is 8192
    server.answer = lambda body: said["\n\n".join(contents(body))]
    async with playing(world, tmp_path / "there.db", server) as play:
        for _ in range(6):
            report = await play.game.step()
            assert (report.failed_beats, report.failed_handoffs) == (0, 0)
    lines = differences(tmp_path / "here.db", tmp_path / "there.db")
    assert [line for line in lines if "model is" not in line] == []
    assert len(lines) == len(play.heard(HandoffCommitted))


async def test_prose_is_heard_as_it_comes_and_calls_are_counted_as_the_server_counts(
    server: FakeServer, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(tmp_path, monkeypatch, server, endpoint="input_price = 2.0\noutput_price = 10.0")
    async with playing(world, tmp_path / "p.db", server) as play:
        await play.game.step()
        await play.game.step()
        spent = play.game.meter.total
    for ended in play.heard(BeatEnded):
        began = play.events.index(ended)
        pieces = [event.text for event in play.events[:began] if isinstance(event, ProseStreamed) and event.entity == ended.entity]
        assert "".join(pieces).endswith(ended.prose)
        assert len(pieces) > 3
    assert (spent.prompt_tokens, spent.reply_tokens) == (server.prompt_tokens, server.reply_tokens)
    assert spent.cost == pytest.approx((2 * server.prompt_tokens + 10 * server.reply_tokens) / 1e6)
    assert (spent.calls, spent.failed, spent.estimated, spent.unpriced) == (len(server.requests), 0, 0, 0)
    assert len(play.heard(Called)) == spent.calls


@pytest.mark.parametrize("fallback", [False, True])
async def test_a_provider_that_dies_in_the_middle(
    server: FakeServer, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fallback: bool
) -> None:
    """What was heard is taken back, another attempt is made and told, and when that dies too the next in line answers, or the beat is
    not consumed."""
    settle(tmp_path, monkeypatch, server, default='["http", "storyteller"]' if fallback else '"http"')
    async with playing(world, tmp_path / "p.db", server) as play:
        play.game.play_as("cyd_marsh")  # nobody acts for her
        dying = says("I take the brass key and walk slowly over to the arch.", abort_at=6)
        server.behave(lambda body: dying if task_of(body) == "actor" else says(storyteller(body)))
        report = await play.game.step()
    kinds = [type(event).__name__ for event in play.events if isinstance(event, ProseStreamed | ProseTakenBack | BeatEnded | BeatFailed)]
    first = kinds[: kinds.index("BeatEnded" if fallback else "BeatFailed") + 1]
    assert first.count("ProseTakenBack") == (2 if fallback else 1)
    assert first[0] == "ProseStreamed"
    assert all("I take the brass" not in prose for prose in play.witness.acts)
    notes = [note.text for note in play.heard(ModelNote)]
    assert any("broke off in the middle" in note and "asked again" in note for note in notes)
    if fallback:
        assert (report.beats, report.failed_beats) == (2, 0)
        assert any("storyteller answers instead" in note for note in notes)
        assert play.heard(BeatEnded)[0].prose == "".join(_since_taken_back(play))
    else:
        assert (report.beats, report.failed_beats, report.paused) == (0, 2, "")
        assert all("broke off" in failed.reason and "Try again" in failed.reason for failed in play.heard(BeatFailed))


def _since_taken_back(play: Play) -> list[str]:
    """What was heard for the first beat after it was last taken back."""
    ended = play.events.index(play.heard(BeatEnded)[0])
    last = max(at for at, event in enumerate(play.events[:ended]) if isinstance(event, ProseTakenBack))
    return [event.text for event in play.events[last:ended] if isinstance(event, ProseStreamed)]


async def test_a_provider_that_comes_back_is_asked_again(
    server: FakeServer, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(tmp_path, monkeypatch, server)
    async with playing(world, tmp_path / "p.db", server) as play:
        server.behave(DOWN, DOWN)
        report = await play.game.step()
        assert (report.beats, report.failed_beats, report.failed_handoffs) == (3, 0, 0)
        assert sum("has trouble of its own; it is asked again" in note.text for note in play.heard(ModelNote)) == 2


@pytest.mark.parametrize("wording", ["openai", "llama.cpp"])
@pytest.mark.parametrize("task", ["handoff", "actor"])
async def test_prompts_too_long_for_the_server_are_cut_and_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording: Wording, task: str
) -> None:
    """Settings promise a window that the server does not have. What is learned of it holds for all calls after."""
    world = a_world(tmp_path / "long", moments=60, most=8 if task == "handoff" else 100)
    async with FakeServer(answer=storyteller, window=1500, wording=wording) as server:
        settle(tmp_path, monkeypatch, server, endpoint="context_window = 32000")
        async with playing(world, tmp_path / "p.db", server) as play:
            reports = [await play.game.step() for _ in range(2)]
            [view] = next(route.endpoints for route in play.game.models.routes() if route.task == "actor")
    assert [(report.beats, report.failed_beats, report.failed_handoffs) for report in reports] == [(3, 0, 0)] * 2
    assert (view.context_window, view.window_from) == (1500, "server")
    notes = [note for note in play.heard(ModelNote) if "too long" in note.text]
    assert {note.task for note in notes} == {task}
    assert all("1,500 tokens" in note.text for note in notes)
    refused = [request for request in server.requests if request.prompt_tokens + request.body["max_tokens"] > 1500]
    assert len(refused) == len(notes) == (3 if task == "handoff" else 1)
    assert sum(report.handoffs for report in reports) > (20 if task == "handoff" else -1)  # in many slices


@pytest.mark.parametrize(("cap", "weight", "at_a_time"), [(4_000, 1.0, 1), (4_000, 1.7, 3), (9_000, 1.7, 1), (23_000, 1.0, 3)])
async def test_a_cap_is_never_passed_and_play_goes_on_when_it_is_raised(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cap: int, weight: float, at_a_time: int
) -> None:
    """As the server itself counts, which may be more than anybody expects of its words; also with calls side by side."""
    async with FakeServer(answer=storyteller, weight=weight) as server:
        tables = f'[caps]\nrun_tokens = {cap}\n[provider."127.0.0.1:{server.port}"]\nconcurrency = {at_a_time}'
        settle(tmp_path, monkeypatch, server, more=tables)
        async with playing(world, tmp_path / "p.db", server) as play:
            for raised in (cap, 2 * cap):
                await play.game.models.set("caps.run_tokens", raised)
                while not (await play.game.step()).paused:
                    assert server.prompt_tokens + server.reply_tokens <= raised
                assert raised / 3 < server.prompt_tokens + server.reply_tokens <= raised
                assert play.heard(Paused)[-1].cap == "run_tokens"
                assert "when the cap is raised" in play.heard(Paused)[-1].reason
            await play.game.models.set("caps.run_tokens", None)
            asked = len(server.requests)
            assert (await play.game.step()).beats > 0  # the rest of the round that was paused
            assert len(server.requests) > asked


async def test_a_person_who_speaks_at_the_cap_is_told_and_nothing_happens(
    server: FakeServer, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(tmp_path, monkeypatch, server, more="[caps]\nrun_tokens = 50")
    async with playing(world, tmp_path / "p.db", server) as play:
        play.game.play_as("ada_finch")
        before = play.save.digests()
        with pytest.raises(CapReachedError, match="cap"):
            await play.game.step("I hang the kettle over the fire and wait for it to sing.")
        assert play.save.digests() == before
        assert server.requests == []


@pytest.mark.parametrize(("limit", "most"), [(None, 1), (2, 2), (9, 3)])
async def test_no_more_calls_are_under_way_than_the_server_is_to_bear(
    server: FakeServer, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int | None, most: int
) -> None:
    """Handoffs of three minds go side by side. A server of one's own gets one call at a time unless settings say otherwise."""
    table = f'[provider."127.0.0.1:{server.port}"]\nconcurrency = {limit}' if limit else ""
    settle(tmp_path, monkeypatch, server, more=table)
    seen: list[int] = []

    def counted(body: Mapping[str, Any]) -> Behaviour:
        seen.append(sum(not request.done for request in server.requests))
        return says(storyteller(body), every=0.004)

    server.behave(counted)
    async with playing(world, tmp_path / "p.db", server) as play:
        await play.game.step()
        assert len(play.heard(HandoffCommitted)) == 3
    assert max(seen) == most


@pytest.mark.parametrize("task", ["actor", "decode", "handoff"])
async def test_who_stops_a_call_is_gone_at_the_server_too(
    server: FakeServer, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    settle(tmp_path, monkeypatch, server)
    server.behave(lambda body: says("word " * 400, every=0.05) if task_of(body) == task else says(storyteller(body)))
    async with playing(world, tmp_path / "p.db", server) as play:
        stepping = asyncio.create_task(play.game.step())
        await server.until(lambda: any(task_of(request.body) == task and request.reply_tokens > 3 for request in server.requests))
        before, made, stopped = play.save.digests(), server.requests[-1].reply_tokens, time.perf_counter()
        stepping.cancel()
        await play.hung_up(10)
        late = time.perf_counter() - stopped
        with pytest.raises(asyncio.CancelledError):
            await stepping
        assert server.requests[-1].reply_tokens - made <= 20  # a second's worth at its pace, however busy the machine is
        assert late < 5
        now = play.save.digests()
        assert {table for table in now if now[table] != before[table]} <= {"ledger_use"}
        stopped_calls = [event.call for event in play.heard(Called) if event.call.failed == "stopped"]
        assert [call.task for call in stopped_calls][-1] == task  # what was written until then is paid for
        server.behave(lambda body: says(storyteller(body)))
        report = await play.game.step()
        assert (report.beats, report.failed_beats) == (3, 0)


async def test_another_model_is_asked_from_the_next_call_on(
    server: FakeServer, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong key stops play; who puts it right, or another model in its place, goes on without opening the game anew."""
    settle(tmp_path, monkeypatch, server)
    server.behave(lambda body: WRONG_KEY)
    async with playing(world, tmp_path / "p.db", server) as play:
        report = await play.game.step()
        assert (report.beats, report.failed_beats, report.failed_handoffs) == (0, 0, 0)
        assert "key" in report.paused
        assert play.heard(Paused)
        await play.game.models.set("models.default", "storyteller")
        asked = len(server.requests)
        assert (await play.game.step()).beats == 3
        assert len(server.requests) == asked


