"""The Knowledge screen: changes by hand, what waits, promotions, factions, and questions about earlier rounds."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.keys import keys
from tests.tui.knowing import BOB, MIRA, TOM, Opened, build, opened, screen_of, typed
from tui.commands import Commands
from tui.dialogs.knowledge import KnowledgeDialog
from tui.panes.known_ask import completed, nearest
from tui.panes.known_reading import Whose
from tui.screens.knowledge import KnowledgeScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def save(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; each test plays on a copy."""
    return asyncio.run(build(tmp_path_factory.mktemp("inn")))


@pytest.fixture
def looking(save: Path, tmp_path: Path, settle: Settle) -> Open:
    """The screen on a copy of the save."""
    return lambda **more: opened(save, tmp_path, settle, **more)


def text_of(pilot: Pilot[Any], seen: Seen) -> str:
    """All that is on the screen, on one line, without frames."""
    return " ".join("".join(char for char in seen(pilot) if char not in "┃│┏┓┗┛━╭╮╰╯─▌").split())


async def at(pilot: Pilot[Any], settle: Settle, text: str) -> None:
    """Go to the row that says this."""
    screen = screen_of(pilot)
    [screen.entries.cursor] = [key for key, (_, row) in screen._made.items() if text in row.body.plain]
    await settle(pilot)


async def texts(pilot: Pilot[Any], entity: str) -> list[str]:
    """What somebody believes."""
    return [line.text for line in await screen_of(pilot).game.knowledge.known_by(entity)]


def fill(pilot: Pilot[Any], **values: str) -> KnowledgeDialog:
    """Write into the fields of the dialog."""
    dialog = pilot.app.screen
    assert isinstance(dialog, KnowledgeDialog)
    for name, value in values.items():
        if name == "text":
            dialog.content.text = value
        else:
            dialog.query_one(f"#known-{name}", Input).value = value
    return dialog


# by hand


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_a_piece_is_written_once_it_can_be_and_what_it_comes_to_is_told(
    looking: Open, settle: Settle, seen: Seen, size: tuple[int, int]
) -> None:
    async with looking(size=size) as pilot:
        await keys(pilot, settle, "plus")
        assert "Bob Harrow will know it." in text_of(pilot, seen)
        fill(pilot, text="Gareth Pole sold the boat.", owner="Zork")
        await settle(pilot)
        assert "Nobody and nothing is called “Zork”." in text_of(pilot, seen)
        await keys(pilot, settle, "ctrl+s")
        assert isinstance(pilot.app.screen, KnowledgeDialog)
        fill(pilot, owner="mira vance", sure="140")
        await keys(pilot, settle, "ctrl+s")
        assert "a number from 0 to 100" in text_of(pilot, seen)
        fill(pilot, sure="85", importance="11")
        await keys(pilot, settle, "ctrl+s")
        assert "a number from 1 to 10" in text_of(pilot, seen)
        fill(pilot, importance="7", about="Tom Reed", topic="the Boat!")
        await keys(pilot, settle, "tab", "tab", "right", "right")
        assert "Bob Harrow and Mira Vance will know it." in text_of(pilot, seen)
        await keys(pilot, settle, "ctrl+s")
        screen = screen_of(pilot)
        assert len(pilot.app.screen_stack) == 2
        [line] = [one for one in await screen.game.knowledge.known_by(BOB) if "sold" in one.text]
        row = line.row
        assert (row.scope, row.scope_id, row.owner_id, row.subject_id) == ("faction", "quay", MIRA, TOM)
        assert (row.confidence, row.importance, row.topic_key) == (0.85, 7, "the_boat")
        assert screen.entries.cursor == row.id
        assert "Known from now on by Bob Harrow and Mira Vance." in seen(pilot)


async def test_what_is_known_already_stays_in_the_dialog(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "plus")
        dialog = fill(pilot, text="The lamp is lit at nine.")
        await keys(pilot, settle, "tab", "tab", "right", "right", "ctrl+s")
        assert "That is known already." in text_of(pilot, seen)
        assert dialog.content.text == "The lamp is lit at nine."
        await keys(pilot, settle, "escape")
        assert (await texts(pilot, BOB)).count("The lamp is lit at nine.") == 1


async def test_what_a_new_piece_ends_is_told(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(whose=Whose("entity", MIRA), size=(200, 50)) as pilot:
        await keys(pilot, settle, "plus")
        fill(pilot, text="The gate is open.")
        await keys(pilot, settle, "ctrl+s")
        assert "The gate is locked." not in await texts(pilot, MIRA)
        assert "It stands against what has ended now: The gate is locked." in seen(pilot)


async def test_an_edit_keeps_the_wording_before_and_that_can_come_back(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await at(pilot, settle, "boats")
        await keys(pilot, settle, "e")
        assert "Bob Harrow will know it in these words." in text_of(pilot, seen)
        fill(pilot, text="Gareth Pole owns three boats.", why="he said so")
        await keys(pilot, settle, "ctrl+s")
        assert "Gareth Pole owns three boats." in await texts(pilot, BOB)
        assert "3 wordings" in text_of(pilot, seen)
        await keys(pilot, settle, "enter")
        screen = screen_of(pilot)
        screen.detail.cursor = screen.detail.keys[-1]  # the first of all wordings
        await keys(pilot, settle, "b")
        assert "Gareth Pole owns a boat." in text_of(pilot, seen)
        await keys(pilot, settle, "y")
        assert "Gareth Pole owns a boat." in await texts(pilot, BOB)


async def test_what_is_deleted_stands_among_what_is_no_more_and_comes_back(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await at(pilot, settle, "lamp")
        await keys(pilot, settle, "d")
        assert "Bob Harrow and Mira Vance will know it no longer." in text_of(pilot, seen)
        await keys(pilot, settle, "escape")
        assert "The lamp is lit at nine." in await texts(pilot, MIRA)
        await keys(pilot, settle, "d", "y")
        assert "The lamp is lit at nine." not in await texts(pilot, MIRA)
        await keys(pilot, settle, "o", "left", "enter")
        text = text_of(pilot, seen)
        assert "The lamp is lit at nine." in text
        assert "The cellar is dry." in text
        assert "It is no more" in text
        assert "e Edit" not in text
        await keys(pilot, settle, "b", "y")
        assert "The lamp is lit at nine." in await texts(pilot, MIRA)


async def test_what_was_done_last_is_taken_back_and_brought_again(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await at(pilot, settle, "lamp")
        await keys(pilot, settle, "d", "y")
        assert "The lamp is lit at nine." not in await texts(pilot, BOB)
        await keys(pilot, settle, "u", "u")
        assert "The lamp is lit at nine." in await texts(pilot, BOB)
        assert "Taken back:" in seen(pilot)
        assert "The lamp is lit at nine." in " ".join(screen_of(pilot).entries.text().split())
        await keys(pilot, settle, "U", "U")
        assert "The lamp is lit at nine." not in await texts(pilot, BOB)


async def test_a_pin_is_set_and_let_go(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await at(pilot, settle, "boats")
        await keys(pilot, settle, "p")
        screen = screen_of(pilot)
        assert "■ pinned" in " ".join(screen.entries.text().split())
        assert "It never sinks: it is pinned." in " ".join(screen.detail.text().split())
        await keys(pilot, settle, "p")
        assert "■ pinned" not in " ".join(screen.entries.text().split())


async def test_who_would_come_to_know_it_is_told_while_one_chooses(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await at(pilot, settle, "boats")
        await keys(pilot, settle, "s")
        assert "It is held so now." in text_of(pilot, seen)
        await keys(pilot, settle, "down")
        assert "Gareth Pole would come to know it. Bob Harrow would know it still." in text_of(pilot, seen)
        await keys(pilot, settle, "down")
        assert "Mira Vance would come to know it." in text_of(pilot, seen)
        await keys(pilot, settle, "enter")
        assert "Gareth Pole owns two boats." in await texts(pilot, MIRA)
        await keys(pilot, settle, "n")
        assert "Mira Vance will not know it any more." in text_of(pilot, seen)
        await keys(pilot, settle, "y")
        assert "Gareth Pole owns two boats." not in await texts(pilot, MIRA)


async def test_factions_tell_what_they_teach_before_they_are_set(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(whose=Whose("entity", TOM), chosen=TOM) as pilot:
        await keys(pilot, settle, "F")
        pilot.app.screen.query_one("#factions", Input).value = "quay, smugglers"
        await settle(pilot)
        text = text_of(pilot, seen)
        assert "Joining quay: Tom Reed learns 1 piece" in text
        assert "The lamp is lit at nine." in text
        assert "Joining smugglers: Tom Reed learns 0 pieces" in text
        await keys(pilot, settle, "enter")
        assert "The lamp is lit at nine." in await texts(pilot, TOM)
        assert "Tom Reed has joined quay, joined smugglers." in seen(pilot)


# promotion


async def test_promotion_says_what_it_looks_at_and_what_it_did_and_can_be_taken_back(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "P")
        assert "It looks at 1 piece: short-term" in text_of(pilot, seen)
        await keys(pilot, settle, "y")
        text = text_of(pilot, seen)
        assert "What promotion did" in text
        assert "It looked at 1 piece" in text
        assert "The Heron carries salt. (held by the faction quay)" in text
        assert "The Heron carries salt." in await texts(pilot, MIRA)
        await keys(pilot, settle, "escape")
        await at(pilot, settle, "Heron")
        await keys(pilot, settle, "r")
        assert "It becomes short-term and Bob Harrow's own again. Mira Vance will not know it any more." in text_of(pilot, seen)
        await keys(pilot, settle, "y")
        assert "The Heron carries salt." not in await texts(pilot, MIRA)


async def test_with_nothing_to_promote_it_is_said(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await at(pilot, settle, "Heron")
        await keys(pilot, settle, "d", "y", "P")
        assert "Nothing to promote" in seen(pilot)


# what waits


async def test_what_waits_tells_why_and_who_would_know_and_is_approved(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "2")
        text = text_of(pilot, seen)
        for part in (
            "○ it is sensitive", "→ the faction quay: Mira Vance would come to know it.", "It waits since round 1: it is sensitive",
            "Approved, it would be held by the faction quay",
        ):
            assert part in text
        await keys(pilot, settle, "a")
        assert "Gareth Pole killed the ferryman." in await texts(pilot, MIRA)
        assert "Nothing waits for your word." in text_of(pilot, seen)


async def test_what_waits_is_edited_and_approved_at_once(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "2", "e")
        assert "Then it is approved. Mira Vance would come to know it." in text_of(pilot, seen)
        fill(pilot, text="Gareth Pole buried the ferryman.")
        await keys(pilot, settle, "ctrl+s")
        assert "Gareth Pole buried the ferryman." in await texts(pilot, MIRA)


@pytest.mark.parametrize(
    ("pressed", "bob", "mira", "tom"),
    [(("x",), False, False, False), (("n",), True, False, False), (("s", "end", "up", "up", "up", "enter"), True, True, True)],
    ids=["rejected", "narrowed", "widened"],
)
async def test_what_waits_is_decided_otherwise(
    looking: Open, settle: Settle, pressed: tuple[str, ...], bob: bool, mira: bool, tom: bool
) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "2", *pressed)
        known = [("Gareth Pole killed the ferryman." in await texts(pilot, one)) for one in (BOB, MIRA, TOM)]
        assert known == [bob, mira, tom]
        assert not await screen_of(pilot).game.knowledge.queue()


# questions


async def test_a_question_is_answered_as_it_was_then_with_what_became_of_it(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "Q")
        await typed(pilot, settle, "What did Bob believe about Gareth at round 0?")
        await keys(pilot, settle, "enter")
        text = text_of(pilot, seen)
        for part in (
            "What Bob Harrow believed about Gareth Pole, end of round 0", "Gareth Pole owns a boat.",
            "→ Now: Gareth Pole owns two boats.", "As it was at the end of round 0", "changed since", "[3 Asked 1]",
        ):
            assert part in text
        fields = [screen_of(pilot).query_one(f"#ask-{name}", Input).value for name in ("who", "about", "round")]
        assert fields == ["Bob Harrow", "Gareth Pole", "0"]
        await keys(pilot, settle, "b")
        assert "Bring this wording back?" in text_of(pilot, seen)
        await keys(pilot, settle, "y")
        assert "Gareth Pole owns a boat." in await texts(pilot, BOB)


async def test_a_question_is_asked_by_three_fields(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "3")
        screen = screen_of(pilot)
        screen.query_one("#ask-who", Input).value = "Mira Vance"
        screen.query_one("#ask-who", Input).focus()
        await keys(pilot, settle, "enter")
        assert screen.box.line.value == "What did Mira Vance believe?"
        assert "The gate is locked." in text_of(pilot, seen)
        assert "still so" in text_of(pilot, seen)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What did Mirra believe?", "Did you mean Mira Vance?"),
        ("Who is Bob?", "Ask, say: What did Bob Harrow believe about Mira Vance at round 1?"),
        ("What did Bob believe about Garet?", "in what Bob Harrow believed then. Did you mean Gareth Pole?"),
        ("What did Bob believe at round 99?", "There has been no round 99."),
        ("What did Tom believe about Gareth?", "Tom Reed believed nothing about Gareth Pole then."),
    ],
)
async def test_a_question_without_an_answer_says_how_to_ask(
    looking: Open, settle: Settle, seen: Seen, question: str, said: str
) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "Q")
        screen_of(pilot).box.line.value = question
        await keys(pilot, settle, "enter")
        assert said in text_of(pilot, seen)


async def test_a_player_asks_by_its_own_names_and_learns_no_others(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking(played=BOB) as pilot:
        await keys(pilot, settle, "Q")
        box = screen_of(pilot).box
        box.line.value = "What did you believe about the tall stranger?"
        await keys(pilot, settle, "enter")
        assert "The tall stranger owns two boats." in text_of(pilot, seen)
        await keys(pilot, settle, "Q")
        box.line.value = "What did Gareth Pole believe?"
        await keys(pilot, settle, "enter")
        text = text_of(pilot, seen)
        assert 'Nobody with a mind is called "Gareth Pole".' in text
        assert "the tall stranger" in text


NAMES = ("Mira Vance", "Tom Reed")


@pytest.mark.parametrize(
    ("value", "guess"),
    [
        ("W", "What did "), ("What did M", "What did Mira Vance"), ("What did Mira Vance", "What did Mira Vance believe about "),
        ("What did Mira Vance believe", "What did Mira Vance believe about "),
        ("What did Mira Vance believe about t", "What did Mira Vance believe about tom Reed"),
        ("What did Mira Vance believe about Tom Reed at r", "What did Mira Vance believe about Tom Reed at round 12?"),
        ("What did Mira Vance believe about the boat", "What did Mira Vance believe about the boat at round 12?"),
        ("", None), ("Zork", None), ("What did Z", None),
    ],
)
def test_questions_are_completed_with_names_and_the_present_round(value: str, guess: str | None) -> None:
    assert completed(value, NAMES, 12) == guess


def test_a_name_nobody_has_is_answered_with_those_that_are_there() -> None:
    assert nearest("Mirra", NAMES) == "Did you mean Mira Vance?"
    assert nearest("Xqz", NAMES) == "There are Mira Vance, Tom Reed."


# all of it by name


async def test_every_key_is_in_the_palette_with_what_it_does(looking: Open, settle: Settle) -> None:
    async with looking() as pilot:
        assert {one.id for one in KnowledgeScreen.BINDINGS if isinstance(one, Binding) and one.show and one.key != "ctrl+q"} - {None}
        for one in KnowledgeScreen.BINDINGS:
            assert isinstance(one, Binding)
            assert one.tooltip or one.action in ("app.show_help", "turn(-1)")
        commands = {str(one.text) async for one in Commands(screen_of(pilot)).discover()}
        assert {"Whose", "Only…", "Add", "Edit", "Scope", "Pin", "Delete", "Promote", "Factions", "Ask", "In full"} <= commands
