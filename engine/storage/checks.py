"""A save looked at as closely as can be: its file, what refers to what, and whether any memory is lost or stands twice."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from engine.records.base import Record
from engine.storage.opening import explained, open_save

_MOST: Final = 20
"""Faults of one kind that are told."""
_COUNTS: Final = (
    ("rounds", "SELECT coalesce(max(CAST(value AS INTEGER)), 0) FROM meta WHERE key = 'round'"),
    ("moments in mind", "SELECT count(*) FROM buffer_entries"),
    ("moments that left", "SELECT count(*) FROM buffer_archive"),
    ("memories", "SELECT count(*) FROM ledger_entries"),
    ("pieces of knowledge", "SELECT count(*) FROM knowledge"),
)
_FAULTS: Final = (
    ("stands in mind and among what left it", "SELECT id FROM buffer_entries INTERSECT SELECT id FROM buffer_archive"),
    ("stands in the ledger and among what left it", "SELECT id FROM ledger_entries INTERSECT SELECT id FROM ledger_archive"),
    (
        "was kept as a memory that is nowhere",
        "SELECT id FROM buffer_archive WHERE fate = 'promoted' AND ledger_id NOT IN (SELECT id FROM ledger_entries)"
        " AND ledger_id NOT IN (SELECT id FROM ledger_archive)",
    ),
    (
        "was forgotten by a handoff that is nowhere",
        "SELECT id FROM buffer_archive WHERE fate = 'forgotten' AND run_id NOT IN (SELECT id FROM handoff_runs)",
    ),
)
"""Kinds of faults, each with what finds those that have it."""


class Health(Record):
    """What a close look at a save found."""

    faults: tuple[str, ...]
    """In words; none for a sound save."""
    counts: tuple[tuple[str, int], ...]
    """What there is in it."""


def checked(path: Path) -> Health:
    """Look at a save, which is only read and may be in use. About 10 ms for each megabyte. Blocking. Raises `SaveError` for what is no save
    at all or was changed by another program."""
    with closing(open_save(path, read_only=True)) as opened:
        if opened.damage:
            return Health(faults=(f"The file is damaged: {opened.damage}.",), counts=())
        try:
            faults = [*_of_the_file(opened.conn), *_of_memory(opened.conn)]
            counts = tuple((what, int(opened.conn.execute(sql).fetchone()[0])) for what, sql in _COUNTS)
        except sqlite3.Error as error:
            return Health(faults=(str(explained(error, path)),), counts=())
        return Health(faults=tuple(faults), counts=counts)


def _of_the_file(conn: sqlite3.Connection) -> list[str]:
    found = [f"The file is damaged: {line}." for (line,) in conn.execute(f"PRAGMA integrity_check({_MOST})") if line != "ok"]
    astray = conn.execute("PRAGMA foreign_key_check").fetchmany(_MOST)
    return found + [f"A row of {table} refers to one of {parent} that is not there." for table, _, parent, _ in astray]


def _of_memory(conn: sqlite3.Connection) -> list[str]:
    return [f"{key} {what}." for what, sql in _FAULTS for (key,) in conn.execute(sql).fetchmany(_MOST)]
