"""A copy taken back to a round is what the save was at the end of that round."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import CommandError
from engine.game import Game
from engine.records.review import MemoryEdit
from engine.storage.rewind import copy_save, rewind

WORLD = Path(__file__).parents[2] / "worlds" / "salt-lantern"
TABLES = (
    "buffer_entries", "buffer_archive", "ledger_entries", "ledger_archive", "ledger_sources", "ledger_involved_entities", "ledger_versions",
    "handoff_runs", "alias_changes", "beats", "happenings", "rounds", "moves", "restorations", "proposals",
)
ROUNDS = 16


def rows(conn: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    """A table without pins, which have no history."""
    cursor = conn.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
    kept = [index for index, column in enumerate(cursor.description) if column[0] != "pinned"]
    return [tuple(row[index] for index in kept) for row in cursor]


def state(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that a rewound copy promises."""
    with closing(sqlite3.connect(path)) as conn:
        found = {table: rows(conn, table) for table in TABLES}
        found["minds"] = conn.execute("SELECT id, place_id, aliases_json FROM objects ORDER BY id").fetchall()
        found["round"] = conn.execute("SELECT value FROM meta WHERE key = 'round'").fetchall()
    return found


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Path]]:
    """A save of some rounds, and copies made at the end of some of them."""
    return asyncio.run(play(tmp_path_factory.mktemp("played")))


OWNER = "orla_venn"


async def archived(game: Game, fate: str) -> str:
    return next(line for line in await game.memory.archived_memories(OWNER) if line.memory.fate == fate).memory.entry.id


async def by_hand(game: Game, number: int) -> None:
    """What a person does after some of the rounds: of each kind of change something before and after each copy."""
    desk, ledger = game.memory, [line.entry for line in await game.ledger(OWNER)]
    match number:
        case 2:
            await desk.add_memory(OWNER, "The well is deep.")
        case 4:
            await desk.edit_memory(ledger[0].id, MemoryEdit(content="Something else happened."))
        case 6:
            await desk.remove_memory(ledger[1].id)
            await desk.restore(next(line for line in await desk.archive(OWNER) if line.fate == "forgotten").entry.id)
        case 7:
            promoted = next(entry for entry in reversed(ledger) if entry.origin == "handoff")
            await desk.merge(ledger[0].id, promoted.id)
        case 8:
            await desk.edit_memory(ledger[0].id, MemoryEdit(importance=9))
        case 10:
            await desk.restore_memory(await archived(game, "removed"))
            await desk.remove_memory(ledger[2].id)
        case 11:
            await desk.restore(next(line for line in await desk.archive(OWNER) if line.fate == "promoted").entry.id, pin=False)
        case 12:
            await desk.restore_memory(await archived(game, "merged"))


async def play(folder: Path) -> tuple[Path, dict[int, Path]]:
    path = folder / "game.db"
    game = await Game.create(WORLD, path, seed=3)
    copies: dict[int, Path] = {}
    for number in range(1, ROUNDS + 1):
        await game.step()
        await by_hand(game, number)
        if number in (1, 5, 9, 13):
            copies[number] = folder / f"{number}.db"
            copy_save(path, copies[number])
    await game.close()
    return path, copies


@pytest.mark.parametrize("number", [1, 5, 9, 13])
async def test_a_copy_is_taken_back_row_for_row(played: tuple[Path, dict[int, Path]], tmp_path: Path, number: int) -> None:
    save, copies = played
    copy_save(save, tmp_path / "then.db")
    rewind(tmp_path / "then.db", number)
    then, was = state(tmp_path / "then.db"), state(copies[number])
    for table in was:
        assert then[table] == was[table], table
    assert len(was["buffer_archive"]) > 0 or number < 5


async def test_a_rewound_copy_is_a_whole_save_that_can_be_opened(played: tuple[Path, dict[int, Path]], tmp_path: Path) -> None:
    copy_save(played[0], tmp_path / "then.db")
    rewind(tmp_path / "then.db", 7)
    with closing(sqlite3.connect(tmp_path / "then.db")) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
        conn.execute("INSERT INTO ledger_words (ledger_words, rank) VALUES ('integrity-check', 1)")
    game = await Game.open(tmp_path / "then.db")
    assert game.world.round == 7
    await game.step()
    await game.close()


async def test_the_save_itself_is_only_read(played: tuple[Path, dict[int, Path]], tmp_path: Path) -> None:
    before = played[0].read_bytes()
    copy_save(played[0], tmp_path / "then.db")
    rewind(tmp_path / "then.db", 3)
    assert played[0].read_bytes() == before


@pytest.mark.parametrize("number", [-1, ROUNDS + 1])
async def test_rounds_that_never_were_are_refused(played: tuple[Path, dict[int, Path]], tmp_path: Path, number: int) -> None:
    copy_save(played[0], tmp_path / "then.db")
    with pytest.raises(CommandError, match=f"rounds 0 .* to {ROUNDS}"):
        rewind(tmp_path / "then.db", number)
