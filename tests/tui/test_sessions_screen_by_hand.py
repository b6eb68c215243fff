"""Sessions by hand on the Sessions screen: nothing typed is lost, and what is asked for happens in the save."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

from engine.errors import CapReachedError, ModelError
from engine.llm.protocol import ModelRequest
from engine.llm.scripted import Scripted
from tests.tui.keys import keys
from tests.tui.session_games import SMALL, TALK, Show, fact, host, inn, reply, says, show, talked
from tui.dialogs.one_of import OneOf
from tui.dialogs.session import ScratchDialog, StartDialog, TurnDialog
from tui.host import GameHost
from tui.panes.sessions_ended import KNOWN, NOTE, TURN
from tui.screens.audit import AuditScreen
from tui.screens.knowledge import KnowledgeScreen
from tui.screens.sessions import SessionsScreen

__all__ = ["host", "show"]

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["narrow", "medium"])


def at(pilot: Pilot[Any], beginning: str) -> str:
    """Put the cursor of the detail on the first row whose key begins so."""
    screen = pilot.app.screen
    assert isinstance(screen, SessionsScreen)
    screen.detail.cursor = next(key for key in screen.detail.keys if key.startswith(beginning))
    return screen.detail.cursor


def top(pilot: Pilot[Any]) -> type:
    """The kind of screen that is shown."""
    return type(pilot.app.screen)


def asked(pilot: Pilot[Any]) -> str:
    """The words of the dialog in sight, as one line."""
    return " ".join(" ".join(str(one.render()) for one in pilot.app.screen.query(Static)).split())


@SIZES
async def test_a_session_is_begun_with_a_goal_and_nothing_typed_is_lost(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path, size: tuple[int, int],
) -> None:
    game = await inn(host, tmp_path)
    async with show(lambda: SessionsScreen(host, agent="mira_2"), size) as pilot:
        await keys(pilot, settle, "plus")
        dialog = pilot.app.screen
        assert isinstance(dialog, StartDialog)
        assert dialog.query_one("#agent", OneOf).value == "mira_2"
        assert dialog.query_one("#actor", OneOf).value == "bob"
        await keys(pilot, settle, "tab", "m", "tab", *"ask @nobody", "ctrl+s")
        assert "A session is with somebody else." in seen(pilot)
        await keys(pilot, settle, "shift+tab", "g", "ctrl+s")
        assert 'Nobody here has the id "nobody".' in seen(pilot)
        assert dialog.query_one("#goal", Input).value == "ask @nobody"
        assert len(await game.sessions.list()) == 1, "it is begun; only its goal is still to be said"
        dialog.query_one("#goal", Input).value = "ask @bob"
        await keys(pilot, settle, "ctrl+s")
        assert "Begun." in seen(pilot)
        [session] = await game.sessions.list()
        assert (session.agent_id, session.actor_id, session.policy.mode) == ("mira_2", "gareth_3", "auto")
        assert session.scratch == {"goal": "ask {{e:bob}}"}
        assert "ask Bob Harrow" in pilot.app.screen.detail.text()  # type: ignore[attr-defined]
        await keys(pilot, settle, "plus", "tab", "g", "ctrl+s")
        assert "These two have a session already" in seen(pilot)
        await keys(pilot, settle, "b", "tab", "tab", "right", "ctrl+s")
        assert (await game.sessions.list())[0].policy.mode == "explicit"
        assert "only a word ends it" in seen(pilot)


@SIZES
async def test_a_turn_is_added_with_its_role_hint_and_pin(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path, size: tuple[int, int],
) -> None:
    game = await inn(host, tmp_path)
    key = await talked(game, [])
    async with show(lambda: SessionsScreen(host), size) as pilot:
        await keys(pilot, settle, "t", "ctrl+s")
        assert "Write what was said." in seen(pilot)
        await keys(pilot, settle, *"The mill burned.", "tab", *"fire", "tab", "space", "ctrl+s")
        [turn] = await game.sessions.turns(key)
        assert (turn.role, turn.content, turn.hint, turn.pinned) == ("actor", "The mill burned.", "fire", True)
        assert "Added." in seen(pilot)
        await keys(pilot, settle, "t", *"Mira Vance left @nobody", "shift+tab", "a", "ctrl+s")
        dialog = pilot.app.screen
        assert isinstance(dialog, TurnDialog)
        assert dialog.query_one("#role", OneOf).value == "note"
        assert 'Nobody here has the id "nobody".' in seen(pilot)
        assert dialog.query_one("#turn-text", TextArea).text == "Mira Vance left @nobody"
        await keys(pilot, settle, "escape")
        assert len(await game.sessions.turns(key)) == 1


async def test_a_turn_is_pinned_and_let_go(host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    game = await inn(host, tmp_path)
    key = await talked(game, TALK)
    async with show(lambda: SessionsScreen(host)) as pilot:
        await keys(pilot, settle, "enter")
        within = at(pilot, TURN)
        await keys(pilot, settle, "p")
        assert (await game.sessions.turns(key))[0].pinned
        assert pilot.app.screen.detail.cursor == within  # type: ignore[attr-defined]
        assert "■ Mira Vance: I own a boat, the Heron." in seen(pilot)
        await keys(pilot, settle, "p")
        assert not (await game.sessions.turns(key))[0].pinned
        await keys(pilot, settle, "escape", "p")
        assert not (await game.sessions.turns(key))[0].pinned, "in the list there is no turn under the cursor"


@SIZES
async def test_notes_are_written_changed_and_taken_away(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path, size: tuple[int, int],
) -> None:
    game = await inn(host, tmp_path)
    key = await talked(game, TALK)
    async with show(lambda: SessionsScreen(host), size) as pilot:
        await keys(pilot, settle, "s", *"[red]", "tab", *"she lies", "ctrl+s")
        assert '"[red]" cannot be the key of a note.' in seen(pilot)
        dialog = pilot.app.screen
        assert isinstance(dialog, ScratchDialog)
        assert dialog.query_one("#note-text", TextArea).text == "she lies"
        dialog.query_one("#key", Input).value = "hypothesis"
        await keys(pilot, settle, "ctrl+s", "enter")
        at(pilot, NOTE)
        await keys(pilot, settle, "e", *" to Bob Harrow", "ctrl+s")
        assert (await game.sessions.get(key)).scratch == {"hypothesis": "she lies to {{e:bob}}"}
        at(pilot, NOTE)
        await keys(pilot, settle, "e")
        assert "she lies to you" in seen(pilot), "as its owner reads it"
        await keys(pilot, settle, "escape", "d")
        assert (await game.sessions.get(key)).scratch == {}
        assert (await game.sessions.get(key)).status == "open"


@SIZES
async def test_collapsing_says_first_what_it_costs(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path, size: tuple[int, int],
) -> None:
    game = await inn(host, tmp_path)
    key, small = await talked(game, TALK), await talked(game, SMALL, "mira_2", "bob")
    model = says(game, reply(fact("P2 owns a boat, the Heron.", "M1")))
    assert isinstance(model, Scripted)
    async with show(lambda: SessionsScreen(host), size) as pilot:
        await keys(pilot, settle, "c")
        text = asked(pilot)
        assert "No model will be asked: small talk" in text
        await keys(pilot, settle, "escape", "down", "c")
        text = asked(pilot)
        assert "openai/scripted-mini will be asked" in text
        assert "of reply." in text
        assert model.requests == []
        await keys(pilot, settle, "y")
        await game.settled()
        await settle(pilot)
        assert (await game.sessions.get(key)).status == "collapsed"
        assert (await game.sessions.get(small)).status == "open"
        assert "1 learned" in seen(pilot)


async def test_discarding_says_what_is_lost_and_is_taken_back(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path,
) -> None:
    game = await inn(host, tmp_path)
    key = await talked(game, TALK, pinned=1)
    await game.sessions.scratch(key, "hypothesis", "she lies")
    async with show(lambda: SessionsScreen(host)) as pilot:
        await keys(pilot, settle, "d")
        text = asked(pilot)
        assert "6 turns · 52 tokens · ■ 1 pinned come to nothing" in text
        assert "Its 1 note no longer stands in the agent's prompt." in text
        await keys(pilot, settle, "escape")
        assert (await game.sessions.get(key)).status == "open"
        await keys(pilot, settle, "d", "y")
        assert (await game.sessions.get(key)).status == "discarded"
        assert len(await game.sessions.turns(key)) == 6
        await keys(pilot, settle, "r")
        assert (await game.sessions.get(key)).status == "open"
        await keys(pilot, settle, "d", "y")
        other = await talked(game, SMALL)
        await settle(pilot)
        await keys(pilot, settle, "r")
        assert f"These two have begun another session: {other}." in seen(pilot)


async def test_a_failed_collapse_is_tried_again(host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    game = await inn(host, tmp_path)
    says(game, ModelError("The wire broke."), reply(fact("P2 owns a boat, the Heron.", "M1")))
    key = await talked(game, TALK)
    async with show(lambda: SessionsScreen(host)) as pilot:
        await game.sessions.collapse(key)
        await game.settled()
        await settle(pilot)
        assert "could not be collapsed: The wire broke. Nothing was lost; r on it tries again." in seen(pilot)
        await keys(pilot, settle, "r")
        await game.settled()
        await settle(pilot)
        assert (await game.sessions.get(key)).status == "collapsed"
        told = " ".join(pilot.app.screen.detail.text().split())  # type: ignore[attr-defined]
        assert "A try that failed, round 0" in told


async def test_what_a_cap_gave_up_is_told_and_begun_again(
    host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path,
) -> None:
    game = await inn(host, tmp_path)

    def capped(request: ModelRequest) -> str:
        raise CapReachedError("No more [today].", cap="run_tokens")

    says(game, capped, reply(fact("P2 owns a boat, the Heron.", "M1")))
    key = await talked(game, TALK)
    async with show(lambda: SessionsScreen(host)) as pilot:
        await game.sessions.collapse(key)
        await game.settled()
        await settle(pilot)
        assert "No more [today]." in seen(pilot)
        assert "being collapsed" in seen(pilot)
        await keys(pilot, settle, "r")
        await game.settled()
        await settle(pilot)
        assert (await game.sessions.get(key)).status == "collapsed"


async def test_enter_on_what_became_of_it_shows_its_history(host: GameHost, show: Show, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    game = await inn(host, tmp_path)
    says(game, reply(fact("P2 owns a boat, the Heron.", "M1")))
    key = await talked(game, TALK)
    await game.sessions.collapse(key)
    await game.settled()
    async with show(lambda: SessionsScreen(host)) as pilot:
        await keys(pilot, settle, "enter")
        at(pilot, KNOWN)
        await keys(pilot, settle, "enter")
        assert top(pilot) is KnowledgeScreen
        assert pilot.app.screen.entries.cursor == "kno-000001"  # type: ignore[attr-defined]
        await keys(pilot, settle, "q", "A")
        assert top(pilot) is AuditScreen
        assert key in seen(pilot).splitlines()[0]
        await game.knowledge.delete("kno-000001")
        await keys(pilot, settle, "escape")
        at(pilot, KNOWN)
        await keys(pilot, settle, "enter")
        assert top(pilot) is AuditScreen
        assert "kno-000001" in seen(pilot).splitlines()[0]
