"""Comparing two saves row for row, for instance two runs of one world with one seed."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from engine.errors import SaveError
from engine.storage.opening import Opened, open_save
from engine.storage.rows import Row

LEFT_OUT = frozenset({"run_log", "journal", "journal_rows", "journal_gate"})
"""Tables in which equal saves may differ: wall-clock time, and the ways by which they came to be what they are."""

_KEYS = {"embeddings": ("owner_kind", "id", "model")}
"""Tables known by other columns than their number: vectors may be made in any order."""

_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
_COLUMNS = "SELECT name, pk FROM pragma_table_info(?)"
_WIDTH = 60


class _Table(NamedTuple):
    name: str
    columns: tuple[str, ...]
    key: tuple[int, ...]
    """Positions of the columns a row is found by: the primary key's, but for `_KEYS`."""
    label: tuple[int, ...]
    """Positions of what a reader knows a row by."""


def differences(a: Path, b: Path) -> list[str]:
    """What differs between two saves, one line each; empty when they are equal. Neither is changed.

    Looks at all tables but the run log, the journal, and the word index, which follows from the ledger. Raises `SaveError`.
    """
    with closing(_open(a)) as first, closing(_open(b)) as second:
        tables = _tables(first.conn)
        if tables != _tables(second.conn):
            raise SaveError(f"{a} and {b} are of different versions.", "Open the older one once to bring it up to date.")
        return [line for table in tables for line in _compare(table, first.conn, second.conn)]


def counted(found: Sequence[str]) -> str:
    """How many differences there are in each table, most first: `1,204 differences: ledger_entries 803, buffer_entries 401`.

    `found` is what `differences` gives.
    """
    tables = Counter(line.partition(" ")[0] for line in found)
    return f"{len(found):,} differences: {', '.join(f'{table} {count:,}' for table, count in tables.most_common())}"


def _open(path: Path) -> Opened:
    found = open_save(path, read_only=True)
    if found.damage:
        found.close()
        raise SaveError(f"{path} is damaged: {found.damage}.", "Restore a backup.")
    return found


def _tables(conn: sqlite3.Connection) -> list[_Table]:
    found = []
    for (name,) in sorted(conn.execute(_TABLES)):
        if name in LEFT_OUT:
            continue
        info = conn.execute(_COLUMNS, (name,)).fetchall()
        if by := _KEYS.get(name):
            info = [(column, by.index(column) + 1 if column in by else 0) for column, pk in info if not pk]
        columns = tuple(column for column, _ in info)
        key = tuple(sorted((i for i, (_, pk) in enumerate(info) if pk), key=lambda i: info[i][1]))
        label = (columns.index("id"),) if "id" in columns and not by else key
        found.append(_Table(name, columns, key, label))
    return found


def _compare(table: _Table, a: sqlite3.Connection, b: sqlite3.Connection) -> Iterator[str]:
    """Walk both tables along their keys, as in a merge."""
    left, right = _rows(table, a), _rows(table, b)
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and _key(table, one) < _key(table, other)):
            assert one is not None
            yield f"{_label(table, one)}: only in the first"
            one = next(left, None)
        elif one is None or _key(table, other) < _key(table, one):
            yield f"{_label(table, other)}: only in the second"
            other = next(right, None)
        else:
            for column, mine, yours in zip(table.columns, one, other, strict=True):
                if mine != yours:
                    yield f"{_label(table, one)}: {column} is {' and '.join(_shown(mine, yours))}"
            one, other = next(left, None), next(right, None)


def _rows(table: _Table, conn: sqlite3.Connection) -> Iterator[Row]:
    columns, order = (", ".join(f'"{name}"' for name in names) for names in (table.columns, [table.columns[i] for i in table.key]))
    yield from conn.execute(f'SELECT {columns} FROM "{table.name}" ORDER BY {order}')


def _key(table: _Table, row: Row) -> Row:
    return tuple(row[i] for i in table.key)


def _label(table: _Table, row: Row) -> str:
    return f"{table.name} {' '.join(str(row[i]) for i in table.label)}"


def _shown(one: object, other: object) -> tuple[str, str]:
    """Both values in a few words, long texts from shortly before they part."""
    if isinstance(one, str) and isinstance(other, str):
        parting = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
        start = max(0, parting - 20) if max(len(one), len(other)) > _WIDTH else 0
        return _cut(one, start), _cut(other, start)
    if isinstance(one, bytes) and isinstance(other, bytes):
        parting = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
        return f"{len(one)} bytes", f"{len(other)} bytes, different from byte {parting} on"
    return repr(one), repr(other)


def _cut(text: str, start: int) -> str:
    end = start + _WIDTH
    return ("..." if start else "") + repr(text[start:end]) + ("..." if end < len(text) else "")
