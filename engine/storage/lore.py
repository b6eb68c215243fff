"""Authored knowledge, and when what is timed of it came to a mind."""

import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from engine.records.authored import LoreItem
from engine.records.base import EntityId
from engine.storage.rows import list_text, text_list, time_text

_COLUMNS = "id, text, keys_json, constant, scope, holders_json, since, until, stays_minutes, rests_minutes"
_ADD = f"INSERT INTO lore ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ALL = f"SELECT {_COLUMNS} FROM lore ORDER BY seq"
_CALLED = "SELECT lore_id, max(called) FROM lore_calls WHERE owner_id = ? GROUP BY lore_id"
_CALL = """
INSERT INTO lore_calls (owner_id, lore_id, called, round)
SELECT :owner, id, :now, :round FROM lore
WHERE id = :lore AND stays_minutes + rests_minutes > 0 AND NOT EXISTS (
    SELECT 1 FROM lore_calls WHERE owner_id = :owner AND lore_id = :lore
        AND coalesce(datetime(called, '+' || (stays_minutes + rests_minutes) || ' minutes'), '9999-12-31 23:59:59') > datetime(:now)
)
"""
_MINUTE = timedelta(minutes=1)


class LoreRepository:
    """Reads and writes authored knowledge. It never changes in a save; when it came to whom does."""

    def add(self, conn: sqlite3.Connection, items: Iterable[LoreItem]) -> None:
        """Write the lore of a new world, in the order given."""
        conn.executemany(_ADD, map(_row, items))

    def all(self, conn: sqlite3.Connection) -> tuple[LoreItem, ...]:
        """All of it, in the order it was authored."""
        return tuple(
            LoreItem(
                id=key, text=text, keys=text_list(keys), constant=bool(constant), scope=scope, holders=text_list(holders),
                since=_moment(since), until=_moment(until), stays=stays * _MINUTE, rests=rests * _MINUTE,
            )
            for key, text, keys, constant, scope, holders, since, until, stays, rests in conn.execute(_ALL)
        )

    def called(self, conn: sqlite3.Connection, owner: EntityId) -> Mapping[str, datetime]:
        """By id, when timed lore last came to a mind."""
        return {key: datetime.fromisoformat(called) for key, called in conn.execute(_CALLED, (owner,))}

    def call(self, conn: sqlite3.Connection, owner: EntityId, keys: Iterable[str], now: datetime, round_number: int) -> None:
        """Lore has come to a mind. What is not timed, or came there before and still stays or rests, is passed over, and so is what is
        no lore."""
        told = {"owner": owner, "now": time_text(now), "round": round_number}
        conn.executemany(_CALL, [{**told, "lore": key} for key in dict.fromkeys(keys)])


def _row(item: LoreItem) -> tuple[object, ...]:
    return (
        item.id, item.text, list_text(item.keys), item.constant, item.scope, list_text(item.holders),
        *(None if moment is None else time_text(moment) for moment in (item.since, item.until)),
        item.stays // _MINUTE, item.rests // _MINUTE,
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
