"""Takes changes of a save back and brings them again, and dies on the way, once for each point where it can.

`python undo_driver.py FOLDER COUNT` works on `FOLDER/whole.db`, and forks a process for each copy `FOLDER/1.db` to `FOLDER/<COUNT>.db`,
which dies before its n-th SQL statement. It prints how many statements a whole run has. Nothing here is imported by pytest.
"""

import asyncio
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from engine.records.history import Change
from engine.storage.store import Store

STEPS = 14
"""Changes that are taken back in one transaction."""


def each(do: Callable[[sqlite3.Connection, Change], None], changes: list[Change], conn: sqlite3.Connection) -> None:
    for change in changes:
        do(conn, change)


async def turn(path: Path, acknowledged: Callable[[str], None], watch: Callable[[str], None]) -> None:
    store = await Store.open(path)
    await store.db.read(lambda conn: conn.set_trace_callback(watch))
    changes = await store.db.read(lambda conn: store.journal.done(conn, STEPS))
    await store.db.write(partial(each, store.journal.take_back, changes))
    acknowledged("undone")
    again = await store.db.read(store.journal.undone)
    await store.db.write(partial(each, store.journal.bring_again, again))
    acknowledged("redone")
    await store.close()


def one(path: Path, dies_at: int) -> int:
    """Work in a forked process that dies at the given statement. Returns how many statements it came to, 0 when it died."""
    counted = os.pipe()
    child = os.fork()
    if child:
        os.close(counted[1])
        os.waitpid(child, 0)
        with os.fdopen(counted[0]) as pipe:
            return int(pipe.read() or 0)
    log = os.open(path.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    seen = 0

    def watch(_: str) -> None:
        nonlocal seen
        seen += 1
        if seen == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(turn(path, lambda text: _note(log, text), watch))
    os.write(counted[1], str(seen).encode())
    os._exit(0)


def _note(log: int, text: str) -> None:
    os.write(log, f"{text}\n".encode())


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    for number in range(1, count + 1):
        shutil.copy(folder / "whole.db", folder / f"{number}.db")
    statements = one(folder / "whole.db", 0)
    for number in range(1, count + 1):
        one(folder / f"{number}.db", max(1, number * statements // count))
    print(statements)


if __name__ == "__main__":
    main()
