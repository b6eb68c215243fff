"""Opening a save: what must hold before a single row of it is read, and what a person is told when it does not."""

import sqlite3
import stat
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from engine.errors import SaveError, SaveLockedError
from engine.storage.backups import back_up
from engine.storage.lock import SaveLock
from engine.storage.schema import APPLICATION_ID, expected_schema, migrate, newest_version, schema_of, version_of


@dataclass
class Opened:
    """An open connection with the lock that goes with it."""

    conn: sqlite3.Connection
    lock: SaveLock | None
    read_only: bool
    damage: str
    """What SQLite's check found wrong; empty for a sound save. A damaged save is read-only."""

    def close(self) -> None:
        """Close the connection, then give the save back to others."""
        self.conn.close()
        if self.lock is not None:
            self.lock.release()


def open_save(path: Path, *, create: bool = False, read_only: bool = False) -> Opened:
    """Open a save by the rules of this module. Blocking: call it on the thread that will use the connection.

    `create` makes a new save and refuses an existing file. A read-only connection takes no part in writing or checkpointing.
    Raises `SaveError`, `SaveLockedError`. The save file itself is never opened but by SQLite: closing a file of our own would
    drop SQLite's locks on it.
    """
    path = path.resolve()  # SQLite looks for the log of a save beside it, not beside a link to it
    _check_place(path, create=create, read_only=read_only)
    lock: SaveLock | None = None
    conn: sqlite3.Connection | None = None
    try:
        if read_only:
            lock, conn = _connect_to_read(path)
        else:
            lock = SaveLock.take(path)
            _check_place(path, create=create, read_only=read_only)
            conn = connect(path, "rwc" if create else "rw")
        damage = ""
        if not create:
            _check_kind(conn, path)
            damage = _damage(conn, path)
        if damage and not read_only:
            conn.close()
            conn = connect(path, "ro")
        elif not read_only:
            _make_writable(conn, path)
        return Opened(conn, lock, read_only or bool(damage), damage)
    except BaseException as error:
        if conn is not None:
            conn.close()
            if create:
                remove(path)
        if lock is not None:
            lock.release()
        if isinstance(error, sqlite3.Error):
            raise explained(error, path) from error
        raise


def version_in(path: Path) -> int:
    """The version of the tables in a save, which is only read. Raises `SaveError`."""
    with closing(open_save(path, read_only=True)) as opened:
        return version_of(opened.conn)


def explained(error: Exception, path: Path) -> SaveError:
    """A storage error in words for a reader."""
    if isinstance(error, UnicodeEncodeError):
        return SaveError(f"{ascii(error.object)[:80]} holds bytes that are no text.", "Write it in UTF-8.")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return SaveError(f"There is no room left on the disk of {path}. The last change was not saved.", "Make room and try again.")
    if code == sqlite3.SQLITE_NOTADB:
        return SaveError(f"{path} is not a save of Otherminds.", "Choose another file.")
    if code == sqlite3.SQLITE_CORRUPT:
        return SaveError(f"{path} is damaged: {error}.", "Restore a backup.")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return SaveError(f"{path} cannot be opened: {error}.", "Check who may read and write the file and its folder.")
    if code == sqlite3.SQLITE_READONLY:
        return SaveError(f"{path} may not be written to.", "Check who may write the file and its folder.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return SaveError(f"{path} is in use by another program.", "Close it there first.")
    if code == sqlite3.SQLITE_IOERR:
        return SaveError(f"The disk failed under {path}: {error}.", "The last change was not saved.")
    return SaveError(f"{path} refused a change: {error}.", "Nothing was written.")


def _check_place(path: Path, *, create: bool, read_only: bool) -> None:
    """Refuse what is visibly no save, by looking at the folder only."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not path.parent.is_dir():
            raise SaveError(f"There is no folder {path.parent}.", "Make it first, or choose another.") from None
        if not create:
            raise SaveError(f"There is no save at {path}.", "Start a new game, or choose another file.") from None
        return
    except OSError as error:
        raise SaveError(f"{path} cannot be looked at ({error.strerror}).", "Choose another file.") from error
    if stat.S_ISDIR(found.st_mode):
        raise SaveError(f"{path} is a folder, not a save.", "Choose a file.")
    if create:
        raise SaveError(f"There is already a file at {path}.", "Choose another name, or go on with that save.")
    if not stat.S_ISREG(found.st_mode):
        raise SaveError(f"{path} is not a regular file.", "Choose another file.")
    if found.st_nlink > 1 and not read_only:
        told = f"{path} is one file with another: it has {found.st_nlink} names, and writing by one would damage it for the others."
        raise SaveError(told, "Make a copy of it, and go on with that.")
    if found.st_size == 0:
        raise SaveError(f"{path} is empty: there is no save in it.", "Delete it, or restore a backup.")


def remove(path: Path) -> None:
    """Take away the beginnings of a save that could not be made."""
    for name in (path.name, path.name + "-wal", path.name + "-shm"):
        path.with_name(name).unlink(missing_ok=True)


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A bare connection: no implicit transactions, usable from whichever thread owns it at the time."""
    uri = f"file:{quote(str(path.absolute()))}?{'mode=ro&immutable=1' if mode == 'immutable' else f'mode={mode}'}"
    conn = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=5.0)
    conn.execute("PRAGMA foreign_keys = ON")
    return conn


def _connect_to_read(path: Path) -> tuple[SaveLock | None, sqlite3.Connection]:
    """A connection for reading.

    A save at rest has no write-ahead log. It is read as it lies, under a shared lock that keeps writers out for as long, so that
    looking at it leaves no files behind. One in use is read through its log.
    """
    if path.with_name(path.name + "-wal").exists():
        return None, connect(path, "ro")
    try:
        lock = SaveLock.take(path, shared=True)
    except SaveLockedError:
        return None, connect(path, "ro")
    except SaveError:  # no lock can be made here, so nobody can write here either
        return None, connect(path, "immutable")
    try:
        return lock, connect(path, "immutable")
    except sqlite3.Error:
        lock.release()
        raise


def _check_kind(conn: sqlite3.Connection, path: Path) -> None:
    """Refuse databases of other programs and of newer versions of this one."""
    [(application,)] = conn.execute("PRAGMA application_id").fetchall()
    version = version_of(conn)
    if application != APPLICATION_ID or version == 0:
        raise SaveError(f"{path} is a database of another program, not a save of Otherminds.", "Choose another file.")
    if version > newest_version():
        raise SaveError(
            f"{path} was written by a newer Otherminds (its format is {version}, this program knows up to {newest_version()}).",
            "Install the newer version to go on with it.",
        )


def _damage(conn: sqlite3.Connection, path: Path) -> str:
    """First line of what SQLite's quick check finds wrong, or empty. About 1 ms for each megabyte.

    Nothing that a stranger may have put into the schema is run before the schema is known to be ours.
    """
    try:
        _check_schema(conn, path)
        [(found,)] = conn.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        return str(error)
    return "" if found == "ok" else " ".join(str(found).split())


def _check_schema(conn: sqlite3.Connection, path: Path) -> None:
    """Refuse a save with tables or triggers that are not ours: triggers run by themselves."""
    odd = sorted(f"{kind} {name}" for kind, name, *_ in schema_of(conn) ^ expected_schema(version_of(conn)))
    if odd:
        raise SaveError(f"{path} was changed by another program ({', '.join(dict.fromkeys(odd))}).", "Restore a backup.")


def _make_writable(conn: sqlite3.Connection, path: Path) -> None:
    """Settings of the one writer, then the newest tables, after a copy of a save that has older ones. Raises SQLite's error when the file
    may only be read."""
    conn.execute("BEGIN IMMEDIATE")  # succeeds also on a file that may only be read: only a write tells
    try:
        conn.execute(f"PRAGMA user_version = {version_of(conn)}")
    finally:
        conn.execute("ROLLBACK")
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("PRAGMA synchronous = FULL")
    conn.execute("PRAGMA recursive_triggers = ON")  # else REPLACE slips past the guards
    conn.execute("PRAGMA temp_store = MEMORY")
    if 0 < version_of(conn) < newest_version():
        back_up(conn, path, "migration")
    migrate(conn)
