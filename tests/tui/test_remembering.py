"""Memories by hand on the Play screen, where they come from, and how they were chosen for a prompt."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from engine.events import Embedding
from engine.files.bundled import WorldInfo
from tests.tui.keys import keys, opening
from tui.app import OthermindsApp
from tui.host import GameHost

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]


@pytest.fixture
def playing(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle) -> Open:
    """Two rounds in: Bryn has one memory."""

    return opening(host, worlds, settle, "d", "n", "n")


def typed(text: str) -> list[str]:
    return ["space" if char == " " else char for char in text]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])
async def test_a_memory_is_written_by_hand(playing: Open, settle: Settle, seen: Seen, games: Any, size: tuple[int, int]) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "5", "plus")
        assert "A new memory of Bryn Harrow" in seen(pilot)
        await keys(pilot, settle, "ctrl+s")
        assert "Write what is remembered." in seen(pilot)
        await pilot.press(*typed("The well is deep"), "tab", *typed("Mind the well"), "tab", "backspace", "8", "tab", *"Nobody", "enter")
        await settle(pilot)
        text = seen(pilot)
        assert "Nobody is called “Nobody”." in text
        assert "The well is deep" in text
        pilot.app.screen.query_one("#people-names", Input).value = "mira, Tam Oake"
        await keys(pilot, settle, "ctrl+s")
        text = seen(pilot)
        assert "Bryn Harrow remembers it from now on." in text
        assert "The well is deep" in text
        assert "“Mind the well”" in text
        assert "■ written by hand" in text
        entry = games.game._ledgers["bryn"][-1]
        assert (entry.importance, entry.involved_entity_ids, entry.origin) == (8, ("mira", "tam"), "hand")


async def test_a_memory_is_changed_and_only_what_was_changed(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "5", "e")
        area = pilot.app.screen.query_one("#memory-text", TextArea)
        assert area.text == "Mira brought old news."
        await keys(pilot, settle, "ctrl+s")
        held = games.game._ledgers["bryn"][0]
        assert held.content == "{{e:mira}} brought old news."
        await keys(pilot, settle, "e")
        pilot.app.screen.query_one("#memory-text", TextArea).text = "Mira brought no news."
        games.game.desk.refuse = "That cannot be kept."
        await keys(pilot, settle, "ctrl+s")
        assert "That cannot be kept. Say it otherwise." in seen(pilot)
        games.game.desk.refuse = ""
        await keys(pilot, settle, "ctrl+s")
        text = seen(pilot)
        assert "Mira brought no news." in text
        assert "■ changed by hand" in text
        assert "Changed. What it said before is kept" in text


async def test_a_memory_is_removed_after_a_question(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "5")
        for answer, left in (("escape", 1), ("y", 0)):
            await pilot.press("d")
            await pilot.pause()
            assert "Remove this memory?" in seen(pilot)
            await keys(pilot, settle, answer)
            assert len(games.game._ledgers["bryn"]) == left
        text = seen(pilot)
        assert "Removed from the ledger." in text
        assert "No memories yet." in text


async def test_an_origin_tells_moments_wordings_and_use(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        await keys(pilot, settle, "5", "enter")
        text = seen(pilot)
        for part in ("forgotten", "≡ A lost thought 1.", "told by it now", "It was told otherwise.", "said before", "Came to mind 3 times"):
            assert part in text
        await keys(pilot, settle, "enter")
        assert "Came to mind" not in seen(pilot)


async def test_things_have_no_memory_to_write_into(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "3", "end", "enter")
        assert "The brass lantern is a thing. It has no mind to show." in seen(pilot)


async def test_the_palette_knows_what_is_done_to_memories(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing() as pilot:
        for words, found in (("ask you first", "Ask first"), ("in your words", "Add memory"), ("out of the ledger", "Ledger: Remove")):
            await pilot.press("ctrl+p")
            await pilot.pause()
            await pilot.press(*typed(words))
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
            assert found in seen(pilot)
            await pilot.press("escape")
            await pilot.pause()
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*typed("change the memory"))
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("enter")
        await settle(pilot)
        assert "A memory of Bryn Harrow" in seen(pilot)


async def test_receipts_show_rank_parts_and_what_just_missed(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((120, 40)) as pilot:
        await keys(pilot, settle, "6")
        text = seen(pilot)
        legend = "bar of  meaning  words  people"
        for part in ("asked   news from the sea", "focus   Mira", legend, "mmmmmm", "just missed", "ranked 14, limit 12", "22 tok"):
            assert part in text
        assert "people 0.20" not in text
        await keys(pilot, settle, "down", "down", "down", "enter")
        text = seen(pilot)
        assert "people 0.20" in text
        assert "found by: people in focus" in text


async def test_the_whole_pool_is_there_on_demand(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((200, 50)) as pilot:
        await keys(pilot, settle, "6", "z", "down", "down", "down", "down", "down")
        assert "20 memories were looked at closely: enter shows all" in seen(pilot)
        await keys(pilot, settle, "enter")
        text = seen(pilot)
        assert "led-000020" in pilot.app.screen.query_one("#prompt-rows").text()  # type: ignore[attr-defined]
        assert "enter hides them" in text
        await keys(pilot, settle, "enter")
        assert "led-000020" not in pilot.app.screen.query_one("#prompt-rows").text()  # type: ignore[attr-defined]


async def test_a_tier_that_was_left_out_is_said_once(playing: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with playing() as pilot:
        games.game.problems = ("The ledger did not answer [in time].",)
        await keys(pilot, settle, "6")
        text = seen(pilot)
        assert text.count("The ledger did not answer [in time].") == 2
        assert "Left out of the prompt" in text
        await keys(pilot, settle, "n")
        assert "Left out: The ledger did not answer [in time]." in seen(pilot)


@pytest.mark.parametrize(("size", "words"), [
    ((200, 50), "Memories are being embedded for minilm: 120 of 3,000"), ((80, 24), "120 of 3,000"),
])
async def test_embedding_is_a_quiet_note_until_it_is_done(
    playing: Open, settle: Settle, seen: Seen, games: Any, size: tuple[int, int], words: str,
) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "n")
        games.game._tell(Embedding(model="minilm", done=120, total=3000))
        await settle(pilot)
        assert words in seen(pilot)
        assert "Round 3 is over." in seen(pilot)
        games.game._tell(Embedding(model="minilm", done=3000, total=3000))
        await settle(pilot)
        assert "3,000" not in seen(pilot)


async def test_what_a_hand_writes_is_in_the_save(tmp_path: Path, settle: Settle, seen: Seen) -> None:
    """Add, change and remove on the real engine; the ledger and its archive hold what was done."""
    host = GameHost(tmp_path, speed=0.0)
    app = OthermindsApp(host)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "5", "plus")
        await pilot.press(*typed("The pump handle was warm"))
        await keys(pilot, settle, "ctrl+s")
        game = host.game
        assert game is not None
        owner = game.world.agents()[0].id
        [written] = [line for line in await game.ledger(owner) if line.entry.origin == "hand"]
        assert written.text == "The pump handle was warm"
        assert "The pump handle was warm" in seen(pilot)
        ledger = pilot.app.screen.query_one("#memories")
        ledger.cursor = written.entry.id  # type: ignore[attr-defined]
        await keys(pilot, settle, "e")
        pilot.app.screen.query_one("#memory-text", TextArea).text = "The pump handle was cold"
        await keys(pilot, settle, "ctrl+s", "enter")
        assert "~ The pump handle was warm  said before" in seen(pilot)
        await pilot.press("d")
        await pilot.pause()
        await keys(pilot, settle, "y")
        [gone] = await game.memory.archived_memories(owner)
        assert (gone.text, gone.memory.fate) == ("The pump handle was cold", "removed")
    await host.close()
