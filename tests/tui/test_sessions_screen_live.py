"""The Sessions screen while play goes on, and ways to it: what comes, what is at work, what is taken back."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.llm.scripted import Scripted
from tests.tui.keys import keys
from tests.tui.session_games import SMALL, TALK, Show, fact, full, host, inn, reply, says, show, talked
from tui.dialogs.turning import TurnDialog
from tui.host import GameHost
from tui.screens.audit import AuditScreen
from tui.screens.sessions import SessionsScreen

__all__ = ["host", "show"]

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]


async def test_what_comes_live_leaves_the_cursor_where_it_is(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path,
) -> None:
    game = await inn(host, tmp_path)
    key = await talked(game, TALK)
    async with show(lambda: SessionsScreen(host)) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, SessionsScreen)
        await keys(pilot, settle, "tab", "end", "up")
        within = screen.detail.cursor
        await game.sessions.add_turn(key, "actor", "And the tide turns at six.")
        for agent, actor in (("mira_2", "bob"), ("gareth_3", "bob"), ("gareth_3", "mira_2")):
            await talked(game, SMALL, agent, actor)
        await settle(pilot)
        assert (screen.entries.cursor, screen.detail.cursor) == (key, within)
        assert "And the tide turns at six." in full(pilot)
        assert "7 of 50 turns" in seen(pilot)
        assert len(screen.lines) == 4


class Slow(Scripted):
    """Replies when it is told to."""

    go: asyncio.Event

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        await self.go.wait()
        return await super().complete(request, heard)


async def test_a_collapse_is_shown_step_by_step(host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    game = await inn(host, tmp_path)
    key = await talked(game, TALK)
    slow = Slow({"collapse": [reply(fact("P2 owns a boat, the Heron.", "M1"))]}, name="slow")
    slow.go = asyncio.Event()
    says(game, model=slow)
    async with show(lambda: SessionsScreen(host)) as pilot:
        await game.sessions.collapse(key)
        for _ in range(20):
            await settle(pilot)
            if "asking the model" in full(pilot):
                break
        told = full(pilot)
        assert "✓ looking for orders ✓ weighing it … asking the model" in told
        assert "asking the model… · 6 turns" in seen(pilot)
        slow.go.set()
        await game.settled()
        await settle(pilot)
        assert "Bob Harrow with Mira Vance: collapsed, 1 learned." in seen(pilot)
        assert "What became knowledge (1)" in full(pilot)
        assert "… asking" not in full(pilot)


async def test_rounds_played_from_here_fill_sessions_live(host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    await inn(host, tmp_path)
    async with show(lambda: SessionsScreen(host)) as pilot:
        for _ in range(12):
            await keys(pilot, settle, "n")
            if "with" in seen(pilot).split("In full")[1]:
                break
        assert host.game is not None
        held = await host.game.sessions.list()
        assert held
        assert f"[Everybody {len(held)}]" in seen(pilot)
        assert f"Round {host.game.world.round} was played." in seen(pilot) or "has ended" in seen(pilot)


async def test_it_listens_no_longer_when_it_is_left(host: GameHost, show: Show, settle: Settle, tmp_path: Path) -> None:
    game = await inn(host, tmp_path)
    heard = len(game._parts.listeners)
    async with show(lambda: SessionsScreen(host)) as pilot:
        assert len(game._parts.listeners) == heard + 1
        await keys(pilot, settle, "escape")
        assert len(game._parts.listeners) == heard
        await talked(game, SMALL)
        await settle(pilot)


async def test_play_opens_the_sessions_of_the_chosen_one_and_the_audit(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path,
) -> None:
    game = await inn(host, tmp_path)
    await talked(game, TALK, "mira_2", "bob")
    async with show(lambda: SessionsScreen(host)) as pilot:
        await keys(pilot, settle, "escape", "S")
        assert "[Bob Harrow 1]" in seen(pilot)
        assert "Mira Vance with Bob Harrow" in seen(pilot)
        await keys(pilot, settle, "right")
        assert "[Mira Vance 1]" in seen(pilot)
        await keys(pilot, settle, "escape", "escape", "A")
        assert type(pilot.app.screen) is AuditScreen
        assert "all changes to sessions and knowledge" in seen(pilot)


async def test_what_is_taken_back_is_gone_from_list_and_audit(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path,
) -> None:
    game = await inn(host, tmp_path)
    await talked(game, TALK)
    async with show(lambda: SessionsScreen(host)) as pilot:
        await keys(pilot, settle, "d", "y")
        assert "discarded" in seen(pilot)
        await game.history.undo()
        await settle(pilot)
        assert "6 of 50 turns" in seen(pilot)
        await keys(pilot, settle, "U")
        assert type(pilot.app.screen) is TurnDialog
        await keys(pilot, settle, "enter")
        assert "Brought again:" in seen(pilot)
        assert "discarded" in seen(pilot)
        await keys(pilot, settle, "u", "u")
        assert "Taken back:" in seen(pilot)
        assert "6 of 50 turns" in seen(pilot)
        await game.history.undo(7)
        await settle(pilot)
        assert "No session yet." in seen(pilot)
