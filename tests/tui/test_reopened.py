"""A save that is opened again tells what it told: the story, and what minds did in between."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.files.bundled import WorldInfo
from tests.tui.keys import keys
from tui.app import OthermindsApp
from tui.glyphs import ASIDE
from tui.host import GameHost
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]


def story(pilot: Pilot[Any]) -> str:
    screen = pilot.app.screen
    assert isinstance(screen, PlayScreen)
    return screen.story.rows.text()


def asides(text: str) -> list[str]:
    """Quiet lines with the round they stand in."""
    found, number = [], ""
    for line in text.splitlines():
        number = line.split("─")[0].strip() if line.startswith("Round ") else number
        found += [f"{number} {line}"] if line.startswith(f"{ASIDE} ") else []
    return found


@pytest.fixture
def host(tmp_path: Path) -> GameHost:
    return GameHost(tmp_path, speed=0.0)


async def test_the_narrator_reads_the_same_story_again(host: GameHost, settle: Settle) -> None:
    app = OthermindsApp(host)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", *["n"] * 7)
        before = story(pilot)
        path = host.game.path if host.game else Path()
        await keys(pilot, settle, "q")
        await host.open_save(path)
        pilot.app.push_screen(PlayScreen(host))
        await settle(pilot)
        assert any("kept" in line for line in asides(before))
        assert any("is now" in line for line in asides(before))
        assert story(pilot) == before
    await host.close()


async def test_a_player_reads_of_the_own_mind_only(host: GameHost, settle: Settle) -> None:
    app = OthermindsApp(host)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "t", *["enter"] * 9)
        assert host.game is not None
        played, before = host.game.played, asides(story(pilot))
        path = host.game.path
        await keys(pilot, settle, "escape", "q")
        await host.open_save(path)
        pilot.app.push_screen(PlayScreen(host))
        await settle(pilot)
        assert host.game.played == played
        assert any("kept" in line for line in before)
        assert asides(story(pilot)) == before
    await host.close()


async def test_rejected_and_written_proposals_stand_at_the_end_of_their_round(host: GameHost, settle: Settle) -> None:
    app = OthermindsApp(host)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "V", "n", "v", "X", "y", "A", "enter", "escape", "n")
        before = asides(story(pilot))
        await keys(pilot, settle, "3", "enter", "t", "escape", "t")  # the story is read anew
        after = asides(story(pilot))
        gone = [line for line in before if line not in after]
        assert [line for line in before if line in after] == after
        assert any("rejected" in line for line in after)
        assert any("kept" in line for line in after)
        assert all("for your word" in line for line in gone)  # what was asked is told while it waits
    await host.close()


async def test_hand_set_names_are_told_again(
    host: GameHost, games: Any, tmp_path: Path, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle,
) -> None:
    scripted = GameHost(tmp_path / "scripted", games, speed=0.0)
    app = OthermindsApp(scripted, worlds)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "n", "n", "n", "t", "escape", "t")
        told = asides(story(pilot))
        assert told == [
            f"Round 1 {ASIDE} Mira Sol is now “Mira” to Bryn Harrow.", f"Round 2 {ASIDE} Bryn Harrow: 1 kept, 2 pinned, 2 forgotten",
        ]
        await keys(pilot, settle, "t")
        assert asides(story(pilot)) == [
            f"Round 1 {ASIDE} The wet stranger is now “Mira” to Bryn Harrow.",
            f"Round 2 {ASIDE} Bryn Harrow: 1 kept, 2 pinned, 2 forgotten",
        ]
        await keys(pilot, settle, "escape", "t", "3", "down", "t")
        assert asides(story(pilot)) == []
    await scripted.close()
