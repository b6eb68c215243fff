"""Rows as the journal recorded them, put back: each by its key, exactly once."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.errors import SaveError

_RECORDS = "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = 'journal_' || ? || '_delete'"
_COLUMNS = "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid"
_KEYED = "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?"
_VECTORS = "embeddings"
_PUT_VECTOR = """
INSERT INTO embeddings (owner_kind, id, model, dim, vector) VALUES (:owner_kind, :id, :model, :dim, :vector)
ON CONFLICT (owner_kind, id, model) DO UPDATE SET dim = excluded.dim, vector = excluded.vector
"""


class Image(NamedTuple):
    """A recorded row: what it takes to have it as it was."""

    name: str
    """Of its table."""
    op: str
    key: object
    image: str | None


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    types: dict[str, str]
    key: tuple[str, ...]
    keyed: bool
    """Whether rows have no number and are known by the columns of their key."""

    def values(self, image: str | None) -> dict[str, object]:
        found = json.loads(image or "{}")
        if not isinstance(found, dict) or not found.keys() <= self.types.keys():
            raise _unfit(self.name)
        return {column: _value(value, self.types[column]) for column, value in found.items()}

    def where(self, key: object) -> tuple[str, Sequence[object]]:
        parts = json.loads(str(key)) if self.keyed else [key]
        return " AND ".join(f'"{column}" IS ?' for column in self.key), parts


def put_back(conn: sqlite3.Connection, images: Iterable[Image]) -> None:
    """Put rows back, in this order. Guards must be at rest. Raises `SaveError` when a row is not as the journal left it; then nothing of
    the transaction may be kept.

    Vectors come last: those of words that go are dropped with them, and those of words that come again take their place.
    """
    tables: dict[str, _Table] = {}
    vectors: list[Image] = []
    for image in images:
        if image.name == _VECTORS:
            vectors.append(image)
            continue
        if image.name not in tables:
            tables[image.name] = _table(conn, image.name)
        if _done(conn, tables[image.name], image) != 1:
            raise _unfit(image.name)
    if vectors:
        table = _table(conn, _VECTORS)
        conn.executemany(_PUT_VECTOR, [table.values(image.image) for image in vectors])


def _done(conn: sqlite3.Connection, table: _Table, image: Image) -> int:
    if image.op == "+":
        where, parts = table.where(image.key)
        return conn.execute(f'DELETE FROM "{table.name}" WHERE {where}', parts).rowcount
    values = table.values(image.image)
    if image.op == "-":
        columns = ", ".join(f'"{column}"' for column in values)
        return conn.execute(
            f'INSERT INTO "{table.name}" ({columns}) VALUES ({", ".join("?" * len(values))})', list(values.values())
        ).rowcount
    where, parts = table.where(image.key)
    columns = ", ".join(f'"{column}" = ?' for column in values)
    return conn.execute(f'UPDATE "{table.name}" SET {columns} WHERE {where}', [*values.values(), *parts]).rowcount


def _table(conn: sqlite3.Connection, name: str) -> _Table:
    """A table that the journal records. No other name in it is believed."""
    if not conn.execute(_RECORDS, (name,)).fetchall():
        raise _unfit(name)
    columns = conn.execute(_COLUMNS, (name,)).fetchall()
    [(keyed,)] = conn.execute(_KEYED, (name,)).fetchall()
    key = tuple(column for column, _, pk in sorted(columns, key=lambda column: int(column[2])) if pk)
    return _Table(name, {column: kind for column, kind, _ in columns}, key, bool(keyed))


def _value(value: object, kind: str) -> object:
    if value is None or kind not in ("REAL", "BLOB"):
        return value
    return float(str(value)) if kind == "REAL" else bytes.fromhex(str(value))


def _unfit(name: str) -> SaveError:
    return SaveError(f"The journal of this save does not fit its rows ({name}).", "Nothing was changed; play can go on from here.")
