"""A save is held by one process, and nothing keeps a process alive."""

import asyncio
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import SaveError, SaveLockedError
from engine.storage.database import Database
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples

def values(conn: sqlite3.Connection) -> dict[str, str]:
    return dict(conn.execute("SELECT key, value FROM meta WHERE key LIKE 'x%'"))


def put(conn: sqlite3.Connection) -> None:
    conn.execute("INSERT INTO meta (key, value) VALUES ('x1', 'there')")


async def test_a_dropped_save_is_free_again(store: Store, samples: "Samples", tmp_path: Path) -> None:
    path = tmp_path / "dropped.db"
    dropped = await Store.create(path, samples.authored())
    await dropped.db.write(put)
    del dropped
    again = await Database.open(path)
    assert await again.read(values) == {"x1": "there"}
    await again.close()


_FORGETFUL = """
import asyncio, sys, threading
from pathlib import Path
from engine.storage.database import Database

kept = []

async def main():
    db = await Database.open(Path(sys.argv[1]))
    kept.append(db)
    await db.write(lambda c: c.execute("INSERT INTO meta (key, value) VALUES ('x1', 'there')").rowcount)
    if sys.argv[2] == "while busy":
        began = threading.Event()
        def slow(conn):
            conn.execute("INSERT INTO meta (key, value) VALUES ('x2', 'there')")
            began.set()
            threading.Event().wait(0.3)
        asyncio.ensure_future(db.write(slow))
        await asyncio.to_thread(began.wait)
    if sys.argv[2] == "by an error":
        raise SystemExit(3)

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["at the end", "by an error", "while busy"])
async def test_a_process_that_never_closes_its_save_ends(store: Store, how: str) -> None:
    path = store.db.path
    await store.close()
    command = [sys.executable, "-c", textwrap.dedent(_FORGETFUL), str(path), how]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, timeout=30, check=False, text=True)
    assert done.returncode == (3 if how == "by an error" else 0)
    assert done.stderr == ""
    again = await Database.open(path)
    assert await again.read(values) == {"x1": "there"}  # the cancelled one left nothing
    await again.close()


_HOLDER = """
import asyncio, sys
from pathlib import Path
from engine.storage.database import Database

async def main():
    db = await Database.open(Path(sys.argv[1]))
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await db.close()

asyncio.run(main())
"""


async def test_a_second_process_is_refused_until_the_first_is_gone_or_killed(store: Store) -> None:
    path = store.db.path
    with pytest.raises(SaveLockedError, match="already open in process"):
        await Database.open(path)
    await store.close()

    command = [sys.executable, "-c", _HOLDER, str(path)]
    holder = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"open\n"
    with pytest.raises(SaveLockedError, match=rf"already open in process {holder.pid}"):
        await Database.open(path)
    reader = await Database.open(path, read_only=True)
    await reader.close()
    holder.kill()
    await holder.wait()
    again = await Database.open(path)
    await again.close()
    assert not path.with_name(path.name + ".lock").exists()


async def test_a_reader_of_a_save_at_rest_keeps_writers_out_and_leaves_no_files(
    store: Store, leftovers: Callable[[], list[str]]
) -> None:
    await store.close()
    readers = [await Database.open(store.db.path, read_only=True) for _ in range(2)]
    with pytest.raises(SaveLockedError):
        await Database.open(store.db.path)
    for reader in readers:
        await reader.close()
    assert leftovers() == ["inn.db"]
    await (await Database.open(store.db.path)).close()


async def test_a_lock_file_that_is_a_link_is_not_followed(store: Store, tmp_path: Path) -> None:
    path = store.db.path
    await store.close()
    victim = tmp_path / "victim.txt"
    victim.write_text("keep me", encoding="utf-8")
    path.with_name(path.name + ".lock").symlink_to(victim)
    with pytest.raises(SaveError):
        await Store.open(path)
    assert victim.read_text(encoding="utf-8") == "keep me"
