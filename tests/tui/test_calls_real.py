"""The Play screen over litellm and a model server on loopback that stalls and fails: what is said of it, held before it, and stopped."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.engine.behind import a_world, settle, storyteller, task_of
from tests.fake_behaviour import contents, says
from tests.fake_server import FakeServer, in_a_thread
from tests.tui.conftest import Clock
from tui.app import OthermindsApp
from tui.dialogs.held import HeldDialog
from tui.host import GameHost
from tui.panes.rows import RowList
from tui.screens.play import PlayScreen

pytestmark = [
    pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("litellm"),
    # litellm's own: what it leaves behind of a call that is stopped while it prepares it, and what it says while it is imported
    pytest.mark.filterwarnings(
        "ignore:coroutine .* was never awaited:RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::UserWarning",
        "ignore::DeprecationWarning",
    ),
]
Seen = Callable[[Pilot[Any]], str]


@asynccontextmanager
async def playing(
    server: FakeServer, folder: Path, patch: pytest.MonkeyPatch, clock: Clock, size: tuple[int, int] = (120, 40), **settings: str,
) -> AsyncIterator[tuple[Pilot[Any], GameHost]]:
    """A fresh game of a small house, in which nobody has anything to hand over, with the server for all tasks."""
    settle(folder, patch, server, **settings)
    host = GameHost(folder / "home", speed=0.0, clock=clock)
    world = a_world(folder / "house", moments=1)
    app = OthermindsApp(host, list, start=world)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, PlayScreen) and host.game is not None)
        await until(pilot, lambda: host.game is not None and bool(play(pilot).query("MapCanvas")) and not host.game.models.getting_ready)
        yield pilot, host
    await host.close()


async def until(pilot: Pilot[Any], so: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until something is so on the screen; litellm takes its time to be imported."""
    async with asyncio.timeout(seconds):
        while not so():
            for screen in pilot.app.screen_stack:
                if isinstance(screen, PlayScreen) and screen.is_mounted:
                    screen.tick()
            await pilot.pause(0.02)


def play(pilot: Pilot[Any]) -> PlayScreen:
    [screen] = [screen for screen in pilot.app.screen_stack if isinstance(screen, PlayScreen)]
    return screen


async def write(pilot: Pilot[Any], text: str) -> None:
    await pilot.press(*("space" if char == " " else char for char in text), "enter")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["narrow", "medium"])
async def test_a_model_that_stalls_is_said_to_and_escape_hangs_up_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, seen: Seen, size: tuple[int, int],
) -> None:
    with in_a_thread(answer=storyteller, every=100.0) as server:
        async with playing(server, tmp_path, monkeypatch, clock, size) as (pilot, host):
            await pilot.press("n")
            await until(pilot, lambda: [call.state for call in host.calls.now] == ["sent"] and len(server.requests) == 1)
            clock.now = 34.5
            await until(pilot, lambda: "actor · fake · 34 s" in seen(pilot))
            await pilot.press("escape")
            await until(pilot, lambda: "Stopped." in seen(pilot), 10)
            assert "34 s" not in seen(pilot)
            assert host.calls.now == []
            await until(pilot, lambda: server.requests[0].hung_up, 20)


async def test_the_top_names_who_stands_in_until_the_first_answers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, seen: Seen,
) -> None:
    breaking = says("I wonder who comes.", abort_at=1)
    with in_a_thread(answer=storyteller) as server:
        async with playing(server, tmp_path, monkeypatch, clock, default='["http", "storyteller"]') as (pilot, host):

            def top() -> str:
                return seen(pilot).partition("\n")[0]

            await until(pilot, lambda: "watching · openai/fake" in top())
            server.behave(lambda body: breaking if task_of(body) == "actor" else says(storyteller(body)))
            await pilot.press("n")
            await until(pilot, lambda: not host.running and "running" not in top())
            assert "storyteller (openai/fake is away)" in top()
            server.behave(lambda body: says(storyteller(body)))
            await pilot.press("n")
            await until(pilot, lambda: not host.running and "running" not in top())
            assert "watching · openai/fake ·" in top()


async def test_what_is_held_is_what_is_sent_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, seen: Seen,
) -> None:
    with in_a_thread(answer=storyteller) as server:
        price = "input_price = 2.0\noutput_price = 10.0"
        async with playing(server, tmp_path, monkeypatch, clock, endpoint=price) as (pilot, host):
            await pilot.press("H", "n")
            for number, task in enumerate(("actor", "decode")):
                await until(pilot, lambda: isinstance(pilot.app.screen, HeldDialog))
                [held] = host.calls.held
                assert (held.task, len(server.requests)) == (task, number)
                assert held.most_cost is not None
                assert held.most_cost >= (2 * held.prompt_tokens + 10 * 100) / 1e6
                shown = " ".join(pilot.app.screen.query_one(RowList).text().split())
                assert all(" ".join(message.content.split()) in shown for message in held.messages)
                await pilot.press("enter")
                await until(pilot, lambda number=number: len(server.requests) > number)  # type: ignore[misc]
                assert contents(server.requests[number].body) == [message.content for message in held.messages]
            await until(pilot, lambda: isinstance(pilot.app.screen, HeldDialog))
            await pilot.press("a")
            await until(pilot, lambda: not host.running)
            assert host.game is not None
            assert host.game.world.round == 1


async def test_escape_stops_at_a_held_call_and_what_was_written_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, seen: Seen,
) -> None:
    with in_a_thread(answer=storyteller) as server:
        async with playing(server, tmp_path, monkeypatch, clock) as (pilot, host):
            await pilot.press("H", "t")
            await until(pilot, lambda: play(pilot).story.say.has_focus)
            await write(pilot, "I wonder who comes")
            await until(pilot, lambda: isinstance(pilot.app.screen, HeldDialog))
            assert [call.task for call in host.calls.held] == ["decode"]
            await pilot.press("escape")
            await until(pilot, lambda: "What you wrote was not done" in seen(pilot), 10)
            assert play(pilot).story.say.value == "I wonder who comes"
            assert server.requests == []
            assert host.game is not None
            assert host.game.meter.total.calls == 0


async def test_the_storyteller_is_held_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, seen: Seen) -> None:
    with in_a_thread() as server:
        async with playing(server, tmp_path, monkeypatch, clock, default='"storyteller"') as (pilot, host):
            await pilot.press("H", "n")
            await until(pilot, lambda: isinstance(pilot.app.screen, HeldDialog))
            assert "by storyteller" in seen(pilot)
            await pilot.press("a")
            await until(pilot, lambda: not host.running)
            assert "storyteller ·" not in seen(pilot).splitlines()[-2]
