"""Play, through the keys a person presses, with a scripted game."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.errors import SaveError
from engine.files.bundled import WorldInfo
from tests.tui.keys import keys, opening
from tui.host import GameHost
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])


@pytest.fixture
def playing(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle) -> Open:
    """A fresh game on the Play screen."""

    return opening(host, worlds, settle, "d")


def play(pilot: Pilot[Any]) -> PlayScreen:
    screen = pilot.app.screen
    assert isinstance(screen, PlayScreen)
    return screen


@SIZES
async def test_a_step_is_told(playing: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "n")
        text = seen(pilot)
        assert '“ Bryn Harrow said: "Round 1, says bryn."' in text
        assert "· Tam Oake went through the street door." in text
        assert "» Mira Sol is now “Mira” to Bryn Harrow." in text
        assert "Round 1 is over. n plays the next." in text
        await keys(pilot, settle, "space", "n")
        assert '~ Mira Sol thought: Round 3, says mira.' in seen(pilot)


@SIZES
async def test_a_promotion_is_seen_within_two_rounds(playing: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "n", "n")
        text = seen(pilot)
        assert "Bryn Harrow: 1 kept, 2 pinned, 2 forgotten" in text
        if size == (80, 24):
            assert "5 Ledger +1" in text
            await keys(pilot, settle, "5")
        text = seen(pilot)
        assert "Mira brought old news." in text
        assert "new" in text
        assert "“Old news 0.”" in text
        await keys(pilot, settle, "4", "end")
        text = seen(pilot)
        assert "Old news 0." not in text.split("5 Ledger ·")[0].split("Old news 9")[-1]
        assert '◆ “ Mira said: "Old news 5."' in text


async def test_a_handoff_is_shown_step_by_step(host: GameHost, clock: Any, playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        await keys(pilot, settle, "n")
        clock.now = 100.0
        host.pacer.speed = 1.0
        host.start_step()
        for _ in range(20):
            await pilot.pause()
        play(pilot).tick()
        await pilot.pause()
        text = seen(pilot)
        assert text.count("judged") == 6
        assert "looks back on 6 moments" in text
        assert "Mira brought old news." not in text
        clock.now = 106.5
        play(pilot).tick()
        await pilot.pause()
        assert seen(pilot).count("memory 1") == 2
        clock.now = 109.0
        play(pilot).tick()
        await pilot.pause()
        for _ in range(20):
            await pilot.pause()
        text = seen(pilot)
        assert "judged" not in text
        assert "Mira brought old news." in text
        host.pacer.speed = 0.0
        await settle(pilot)


@SIZES
async def test_taking_over_speaking_and_letting_go(
    playing: Open, settle: Settle, seen: Seen, games: Any, size: tuple[int, int],
) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "n", "3", "down", "t")
        assert games.game.played == "mira"
        text = seen(pilot)
        assert "playing Mira Sol" in text
        assert "You are Mira Sol." in text
        assert "Bryn Harrow said" not in text
        assert '“ The broad woman said: "Round 1, says bryn."' in text
        await pilot.press(*"hello")
        await pilot.press("space", *"nz3", "enter")
        await settle(pilot)
        assert games.game.steps[-1] == "hello nz3"
        assert '“ You said: "hello nz3"' in seen(pilot)
        await keys(pilot, settle, "escape", "t")
        assert games.game.played is None
        assert "Bryn Harrow said" in seen(pilot)


async def test_a_line_that_is_not_understood_stays_to_be_mended(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "t")
        await pilot.press(*"nonsense", "enter")
        await settle(pilot)
        assert play(pilot).story.say.value == "nonsense"
        assert "Nobody here is called 'nonsense'. Look around first." in seen(pilot)
        assert games.game.steps == []


async def test_up_brings_back_what_was_written(playing: Open, settle: Settle) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "t")
        for word in ("one", "two"):
            await pilot.press(*word, "enter")
            await settle(pilot)
        await pilot.press(*"dra", "up")
        line = play(pilot).story.say
        assert line.value == "two"
        await pilot.press("up", "up")
        assert line.value == "one"
        await pilot.press("down", "down")
        assert line.value == "dra"


async def test_an_empty_line_waits_and_f5_plays_from_the_line(playing: Open, settle: Settle, games: Any) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "t", "enter", "f5")
        assert games.game.steps == ["", ""]


async def test_pinning_and_letting_go(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "4", "end", "p")
        assert '■ “ The wet stranger said: "Old news 0."' in seen(pilot)
        assert (await games.game.buffer("bryn")).partition.held[0].pinned == "hand"
        assert "Pinned: it stays until you let go." in seen(pilot)
        await keys(pilot, settle, "p")
        assert '○ “ The wet stranger said: "Old news 0."' in seen(pilot)


@SIZES
async def test_an_alias_is_changed_with_its_timeline_in_sight(playing: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "n", "3", "down", "a")
        text = seen(pilot)
        assert "What Bryn Harrow calls Mira Sol" in text
        assert "“the wet stranger” → “Mira”" in text
        assert "heard it introduce itself" in text
        await pilot.press("home", *["delete"] * 4, *"Rain", "enter")
        await settle(pilot)
        assert "Bryn Harrow calls Mira Sol “Rain” from now on." in seen(pilot)
        await keys(pilot, settle, "a")
        assert "“Mira” → “Rain”" in seen(pilot)
        await keys(pilot, settle, "escape", "4")
        assert 'Rain said: "Old news 9."' in seen(pilot)


async def test_an_unusable_alias_is_refused_in_words(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        await keys(pilot, settle, "3", "down", "a")
        await pilot.press("home", *["delete"] * 16, *"you", "enter")
        await settle(pilot)
        assert "“you” cannot be a name. Choose another." in seen(pilot)
        await keys(pilot, settle, "home", "a")
        assert "Everybody is “you” to themselves." in seen(pilot)


async def test_choosing_a_mind_shows_it_everywhere(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        await keys(pilot, settle, "n", "3", "down", "down", "enter")
        text = seen(pilot)
        assert "4 Mind · Tam Oake" in text
        assert "5 Ledger · Tam Oake" in text
        await keys(pilot, settle, "6")
        assert "6 Prompt · Tam Oake" in seen(pilot)
        await keys(pilot, settle, "n")
        assert "4 Mind · Tam Oake" in seen(pilot)


async def test_things_have_no_mind_to_take_over(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "3", "end", "t")
        assert games.game.played is None
        assert "cannot act" in seen(pilot)
        await keys(pilot, settle, "enter", "6")
        assert play(pilot).view.chosen == "bryn"


async def test_the_prompt_is_shown_in_parts_and_exactly(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((120, 40)) as pilot:
        await keys(pilot, settle, "6")
        text = seen(pilot)
        for part in ("460 of 7,680 tokens", "Recent events", "nothing was recalled", "Mira brought old news: budget", "0.83", "Rain fell"):
            assert part in text
        await keys(pilot, settle, "enter")
        assert "=== WHO YOU ARE ===" in seen(pilot)
        assert "Name: Bryn Harrow" in seen(pilot)


async def test_enter_on_a_memory_shows_its_sources(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((120, 40)) as pilot:
        await keys(pilot, settle, "n", "n", "5", "enter")
        assert '↳ Mira said: "Old news 0."  a few hours ago,' in seen(pilot)
        await keys(pilot, settle, "enter")
        assert "↳" not in seen(pilot)


async def test_several_rounds_with_a_pause(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        await pilot.press("R", "0", "enter")
        await pilot.pause()
        assert "A number from 1 to 1,000" in seen(pilot)
        await pilot.press("backspace", "4", "enter")
        await settle(pilot)
        assert len(games.game.steps) == 4
        assert "4 rounds played." in seen(pilot)
        games.game.gate = asyncio.Event()
        await pilot.press("R", *"50", "enter")
        await pilot.pause()
        await pilot.pause()
        assert "space Pause" in seen(pilot)
        await pilot.press("space")
        games.game.gate.set()
        await settle(pilot)
        assert len(games.game.steps) == 5


async def test_escape_stops_a_running_call_and_loses_nothing_typed(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "t")
        games.game.gate = asyncio.Event()
        await pilot.press("f5", *"half a sent")
        await pilot.pause()
        await pilot.pause()
        assert "running" in seen(pilot)
        assert "▌" in seen(pilot)
        await keys(pilot, settle, "escape")
        assert "Stopped." in seen(pilot)
        assert play(pilot).story.say.value == "half a sent"
        assert play(pilot).story.say.has_focus


async def test_a_failed_beat_says_why_and_what_to_do(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        games.game.fail_next = "The model did not answer [in time]."
        await keys(pilot, settle, "n")
        text = seen(pilot)
        assert "could not act: The model did not answer [in time]." in text
        assert "Nothing was lost" in text


async def test_the_map_shows_who_is_where_and_doors_as_they_stand(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        text = seen(pilot)
        for title in ("Tap room", "Quay", "Cellar", "Loft", "Yard"):
            assert title in text
        assert "Bryn, Mira" in text
        assert "┃──│" in text or "─┃─" in text
        await keys(pilot, settle, "n")
        assert "Tam" in next(line for line in seen(pilot).splitlines() if "┃ Tam" in line or "Mira, Tam" in line)


async def test_zoom_shows_one_pane_and_goes_back(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        await keys(pilot, settle, "5", "z")
        assert "4 Mind" not in seen(pilot).split("\n", 2)[2]
        assert "esc All panes" in seen(pilot)
        await keys(pilot, settle, "2")
        assert "2 Map" in seen(pilot).splitlines()[2]
        await keys(pilot, settle, "escape")
        assert "3 People" in seen(pilot)


async def test_help_is_about_the_focused_pane(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "5", "question_mark")
        assert "long-term memory" in seen(pilot)
        await keys(pilot, settle, "escape", "4", "question_mark")
        assert "The watermark is the line" in seen(pilot)


async def test_the_palette_knows_every_action(playing: Open, settle: Settle, seen: Seen, host: GameHost, games: Any) -> None:
    async with playing() as pilot:
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*"slow")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("enter")
        await settle(pilot)
        assert host.pacer.speed == 0.7
        host.pacer.speed = 0
        await pilot.press("ctrl+p", *"Play one round")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("enter")
        await settle(pilot)
        assert games.game.steps == [""]


async def test_what_is_shown_survives_a_storm_of_sizes(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        await keys(pilot, settle, "n", "n")
        for width, height in [(1, 1), (20, 5), (400, 100), (99, 24), (139, 31), (100, 32), (140, 40), (5, 60), (80, 24)]:
            await pilot.resize_terminal(width, height)
        await settle(pilot)
        assert "Round 2 is over." in seen(pilot)
        await pilot.resize_terminal(200, 50)
        await settle(pilot)
        text = seen(pilot)
        for part in ("1 Story", "2 Map", "3 People", "4 Mind", "5 Ledger", "Tap room", "Old news 9."):
            assert part in text


async def test_going_home_in_the_middle_of_a_round_closes_the_game(playing: Open, settle: Settle, games: Any) -> None:
    async with playing() as pilot:
        games.game.gate = asyncio.Event()
        await pilot.press("n", "q")
        await settle(pilot)
        assert games.game.closed
        assert not isinstance(pilot.app.screen, PlayScreen)


async def test_trouble_in_reading_is_shown_and_play_goes_on(
    playing: Open, settle: Settle, seen: Seen, games: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with playing() as pilot:
        async def unreadable(entity: str) -> None:
            raise SaveError("The save cannot be read [disk].", "Check the disk.")

        monkeypatch.setattr(games.game, "ledger", unreadable)
        await keys(pilot, settle, "3", "down", "enter")
        assert "The save cannot be read [disk]. Check the disk." in seen(pilot)
        monkeypatch.undo()
        await keys(pilot, settle, "n")
        assert "Round 1 is over." in seen(pilot)


@pytest.mark.parametrize("theme", ["paper", "nord", "textual-light", "dracula"])
async def test_other_themes_show_the_same_text(playing: Open, settle: Settle, seen: Seen, theme: str) -> None:
    async with playing() as pilot:
        before = seen(pilot)
        pilot.app.theme = theme
        await settle(pilot)
        assert seen(pilot) == before


async def test_typing_a_name_replaces_the_old_one(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "3", "down", "a")
        await pilot.press(*"Rain", "enter")
        await settle(pilot)
        assert "calls Mira Sol “Rain” from now on." in seen(pilot)


async def test_no_digit_of_a_number_of_rounds_is_dropped(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        await pilot.press("R", *"20000")
        await pilot.pause()
        text = seen(pilot)
        assert "20000" in text
        assert "A number from 1 to 1,000" in text
        await pilot.press("enter", *["backspace"] * 4)
        await pilot.pause()
        assert "A number from 1 to 1,000" not in seen(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert games.game.steps == ["", ""]


@pytest.mark.parametrize("size", [(80, 12), (120, 24), (200, 20)])
async def test_enter_on_a_section_brings_its_heading_to_the_top(playing: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "6", "z", "enter")
        rows = play(pilot).prompt.rows
        heading = rows.text().splitlines().index("=== WHO YOU ARE ===")
        assert rows.scroll_offset.y == min(heading, rows.max_scroll_y)
        assert "=== WHO YOU ARE ===" in seen(pilot)
