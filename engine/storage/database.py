"""The one way into a save: whole transactions as single callables on one thread.

A transaction that is awaited statement by statement can be joined by another task's statements or be left open by a cancelled one.
One callable from BEGIN to COMMIT cannot (`aiosqlite` runs one callable at a time), and it is also the fastest way.
"""

import asyncio
import sqlite3
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import aiosqlite
from aiosqlite.core import _STOP_RUNNING_SENTINEL

from engine.errors import SaveError
from engine.storage import journal
from engine.storage.opening import Opened, explained, open_save, remove

T = TypeVar("T")

_PATIENCE = 2.0
"""Seconds that leaving the process waits for a running transaction."""


class _Connection(aiosqlite.Connection):
    """Runs callables on aiosqlite's thread.

    Uses its private queue, thread and connection, hence the pinned version: its own way to queue work fails, and takes the thread
    with it, when the event loop is gone before the work is done.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._thread.daemon = True  # a forgotten connection must not keep the process alive

    def run(self, fn: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Queue `fn`. It runs also when nobody waits for the future any more."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                result = fn(self._conn)
            except BaseException as error:  # noqa: BLE001 - handed to whoever awaits it
                _tell(loop, partial(_fail, future, error))
            else:
                _tell(loop, partial(_finish, future, result))

        self._tx.put_nowait((None, work))
        return future

    def stop(self) -> None:
        """Let the thread finish what is queued, close and end. Unlike the original this needs no event loop."""
        self._tx.put_nowait((None, self._end))

    def _end(self) -> object:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        return _STOP_RUNNING_SENTINEL

    def abandon(self) -> None:
        """Stop, and wait a little for what is queued."""
        self.stop()
        if self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE)


class Database:
    """An open save."""

    def __init__(self, path: Path, connection: _Connection, opened: Opened) -> None:
        self._path = path
        self._connection = connection
        self._opened = opened
        self._closing: asyncio.Task[None] | None = None
        # Runs when the object is dropped or the process ends without `close`.
        self._finalizer = weakref.finalize(self, _abandon, connection, opened)

    @classmethod
    async def open(cls, path: Path, *, create: bool = False, read_only: bool = False) -> "Database":
        """Open a save, or with `create` make an empty one where no file is.

        A save that SQLite's check finds damaged opens read-only: see `damage`. Raises `SaveError` for what is no save, is newer
        than this program or cannot be reached, and `SaveLockedError` when it is open elsewhere.
        """
        found: list[Opened] = []

        def connect() -> sqlite3.Connection:
            found.append(open_save(path, create=create, read_only=read_only))
            return found[0].conn

        connection = _Connection(connect)
        connecting = asyncio.ensure_future(_start(connection))
        try:
            await asyncio.shield(connecting)
        except asyncio.CancelledError:
            while not connecting.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({connecting})
            if connecting.exception() is None:
                _abandon(connection, found[0])
            raise
        return cls(path, connection, found[0])

    @property
    def path(self) -> Path:
        """The save file."""
        return self._path

    @property
    def read_only(self) -> bool:
        """Whether `write` is refused."""
        return self._opened.read_only

    @property
    def damage(self) -> str:
        """What is wrong with the file, in SQLite's words; empty when it is sound."""
        return self._opened.damage

    async def write(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Run `fn` as one transaction: all of it is on disk when this returns, none of it when this raises.

        `fn` gets the connection, runs on the database's thread and must not keep it, wait for anything or end the transaction. What it
        changes is one change of the journal, and `JournalRepository.note` says inside it what that is.
        What it raises comes back after the rollback; errors of SQLite come back as `SaveError`. A task that is cancelled here gets
        CancelledError only if nothing was written. Once the commit has begun the call returns as usual and the cancellation
        is raised at the task's next await, so that what a caller does right after it never disagrees with the save.
        """
        if self._opened.damage:
            raise SaveError(f"{self._path} is damaged and is not written to: {self._opened.damage}.", "Restore a backup.")
        if self._opened.read_only:
            raise SaveError(f"{self._path} is open for reading only.")
        token = threading.Lock()  # whoever takes it first decides: the thread to commit, or the cancelled task to leave no trace
        future = self._live().run(partial(_transaction, fn, token, self._path))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if token.acquire(blocking=False):
                future.add_done_callback(_look_at)
                raise
            while not future.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({future})
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()  # keep the count of requests as it is
                task.cancel()
            return future.result()

    async def read(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Run `fn` over one state of the save, as of the last commit. `fn` must not write: that raises `RuntimeError`."""
        return await self._live().run(partial(_snapshot, fn, self._path))

    async def close(self) -> None:
        """Finish what is queued, close the file and give it back. Safe to call twice, and to cancel."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def discard(self) -> None:
        """Close a save and delete its file. For one that was just made and could not be finished."""
        await self.close()
        remove(self._path)

    async def _close(self) -> None:
        self._finalizer.detach()
        try:
            await self._connection.close()
        finally:
            self._opened.close()

    def _live(self) -> _Connection:
        if self._closing is not None:
            raise SaveError(f"{self._path} is closed.")
        return self._connection


async def _start(connection: _Connection) -> None:
    await connection


def _transaction(fn: Callable[[sqlite3.Connection], T], token: threading.Lock, path: Path, conn: sqlite3.Connection) -> T:
    """BEGIN to COMMIT on the database's thread. Gives the result of `fn`; undone, it has no result that anybody waits for."""
    if token.locked():
        raise asyncio.CancelledError
    try:
        conn.execute("BEGIN IMMEDIATE")
        mark = journal.begin(conn)
        result = fn(conn)
        if conn.in_transaction:
            journal.settle(conn, mark)
        _commit(conn, token, path)
    except BaseException as error:
        if conn.in_transaction:  # SQLite ends some failed transactions itself
            conn.execute("ROLLBACK")
        if isinstance(error, (sqlite3.Error, UnicodeEncodeError, OverflowError)):
            raise explained(error, path) from error
        raise
    return result


def _commit(conn: sqlite3.Connection, token: threading.Lock, path: Path) -> None:
    if not conn.in_transaction:
        raise SaveError(f"A change of {path} was broken off by the database.")
    if not token.acquire(blocking=False):
        raise asyncio.CancelledError
    conn.execute("COMMIT")


def _snapshot(fn: Callable[[sqlite3.Connection], T], path: Path, conn: sqlite3.Connection) -> T:
    """One read transaction on the database's thread."""
    before = conn.total_changes
    conn.execute("BEGIN")
    try:
        result = fn(conn)
    except (sqlite3.Error, UnicodeEncodeError, OverflowError) as error:
        raise explained(error, path) from error
    finally:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
    if conn.total_changes != before:
        raise RuntimeError("a read changed rows; they were rolled back")
    return result


def _abandon(connection: _Connection, opened: Opened) -> None:
    connection.abandon()
    if opened.lock is not None:
        opened.lock.release()


def _tell(loop: asyncio.AbstractEventLoop, deliver: Callable[[], None]) -> None:
    """Hand an outcome to the event loop, unless it is gone and with it all who could wait."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(deliver)


def _finish(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: "asyncio.Future[T]", error: BaseException) -> None:
    if future.done():
        return
    if isinstance(error, asyncio.CancelledError):
        future.cancel()
    elif isinstance(error, StopIteration):  # a future cannot hold it
        future.set_exception(RuntimeError("a database callable raised StopIteration"))
    else:
        future.set_exception(error)


def _look_at(future: "asyncio.Future[T]") -> None:
    """Take note of an outcome nobody waits for, so that asyncio does not complain about it."""
    if not future.cancelled():
        future.exception()
