"""`otherminds saves check`, `backup`, `backups` and `restore`: what is said and done, and with which exit code."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.game import Game
from engine.storage.backups import backups_of
from engine.storage.diff import differences
from tests.engine.behind import a_world
from tests.tui.calling import Caller, call

__all__ = ["call"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A save of one round."""
    folder = tmp_path_factory.mktemp("made")

    async def make() -> None:
        game = await Game.create(a_world(folder / "house"), folder / "house.db")
        await game.step()
        await game.close()

    asyncio.run(make())
    return folder / "house.db"


@pytest.fixture
def save(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "house.db"))


def edit(path: Path, *sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        for statement in sql:
            conn.execute(statement)


def test_a_sound_save_is_told_with_what_is_in_it(call: Caller, save: Path) -> None:
    before = save.read_bytes()
    done = call("saves", "check", save)
    assert save.read_bytes() == before
    assert f"{save} is sound: 1 rounds, " in done.out
    told = call("saves", "check", save, "--json").json
    assert told["faults"] == []
    assert dict(told["counts"])["moments in mind"] > 0


def test_what_is_wrong_is_told_with_what_to_do(call: Caller, save: Path) -> None:
    call("saves", "backup", save)
    body = bytearray(save.read_bytes())
    middle = len(body) // 2
    body[middle : middle + 6000] = b"\xff" * 6000
    save.write_bytes(bytes(body))
    done = call("saves", "check", save, code=1)
    assert "damaged" in done.out
    assert f"`otherminds saves restore {save}` puts its newest backup back" in done.out
    call("saves", "restore", save, "--yes")
    call("saves", "check", save)


def test_a_memory_that_leads_nowhere_is_a_fault(call: Caller, save: Path) -> None:
    schema = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
    with closing(sqlite3.connect(save, isolation_level=None)) as conn:
        triggers = conn.execute(schema).fetchall()
        for name, _ in triggers:
            conn.execute(f"DROP TRIGGER {name}")
        columns = "seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned"
        gone = f"SELECT {columns}, 'forgotten', 'han-9' FROM buffer_entries LIMIT 1"
        conn.execute(f"INSERT INTO buffer_archive ({columns}, fate, run_id) {gone}")
        for _, sql in triggers:
            conn.execute(sql)
    done = call("saves", "check", save, code=1)
    assert "stands in mind and among what left it" in done.out
    assert "was forgotten by a handoff that is nowhere" in done.out
    assert "There is no backup of it." in done.out


def test_copies_are_listed_and_put_back(call: Caller, save: Path, made: Path) -> None:
    assert "There is no backup" in call("saves", "backups", save).out
    call("saves", "backup", save)
    edit(save, "UPDATE meta SET value = 'other' WHERE key = 'description'")
    [line] = call("saves", "backups", save).out.splitlines()
    assert line.startswith("  1  ")
    assert "round     1" in line
    assert line.endswith("by hand")
    [told] = call("saves", "backups", save, "--json").json
    assert (told["round"], told["reason"]) == (1, "hand")
    refused = call("saves", "restore", save, code=2)  # nobody can be asked here
    assert "in the place of" in refused.err
    done = call("saves", "restore", save, "--yes")
    kept = backups_of(save)[0]
    assert str(kept.path) in done.out
    assert (kept.reason, differences(save, made)) == ("restore", [])
    call("saves", "restore", save, kept.path, "--yes")
    assert differences(save, made) != []


@pytest.mark.parametrize(
    ("which", "words"),
    [("1", "There is no backup of"), ("7", "There is no backup of"), ("no.db", "There is no file no.db")],
)
def test_what_is_not_there_is_not_put_back(call: Caller, save: Path, which: str, words: str) -> None:
    before = save.read_bytes()
    done = call("saves", "restore", save, which, "--yes", code=1)
    assert save.read_bytes() == before
    assert words in done.err


def test_what_is_no_save_is_told(call: Caller, tmp_path: Path) -> None:
    (tmp_path / "diary.db").write_text("Dear diary")
    for command in ("check", "backup"):
        done = call("saves", command, tmp_path / "diary.db", code=1)
        assert "is not a save of Otherminds" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["diary.db"]
