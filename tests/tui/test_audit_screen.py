"""The Audit screen: what was done, to what, by what and why; filters, pages, histories, live."""

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.game import Game
from engine.knowledge_desk import KnowledgeEdit
from engine.storage.knowledge_audit import Change
from tests.tui.keys import keys
from tests.tui.scripted import HOSTILE
from tests.tui.session_games import SMALL, TALK, Show, fact, host, inn, reply, says, show, talked
from tui.dialogs.audit import AuditDialog, rounds_of, spelt
from tui.host import GameHost
from tui.screens.audit import AuditScreen
from tui.screens.sessions import SessionsScreen

__all__ = ["host", "show"]

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])


async def played(host: GameHost, folder: Path) -> Game:
    """A game in which a session was collapsed and what came of it was changed by hand."""
    game = await inn(host, folder)
    says(game, reply(fact("P2 owns a boat, the Heron.", "M1", topic="mira_boat")))
    await game.sessions.collapse(await talked(game, TALK))
    await game.settled()
    await game.knowledge.edit("kno-000001", KnowledgeEdit(content="Mira Vance owns a ship, the Heron.", importance=9))
    await talked(game, SMALL, "mira_2", "gareth_3")
    return game


def all_of(pilot: Pilot[Any], what: str = "entries") -> str:
    """All lines of a list as one, also those out of sight."""
    return " ".join(getattr(pilot.app.screen, what).text().split())


@SIZES
async def test_rows_say_what_was_done_by_what_and_why(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path, size: tuple[int, int],
) -> None:
    await played(host, tmp_path)
    async with show(lambda: AuditScreen(host), size) as pilot:
        assert "all changes to sessions and knowledge, newest first" in seen(pilot)
        text = all_of(pilot)
        for part in (
            "opened Mira Vance with Gareth ses-000002", "by hand · begun by hand",
            "owns a ship, the Heron.", "importance 6 → 9",
            "collapsed Bob Harrow with Mira Vance ses-000001", "open → collapsing", "added Mira Vance owns a boat, the Heron.",
        ):
            assert part in text, part
        assert "{{e:" not in text
        await keys(pilot, settle, "down")
        told = all_of(pilot, "detail")
        for part in (
            "edited, by hand · Bob Harrow", "Round 0 · just now · 1 March 1247, 17:40", "Before Mira Vance owns a boat, the Heron.",
            "After Mira Vance owns a ship, the Heron.", "Changed Importance 6 → 9", "only this piece of knowledge: kno-000001",
        ):
            assert part in told, part


async def test_without_rows_it_says_what_leaves_them(host: GameHost, show: Show, seen: Seen, tmp_path: Path) -> None:
    await inn(host, tmp_path)
    async with show(lambda: AuditScreen(host)) as pilot:
        assert "Nothing was done to sessions or knowledge yet." in seen(pilot)


async def test_enter_shows_the_history_of_a_piece_or_the_session(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path,
) -> None:
    await played(host, tmp_path)
    async with show(lambda: AuditScreen(host)) as pilot:
        await keys(pilot, settle, "down", "enter")
        assert "History of kno-000001" in seen(pilot)
        told = all_of(pilot, "detail")
        for part in ("How it read (2 wordings)", "1 Mira Vance owns a boat, the Heron.", "2 Mira Vance owns a ship", "What was done to it"):
            assert part in told, part
        await keys(pilot, settle, "escape")
        assert "In full" in seen(pilot)
        await keys(pilot, settle, "up", "enter")
        assert isinstance(pilot.app.screen, SessionsScreen)
        assert pilot.app.screen.entries.cursor == "ses-000002"


async def test_the_dialog_narrows_by_all_that_it_asks(host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    await played(host, tmp_path)
    async with show(lambda: AuditScreen(host)) as pilot:
        await keys(pilot, settle, "o", "e", "tab", "b", "tab", "b", "tab", *"0-x", "ctrl+s")
        assert "Rounds are numbers" in seen(pilot)
        assert isinstance(pilot.app.screen, AuditDialog)
        await keys(pilot, settle, "backspace", "9", "tab", *"one", "ctrl+s")
        assert "“one” is no key of a session" in seen(pilot)
        await keys(pilot, settle, "backspace", "backspace", "backspace", "1", "ctrl+s")
        assert "edited · by hand · Bob Harrow · rounds 0 to 9 · ses-000001" in seen(pilot)
        text = all_of(pilot)
        assert "open → collapsing" in text
        assert "opened" not in text
        await keys(pilot, settle, "escape")
        assert "all changes" in seen(pilot)
        assert "opened" in all_of(pilot)


async def test_rows_of_the_same_session_piece_or_run_are_shown_by_a_key(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path,
) -> None:
    await played(host, tmp_path)
    async with show(lambda: AuditScreen(host)) as pilot:
        await keys(pilot, settle, "s")
        assert "ses-000002" in seen(pilot).splitlines()[0]
        assert "Heron" not in all_of(pilot)
        await keys(pilot, settle, "s", "down", "s")
        row = pilot.app.screen.entries.cursor  # type: ignore[attr-defined]
        assert len(pilot.app.screen.lines) == 5  # type: ignore[attr-defined]
        await keys(pilot, settle, "s")
        assert (len(pilot.app.screen.lines), pilot.app.screen.entries.cursor) == (6, row)  # type: ignore[attr-defined]
        await keys(pilot, settle, "p")
        assert "kno-000001" in seen(pilot).splitlines()[0]
        assert len(pilot.app.screen.lines) == 2  # type: ignore[attr-defined]
        await keys(pilot, settle, "p", "down", "down", "r")
        assert "col-000001" in seen(pilot).splitlines()[0]


async def test_words_are_found_over_all_pages(host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    game = await inn(host, tmp_path)

    def many(conn: sqlite3.Connection) -> None:
        for number in range(1_500):
            change = Change("edited", "hand", f"reason {number}", game.world.now)
            game._store.audit.add(conn, change, owner="bob", before=f"{{{{e:mira_2}}}} had {number}", after=f"now {number}")

    await game._store.db.write(many)
    async with show(lambda: AuditScreen(host)) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, AuditScreen)
        assert len(screen.lines) == 200
        assert "200 so far" in seen(pilot)
        await keys(pilot, settle, "end")
        assert len(screen.lines) == 400
        assert screen.under is not None
        assert screen.under.why == "reason 1299"
        await keys(pilot, settle, "slash", *"vance 17")
        assert [line.why for line in screen.lines][-1] == "reason 17"
        assert "reason 1317" not in all_of(pilot) or len(screen.lines) == len([n for n in range(1_500) if "17" in str(n)])
        await keys(pilot, settle, *"xyz")
        assert "Nothing fits." in seen(pilot)
        await keys(pilot, settle, "escape")
        assert len(screen.lines) == 200


async def test_rows_come_in_above_and_the_cursor_stays(host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    game = await played(host, tmp_path)
    async with show(lambda: AuditScreen(host)) as pilot:
        await keys(pilot, settle, "down")
        screen = pilot.app.screen
        assert isinstance(screen, AuditScreen)
        held, number = screen.entries.cursor, len(screen.lines)
        await game.sessions.discard("ses-000002")
        await settle(pilot)
        assert (screen.entries.cursor, len(screen.lines)) == (held, number + 1)
        assert "open → discarded" in seen(pilot)


async def test_it_opens_on_one_piece_or_one_session_and_for_a_player_in_its_names(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path,
) -> None:
    game = await played(host, tmp_path)
    game.play_as("bob")
    async with show(lambda: AuditScreen(host, knowledge="kno-000001")) as pilot:
        text = all_of(pilot) + all_of(pilot, "detail")
        assert "Mira owns a ship" in text
        assert "Vance" not in text
        await keys(pilot, settle, "escape")
        assert not isinstance(pilot.app.screen, AuditScreen)


@SIZES
async def test_hostile_words_are_drawn_as_they_are(host: GameHost, show: Show, seen: Seen, tmp_path: Path, size: tuple[int, int]) -> None:
    game = await inn(host, tmp_path)
    change = Change("edited", "hand", HOSTILE, game.world.now)
    await game._store.db.write(lambda conn: game._store.audit.add(conn, change, owner="bob", before=HOSTILE, after=f"now {HOSTILE}"))
    async with show(lambda: AuditScreen(host), size) as pilot:
        assert "[red]x[/] [/nope]" in all_of(pilot)
        assert "\x1b" not in all_of(pilot) + seen(pilot)


@pytest.mark.parametrize(("text", "meant"), [
    ("", (None, None)), ("12", (12, 12)), ("12-30", (12, 30)), (" 12 to 30 ", (12, 30)), ("12-", (12, None)), ("-30", (None, 30)),
    ("30-12", (12, 30)), ("x", None), ("-", None), ("1 2", None), ("1-2-3", None),
])  # fmt: skip
def test_rounds_are_read_as_people_write_them(text: str, meant: tuple[int | None, int | None] | None) -> None:
    assert rounds_of(text) == meant


def test_keys_are_read_as_people_write_them() -> None:
    assert [spelt(text, ("ses",)) for text in ("", "12", "ses-12", "SES-000012", "kno-1", "x")] == [
        "", "ses-000012", "ses-000012", "ses-000012", None, None,
    ]
    assert [spelt(text, ("col", "pro")) for text in ("12", "pro-3")] == [None, "pro-000003"]
