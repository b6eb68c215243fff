"""Transactions are whole whatever tasks do, and reads see commits only."""

import asyncio
import gc
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import SaveError
from engine.storage.database import Database
from engine.storage.store import Store

if TYPE_CHECKING:
    pass

_PUT = "INSERT INTO meta (key, value) VALUES (?, ?)"


def values(conn: sqlite3.Connection) -> dict[str, str]:
    return dict(conn.execute("SELECT key, value FROM meta WHERE key LIKE 'x%'"))


def put(*keys: str, then: BaseException | None = None) -> Callable[[sqlite3.Connection], tuple[str, ...]]:
    """Writes one row for each key; with `then` fails after the last."""

    def run(conn: sqlite3.Connection) -> tuple[str, ...]:
        for key in keys:
            conn.execute(_PUT, (key, "there"))
        if then is not None:
            raise then
        return keys

    return run


class Held:
    """A callable that stands still inside its transaction until it is let go."""

    def __init__(self, inner: Callable[[sqlite3.Connection], object]) -> None:
        self._inner = inner
        self._loop = asyncio.get_running_loop()
        self.entered = asyncio.Event()
        self.go = threading.Event()

    def __call__(self, conn: sqlite3.Connection) -> object:
        result = self._inner(conn)
        self._loop.call_soon_threadsafe(self.entered.set)
        assert self.go.wait(30)
        return result


async def test_a_transaction_is_written_whole_or_not_at_all(store: Store) -> None:
    assert await store.db.write(put("x1", "x2")) == ("x1", "x2")
    with pytest.raises(ZeroDivisionError):
        await store.db.write(put("x3", then=ZeroDivisionError()))
    with pytest.raises(SaveError, match="refused a change: UNIQUE"):
        await store.db.write(put("x4", "x1"))
    assert await store.db.read(values) == {"x1": "there", "x2": "there"}


async def test_deferred_faults_stop_the_commit_and_the_next_transaction_works(store: Store) -> None:
    with pytest.raises(SaveError, match="FOREIGN KEY"):
        await store.db.write(lambda c: c.execute("UPDATE objects SET place_id = 'nowhere' WHERE id = 'bob'").rowcount)
    assert await store.db.write(put("x1")) == ("x1",)


async def test_a_callable_that_raises_stop_iteration_does_not_hang(store: Store) -> None:
    with pytest.raises(RuntimeError):
        await store.db.write(put("x1", then=StopIteration()))
    assert await store.db.read(values) == {}


@pytest.mark.parametrize("text", ["\ud800", 2**63], ids=["surrogate", "big number"])
async def test_what_sqlite_cannot_hold_is_a_save_error(store: Store, text: object) -> None:
    with pytest.raises(SaveError, match=r"holds bytes that are no text|refused a change"):
        await store.db.write(lambda c: c.execute(_PUT, ("x1", text)).rowcount)
    assert await store.db.read(values) == {}


async def test_a_full_disk_says_so_and_leaves_the_save_as_it_was(store: Store) -> None:
    def fill(conn: sqlite3.Connection) -> None:
        [(pages,)] = conn.execute("PRAGMA page_count").fetchall()
        conn.execute(f"PRAGMA max_page_count = {pages + 2}").fetchall()
        for number in range(100):
            conn.execute(_PUT, (f"x{number}", "x" * 5000))

    with pytest.raises(SaveError, match="no room left"):
        await store.db.write(fill)
    assert await store.db.read(values) == {}


async def test_a_task_cancelled_inside_its_transaction_leaves_no_trace(store: Store) -> None:
    held = Held(put("x1"))
    task = asyncio.create_task(store.db.write(held))
    await held.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    held.go.set()
    assert await store.db.write(put("x2")) == ("x2",)
    assert await store.db.read(values) == {"x2": "there"}


async def test_an_error_after_the_cancellation_is_not_complained_about(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    held = Held(put("x1"))
    task = asyncio.create_task(store.db.write(lambda c: (held(c), 1 / 0)))
    await held.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    held.go.set()
    assert await store.db.read(values) == {}
    del task
    gc.collect()
    assert caplog.records == []


async def test_a_task_cancelled_before_its_turn_never_runs(store: Store) -> None:
    held, ran = Held(put("x1")), threading.Event()
    first = asyncio.create_task(store.db.write(held))
    await held.entered.wait()
    second = asyncio.create_task(store.db.write(lambda _: ran.set()))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    held.go.set()
    await first
    assert await store.db.read(values) == {"x1": "there"}
    assert not ran.is_set()


async def test_once_the_commit_has_begun_the_caller_learns_of_it_and_is_cancelled_afterwards(store: Store) -> None:
    committing, go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    seen: list[object] = []

    def stand_at_commit(statement: str) -> None:
        if statement == "COMMIT":
            loop.call_soon_threadsafe(committing.set)
            assert go.wait(30)

    def run(conn: sqlite3.Connection) -> str:
        conn.execute(_PUT, ("x1", "there"))
        conn.set_trace_callback(stand_at_commit)
        return "done"

    async def caller() -> None:
        seen.append(await store.db.write(run))
        seen.append("before the next await")
        await asyncio.sleep(0)
        seen.append("after it")

    task = asyncio.create_task(caller())
    await committing.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["done", "before the next await"]
    await store.db.read(lambda c: c.set_trace_callback(None))
    assert await store.db.read(values) == {"x1": "there"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.booleans(), st.integers(0, 6)), min_size=1, max_size=25))
def test_concurrent_tasks_see_and_leave_whole_transactions_only(tasks: list[tuple[int, bool, int]]) -> None:
    """Each task writes some rows and may fail; some are cancelled after a few turns of the loop. Readers run all the while."""

    async def play(folder: Path) -> None:
        path = folder / "x.db"
        db = await Database.open(path, create=True)
        told: dict[int, bool] = {}

        async def act(number: int, rows: int, fails: bool) -> None:
            keys = [f"x{number}-{row}" for row in range(rows)]
            try:
                await db.write(put(*keys, then=ZeroDivisionError() if fails else None))
                told[number] = True
            except (ZeroDivisionError, asyncio.CancelledError):
                told[number] = False

        async def look() -> None:
            found = await db.read(values)
            for number, (rows, _, _) in enumerate(tasks):
                assert sum(key.startswith(f"x{number}-") for key in found) in (0, rows)

        running = [asyncio.create_task(act(number, rows, fails)) for number, (rows, fails, _) in enumerate(tasks)]
        readers = [asyncio.create_task(look()) for _ in range(5)]
        for turn in range(1, 7):
            await asyncio.sleep(0)
            for task, (_, _, cancelled_at) in zip(running, tasks, strict=True):
                if cancelled_at == turn:
                    task.cancel()
        await asyncio.gather(*readers)
        await asyncio.gather(*running, return_exceptions=True)
        found = await db.read(values)
        await db.close()
        for number, (rows, _, _) in enumerate(tasks):
            written = [key for key in found if key.startswith(f"x{number}-")]
            assert len(written) == (rows if told.get(number) else 0)
        path.unlink()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


async def test_reads_do_not_see_what_is_not_committed(store: Store) -> None:
    held = Held(put("x1", then=None))
    writing = asyncio.create_task(store.db.write(held))
    await held.entered.wait()
    reading = asyncio.create_task(store.db.read(values))
    await asyncio.sleep(0)
    held.go.set()
    await writing
    assert await reading == {"x1": "there"}

    failing = Held(put("x2"))
    task = asyncio.create_task(store.db.write(lambda c: (failing(c), 1 / 0)))
    await failing.entered.wait()
    reading = asyncio.create_task(store.db.read(values))
    await asyncio.sleep(0)
    failing.go.set()
    with pytest.raises(ZeroDivisionError):
        await task
    assert await reading == {"x1": "there"}


async def test_a_read_that_writes_is_undone_and_refused(store: Store) -> None:
    with pytest.raises(RuntimeError, match="a read changed rows"):
        await store.db.read(put("x1"))
    with pytest.raises(SaveError):
        await store.db.read(lambda c: c.execute("SELECT * FROM nowhere").fetchall())
    assert await store.db.read(values) == {}


async def test_settings_of_the_writer(store: Store) -> None:
    def pragmas(conn: sqlite3.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "recursive_triggers", "application_id")
        return [conn.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await store.db.read(pragmas) == ["wal", 2, 1, 1, int.from_bytes(b"OTMD", "big")]


async def test_a_read_only_save_is_read_and_not_written(store: Store) -> None:
    reader = await Store.open(store.db.path, read_only=True)
    assert reader.db.read_only
    assert (await reader.db.read(reader.worlds.load)).slug == "inn"
    with pytest.raises(SaveError, match="for reading only"):
        await reader.db.write(put("x1"))
    await store.db.write(put("x2"))
    assert await reader.db.read(values) == {"x2": "there"}
    await reader.close()


async def test_closing_twice_and_from_two_tasks_leaves_one_file(store: Store, leftovers: Callable[[], list[str]]) -> None:
    writing = asyncio.create_task(store.db.write(put("x1")))
    await asyncio.sleep(0)
    await asyncio.gather(store.close(), store.close())
    await store.close()
    assert await writing == ("x1",)
    assert leftovers() == ["inn.db"]
    for refused in (lambda: store.db.write(put("x2")), lambda: store.db.read(values)):
        with pytest.raises(SaveError, match="is closed"):
            await refused()
    again = await Store.open(store.db.path)
    assert await again.db.read(values) == {"x1": "there"}
    await again.close()


async def test_a_cancelled_close_still_closes(store: Store, leftovers: Callable[[], list[str]]) -> None:
    held = Held(put("x1"))
    writing = asyncio.create_task(store.db.write(held))
    await held.entered.wait()
    closing = asyncio.create_task(store.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    held.go.set()
    await writing
    await store.close()
    assert leftovers() == ["inn.db"]


async def test_a_cancelled_opening_leaves_the_save_free(store: Store) -> None:
    path = store.db.path
    await store.close()
    for turns in range(4):
        task = asyncio.create_task(Database.open(path))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            await task.result().close()
        again = await Database.open(path)
        await again.close()
