"""Taking back and bringing again on the Play screen, over the real engine: what is shown first, and that all panes follow."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.events import HistoryMoved
from tests.engine.behind import a_world
from tests.tui.keys import keys
from tui.app import OthermindsApp
from tui.dialogs.turning import TurnDialog
from tui.host import GameHost
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])


@pytest.fixture
async def app(tmp_path: Path) -> OthermindsApp:
    host = GameHost(tmp_path, speed=0.0)
    await host.open_new(a_world(tmp_path / "house"), 7)
    assert host.game is not None
    path = host.game.path
    await host.close()
    return OthermindsApp(host, start=path)


def play(pilot: Pilot[Any]) -> PlayScreen:
    screen = pilot.app.screen
    assert isinstance(screen, PlayScreen)
    return screen


def told(pilot: Pilot[Any]) -> str:
    """The whole story."""
    return play(pilot).story.rows.text()


@SIZES
async def test_the_last_beat_is_shown_then_taken_back(app: OthermindsApp, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "n")
        first = told(pilot)
        await keys(pilot, settle, "n")
        assert app.host.game is not None
        steps = await app.host.game.history.done(1)
        await keys(pilot, settle, "u")
        assert isinstance(app.screen, TurnDialog)
        text = " ".join(seen(pilot).split())
        assert "Take back" in text
        assert "Takes back 1 step: Cyd Marsh: " in text
        await keys(pilot, settle, "u")
        assert "Taken back: Cyd Marsh: " in seen(pilot)
        assert steps[0].changes[-1].seq > (await app.host.game.history.done(1))[0].changes[-1].seq
        await keys(pilot, settle, "u", "r", "enter")
        assert told(pilot) == first
        assert play(pilot).view.world == app.host.game.world
        assert app.host.game.world.round == 1
        assert "Taken back: all of round 2: 2 beats" in seen(pilot)
        await keys(pilot, settle, "U", "r", "U")
        assert "Brought again: all of round 2: 3 beats" in seen(pilot)
        assert app.host.game.world.round == 2
        assert "2" in told(pilot)
    await app.host.close()


async def test_what_was_taken_back_at_once_is_brought_again_at_once(app: OthermindsApp, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "n", "n")
        game = app.host.game
        assert game is not None
        told_then, world = told(pilot), game.world
        await keys(pilot, settle, "u", "r", "enter", "u", "enter")
        assert game.world.round == 1
        assert len(await game.history.undone()) == 4
        await keys(pilot, settle, "U")
        assert "Brings again 1 step: " in " ".join(seen(pilot).split())
        await keys(pilot, settle, "enter", "U")
        assert "Brings again 3 steps: all of round 2: 3 beats" in " ".join(seen(pilot).split())
        await keys(pilot, settle, "enter")
        assert "Brought again: all of round 2: 3 beats" in seen(pilot)
        assert told(pilot) == told_then
        assert game.world == world
        await keys(pilot, settle, "u", "r", "enter", "U", "up", "enter")  # less of it: the rest still belongs together
        assert len(await game.history.undone()) == 1
        await keys(pilot, settle, "u", "enter")
        assert await game.history.together() == 1
    await app.host.close()


async def test_leaving_changes_nothing(app: OthermindsApp, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "u")
        assert "Nothing has happened that could be taken back." in seen(pilot)
        await keys(pilot, settle, "U")
        assert "There is nothing to bring again." in seen(pilot)
        await keys(pilot, settle, "n")
        assert app.host.game is not None
        before = await app.host.game.history.done()
        await keys(pilot, settle, "u", "down", "down", "escape")
        assert await app.host.game.history.done() == before
    await app.host.close()


async def test_down_goes_further_and_r_by_rounds(app: OthermindsApp, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "n", "n", "u", "down")
        assert "Takes back 2 steps: round 2: 2 beats" in " ".join(seen(pilot).split())
        await keys(pilot, settle, "r")
        assert "all of round 2: 3 beats" in " ".join(seen(pilot).split())
        await keys(pilot, settle, "r")
        assert "all of round 1: 3 beats" in " ".join(seen(pilot).split())
        await keys(pilot, settle, "enter")
        assert app.host.game is not None
        assert app.host.game.world.round == 0
        assert play(pilot).view.world == app.host.game.world
    await app.host.close()


async def test_a_mind_an_alias_and_a_memory_are_shown_as_they_were(app: OthermindsApp, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        game = app.host.game
        assert game is not None
        await keys(pilot, settle, "n")
        chosen = play(pilot).view.chosen or ""
        mind, names, ledger = play(pilot).view.mind, play(pilot).view.names, [line.entry.id for line in await game.ledger(chosen)]
        await keys(pilot, settle, "4", "p")
        assert play(pilot).view.mind != mind
        await game.memory.add_memory(chosen, "{{e:" + chosen + "}} found a heron's nest.")
        await settle(pilot)
        assert "heron" in play(pilot).ledger.rows.text()
        await keys(pilot, settle, "u", "down", "enter")
        assert "heron" not in play(pilot).ledger.rows.text()
        assert [line.entry for line in play(pilot).view.mind.lines] == [line.entry for line in mind.lines]
        assert play(pilot).view.names == names
        assert [line.entry.id for line in await game.ledger(chosen)] == ledger
    await app.host.close()


async def test_what_waits_is_gone_and_comes_again(app: OthermindsApp, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "V", "n", "n")
        assert play(pilot).view.waiting
        await keys(pilot, settle, "u", "end", "enter")
        assert not play(pilot).view.waiting
        assert not play(pilot).view.review
        await keys(pilot, settle, "U", "end", "enter")
        assert play(pilot).view.waiting
        assert play(pilot).view.review
    await app.host.close()


async def test_not_while_a_round_is_played(app: OthermindsApp, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "n")
        app.host.start_step(rounds=30)
        play(pilot).action_undo()
        await pilot.pause()
        await pilot.pause()
        assert app.host.running
        assert not isinstance(app.screen, TurnDialog)
        assert "A round is being played." in seen(pilot)
        await app.host.stop()
        await settle(pilot)
    await app.host.close()


async def test_the_host_takes_back_and_brings_again_without_a_dialog(app: OthermindsApp, tmp_path: Path) -> None:
    host = app.host
    await host.undo()  # no game: nothing to do
    game = await host.open_new(a_world(tmp_path / "other"), 7)
    heard: list[str] = []
    game.listen(lambda event: heard.append(event.text) if isinstance(event, HistoryMoved) else None)
    await game.set_alias("ada_finch", "bo_reed", "Master Reed")
    await host.undo()
    assert "bo_reed" not in game.world.entities["ada_finch"].aliases
    await host.redo()
    assert game.world.entities["ada_finch"].aliases["bo_reed"] == "Master Reed"
    assert heard == ["Ada Finch: the name for Bo Reed is Master Reed now"] * 2
    await host.close()
