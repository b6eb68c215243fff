"""When knowledge was last looked over for what is not used."""

import sqlite3
from datetime import datetime

from engine.storage.rows import time_text

_LAST = "SELECT value FROM meta WHERE key = 'swept'"
_SET = "INSERT INTO meta (key, value) VALUES ('swept', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


def last_sweep(conn: sqlite3.Connection) -> datetime | None:
    """World time of the last sweep; None before the first."""
    rows = conn.execute(_LAST).fetchall()
    return datetime.fromisoformat(rows[0][0]) if rows else None


def set_last_sweep(conn: sqlite3.Connection, at: datetime) -> None:
    """Note that there was one."""
    conn.execute(_SET, (time_text(at),))
