"""Copies of a save beside it, made while it may be in use and thinned out as they age.

They lie in the folder `NAME.db.backups`. A copy is written under another name, flushed to the disk and then renamed, so that one that has
its name is whole. Blocking: call these off the event loop.
"""

import os
import re
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final, Literal, get_args

from engine.errors import SaveError
from engine.records.base import Record

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
            flush(fresh)
            fresh.rename(path)
            flush(folder)
        finally:
            fresh.unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        raise SaveError(f"{save} could not be backed up in {folder}: {error}.", "Make room there, or see who may write to it.") from error
    made = Backup(path=path, made=now.replace(microsecond=0), round=number, reason=reason, size=path.stat().st_size)
    for old in spare(backups_of(save), now.date()):
        with suppress(OSError):
            old.path.unlink()
    return made


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


def _free(folder: Path, now: datetime, number: int, reason: Reason) -> Path:
    stamp = f"{now.astimezone(UTC).strftime(_FORMAT)}Z"
    taken = {path.name.rsplit("-round-", 1)[0] for path in folder.iterdir()}
    place = next(place for place in count(1) if f"{stamp}-{place}" not in taken)
    return folder / f"{stamp}-{place}-round-{number}-{reason}.db"


def flush(path: Path) -> None:
    """Bring to the disk itself: a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
