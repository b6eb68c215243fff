"""A save that is played is copied now and then, and no round waits for it."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.backing import Backing
from engine.events import EngineEvent, Trouble
from engine.game import Game
from engine.setup import Setup
from engine.storage.backups import backups_of, folder_of
from engine.storage.diff import differences
from engine.storage.opening import open_save
from engine.storage.restoring import restore

WORLD = Path(__file__).parents[2] / "worlds" / "salt-lantern"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A save in which two rounds were played."""

    async def play(path: Path) -> None:
        game = await Game.create(WORLD, path, 7)
        await game.step()
        await game.step()
        await game.close()

    path = tmp_path_factory.mktemp("saves") / "begun.db"
    asyncio.run(play(path))
    assert backups_of(path) == [], "only for those who ask for it"
    return path


@pytest.fixture
def save(begun: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(begun, tmp_path / "a.db"))


@pytest.fixture
async def game(save: Path) -> AsyncIterator[Game]:
    opened = await Game.open(save, setup=Setup(backups=True))
    yield opened
    await opened.close()


async def test_a_sitting_begins_with_a_copy_of_what_was_there(game: Game, save: Path, tmp_path: Path) -> None:
    before = tmp_path / "before.db"
    shutil.copy(save, before)
    await game.step()
    await game.step()
    await game.close()
    [copy] = backups_of(save)
    assert (copy.round, copy.reason) in {(2, "play"), (3, "play")}, "beside the first round"
    restore(save, copy.path)
    assert differences(save, copy.path) == []
    with closing(open_save(save)) as opened:
        assert not opened.damage
    assert backups_of(save)[0].round == 4


async def test_no_copy_is_made_of_what_was_copied_before(save: Path) -> None:
    async def sitting(*, rounds: int) -> int:
        game = await Game.open(save, setup=Setup(backups=True))
        game._parts.backing.round_begins()  # type: ignore[union-attr] # asked for above
        await game._parts.backing.close()  # type: ignore[union-attr]
        for _ in range(rounds):
            await game.step()
        await game.close()
        return len(backups_of(save))

    assert [await sitting(rounds=rounds) for rounds in (0, 0, 1, 0, 0)] == [1, 1, 1, 2, 2]


async def test_from_then_on_it_is_copied_by_the_clock(save: Path) -> None:
    now, told = [0.0], list[EngineEvent]()
    backing = Backing(save, told.append, every=600.0, clock=lambda: now[0])
    for seconds, copies in ((0.0, 1), (599.0, 1), (600.0, 2), (900.0, 2), (1300.0, 3)):
        now[0] = seconds
        backing.round_begins()
        await backing.close()
        assert len(backups_of(save)) == copies, seconds
    assert told == []


async def test_a_copy_that_cannot_be_made_is_told_once_and_play_goes_on(save: Path) -> None:
    folder_of(save).write_text("a file stands here")
    told = list[EngineEvent]()
    now = [0.0]
    backing = Backing(save, told.append, clock=lambda: now[0])
    for seconds in (0.0, 601.0, 1300.0):
        now[0] = seconds
        backing.round_begins()
        await backing.close()
    [trouble] = told
    assert isinstance(trouble, Trouble)
    assert "could not be backed up" in trouble.text
