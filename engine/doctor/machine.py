"""What the program stands on: its own packages, SQLite, and the folder that saves are kept in."""

import os
import platform
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from engine.doctor.findings import Finding

_STOLEN: Final = ("1.82.7", "1.82.8")
"""Releases of litellm that carried a thief of keys."""
_ROOM: Final = 200_000_000
"""Bytes on the disk below which a long story may not fit any more."""


def program() -> Iterator[Finding]:
    """Which versions run here."""
    found = partial(Finding, area="program")
    own, litellm = _installed("otherminds"), _installed("litellm")
    yield found(name="Otherminds", state="ok", text=own or "runs from its folder, not installed")
    yield found(name="Python", state="ok", text=f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    if not litellm:
        text = "is missing: no model behind a provider or a server can be asked"
        yield found(name="litellm", state="bad", text=text, advice="Install Otherminds anew with pip.")
    elif litellm in _STOLEN:
        advice = "Install Otherminds anew with pip, and replace every key that was in the environment."
        yield found(name="litellm", state="bad", text=f"{litellm} is a release that sent keys to thieves", advice=advice)
    else:
        yield found(name="litellm", state="ok", text=litellm)


def database(saves: Path) -> Iterator[Finding]:
    """Whether SQLite can what saves need, and whether they can be written to the folder `saves`. Makes no folder."""
    yield _sqlite()
    yield _folder(saves)
    yield _space(saves)


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _sqlite() -> Finding:
    missing = []
    with closing(sqlite3.connect(":memory:")) as conn:
        for feature, statement in (
            ("STRICT tables", "CREATE TABLE a (x INTEGER) STRICT"), ("FTS5", "CREATE VIRTUAL TABLE b USING fts5(x)"),
            ("RETURNING", "INSERT INTO a VALUES (1) RETURNING x"),
        ):
            try:
                conn.execute(statement).fetchall()
            except sqlite3.Error:
                missing.append(feature)
    found = partial(Finding, area="database", name="SQLite")
    if missing:
        text = f"{sqlite3.sqlite_version} lacks {', '.join(missing)}: saves cannot be opened"
        return found(state="bad", text=text, advice="Use a Python whose SQLite is 3.37 or later and has FTS5.")
    return found(state="ok", text=f"{sqlite3.sqlite_version}, with full-text search and strict tables")


def _folder(saves: Path) -> Finding:
    found = partial(Finding, area="database", name="saves")
    try:
        with tempfile.TemporaryFile(dir=_nearest(saves)):
            pass
    except OSError as error:
        text = f"{saves} cannot be written: {error.strerror or error}"
        return found(state="bad", text=text, advice="Set OTHERMINDS_HOME to a folder you can write to.")
    if not saves.is_dir():
        return found(state="ok", text=f"{saves} can be made with the first save")
    count = sum(1 for _ in saves.glob("*.db"))
    return found(state="ok", text=f"{saves} can be written and holds {count} {'save' if count == 1 else 'saves'}")


def _space(saves: Path) -> Finding:
    found = partial(Finding, area="database", name="free space")
    try:
        free = shutil.disk_usage(_nearest(saves)).free
    except OSError as error:
        return found(state="warn", text=f"is unknown: {error.strerror or error}")
    if free >= _ROOM:
        return found(state="ok", text=f"{free / 1e9:.1f} GB")
    advice = "Make room, or set OTHERMINDS_HOME to a folder on another disk."
    return found(state="bad" if free < _ROOM // 20 else "warn", text=f"{free / 1e6:.0f} MB are left", advice=advice)


def _nearest(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that is there: the rest is made when it is needed."""
    for place in (folder, *folder.parents):
        if os.path.lexists(place):
            return place
    return Path()
