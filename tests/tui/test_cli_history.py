"""`otherminds saves history`, `undo` and `redo`: what is shown, asked and done, and with which exit code."""

import asyncio
import shutil
from pathlib import Path

import pytest

from engine.game import Game
from engine.storage.diff import differences
from tests.engine.behind import a_world
from tests.tui.calling import Caller, call

__all__ = ["call"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A save of two rounds and a name given by hand; beside it the same after one round."""
    folder = tmp_path_factory.mktemp("made")

    async def make() -> None:
        game = await Game.create(a_world(folder / "house"), folder / "house.db")
        await game.step()
        await game.close()
        shutil.copy(folder / "house.db", folder / "one.db")
        game = await Game.open(folder / "house.db")
        await game.step()
        await game.set_alias("ada_finch", "bo_reed", "Master Reed")
        await game.close()

    asyncio.run(make())
    return folder / "house.db"


@pytest.fixture
def save(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "house.db"))


def test_history_lists_the_newest_first(call: Caller, save: Path) -> None:
    lines = call("saves", "history", save).out.splitlines()
    assert lines[0] == "  round    2  hand        Ada Finch: the name for Bo Reed is Master Reed now"
    assert lines[1].startswith("  round    2  beat        Cyd Marsh: ")
    assert len(call("saves", "history", save, "--limit", "2").out.splitlines()) == 2
    [line] = call("saves", "history", save, "--as", "Ada Finch", "--limit", "1").out.splitlines()
    assert line.endswith("You: the name for Master Reed is Master Reed now")


def test_undo_says_what_and_does_it(call: Caller, save: Path, made: Path) -> None:
    done = call("saves", "undo", save, "--yes")
    assert done.err.strip() == "This takes back Ada Finch: the name for Bo Reed is Master Reed now."
    assert done.out.startswith("Done. It is round 2, ")
    assert "(taken back)" in call("saves", "history", save).out.splitlines()[0]
    assert "all of round 2: 3 beats" in call("saves", "undo", save, "--to-round", "1", "--yes").err
    assert differences(save, made.with_name("one.db")) == []
    told = call("saves", "redo", save, "--steps", "99", "--yes", "--json").json
    assert told["back"] is False
    assert told["text"].startswith("all of round 2: 3 beats")
    assert differences(save, made) == []


def test_nothing_is_done_unasked(call: Caller, save: Path, made: Path) -> None:
    refused = call("saves", "undo", save, code=2)
    assert "This takes back" in refused.err
    assert "--yes" in refused.err
    assert differences(save, made) == []


def test_both_ways_to_say_how_far_are_refused_together(call: Caller, save: Path) -> None:
    assert "one of" in call("saves", "undo", save, "--steps", "2", "--to-round", "1", code=2).err


def test_where_there_is_nothing(call: Caller, save: Path) -> None:
    assert "nothing to bring again" in call("saves", "redo", save, "--yes", code=1).err
    call("saves", "undo", save, "--to-round", "0", "--yes")
    assert "nothing to take back" in call("saves", "undo", save, "--yes", code=1).err
    assert "no round 7" in call("saves", "undo", save, "--to-round", "7", "--yes", code=1).err


def test_history_as_json_has_both_ways(call: Caller, save: Path) -> None:
    call("saves", "undo", save, "--steps", "2", "--yes")
    told = call("saves", "history", save, "--json").json
    assert [step["changes"][0]["kind"] for step in told["undone"]] == ["beat", "hand"]
    assert told["done"][0]["changes"][0]["round"] == 2
