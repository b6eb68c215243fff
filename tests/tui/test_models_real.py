"""The Models screen over the real desk, litellm and a model server on loopback: found, used, tried, capped, stopped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.settings import load_settings, settings_path
from tests.fake_server import FakeServer, in_a_thread
from tests.tui.keys import keys
from tui.app import OthermindsApp
from tui.host import GameHost
from tui.panes.rows import RowList
from tui.screens.play import PlayScreen

pytestmark = [
    pytest.mark.slow, pytest.mark.timeout(300),
    # litellm's own: what it leaves behind of a call that is stopped while it prepares it, and what it says while it is imported
    pytest.mark.filterwarnings(
        "ignore:coroutine .* was never awaited:RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::UserWarning",
        "ignore::DeprecationWarning",
    ),
]
Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
PROSE = '*I trim the wick.* "The wind is turning," I say.'


async def until(pilot: Pilot[Any], so: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until something is so on the screen; litellm takes its time to be imported."""
    async with asyncio.timeout(seconds):
        while not so():
            for screen in pilot.app.screen_stack:
                if isinstance(screen, PlayScreen) and screen.is_mounted:
                    screen.tick()
            await pilot.pause(0.02)


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Home, with nobody's settings, and one Ollama server on this machine."""

    @asynccontextmanager
    async def run(server: FakeServer, settings: str = "") -> AsyncIterator[tuple[Pilot[Any], GameHost]]:
        monkeypatch.setenv("OTHERMINDS_CONFIG", str(tmp_path / "config"))
        monkeypatch.setenv("OTHERMINDS_HOME", str(tmp_path))
        monkeypatch.setenv("OLLAMA_HOST", server.root)
        if settings:
            (tmp_path / "config").mkdir()
            (tmp_path / "config" / "settings.toml").write_text(settings)
        host = GameHost(tmp_path, speed=0.0)
        app = OthermindsApp(host)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await until(pilot, lambda: bool(app.screen.query("#choices")))
            yield pilot, host
        await host.close()

    return run


async def test_a_server_is_found_used_tried_and_capped(opened: Callable[..., Any], settle: Settle, seen: Seen) -> None:
    with in_a_thread(kind="ollama", models=("llama3.2:latest",), answer=lambda body: PROSE) as server:
        async with opened(server) as (pilot, host):
            await pilot.press("M")
            await until(pilot, lambda: "ollama_chat/llama3.2" in seen(pilot))
            await pilot.press("2", "end")
            await until(pilot, lambda: "in place of storyteller" in seen(pilot))
            await pilot.press("u")
            await until(pilot, lambda: "answered in" in seen(pilot).splitlines()[-2])
            [name] = load_settings().endpoint
            assert f"everything  {name}" in seen(pilot)
            assert load_settings().models.default.model == name
            assert server.root in settings_path().read_text(encoding="utf-8")
            tried = len(server.requests)
            assert tried >= 1
            await pilot.press("escape", "d")
            await until(pilot, lambda: isinstance(pilot.app.screen, PlayScreen) and "llama3.2" in seen(pilot).splitlines()[0])
            await pilot.press("M", "4", "enter", *"3000", "enter")
            await until(pilot, lambda: " of 3,000" in seen(pilot))
            caps = pilot.app.screen.query_one("#caps", RowList)
            await until(pilot, lambda: "It would stop at the cap on tokens, this run" in " ".join(caps.text().split()))
            await pilot.press("escape", "n")
            await until(pilot, lambda: "Paused at a cap: M raises it, then n goes on." in seen(pilot))
            assert host.game is not None
            assert len(server.requests) > tried
            assert 0 < host.game.models.meter.total.tokens <= 3_000
            assert load_settings().caps.run_tokens == 3_000
            await pilot.press("M", "4", "x", "q")
            await until(pilot, lambda: isinstance(pilot.app.screen, PlayScreen) and load_settings().caps.run_tokens is None)
            spent = host.game.models.meter.total.tokens
            await pilot.press("n")
            await until(pilot, lambda: host.game is not None and host.game.models.meter.total.tokens > spent)
            await pilot.press("escape")
            await settle(pilot)


async def test_escape_hangs_up_on_a_model_that_is_silent_and_the_line_comes_back(
    opened: Callable[..., Any], settle: Settle, seen: Seen,
) -> None:
    with in_a_thread(kind="ollama", models=("llama3.2",), every=100.0) as server:
        settings = f'[models]\ndefault = "slow"\n[endpoint.slow]\nmodel = "ollama_chat/llama3.2"\napi_base = "{server.root}"\n'
        async with opened(server, settings) as (pilot, _):
            await pilot.press("d")
            await until(pilot, lambda: isinstance(pilot.app.screen, PlayScreen))
            await settle(pilot)
            await keys(pilot, settle, "t")
            await pilot.press(*(("space" if char == " " else char) for char in "I wonder who comes"), "enter")
            await until(pilot, lambda: bool(server.requests))
            await pilot.press("escape")
            await until(pilot, lambda: "What you wrote was not done" in seen(pilot))
            screen = pilot.app.screen
            assert isinstance(screen, PlayScreen)
            assert screen.story.say.value == "I wonder who comes"
            await until(pilot, lambda: server.requests[0].hung_up, 20)
            await pilot.press("f2", "t")
            await until(pilot, lambda: len(server.requests) > 1)
            assert "esc stops." in seen(pilot)
            await pilot.press("escape")
            await until(pilot, lambda: "Stopped. slow was not waited for." in seen(pilot))
            await until(pilot, lambda: server.requests[1].hung_up, 20)


async def test_a_provider_without_a_key_says_which_one_it_wants(
    opened: Callable[..., Any], settle: Settle, seen: Seen, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with in_a_thread(kind="ollama", models=()) as server:
        async with opened(server, '[models]\nactor = "openai/gpt-5-mini"\n') as (pilot, _):
            await pilot.press("M")
            await until(pilot, lambda: "key missing: set OPENAI_API_KEY" in seen(pilot))
            await pilot.press("down", "t")
            await until(pilot, lambda: "OPENAI_API_KEY" in seen(pilot).splitlines()[-2])
            assert not server.requests
