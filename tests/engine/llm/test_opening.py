"""From settings to models that answer, against a real server on loopback."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from engine.errors import CapReachedError, ProviderError
from engine.llm.caps import Caps
from engine.llm.meter import Meter
from engine.llm.opening import TASKS, Models, open_models
from engine.llm.router import Router
from engine.llm.usage_log import UsageLog
from engine.records.models import Call
from engine.records.prompts import Task
from engine.settings.records import CapSettings, Settings
from tests.engine.llm.stack import Clock, Notes, ask_for, unheard
from tests.fake_behaviour import DOWN, Behaviour, fails, says
from tests.fake_server import FakeServer

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")  # litellm's own, in its thread
ROOT = Path(__file__).parents[3]
NOWHERE = "http://127.0.0.1:9/v1"


class Play:
    """Models opened from settings as written in TOML's shape, and all that can be seen of them."""

    def __init__(
        self, models: Mapping[str, object], endpoints: Mapping[str, Mapping[str, object]] | None = None, *, caps: CapSettings | None = None,
        log: UsageLog | None = None, providers: Mapping[str, Mapping[str, object]] | None = None, **more: Any,
    ) -> None:
        self.settings = Settings.model_validate({"models": models, "endpoint": endpoints or {}, "provider": providers or {}})
        self.meter, self.clock, self.notes, self.calls = Meter(), Clock(), Notes(), list[Call]()
        self.meter.listen(self.calls.append)
        self.caps = Caps(caps or CapSettings(), self.meter, log)
        self.models: Models = open_models(
            self.settings, self.meter, self.caps, self.notes, usage_log=log, clock=self.clock, sleep=self.clock.sleep, **more
        )
        self.router = Router(self.models.default, self.models.routes)


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as made:
        yield made


def fake(server: FakeServer, **more: object) -> dict[str, dict[str, object]]:
    """An endpoint `fake` that is the server's."""
    return {"fake": {"model": "openai/fake", "api_base": server.base, "structured": "prompt", **more}}


def at_once(server: FakeServer, limit: int) -> dict[str, dict[str, object]]:
    """So many calls at a time at the server."""
    return {server.root.removeprefix("http://"): {"concurrency": limit}}


def test_with_the_storyteller_alone_nothing_of_litellm_is_loaded() -> None:
    code = """
import asyncio, sys
from engine.llm.opening import open_models
from engine.llm.caps import Caps
from engine.llm.meter import Meter
from engine.settings import CapSettings, Settings
from tests.engine.llm.stack import ask_for
meter = Meter()
models = open_models(Settings(), meter, Caps(CapSettings(run_tokens=10000), meter), print)
async def play():
    await models.ready()
    await models.default.complete(ask_for("actor"))
    models.views(), models.endpoint_views()
asyncio.run(play())
print(meter.total.calls, [name for name in ("litellm", "openai", "httpx", "aiohttp", "platformdirs") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "1 []"


async def test_a_task_goes_to_its_own_line_and_else_to_the_default() -> None:
    lines = {"default": "storyteller", "handoff": {"model": "quick", "fallbacks": ["openai/slow"]}}
    play = Play(lines, {"quick": {"model": "openai/fast"}})
    assert play.router.model("actor") is play.router.model("narrate") is play.models.default
    assert (play.router.model("actor").name, play.router.model("handoff").name) == ("storyteller", "openai/fast")
    assert (play.models.default.context_window, play.models.default.small) == (8192, False)


def test_what_is_routed_can_be_looked_at() -> None:
    quick_one: dict[str, object] = {"model": "openai/fast", "api_base": "http://127.0.0.1:8080/v1", "temperature": 0.5}
    endpoints: dict[str, dict[str, object]] = {"quick": quick_one, "spare": {"model": "openai/s"}}
    lines = {"default": "storyteller", "handoff": ["quick", "storyteller", "quick"], "actor": "quick"}
    play = Play(lines, endpoints, sources={"models.actor": "environment"})
    views = {view.task: view for view in play.models.views()}
    assert tuple(views) == TASKS
    assert [endpoint.name for endpoint in views["handoff"].endpoints] == ["quick", "storyteller"]
    assert [views[task].set_by for task in ("actor", "handoff", "decode")] == ["environment", "settings", "default"]
    quick, built_in = views["handoff"].endpoints
    assert (quick.model, quick.api_base, quick.temperature, quick.timeout, quick.concurrency) == (
        "openai/fast", "http://127.0.0.1:8080/v1", 0.5, 300.0, 1,
    )  # fmt: skip
    assert (built_in.context_window, built_in.window_from, built_in.input_price, built_in.key) == (8192, "built in", 0.0, "none needed")
    assert [endpoint.name for endpoint in play.models.endpoint_views()] == ["storyteller", "quick", "spare"]
    assert {view.set_by for view in Play({}).models.views()} == {"built in"}
    assert {view.set_by for view in Play({"default": "quick"}, sources={"models.default": "world"}).models.views()} == {"world"}


async def test_an_endpoint_is_one_object_for_all_tasks_that_name_it(server: FakeServer) -> None:
    play = Play({"actor": ["fake", "storyteller"], "referee": ["fake", "storyteller"]}, fake(server))
    server.behave(*[fails(429, "Rate limit reached.", "rate_limit_exceeded", "rate_limit_error", retry_after="90")] * 2)
    await play.router.model("actor").complete(ask_for("actor"))
    assert play.router.model("referee").name == "storyteller"
    await play.router.model("referee").complete(ask_for("actor"))
    assert len(server.requests) == 1
    [view, _] = next(view for view in play.models.views() if view.task == "referee").endpoints
    assert view.note.startswith("rests until ")
    assert view.note.endswith(": it is rate limited")


async def test_who_is_rate_limited_is_waited_for_as_long_as_it_asks(server: FakeServer) -> None:
    play = Play({"default": "fake"}, fake(server))
    server.behave(fails(429, "Rate limit reached.", "rate_limit_exceeded", "rate_limit_error", retry_after="2"), says("Good morning."))
    completion = await play.models.default.complete(ask_for())
    assert completion.text == "Good morning."
    assert play.clock.slept == [2.0]
    assert play.notes.texts == ["actor: fake (openai/fake) is rate limited; it is asked again in 2 s."]
    assert len(play.calls) == 1  # the first attempt reached no model


async def test_a_stream_that_breaks_off_twice_is_void_and_another_model_answers(server: FakeServer) -> None:
    play, heard = Play({"default": ["fake", "spare"]}, {**fake(server), "spare": fake(server)["fake"]}), list[str | None]()
    server.behave(says("Once upon a time", abort_at=2), says("Twice upon a time", abort_at=2), says("Well now."))
    completion = await play.models.default.complete(ask_for(), heard.append)
    assert completion.text == "Well now."
    assert "".join("|" if piece is None else piece for piece in heard) == "Once upon |Twice upon |Well now."
    assert play.notes.texts == [
        "actor: fake (openai/fake) broke off in the middle; it is asked again in 1 s.",
        "actor: fake (openai/fake) broke off in the middle; spare (openai/fake) answers instead.",
    ]
    assert [bool(call.failed) for call in play.calls] == [True, True, False]
    assert [call.reply_tokens > 0 for call in play.calls] == [True, True, True]
    assert sum(call.prompt_tokens + call.reply_tokens for call in play.calls) >= server.prompt_tokens + server.reply_tokens


async def test_nobody_stands_in_whom_the_settings_do_not_name() -> None:
    play = Play({"default": "fake"}, {"fake": {"model": "openai/fake", "api_base": NOWHERE}})
    with pytest.raises(ProviderError, match="cannot be reached") as raised:
        await play.models.default.complete(ask_for())
    assert raised.value.trouble == "unreachable"
    assert play.calls == []
    assert play.clock.slept == [1.0]


async def test_with_a_cap_the_server_counts_no_more_tokens_and_play_goes_on_when_it_is_raised(server: FakeServer) -> None:
    server.answer = lambda body: "word " * 30
    limit = 2_000
    play = Play({"default": "fake"}, fake(server), caps=CapSettings(run_tokens=limit), providers=at_once(server, 4))

    async def beat(number: int) -> None:
        await play.models.default.complete(ask_for(text=f"What happens in room {number}? " * 10, max_tokens=40))

    async def until_it_pauses() -> None:
        for side_by_side in (4, 1):  # by itself a call may fit that did not among others
            paused = False
            while not paused:
                outcomes = await asyncio.gather(*(beat(number) for number in range(side_by_side)), return_exceptions=True)
                assert {type(outcome) for outcome in outcomes} <= {type(None), CapReachedError}
                paused = any(outcomes)

    await until_it_pauses()
    counted = server.prompt_tokens + server.reply_tokens
    assert limit / 2 < counted <= limit
    asked = len(server.requests)
    with pytest.raises(CapReachedError) as raised:
        await beat(0)
    assert raised.value.cap == "run_tokens"
    assert len(server.requests) == asked
    play.caps.change(CapSettings(run_tokens=2 * limit))
    await beat(0)
    await until_it_pauses()
    assert asked < len(server.requests)
    assert counted < server.prompt_tokens + server.reply_tokens <= 2 * limit
    assert play.meter.total.tokens == server.prompt_tokens + server.reply_tokens


async def test_a_call_that_is_stopped_ends_at_the_server_and_is_counted(server: FakeServer) -> None:
    play, heard = Play({"default": "fake"}, fake(server), caps=CapSettings(run_tokens=100_000)), list[str | None]()
    server.behave(says("word " * 50, stall_at=20))
    call = asyncio.create_task(play.models.default.complete(ask_for(), heard.append))
    await server.until(lambda: len(heard) >= 20)
    began = time.perf_counter()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.perf_counter() - began < 0.5
    await server.until(lambda: server.requests[0].hung_up)
    [counted] = play.calls
    assert (counted.estimated, counted.failed) == (True, "stopped")
    assert counted.reply_tokens >= 20
    assert len(server.requests) == 1


async def test_a_reply_that_cannot_be_used_counts_as_the_server_counted_it(server: FakeServer) -> None:
    play = Play({"default": "fake"}, fake(server))
    server.behave(says("", thoughts="hm " * 90, finish="length", usage=(12, 345)))
    with pytest.raises(ProviderError):
        await play.models.endpoint("fake").complete(ask_for())
    assert [(call.prompt_tokens, call.reply_tokens, call.estimated) for call in play.calls] == [(12, 345, False)]


async def test_so_many_calls_are_under_way_at_a_server_as_is_set(server: FakeServer) -> None:
    most = 0

    def slowly(body: Mapping[str, Any]) -> Behaviour:
        nonlocal most
        most = max(most, sum(not request.done for request in server.requests))
        return says("a b c", every=0.01)

    server.behave(slowly)
    tasks: tuple[Task, ...] = ("actor", "handoff")
    for limit in (1, 3):
        most = 0
        endpoints = {**fake(server), "other": fake(server)["fake"]}
        play = Play({"default": "fake", "handoff": "other"}, endpoints, providers=at_once(server, limit))
        await asyncio.gather(*(play.router.model(task).complete(ask_for(task)) for task in tasks * 4))
        assert most == limit


async def test_waiting_in_line_is_not_the_model_s_silence(server: FakeServer) -> None:
    play = Play({"default": "fake"}, fake(server, timeout=0.6))
    server.behave(lambda body: says("a b c d", every=0.1))
    await asyncio.gather(*(play.models.default.complete(ask_for(), unheard) for _ in range(4)))
    assert [call.failed for call in play.calls] == [""] * 4


async def test_the_day_is_logged_and_its_cap_holds_the_next_run(server: FakeServer, tmp_path: Path) -> None:
    log = UsageLog(tmp_path, lambda: datetime(2026, 11, 30, 9, 30))
    first = Play({"default": "fake"}, fake(server), log=log)
    await first.models.default.complete(ask_for())
    assert log.today().calls == 1
    used = log.today().tokens
    again = UsageLog(tmp_path, lambda: datetime(2026, 11, 30, 21))
    later = Play({"default": "fake"}, fake(server), log=again, caps=CapSettings(day_tokens=used + 1))
    with pytest.raises(CapReachedError, match="a day"):
        await later.models.default.complete(ask_for())
    assert len(server.requests) == 1


async def test_windows_are_found_out_before_play_within_bounds() -> None:
    async with FakeServer(kind="llama.cpp", window=6000) as server:
        play = Play({"default": "fake"}, fake(server))
        await play.models.ready()
        assert play.models.default.context_window == 6000
        [view] = play.models.views()[0].endpoints
        assert (view.context_window, view.window_from, view.key) == (6000, "server", "none needed")
    silent = await asyncio.start_server(lambda reader, writer: asyncio.sleep(0), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    play = Play({"default": "fake"}, {"fake": {"model": "openai/fake", "api_base": f"http://127.0.0.1:{port}/v1"}})
    began = time.perf_counter()
    await play.models.ready(0.5)
    assert time.perf_counter() - began < 2
    silent.close()


async def test_an_endpoint_by_itself_is_asked_once_and_counted(server: FakeServer) -> None:
    play = Play({"default": ["fake", "storyteller"]}, fake(server))
    server.behave(DOWN)
    with pytest.raises(ProviderError):
        await play.models.endpoint("fake").complete(ask_for())
    assert len(server.requests) == 1
    assert (await play.models.endpoint("fake").complete(ask_for())).text == "fine"
    assert [bool(call.failed) for call in play.calls] == [True, False]
    remote = play.models.remote("fake")
    assert remote is not None
    assert remote.label == "fake"
    assert play.models.remote("storyteller") is None
