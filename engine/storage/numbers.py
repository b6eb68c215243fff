"""Ids from counters kept in the save, so that the same play gives the same ids."""

import sqlite3
from typing import Literal

_NEXT = "UPDATE counters SET value = value + ? WHERE name = ? RETURNING value"

IdKind = Literal["buf", "led", "run", "prop", "ses", "turn", "col", "kno", "rev", "pro"]


def next_number(conn: sqlite3.Connection, kind: IdKind) -> tuple[int, str]:
    """The next number of a kind and its id, `buf-000001`. A rolled-back transaction gives its numbers back."""
    [found] = next_numbers(conn, kind, 1)
    return found


def next_numbers(conn: sqlite3.Connection, kind: IdKind, count: int) -> list[tuple[int, str]]:
    """As `next_number`, for several rows at once."""
    [(last,)] = conn.execute(_NEXT, (count, kind)).fetchall()
    return [(number, f"{kind}-{number:06d}") for number in range(last - count + 1, last + 1)]


def number_of(key: str) -> int:
    """The number in an id."""
    return int(key.rpartition("-")[2])
