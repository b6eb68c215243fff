"""The Memory screen: what left a mind, why, and the way back."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.files.bundled import WorldInfo
from tests.tui.keys import keys, opening
from tui.app import OthermindsApp
from tui.host import GameHost
from tui.screens.memory import MemoryScreen
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])


@pytest.fixture
def looking(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, games: Any) -> Open:
    """The Memory screen of Bryn, two rounds in."""

    @asynccontextmanager
    async def opened(size: tuple[int, int] = (120, 40), moments: int = 3) -> AsyncIterator[Pilot[Any]]:
        async with opening(host, worlds, settle, "d", "n", "n")(size) as pilot:
            games.game.desk.archived = moments
            await keys(pilot, settle, "f")
            yield pilot

    return opened


@SIZES
async def test_moments_say_what_became_of_them(looking: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with looking(size) as pilot:
        assert isinstance(pilot.app.screen, MemoryScreen)
        text = seen(pilot)
        for part in ("Memory of Bryn Harrow", "[1 Moments 3]", "2 Memories 1", "3 Near-duplicates 0", "forgotten", "It became", "kept"):
            assert part in text
        await keys(pilot, settle, "down")
        text = seen(pilot)
        assert "Forgotten by the handoff of round 2:" in text
        assert "It became" not in text


@SIZES
async def test_a_forgotten_moment_comes_back_into_mind_pinned(
    looking: Open, settle: Settle, seen: Seen, games: Any, size: tuple[int, int],
) -> None:
    async with looking(size) as pilot:
        await keys(pilot, settle, "down", "u")
        assert games.game.desk.did == ["restored old-000001"]
        text = seen(pilot)
        assert "Back in mind, pinned by your hand" in text
        assert "[1 Moments 2]" in text
        await keys(pilot, settle, "escape", "4", "end")
        assert isinstance(pilot.app.screen, PlayScreen)
        assert '■ “ Mira said: "Long ago 1."' in seen(pilot)


async def test_a_removed_memory_comes_back_into_the_ledger(looking: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "2")
        text = seen(pilot)
        assert "A lost thought 1." in text
        assert "Taken out by hand in round 1." in text
        await keys(pilot, settle, "u")
        assert "Back in the ledger." in seen(pilot)
        assert "Nothing has left the ledger" in seen(pilot)
        await keys(pilot, settle, "q", "5")
        assert "A lost thought 1." in seen(pilot)


async def test_enter_shows_where_a_memory_comes_from(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking((200, 50)) as pilot:
        await keys(pilot, settle, "enter")
        text = seen(pilot)
        for part in ("Where it comes from", "It was told otherwise.", "Came to mind 3 times"):
            assert part in text
        await keys(pilot, settle, "down")
        assert "In full" in seen(pilot)


async def test_two_that_tell_the_same_are_merged_after_both_are_shown(looking: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with looking() as pilot:
        await games.game.desk.add_memory("bryn", "Mira brought the old news.")
        await keys(pilot, settle, "escape", "f", "3")
        text = seen(pilot)
        assert "0.97 alike" in text
        assert "This one stays" in text
        await pilot.press("m")
        await pilot.pause()
        await pilot.pause()
        text = seen(pilot)
        assert "Merge these two?" in text
        assert "Mira brought the old news." in text
        await keys(pilot, settle, "y")
        assert games.game.desk.did == ["merged led-000001 led-gone-11"]
        text = seen(pilot)
        assert "Merged." in text
        assert "No two memories tell nearly the same." in text


async def test_words_and_fates_narrow_the_list(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "slash")
        await pilot.press(*"again", "enter")
        await settle(pilot)
        assert "Nothing here fits." in seen(pilot)
        await keys(pilot, settle, "slash", "escape")
        assert "Long ago 2" in seen(pilot)
        await keys(pilot, settle, "slash")
        await pilot.press(*"ago", "space", "2", "enter")
        await settle(pilot)
        text = seen(pilot)
        assert "1 of 3" in text
        assert 'Mira said: "Long ago 0."' not in text
        await keys(pilot, settle, "slash", "escape", "o")
        assert "forgotten only" in seen(pilot)
        assert "2 of 3" in seen(pilot)
        await keys(pilot, settle, "o")
        assert "kept only" in seen(pilot)


async def test_trouble_is_said_and_the_list_stays(looking: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with looking() as pilot:
        games.game.desk.refuse = "That moment [x] is in working memory already."
        await keys(pilot, settle, "u")
        text = seen(pilot)
        assert "That moment [x] is in working memory already. Say it otherwise." in text
        assert "[1 Moments 3]" in text


async def test_ten_thousand_moments_are_walked_through_by_pages(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(moments=10_000) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, MemoryScreen)
        assert "[1 Moments 10,000]" in seen(pilot)
        assert len(screen.entries.keys) < 500
        await keys(pilot, settle, "end")
        assert screen.entries.cursor == "old-000200"
        await keys(pilot, settle, "slash")
        await pilot.press(*"9999")
        await settle(pilot)
        assert "1 of 10,000" in seen(pilot)


async def test_every_key_is_in_the_help(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking((120, 60)) as pilot:
        await keys(pilot, settle, "question_mark")
        text = seen(pilot)
        for part in ("Put it back into mind", "Show where the memory comes from", "Show only what holds these words", "The next list"):
            assert part in text


async def test_a_forgotten_moment_of_the_real_engine_comes_back(tmp_path: Path, settle: Settle, seen: Seen) -> None:
    host = GameHost(tmp_path, speed=0.0)
    app = OthermindsApp(host)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "n", "n")
        assert host.game is not None
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        owner = screen.view.chosen
        assert owner is not None
        gone = await host.game.memory.archive(owner)
        forgotten = next(index for index, line in enumerate(gone) if line.fate == "forgotten")
        await keys(pilot, settle, "f", *["down"] * forgotten, "u")
        assert "Back in mind, pinned by your hand" in seen(pilot)
        await keys(pilot, settle, "escape", "4")
        part = (await host.game.buffer(owner)).partition
        [back] = [entry for entry in (*part.held, *part.tail) if entry.id == gone[forgotten].entry.id]
        assert back.pinned == "hand"
        shown = {line.entry.id: line for line in screen.view.mind.lines}
        assert shown[back.id].entry.pinned == "hand"
        assert shown[back.id].text == gone[forgotten].text
        await keys(pilot, settle, "n", "n", "n", "n", "n")
        assert back.id in {entry.id for entry in (await host.game.buffer(owner)).partition.held}
    await host.close()


async def test_the_first_escape_shows_all_again_and_the_second_leaves(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "slash")
        await pilot.press(*"again", "enter")
        await settle(pilot)
        assert "Nothing here fits. esc shows all again." in seen(pilot)
        await keys(pilot, settle, "escape")
        assert isinstance(pilot.app.screen, MemoryScreen)
        assert "Long ago 2" in seen(pilot)
        await keys(pilot, settle, "o", "escape")
        assert "only" not in seen(pilot).splitlines()[1]
        assert "kept" in seen(pilot)
        assert isinstance(pilot.app.screen, MemoryScreen)
        await keys(pilot, settle, "escape")
        assert isinstance(pilot.app.screen, PlayScreen)


async def test_a_list_emptied_by_putting_back_can_be_left_in_two_steps(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "slash")
        await pilot.press(*"ago", "space", "2", "enter")
        await settle(pilot)
        await keys(pilot, settle, "u")
        assert "Nothing here fits. esc shows all again." in seen(pilot)
        assert "esc Show all" in seen(pilot)
        await keys(pilot, settle, "escape")
        assert "Long ago 1" in seen(pilot)
        await keys(pilot, settle, "q")
        assert isinstance(pilot.app.screen, PlayScreen)
