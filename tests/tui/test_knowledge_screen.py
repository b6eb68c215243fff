"""The Knowledge screen: who knows what, since when and from where, over the real engine."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.events import KnowledgeChanged
from engine.records.tokens import token
from tests.tui.keys import keys
from tests.tui.knowing import BOB, GARETH, MIRA, TOM, Opened, build, knows, opened, screen_of, typed
from tui.dialogs.knowledge import KnowledgeDialog
from tui.glyphs import CURSOR
from tui.panes.known_reading import Whose
from tui.screens import knowledge_reading
from tui.screens.knowledge import KnowledgeScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., Opened]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])


@pytest.fixture(scope="module")
def save(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; each test plays on a copy."""
    import asyncio

    return asyncio.run(build(tmp_path_factory.mktemp("inn")))


@pytest.fixture
def looking(save: Path, tmp_path: Path, settle: Settle) -> Open:
    """The screen on a copy of the save."""
    return lambda **more: opened(save, tmp_path, settle, **more)


async def at(pilot: Pilot[Any], settle: Settle, text: str) -> None:
    """Go to the row that says this."""
    screen = screen_of(pilot)
    [key] = [key for key, (_, row) in screen._made.items() if text in row.body.plain]
    screen.entries.cursor = key
    await settle(pilot)


def told(pilot: Pilot[Any]) -> str:
    """All that stands beside the list, on one line."""
    return " ".join(screen_of(pilot).detail.text().split())


def listed(pilot: Pilot[Any]) -> str:
    """All of the list, on one line."""
    return " ".join(screen_of(pilot).entries.text().split())


# looking


@SIZES
async def test_what_somebody_knows_is_told_with_where_it_comes_from(
    looking: Open, settle: Settle, seen: Seen, size: tuple[int, int]
) -> None:
    async with looking(size=size) as pilot:
        assert "What Bob Harrow knows" in seen(pilot)
        assert "[1 Known 5]" in seen(pilot)
        assert "2 Review 1" in seen(pilot)
        text = listed(pilot)
        for part in (
            "Gareth Pole owns two boats.", "fact · about Gareth Pole", "held by the faction quay", "held by everybody", "short-term",
            "sensitive", "○ waits", "100% sure",
        ):
            assert part in text
        assert "gate" not in text  # Mira's own
        assert text.index("ferryman") < text.index("Heron") < text.index("tide") < text.index("boats")  # changed pieces keep their place
        await at(pilot, settle, "Heron")
        text = told(pilot)
        for part in (
            "The Heron carries salt.", "short-term: not promoted yet", "Who knows it now · 1 Bob Harrow", "Bob Harrow with Mira Vance",
            "Mira Vance: The Heron carries salt.", "The words of 1 turn are gone", "score 0.", "fades unused", "it sinks from hot",
            "1 wording", "r1 added from a session: it is new",
        ):
            assert part in text


async def test_the_past_of_a_piece_is_told_by_rounds_with_why(looking: Open, settle: Settle) -> None:
    async with looking() as pilot:
        await at(pilot, settle, "boats")
        text = told(pilot)
        for part in (
            "2 wordings", "● Gareth Pole owns two boats. rounds 1 to now", "○ Gareth Pole owns a boat. rounds 0 to 1",
            "then changed by hand", "r1 edited by hand", "r0 added by hand", "Topic: boat.",
        ):
            assert part in text


@pytest.mark.parametrize(
    ("moves", "there", "missing"),
    [
        (("home",), "gate is locked", "gate is open"), (("home", "down"), "tide", "boats"),
        (("home", "down", "down", "down"), "lamp", "tide"),
    ],
    ids=["all", "everybody", "a faction"],
)
async def test_one_chooses_whose_knowledge_it_is(
    looking: Open, settle: Settle, seen: Seen, moves: tuple[str, ...], there: str, missing: str
) -> None:
    async with looking() as pilot:
        screen = screen_of(pilot)
        await at(pilot, settle, "tide")  # that one stands in other lists, too
        await keys(pilot, settle, "w", *moves, "enter")
        assert screen.entries.cursor == screen.entries.keys[0]
        assert there in listed(pilot)
        assert missing not in listed(pilot)


async def test_beside_the_shelves_the_cursor_chooses_whose_it_is(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(size=(200, 50)) as pilot:
        await keys(pilot, settle, "w", "down")
        assert "What Mira Vance knows" in seen(pilot)
        assert "gate is locked" in listed(pilot)
        await keys(pilot, settle, "enter")
        assert pilot.app.focused is screen_of(pilot).entries


async def test_a_list_of_picks_is_narrowed_by_letters(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "w", "slash")
        await typed(pilot, settle, "vance")
        await keys(pilot, settle, "enter")
        assert "What Mira Vance knows" in seen(pilot)


async def test_what_has_ended_is_shown_when_asked_for(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(whose=Whose()) as pilot:
        await keys(pilot, settle, "o", "right", "enter")
        assert "All that is known · ended" in seen(pilot)
        assert "The gate is open." in listed(pilot)
        assert "ended" in listed(pilot)
        assert "Believed no longer" in told(pilot)
        await keys(pilot, settle, "escape")
        assert "The gate is locked." in listed(pilot)


async def test_ended_pieces_of_one_are_shown_beside_what_it_believes(looking: Open, settle: Settle) -> None:
    async with looking(whose=Whose("entity", MIRA)) as pilot:
        await keys(pilot, settle, "o", "right", "right", "enter")
        assert "The gate is open." in listed(pilot)
        assert "The gate is locked." in listed(pilot)


async def test_one_kind_term_or_subject_is_shown_alone(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(whose=Whose()) as pilot:
        await keys(pilot, settle, "o", "tab", "left", "enter")
        assert "Ask at the quay first." in listed(pilot)
        assert "boats" not in listed(pilot)
        await keys(pilot, settle, "escape", "o", "tab", "tab", "tab", "right", "enter")
        assert "All that is known · short-term" in seen(pilot)
        assert "Heron" in listed(pilot)
        assert "lamp" not in listed(pilot)
        await keys(pilot, settle, "escape", "o", "tab", "tab", "tab", "tab")
        await typed(pilot, settle, "Zork")
        await keys(pilot, settle, "enter")
        assert "Nobody and nothing is called “Zork”" in seen(pilot)
        await keys(pilot, settle, "ctrl+u")
        await typed(pilot, settle, "gareth pole")
        await keys(pilot, settle, "enter")
        assert "about Gareth Pole" in seen(pilot)
        assert "boats" in listed(pilot)
        assert "Heron" not in listed(pilot)


async def test_words_are_searched_and_escape_shows_all_again_then_leaves(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "slash")
        await typed(pilot, settle, "boats gar")
        assert "boats" in listed(pilot)
        assert "lamp" not in listed(pilot)
        await keys(pilot, settle, "x", "enter")
        assert "Nothing here fits. esc shows all again." in listed(pilot)
        await keys(pilot, settle, "escape")
        assert "lamp" in listed(pilot)
        screen = screen_of(pilot)
        listening = screen.hear in screen.game._parts.listeners
        await keys(pilot, settle, "escape")
        assert not isinstance(pilot.app.screen, KnowledgeScreen)
        assert listening
        assert screen.hear not in screen.game._parts.listeners


async def test_empty_shelves_say_what_will_fill_them(looking: Open, settle: Settle) -> None:
    async with looking(whose=Whose("faction", "crown")) as pilot:
        assert "Nothing is known to all of the faction crown yet." in listed(pilot)
        assert "+ writes a piece by hand." in listed(pilot)
        await keys(pilot, settle, "3")
        assert "Ask above what somebody believed" in listed(pilot)


async def test_what_is_many_is_read_in_pages(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(whose=Whose()) as pilot:
        screen = screen_of(pilot)
        for number in range(250):
            await knows(screen.game, f"Cask {number} is full.", TOM)
        screen.read()
        await settle(pilot)
        assert "[1 Known 100+]" in seen(pilot)
        assert "Cask 249" in listed(pilot)
        assert "Cask 149" not in listed(pilot)
        await keys(pilot, settle, "end")
        assert screen.entries.cursor == key(screen, "Cask 149 ")
        await keys(pilot, settle, "end")
        assert "[1 Known 257]" in seen(pilot)
        screen.read()
        await settle(pilot)
        assert "[1 Known 257]" in seen(pilot)  # as far as it was shown
        await keys(pilot, settle, "slash")
        await typed(pilot, settle, "cask 7 ")
        assert "Cask 7 is full." in listed(pilot)


def key(screen: KnowledgeScreen, text: str) -> str:
    """The key of the row that says this."""
    [found] = [key for key, (_, row) in screen._made.items() if text in row.body.plain]
    return found


# live


async def test_what_changes_meanwhile_moves_neither_the_cursor_nor_what_is_typed(
    looking: Open, settle: Settle, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge_reading, "_REST", 0.001)
    async with looking(size=(80, 24)) as pilot:
        screen = screen_of(pilot)
        await at(pilot, settle, "Heron")
        shown = [line for line in seen(pilot).splitlines() if CURSOR in line]
        row = seen(pilot).splitlines().index(shown[0])
        await screen.game.knowledge.add(BOB, "The quay is closed to everybody.")
        await pilot.pause(0.05)
        await settle(pilot)
        assert "quay is closed" in listed(pilot)
        assert screen.entries.cursor == key(screen, "Heron")
        assert [line for line in seen(pilot).splitlines() if CURSOR in line] == shown
        assert seen(pilot).splitlines().index(shown[0]) in (row, row + 2)  # it scrolls along when it can
        await keys(pilot, settle, "slash")
        await typed(pilot, settle, "quay")
        await screen.game.knowledge.add(BOB, "No boat leaves the quay.")
        await pilot.pause(0.05)
        await settle(pilot)
        assert screen.line.value == "quay"
        assert screen.line.has_focus
        assert "No boat leaves" in listed(pilot)


async def test_a_neighbour_takes_the_place_of_what_is_gone(looking: Open, settle: Settle) -> None:
    async with looking() as pilot:
        screen = screen_of(pilot)
        await at(pilot, settle, "Heron")
        before = list(screen._made)
        following = before[before.index(screen.entries.cursor) + 1]
        await screen.game.knowledge.delete(screen.entries.cursor)
        screen.read()
        await settle(pilot)
        assert screen.entries.cursor == following


async def test_events_of_a_screen_that_is_left_do_nothing(looking: Open, settle: Settle) -> None:
    async with looking() as pilot:
        screen = screen_of(pilot)
        screen.read()  # under way while it is left
        await keys(pilot, settle, "escape")
        screen.hear(KnowledgeChanged())
        await settle(pilot)


# in whose names


async def test_whom_one_plays_is_told_in_its_names_unless_one_asks_for_true_ones(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(played=BOB) as pilot:
        assert "in the names that Bob Harrow has for people" in seen(pilot)
        assert "The tall stranger owns two boats." in listed(pilot)
        assert "held by you" not in listed(pilot)  # all of it is, unless something else is said
        assert "Gareth" not in listed(pilot) + told(pilot)
        await keys(pilot, settle, "N")
        assert "Gareth Pole owns two boats." in listed(pilot)
        assert "in true names" in seen(pilot)


async def test_a_piece_edited_in_a_players_names_is_kept_of_the_same_people(looking: Open, settle: Settle) -> None:
    async with looking(played=BOB) as pilot:
        await at(pilot, settle, "boats")
        await keys(pilot, settle, "e")
        dialog = pilot.app.screen
        assert isinstance(dialog, KnowledgeDialog)
        assert dialog.content.text == "The tall stranger owns two boats."
        dialog.content.text = "Mira sold the tall stranger's boats."
        await keys(pilot, settle, "ctrl+s")
        screen = screen_of(pilot)
        [line] = [one for one in await screen.game.knowledge.known_by(BOB) if "sold" in one.text]
        assert line.row.content == f"{token(MIRA)} sold {token(GARETH)}'s boats."


# harm


HOSTILE = "[red]x[/] [/nope] [@click=app.quit]y[/] \x1b[31mred\x1b[0m \u202eabc שלום 漢字かな 👨‍👩‍👧 end."


@SIZES
async def test_hostile_text_is_literal_and_breaks_nothing(looking: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with looking(size=size, whose=Whose("entity", TOM)) as pilot:
        screen = screen_of(pilot)
        await knows(screen.game, HOSTILE, TOM, rationale=HOSTILE, kind="decision", topic_key="[b]x")
        await knows(screen.game, "漢字 [red] a b " * 400, TOM)
        await knows(screen.game, "x" * 3000, TOM)
        screen.read()
        await settle(pilot)
        assert "[red]x[/] [/nope] [@click=app.quit]y[/]" in listed(pilot)
        await at(pilot, settle, "[red]x")
        assert "[@click=app.quit]y[/]" in told(pilot)
        text = seen(pilot)
        assert not any(char in text for char in "\x1b\u202e")
        assert {len(line.rstrip()) <= size[0] for line in text.splitlines()} == {True}
        await at(pilot, settle, "xxxx")
        assert "".join(told(pilot).split()).startswith("X" + "x" * 2999)
        for pressed in ("e", "escape", "s", "escape", "d", "escape", "enter", "end", "escape"):
            await keys(pilot, settle, pressed)
        assert isinstance(pilot.app.screen, KnowledgeScreen)
