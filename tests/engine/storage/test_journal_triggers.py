"""The journal records all state: its triggers are what the tables of today want, and leaving one out is noticed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from engine.storage.schema import migrate
from tests.engine.storage import journal_text

_JOURNAL = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'journal\\_%' ESCAPE '\\'"


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        migrate(made)
        yield made


def stale(conn: sqlite3.Connection) -> list[str]:
    """The statements that a new migration needs; none when all state is recorded."""
    wanted, there = journal_text.triggers(conn), dict(conn.execute(_JOURNAL).fetchall())
    drops = [f"DROP TRIGGER {name};" for name in there if wanted.get(name) != there[name]]
    return [*drops, *(f"{sql};" for name, sql in wanted.items() if there.get(name) != sql)]


def test_all_state_is_recorded_column_by_column(conn: sqlite3.Connection) -> None:
    found = stale(conn)
    assert not found, "The journal does not know the tables as they are. The migration that changed them wants:\n\n" + "\n\n".join(found)


def test_what_is_not_recorded_is_derived_or_the_journal_itself(conn: sqlite3.Connection) -> None:
    tables = {name for (name,) in conn.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')")}
    recorded = {table for (table,) in conn.execute("SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'journal%'")}
    own = {name for name in tables if name.startswith("sqlite_")}
    assert tables - recorded - own == {"ledger_involved_entities", "ledger_words", "journal", "journal_rows", "journal_gate"}


def test_each_trigger_that_is_left_out_is_noticed(conn: sqlite3.Connection) -> None:
    there = dict(conn.execute(_JOURNAL).fetchall())
    assert len(there) > 90
    for name, sql in there.items():
        conn.execute(f"DROP TRIGGER {name}")
        assert stale(conn) == [f"{sql};"]
        conn.execute(sql)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE lore ADD COLUMN mood TEXT NOT NULL DEFAULT ''",
        "CREATE TABLE weather (seq INTEGER PRIMARY KEY, sky TEXT NOT NULL) STRICT",
    ],
)
def test_a_forgotten_column_or_table_is_noticed(conn: sqlite3.Connection, change: str) -> None:
    conn.execute(change)
    assert stale(conn)
