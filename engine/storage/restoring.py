"""A copy of a save put in its place, without losing what is there. Blocking: call these off the event loop."""

import sqlite3
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Final

from engine.errors import SaveError
from engine.storage.backups import Backup, back_up, flush, folder_of
from engine.storage.lock import SaveLock
from engine.storage.opening import Opened, connect, open_save

_END: Final = "SELECT max(seq), sum(undone) FROM journal"


def same_as(conn: sqlite3.Connection, backup: Backup | None) -> bool:
    """Whether nothing has changed in an open save since a copy of it was made: what its journal ends with is the same."""
    if backup is None:
        return False
    try:
        with closing(open_save(backup.path, read_only=True)) as copy:
            return bool(copy.conn.execute(_END).fetchall() == conn.execute(_END).fetchall())
    except (SaveError, sqlite3.Error):  # gone, or of an earlier version
        return False


def restore(save: Path, backup: Path) -> Path | None:
    """Put a copy in the place of the save, which nobody may have open. What stood there is kept among the copies: returns where, None
    when there was nothing.

    Raises `SaveError` for a copy that could not be opened either, and `SaveLockedError`; then the save is as it was.
    """
    save = save.resolve()
    with closing(_sound(backup)) as copy:
        lock = SaveLock.take(save)
        try:
            kept = _put_by(save)
            _replace(save, copy.conn)
        except (OSError, sqlite3.Error) as error:
            raise SaveError(f"{backup} could not be put back: {error}.", "Make room there, or see who may write to it.") from error
        finally:
            lock.release()
    return kept


def _sound(backup: Path) -> Opened:
    """A copy that can be opened, and with it will be."""
    try:
        copy = open_save(backup, read_only=True)
    except SaveError as error:
        raise SaveError(f"{backup} cannot be put back. {error.args[0]}", "Choose another backup.") from error
    if copy.damage:
        copy.close()
        raise SaveError(f"{backup} cannot be put back, it is damaged: {copy.damage}.", "Choose another backup.")
    return copy


def _replace(save: Path, copy: sqlite3.Connection) -> None:
    fresh = save.with_name(f"{save.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        copy.execute("VACUUM INTO ?", (str(fresh),))
        flush(fresh)
        for side in ("-wal", "-shm"):  # of what stood there: SQLite would play it into the copy
            save.with_name(save.name + side).unlink(missing_ok=True)
        fresh.replace(save)
        with suppress(OSError):  # it is there; when the power fails now, what stood there before may be
            flush(save.parent)
    finally:
        fresh.unlink(missing_ok=True)


def _put_by(save: Path) -> Path | None:
    """Keep what stands at the place of a save among its copies: as a copy when it is sound, else file by file as it is."""
    if not save.exists():
        return None
    try:
        there = open_save(save, read_only=True)
    except SaveError:  # of another program, or not to be read
        return _put_by_as_it_is(save)
    with closing(there):
        if there.damage:
            return _put_by_as_it_is(save)
        kept = back_up(there.conn, save, "restore")
    with closing(connect(save, "rw")) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that it is whole, too, when the power fails before it is replaced
    return kept.path


def _put_by_as_it_is(save: Path) -> Path:
    folder = folder_of(save)
    folder.mkdir(exist_ok=True)
    broken = next(path for number in count(1) if not (path := folder / f"broken-{number}.db").exists())
    for side in ("-wal", ""):
        name = save.with_name(save.name + side)
        if name.exists():
            broken.with_name(broken.name + side).write_bytes(name.read_bytes())
            flush(broken.with_name(broken.name + side))
    flush(folder)
    return broken
