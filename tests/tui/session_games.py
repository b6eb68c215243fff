"""The inn as a real game for the screens of sessions and the audit: talk by hand, and a model that replies to collapses by script."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from engine.game import Game
from engine.llm.protocol import LanguageModel
from engine.llm.scripted import Reply, Scripted
from tests.engine.test_beside import TALK, WORLD, fact, reply
from tui.app import OthermindsApp
from tui.host import GameHost
from tui.screens.play import PlayScreen
from tui.screens.sessions import SessionsScreen

__all__ = ["SMALL", "TALK", "Show", "fact", "full", "host", "inn", "reply", "says", "show", "talked"]

SMALL = ("Good evening.", "Evening. Cold out there.", "Will you have an ale?", "I will, thank you.")
Settle = Callable[[Pilot[Any]], Awaitable[None]]
Show = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]


async def inn(host: GameHost, folder: Path, more: str = "policies: {sessions: {pairs: all}}\n") -> Game:
    """A new game at the inn."""
    (folder / "inn").mkdir(exist_ok=True)
    (folder / "inn" / "world.yaml").write_text(WORLD + more)
    return await host.open_new(folder / "inn")


def showing(host: GameHost, settle: Settle) -> Show:
    """A way to put a screen over Play in a terminal of some size."""

    @asynccontextmanager
    async def shown(make: Callable[[], Screen[Any]], size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[Any]]:
        app = OthermindsApp(host, list)
        async with app.run_test(size=size, notifications=True) as pilot:
            host.pacer.hurry()
            host.take()  # nobody saw what happened before
            await settle(pilot)
            await app.push_screen(PlayScreen(host))
            await settle(pilot)
            await app.push_screen(make())
            await settle(pilot)
            yield pilot
        await host.close()

    return shown


def says(game: Game, *replies: Reply, model: LanguageModel | None = None) -> LanguageModel:
    """Let a model reply so to collapses."""
    speaker = model or Scripted({"collapse": list(replies)}, name="openai/scripted-mini")
    game._parts.router.reroute(game._parts.router.model("actor"), {"collapse": speaker})
    return speaker


async def talked(
    game: Game, lines: Sequence[str], agent: str = "bob", actor: str = "mira_2", pinned: int | None = None
) -> str:
    """A session begun by hand in which these were said, the other first. Returns its key."""
    session = await game.sessions.start(agent, actor)
    for number, line in enumerate(lines):
        await game.sessions.add_turn(session.id, "agent" if number % 2 else "actor", line, pinned=number == pinned)
    return session.id


@pytest.fixture
def host(tmp_path: Path) -> GameHost:
    return GameHost(tmp_path, speed=0.0)


@pytest.fixture
def show(host: GameHost, settle: Settle) -> Show:
    return showing(host, settle)


def full(pilot: Pilot[Any]) -> str:
    """All lines of the session in full, also those out of sight, as one."""
    screen = pilot.app.screen
    assert isinstance(screen, SessionsScreen)
    return " ".join(screen.detail.text().split())
