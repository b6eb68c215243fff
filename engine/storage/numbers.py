"""Ids from counters kept in the save, so that the same play gives the same ids."""

import sqlite3
from typing import Literal

_NEXT = "UPDATE counters SET value = value + 1 WHERE name = ? RETURNING value"

IdKind = Literal["buf", "led", "run", "prop"]


def next_number(conn: sqlite3.Connection, kind: IdKind) -> tuple[int, str]:
    """The next number of a kind and its id, `buf-000001`. A rolled-back transaction gives its numbers back."""
    [(number,)] = conn.execute(_NEXT, (kind,)).fetchall()
    return number, f"{kind}-{number:06d}"
