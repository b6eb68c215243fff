"""Games on the screen whose model calls are recorded."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.errors import OthermindsError
from engine.files.bundled import bundled_worlds
from engine.llm.cassette import TapeError
from engine.storage.diff import differences
from tui.headless import Order, run_rounds
from tui.host import GameHost
from tui.recorded import RecordedGames

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")
Recording = Callable[..., tuple[GameHost, RecordedGames]]


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    made: list[RecordedGames] = []

    def make(going_on: bool = False) -> tuple[GameHost, RecordedGames]:
        made.append(RecordedGames(tmp_path / "tape", going_on=going_on))
        return GameHost(tmp_path / "home", made[-1], speed=0.0, clock=lambda: 0.0), made[-1]

    yield make
    for games in made:
        games.close()


async def play(host: GameHost, rounds: int) -> None:
    host.start_step(rounds=rounds)
    while host.running or len(host.pacer):
        host.take()
        await asyncio.sleep(0)


async def test_what_was_watched_on_the_screen_can_be_replayed_without_it(recording: Recording, tmp_path: Path) -> None:
    host, games = recording()
    save = (await host.open_new(WORLD, 7)).path
    await play(host, 2)
    await host.open_save(save)  # left and opened again: the tape goes on
    await play(host, 2)
    await host.close()
    games.close()
    outcome = await run_rounds(Order(WORLD, replay=tmp_path / "tape", quiet=True), tmp_path / "now.db")
    assert (outcome.stopped, outcome.summary["rounds_played"], outcome.summary["unused_calls"]) == ("", 4, 0)
    assert differences(save, tmp_path / "now.db") == []


async def test_the_tape_holds_one_game_only(recording: Recording, tmp_path: Path) -> None:
    host, _ = recording()
    save = (await host.open_new(WORLD, 7)).path
    await play(host, 1)
    size = (tmp_path / "tape").stat().st_size
    await host.open_new(WORLD, 8)
    await play(host, 1)
    assert (tmp_path / "tape").stat().st_size == size
    await host.open_save(save)
    await play(host, 1)
    assert (tmp_path / "tape").stat().st_size > size
    await host.close()


async def test_a_tape_of_another_game_is_refused_when_the_save_is_opened(recording: Recording, tmp_path: Path) -> None:
    host, games = recording()
    await host.open_new(WORLD, 7)
    await play(host, 1)
    await host.close()
    games.close()
    other = GameHost(tmp_path / "home", speed=0.0)
    save = (await other.open_new(WORLD, 8)).path
    await other.close()
    before = (tmp_path / "tape").read_bytes()
    host, _ = recording(going_on=True)
    with pytest.raises(OthermindsError, match="is a tape of The Salt Lantern with seed 7"):
        await host.open_save(save)
    await host.close()
    assert (tmp_path / "tape").read_bytes() == before


def test_a_new_game_is_never_recorded_over_a_tape(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "tape").write_bytes(b'{"kind": "diary"}\n')
    with pytest.raises(TapeError, match="is no tape"):
        recording()


async def test_a_tape_that_nothing_was_played_for_leaves_no_file(recording: Recording, tmp_path: Path) -> None:
    host, games = recording()
    await host.close()
    games.close()
    assert not (tmp_path / "tape").exists()
