"""A process that is killed while it takes back, or brings again, leaves all of it or nothing, and the way on is open."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine.game import Game
from engine.storage.store import Store
from tests.engine.behind import a_world
from tests.engine.storage.whole import everything, sound

DRIVER = Path(__file__).with_name("undo_driver.py")
COUNT = 80

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def played(folder: Path) -> Path:
    """A save with two rounds, handoffs among them, and changes by hand."""

    async def make() -> None:
        game = await Game.create(a_world(folder / "house"), folder / "whole.db", 7)
        await game.step()
        await game.step()
        memory = (await game.ledger("ada_finch"))[0].entry.id
        await game.memory.remove_memory(memory)
        await game.memory.restore_memory(memory)
        await game.knowledge.add("bo_reed", "Bo Reed keeps bees.")
        await game.close()

    asyncio.run(make())
    return folder / "whole.db"


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        sound(conn)
        return everything(conn)


async def turned(path: Path, *, back: bool) -> None:
    """Take back, or bring again, all that can be."""
    store = await Store.open(path)
    try:
        journal = store.journal
        changes = await store.db.read((lambda conn: journal.done(conn, 1000)) if back else journal.undone)
        one = journal.take_back if back else journal.bring_again
        await store.db.write(lambda conn: [one(conn, change) for change in changes])
    finally:
        await store.close()


def test_all_of_it_or_nothing(tmp_path: Path) -> None:
    end = rows(played(tmp_path))
    root = DRIVER.parents[2]
    command = [sys.executable, str(DRIVER), str(tmp_path), str(COUNT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, cwd=root, env={"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300
    assert rows(tmp_path / "whole.db") == end
    middles, starts = [], []
    for number in range(1, COUNT + 1):
        path, said = tmp_path / f"{number}.db", (tmp_path / f"{number}.log").read_text().split()
        found = rows(path)
        if found != end:
            middles.append(found)
        assert found == end or "redone" not in said, f"save {number}"
        if number % 16 == 0:
            asyncio.run(turned(path, back=False))
            assert rows(path) == end
            asyncio.run(turned(path, back=True))
            starts.append(rows(path))
    assert all(found == middles[0] for found in middles)
    assert 0 < len(middles) < COUNT
    assert all(found == starts[0] for found in starts)
