"""What is said in the last lines: it fits, gives way, and uses the names the reader knows."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.errors import SaveError
from engine.files.bundled import WorldInfo
from tests.tui.keys import keys, opening
from tui.app import OthermindsApp
from tui.host import GameHost
from tui.screens import reading
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


async def test_a_note_gives_way_to_the_next_action(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "n", "4", "end", "p")
        assert "Pinned: it stays until you let go." in seen(pilot)
        await keys(pilot, settle, "5")
        assert "Pinned" not in seen(pilot).splitlines()[-2]
        assert "Round 1. n plays the next." in seen(pilot)


async def test_a_note_gives_way_by_itself_and_what_a_round_did_stays(
    playing: Open, settle: Settle, seen: Seen, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "NOTE_SECONDS", {"plain": 0.001, "good": 0.001, "bad": 0.001})
    async with playing() as pilot:
        await keys(pilot, settle, "n", "4", "end", "p")
        for _ in range(500):
            await pilot.pause(0.001)
            if "Pinned" not in play(pilot).view.note.text:
                break
        assert "Round 1. n plays the next." in seen(pilot)
        await keys(pilot, settle, "n")
        await pilot.pause(0.01)
        assert "Round 2 is over. Bryn Harrow: 1 kept" in seen(pilot)


async def test_a_player_reads_the_own_names_only(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        await keys(pilot, settle, "3", "down", "t", "escape", "3", "home", "enter", "end")
        screen = play(pilot)
        assert screen.view.played == "mira"
        assert screen.view.chosen == "bryn"
        true = {"Bryn Harrow", "Tam Oake"}
        await keys(pilot, settle, "down", "a")
        text = seen(pilot)
        assert "What the broad woman calls" in text
        await pilot.press(*"Old Salt", "enter")
        await settle(pilot)
        assert "The broad woman calls" in seen(pilot)
        await keys(pilot, settle, "f")
        assert "Memory of the broad woman" in seen(pilot)
        assert not [name for name in true if name in seen(pilot)]
        await keys(pilot, settle, "escape", "plus")
        assert "A new memory of the broad woman" in seen(pilot)
        await keys(pilot, settle, "escape", "4", "5", "6")
        assert not [name for name in true if name in seen(pilot).split("Exact text")[0].replace("Name: Bryn Harrow", "")]


async def test_taking_over_counts_as_choosing(playing: Open, settle: Settle) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "3", "down", "t", "escape", "t", "n", "n")
        assert play(pilot).view.played is None
        assert play(pilot).view.chosen == "mira"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_round_is_never_cut(playing: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "V", "n", "t")
        top = seen(pilot).splitlines()[0]
        assert "round 1" in top
        assert "playing Bryn Harrow · asks first" in top
        assert "…" not in top


@SIZES
async def test_why_a_handoff_comes_is_read_to_its_end(playing: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "4")
        text = seen(pilot)
        assert "handoff next round, it must" in text
        assert "10 entries, limit 20" in text
        line = next(line for line in text.splitlines() if "handoff next round" in line)
        assert "…" not in line


async def test_tokens_of_a_running_round_say_that_they_are_of_before(
    host: GameHost, clock: Any, playing: Open, settle: Settle, seen: Seen,
) -> None:
    async with playing((200, 50)) as pilot:
        assert "before this round" not in seen(pilot)
        host.pacer.speed = 1.0
        host.start_step()
        for _ in range(20):
            await pilot.pause()
        for _ in range(200):
            clock.now += 0.1
            play(pilot).tick()
            await pilot.pause()
            if not play(pilot).view.mind.counted:
                break
        assert "before this round" in seen(pilot)
        host.pacer.speed = 0.0
        await settle(pilot)
        assert "before this round" not in seen(pilot)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_an_error_on_home_is_read_to_its_end(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen, monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
) -> None:
    async def locked(world: object, seed: int | None = None) -> None:
        raise SaveError(f"The save {'long ' * 20}cannot be opened.", "Choose another one and leave this one as it is, please.")

    monkeypatch.setattr(host, "open_new", locked)
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d")
        assert "leave this one as it is, please." in " ".join(seen(pilot).split())


async def test_help_lists_own_keys_first_and_none_of_the_toolkit(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((120, 110)) as pilot:
        await keys(pilot, settle, "4", "question_mark")
        text = seen(pilot)
        for noise in ("Scroll Left", "Page Left", "Focus Next", "Copy selected", "return to the command prompt"):
            assert noise not in text
        assert text.index("Pin the entry") < text.index("Play one round") < text.index("Page down")
        assert "Leave Otherminds; all is saved" in text


async def test_the_cursor_of_home_waits_on_the_game_left_last(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen, games: Any,
) -> None:
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "n", "q")
        assert "Round 1 · 1 March 1247" in seen(pilot)
        await keys(pilot, settle, "enter")
        assert isinstance(pilot.app.screen, PlayScreen)
    await host.close()
