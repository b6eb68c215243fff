"""The bundled world on the real engine, as a person would watch and play it."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.keys import keys
from tui.app import OthermindsApp
from tui.host import GameHost
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]


@pytest.fixture
def host(tmp_path: Path) -> GameHost:
    return GameHost(tmp_path, speed=0.0)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_the_demo_shows_a_promotion_within_two_rounds(host: GameHost, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    app = OthermindsApp(host)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "n", "n")
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        assert host.game is not None
        kept = [run for agent in host.game.world.agents() for run in await host.game.runs(agent.id) if run.status == "committed"]
        assert kept
        assert re.search(r"» .*: \d+ kept", screen.story.rows.text())
        for key in ("1", "2", "3", "4", "5", "6"):
            await keys(pilot, settle, key)
            assert re.search(rf"{key} (Story|Map|People|Mind|Ledger|Prompt)", seen(pilot))
        assert "=== " not in screen.story.rows.text()
        assert "{{e:" not in "".join(pane.text() for pane in screen.query("RowList").results())  # type: ignore[attr-defined]
    await host.close()


async def test_ten_rounds_are_watched_without_trouble(host: GameHost, settle: Settle, seen: Seen) -> None:
    app = OthermindsApp(host)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "R")
        await pilot.press("enter")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        assert "10 rounds played." in seen(pilot)
        assert screen.view.world == (host.game.world if host.game else None)
        chosen = screen.view.chosen
        assert chosen is not None
        assert host.game is not None
        part = (await host.game.buffer(chosen)).partition
        shown = [line.entry.id for line in screen.view.mind.lines]
        assert sorted(shown) == sorted(entry.id for entry in (*part.tail, *part.candidates, *part.held))
    await host.close()


async def test_playing_somebody_by_prose(host: GameHost, settle: Settle, seen: Seen) -> None:
    app = OthermindsApp(host)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "3", "down", "t")
        assert host.game is not None
        played = host.game.played
        assert played is not None
        await pilot.press(*"say ", "quotation_mark", *"Good evening", "quotation_mark", "enter")
        await settle(pilot)
        assert 'You said: "Good evening"' in seen(pilot)
        assert any("Good evening" in text for text in (await host.game.buffer(played)).lines.values())
        await pilot.press(*"go nowhere at all", "enter")
        await settle(pilot)
        await keys(pilot, settle, "escape", "q")
        await pilot.press("end")
        await pilot.pause()
        assert "You play" in seen(pilot)
    await host.close()


async def test_a_hand_pin_and_an_alias_reach_the_save(host: GameHost, settle: Settle, seen: Seen) -> None:
    app = OthermindsApp(host)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "4", "end", "p", "3", "down", "a")
        await pilot.press(*"Old Salt", "enter")
        await settle(pilot)
        assert host.game is not None
        first, second = [agent.id for agent in host.game.world.agents()][:2]
        assert host.game.world.entities[first].aliases[second].endswith("Old Salt")
        assert len((await host.game.buffer(first)).partition.held) == 1
        await keys(pilot, settle, "4", "end")
        assert "■ " in seen(pilot)
    await host.close()
