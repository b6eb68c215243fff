"""Copies of a save beside it, made while it may be in use, thinned out as they age, and put back without losing what is there.

They lie in the folder `NAME.db.backups`. A copy is written under another name, flushed to the disk and then renamed, so that one that has
its name is whole. Blocking: call these off the event loop.
"""

import os
import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final, Literal, get_args

from engine.errors import SaveError
from engine.records.base import Record
from engine.storage.lock import SaveLock
from engine.storage.schema import APPLICATION_ID

Reason = Literal["play", "migration", "import", "restore", "hand"]
"""Why a copy was made: play went on for a while; a newer version of the program, an import or a restored copy was about to change the
save; a person asked for it."""

_NEWEST: Final = 6
"""Copies of each kind that are kept, whatever their age."""
_DAYS: Final = 7
"""Days of which the last copy is kept, too."""
_NAME: Final = re.compile(rf"(\d{{8}}T\d{{6}})Z-(\d+)-round-(\d+)-({'|'.join(get_args(Reason))})\.db")
_FORMAT: Final = "%Y%m%dT%H%M%S"
_ROUND: Final = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'"

_END: Final = "SELECT max(seq), sum(undone) FROM journal"


class Backup(Record):
    """A whole copy of a save."""

    path: Path
    made: datetime
    """UTC."""
    round: int
    """Rounds that had been played."""
    reason: Reason
    size: int
    """Bytes."""


def folder_of(save: Path) -> Path:
    """Where the copies of a save lie. It may not exist yet."""
    save = save.resolve()
    return save.with_name(f"{save.name}.backups")


def backups_of(save: Path) -> list[Backup]:
    """All copies of a save, the newest first, told by their names and not opened."""
    folder = folder_of(save)
    found: list[tuple[datetime, int, Backup]] = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in folder.iterdir():
            if match := _NAME.fullmatch(path.name):
                with suppress(OSError, ValueError):
                    made = datetime.strptime(match[1], _FORMAT).replace(tzinfo=UTC)
                    reason: Reason = match[4]  # type: ignore[assignment] # one of them, by the pattern
                    backup = Backup(path=path, made=made, round=int(match[3]), reason=reason, size=path.stat().st_size)
                    found.append((made, int(match[2]), backup))
    return [backup for _, _, backup in sorted(found, key=lambda one: one[:2], reverse=True)]


def back_up(conn: sqlite3.Connection, save: Path, reason: Reason, now: datetime | None = None) -> Backup:
    """Copy the save that `conn` has open, outside any transaction. Older copies are thinned out. Raises `SaveError`; then there is no
    new copy, and all others are as they were."""
    now = now or datetime.now(UTC)
    folder = folder_of(save)
    if folder.exists() and not folder.is_dir():
        raise SaveError(f"{save} could not be backed up: {folder} is no folder.", "Move that file away.")
    try:
        folder.mkdir(exist_ok=True)
        fresh = folder / f"{os.getpid()}.new"
        fresh.unlink(missing_ok=True)
        try:
            conn.execute("VACUUM INTO ?", (str(fresh),))
            [(number,)] = conn.execute(_ROUND).fetchall() or [(0,)]
            path = _free(folder, now, number, reason)
            _flush(fresh)
            fresh.rename(path)
            _flush(folder)
        finally:
            fresh.unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        raise SaveError(f"{save} could not be backed up in {folder}: {error}.", "Make room there, or see who may write to it.") from error
    made = Backup(path=path, made=now.replace(microsecond=0), round=number, reason=reason, size=path.stat().st_size)
    for old in spare(backups_of(save), now.date()):
        with suppress(OSError):
            old.path.unlink()
    return made


def same_as(conn: sqlite3.Connection, backup: Backup | None) -> bool:
    """Whether nothing has changed in an open save since a copy of it was made: what its journal ends with is the same."""
    if backup is None:
        return False
    try:
        with closing(_opened(backup.path)) as copy:
            return bool(copy.execute(_END).fetchall() == conn.execute(_END).fetchall())
    except sqlite3.Error:  # of an earlier version, or gone
        return False


def spare(backups: Iterable[Backup], today: date) -> list[Backup]:
    """Those of some copies that need not be kept: neither among the newest of their kind nor the last of one of the last days."""
    kept: set[Path] = set()
    by_kind: dict[bool, int] = {}
    days: set[date] = set()
    backups = sorted(backups, key=lambda one: one.made, reverse=True)
    for backup in backups:
        kind = backup.reason == "play"
        by_kind[kind] = by_kind.get(kind, 0) + 1
        day = backup.made.date()
        last_of_day = day not in days and timedelta(0) <= today - day < timedelta(days=_DAYS)
        if by_kind[kind] <= _NEWEST or last_of_day or day > today:
            kept.add(backup.path)
        days.add(day)
    return [backup for backup in backups if backup.path not in kept]


def restore(save: Path, backup: Path) -> Path | None:
    """Put a copy in the place of the save, which nobody may have open. What stood there is kept among the copies: returns where, None
    when there was nothing.

    Raises `SaveError` and `SaveLockedError`; then the save is as it was.
    """
    _check(backup)
    save = save.resolve()
    with closing(_Locked(save)):
        try:
            kept = _put_by(save)
            fresh = save.with_name(f"{save.name}.new")
            fresh.unlink(missing_ok=True)
            try:
                with closing(_opened(backup)) as conn:
                    conn.execute("VACUUM INTO ?", (str(fresh),))
                _flush(fresh)
                for side in ("-wal", "-shm"):  # of what stood there: SQLite would play it into the copy
                    save.with_name(save.name + side).unlink(missing_ok=True)
                fresh.replace(save)
                with suppress(OSError):  # it is there; when the power fails now, what stood there before may be
                    _flush(save.parent)
            finally:
                fresh.unlink(missing_ok=True)
        except (OSError, sqlite3.Error) as error:
            raise SaveError(f"{backup} could not be put back: {error}.", "Make room there, or see who may write to it.") from error
    return kept


class _Locked:
    """The lock of a save as something to close."""

    def __init__(self, save: Path) -> None:
        self._lock = SaveLock.take(save)

    def close(self) -> None:
        self._lock.release()


def _put_by(save: Path) -> Path | None:
    """Keep what stands at the place of a save among its copies: as a copy when it is sound, else file by file as it is."""
    if not save.exists():
        return None
    folder = folder_of(save)
    try:
        with closing(sqlite3.connect(f"{save.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)) as conn:
            [(application,)] = conn.execute("PRAGMA application_id").fetchall()
            [(found,)] = conn.execute("PRAGMA quick_check(1)").fetchall()
            if application == APPLICATION_ID and found == "ok":
                kept = back_up(conn, save, "restore")
                conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                return kept.path
    except sqlite3.Error:
        pass  # not readable: its files are kept
    folder.mkdir(exist_ok=True)
    broken = next(path for number in count(1) if not (path := folder / f"broken-{number}.db").exists())
    for side in ("-wal", ""):
        name = save.with_name(save.name + side)
        if name.exists():
            broken.with_name(broken.name + side).write_bytes(name.read_bytes())
            _flush(broken.with_name(broken.name + side))
    _flush(folder)
    return broken


def _check(backup: Path) -> None:
    """Raise `SaveError` for what is no sound save."""
    try:
        with closing(_opened(backup)) as conn:
            [(application,)] = conn.execute("PRAGMA application_id").fetchall()
            [(found,)] = conn.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error as error:
        raise SaveError(f"{backup} cannot be put back: {error}.", "Choose another backup.") from error
    if application != APPLICATION_ID or found != "ok":
        raise SaveError(f"{backup} is no sound save.", "Choose another backup.")


def _opened(backup: Path) -> sqlite3.Connection:
    """A copy, only to be read: as it lies, so that nothing appears beside it."""
    return sqlite3.connect(f"{backup.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)


def _free(folder: Path, now: datetime, number: int, reason: Reason) -> Path:
    stamp = f"{now.astimezone(UTC).strftime(_FORMAT)}Z"
    taken = {path.name.rsplit("-round-", 1)[0] for path in folder.iterdir()}
    place = next(place for place in count(1) if f"{stamp}-{place}" not in taken)
    return folder / f"{stamp}-{place}-round-{number}-{reason}.db"


def _flush(path: Path) -> None:
    """To the disk itself: a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
