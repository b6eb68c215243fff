"""The host owns the game: leaving the app never cuts a beat, and closing is always safe."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from engine.errors import OthermindsError
from tui.host import GameHost
from tui.pace import Heard, Refused, Rested
from tui.saves import SaveNote


async def rested(host: GameHost) -> list[Any]:
    """Everything up to the moment play rests."""
    items: list[Any] = []
    while host.running or len(host.pacer):
        items += host.take()
        await asyncio.sleep(0)
    return [*items, *host.take()]


async def test_a_round_is_heard_and_told(host: GameHost, tmp_path: Path) -> None:
    await host.open_new(tmp_path)
    host.start_step()
    items = await rested(host)
    assert isinstance(items[-1], Rested)
    assert (items[-1].why, items[-1].rounds) == ("done", 1)
    told = [item.told for item in items if isinstance(item, Heard) and item.event.kind == "happened"]
    assert told[0][None].text == 'Bryn Harrow said: "Round 1, says bryn."'
    assert told[0]["mira"].text == 'The broad woman said: "Round 1, says bryn."'
    await host.close()


async def test_rounds_can_be_added_paused_and_counted(host: GameHost, games: Any, tmp_path: Path) -> None:
    await host.open_new(tmp_path)
    host.start_step(rounds=2)
    host.start_step()
    assert host.left == 3
    items = await rested(host)
    assert items[-1].rounds == 3
    host.start_step(rounds=50)
    await asyncio.sleep(0)
    host.pause()
    items = await rested(host)
    assert (items[-1].why, items[-1].rounds) == ("paused", 1)
    assert len(games.game.steps) == 4
    await host.close()


async def test_play_waits_for_the_reader_between_rounds(games: Any, tmp_path: Path) -> None:
    host = GameHost(tmp_path, games, speed=1.0, clock=lambda: 0.0)
    await host.open_new(tmp_path)
    host.start_step(rounds=5)
    for _ in range(50):
        host.take()
        await asyncio.sleep(0)
    assert len(games.game.steps) == 1
    await host.close()


async def test_stopping_ends_the_running_round_at_once(host: GameHost, games: Any, tmp_path: Path) -> None:
    await host.open_new(tmp_path)
    games.game.gate = asyncio.Event()
    host.start_step(rounds=3)
    await asyncio.sleep(0)
    await host.stop()
    assert not host.running
    assert next(item for item in host.take() if isinstance(item, Rested)).why == "stopped"
    await host.close()


async def test_a_text_that_is_not_understood_comes_back(host: GameHost, tmp_path: Path) -> None:
    await host.open_new(tmp_path)
    host.start_step("nonsense")
    refused = [item for item in await rested(host) if isinstance(item, Refused)]
    assert refused == [Refused("nonsense", "Nobody here is called 'nonsense'. Look around first.", advice="Look around first.")]
    await host.close()


async def test_closing_while_a_round_runs_closes_the_game(host: GameHost, games: Any, tmp_path: Path) -> None:
    await host.open_new(tmp_path)
    games.game.gate = asyncio.Event()
    host.start_step()
    await asyncio.sleep(0)
    await host.close()
    await host.close()
    assert games.game.closed
    assert not len(host.pacer)


async def test_a_bug_in_a_round_is_raised_on_the_screen(
    host: GameHost, games: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    await host.open_new(tmp_path)

    async def broken(text: str = "") -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(games.game, "step", broken)
    host.start_step()
    with pytest.raises(ZeroDivisionError):
        await rested(host)
    await host.close()


async def test_a_save_goes_on_as_whom_one_played(host: GameHost, games: Any, tmp_path: Path) -> None:
    game = await host.open_new(tmp_path)
    game.play_as("mira")
    host.start_step()
    await rested(host)
    await host.close()
    note = host.shelf.note(game.path)
    assert (note.world, note.round, note.played_name) == ("The Inn", 1, "Mira Sol")
    assert note.lines[-1] == 'You said: "Round 1, says mira."'
    again = await host.open_save(game.path)
    assert again.played == "mira"
    await host.close()
    host.shelf.write_note(game.path, SaveNote(world="x", played="lantern"))
    assert (await host.open_save(game.path)).played is None
    await host.close()


async def test_a_folder_that_cannot_be_written_is_said_in_words(games: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    host = GameHost(tmp_path / "file", games)
    with pytest.raises(OthermindsError, match="OTHERMINDS_HOME"):
        await host.open_new(tmp_path)


async def test_what_is_written_ahead_is_done_in_the_rounds_to_come(host: GameHost, games: Any, tmp_path: Path) -> None:
    await host.open_new(tmp_path)
    host.start_step("say one")
    host.start_step("say two")
    host.start_step()
    items = await rested(host)
    assert items[-1].rounds == 3
    assert games.game.steps == ["say one", "say two", ""]
    await host.close()


async def test_what_was_written_ahead_is_given_back_when_play_is_stopped(host: GameHost, games: Any, tmp_path: Path) -> None:
    await host.open_new(tmp_path)
    games.game.gate = asyncio.Event()
    host.start_step("say one")
    host.start_step("say two")
    await asyncio.sleep(0)
    await host.stop()
    assert next(item for item in host.take() if isinstance(item, Rested)).text == "say one"
    await host.close()
