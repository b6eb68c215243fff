"""Ways to open the program with a scripted game, to press keys and to wait."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.files.bundled import WorldInfo
from tests.tui.scripted import HOSTILE, FakeGames
from tui.host import GameHost
from tui.screens.reading import ReadingScreen


@pytest.fixture
def games() -> FakeGames:
    return FakeGames()


@pytest.fixture
def hostile_games() -> FakeGames:
    return FakeGames(HOSTILE)


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def host(tmp_path: Path, games: FakeGames, clock: Clock) -> GameHost:
    """A host that plays scripted games and shows all at once."""
    return GameHost(tmp_path, games, speed=0.0, clock=clock)


Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]


@pytest.fixture
def settle() -> Settle:
    """Wait until no round is played, nothing waits to be shown, no worker runs, and all is drawn."""

    async def wait(pilot: Pilot[Any]) -> None:
        host: GameHost = pilot.app.host  # type: ignore[attr-defined]
        quiet = 0
        for _ in range(2000):
            await pilot.pause()
            for screen in pilot.app.screen_stack:
                if isinstance(screen, ReadingScreen) and screen.is_mounted:
                    screen.tick()
            asked = pilot.app.screen.is_modal  # a dialog keeps the worker that asked waiting
            working = any(not worker.is_finished and not (asked and worker.group == "by-hand") for worker in pilot.app.workers)
            busy = host.running or len(host.pacer) or working
            quiet = 0 if busy else quiet + 1
            if quiet == 3:
                return
            await asyncio.sleep(0)
        raise AssertionError("The app never came to rest.")

    return wait


@pytest.fixture
def seen() -> Seen:
    """The screen as text, line by line."""

    def text(pilot: Pilot[Any]) -> str:
        return "\n".join(strip.text.rstrip() for strip in pilot.app.screen._compositor.render_strips())

    return text


@pytest.fixture
def worlds(tmp_path: Path) -> Callable[[], Sequence[WorldInfo]]:
    """Two worlds for Home; the scripted games do not read them."""
    return lambda: [
        WorldInfo(slug="salt-lantern", name="The Salt Lantern", description="An inn by\nthe sea.", path=tmp_path),
        WorldInfo(slug="other", name="Another [world]", description="[/] odd", path=tmp_path),
    ]
