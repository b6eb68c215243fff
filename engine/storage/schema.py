"""The versions of a save's tables: numbered files, applied one transaction each."""

import sqlite3
from collections.abc import Iterator
from functools import cache
from importlib import resources

from engine.errors import SaveError

APPLICATION_ID = 0x4F544D44
"""`OTMD`: marks an SQLite file as a save of this program."""

_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
_SHADOWS = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'"


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Number and SQL of each migration file, in order. Numbers begin at 1 and have no holes."""
    folder = resources.files("engine.storage").joinpath("migrations")
    found = sorted((int(file.name[:4]), file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".sql"))
    if [number for number, _ in found] != list(range(1, len(found) + 1)):
        raise SaveError("This installation lacks some of its database files.", "Install it again.")
    return tuple(found)


def newest_version() -> int:
    """The version that this program writes."""
    return migrations()[-1][0]


def version_of(conn: sqlite3.Connection) -> int:
    """The version a database is at; 0 for an empty one."""
    [(version,)] = conn.execute("PRAGMA user_version").fetchall()
    return int(version)


def statements(sql: str) -> Iterator[str]:
    """The single statements of a script. A trigger's body stays in one piece."""
    held = ""
    for line in sql.splitlines(keepends=True):
        held += line
        if sqlite3.complete_statement(held):
            yield held.strip()
            held = ""
    if any(line.strip() and not line.lstrip().startswith("--") for line in held.splitlines()):
        raise SaveError("A database file of this installation ends in the middle of a statement.", "Install it again.")


def migrate(conn: sqlite3.Connection) -> None:
    """Bring a database to the newest version. Each step is one transaction: a crash leaves a whole version behind."""
    for number, sql in migrations():
        if number <= version_of(conn):
            continue
        conn.execute("BEGIN IMMEDIATE")
        try:
            for statement in statements(sql):
                conn.execute(statement)
            conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            conn.execute(f"PRAGMA user_version = {number}")
            conn.execute("COMMIT")
        except BaseException:
            if conn.in_transaction:
                conn.execute("ROLLBACK")
            raise


def schema_of(conn: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    """Everything that is defined in a database. Tables that FTS5 keeps for itself count by name: their text depends on SQLite."""
    shadows = {name for (name,) in conn.execute(_SHADOWS)}
    rows = conn.execute(_OBJECTS).fetchall()
    return frozenset((kind, name, table, "" if name in shadows else sql) for kind, name, table, sql in rows)


@cache
def expected_schema(version: int) -> frozenset[tuple[str, ...]]:
    """What a save of `version` has defined. Anything else in it was put there by somebody else."""
    conn = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for number, sql in migrations():
            if number <= version:
                for statement in statements(sql):
                    conn.execute(statement)
        return schema_of(conn)
    finally:
        conn.close()
