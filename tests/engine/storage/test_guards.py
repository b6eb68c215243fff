"""The database itself refuses to lose, double or swap a memory, whatever the code above it does."""

import sqlite3
from typing import TYPE_CHECKING

import pytest

from engine.errors import SaveError
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples

_ALL = "seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned"
_COPY = f"INSERT INTO buffer_archive ({_ALL}, fate, run_id) SELECT {_ALL}, 'forgotten', 'run-000001' FROM buffer_entries"


REFUSED = {
    "a buffer entry vanishes": "DELETE FROM buffer_entries WHERE id = 'buf-000001'",
    "a whole buffer vanishes": "DELETE FROM buffer_entries",
    "an entry takes another's place": f"REPLACE INTO buffer_entries ({_ALL}) SELECT 1, 'buf-000009', owner_id, timestamp, location_id,"
    " round, kind, intent_json, outcome_json, grasp, pinned FROM buffer_entries WHERE seq = 3",
    "an archived entry comes back": f"INSERT INTO buffer_entries ({_ALL}) SELECT {_ALL} FROM buffer_archive",
    "an entry changes its owner": "UPDATE buffer_entries SET owner_id = 'mira' WHERE id = 'buf-000001'",
    "an entry changes its id": "UPDATE buffer_entries SET id = 'buf-000009' WHERE id = 'buf-000001'",
    "the archive is emptied": "DELETE FROM buffer_archive",
    "the archive is replaced": "REPLACE INTO buffer_archive SELECT * FROM buffer_archive",
    "the archive is rewritten": "UPDATE buffer_archive SET fate = 'forgotten', ledger_id = NULL",
    "a promoted entry's memory vanishes": "DELETE FROM ledger_entries WHERE id = 'led-000002'",
    "an owner with memories vanishes": "DELETE FROM objects WHERE id = 'bob'",
    "promoted to nowhere": _COPY.replace("'forgotten'", "'promoted'") + " WHERE seq = 1",
    "promoted to a memory that is not": f"INSERT INTO buffer_archive ({_ALL}, fate, run_id, ledger_id) SELECT {_ALL}, 'promoted',"
    " 'run-000001', 'led-000009' FROM buffer_entries WHERE seq = 1",
    "archived by no run": _COPY.replace("run-000001", "run-000009") + " WHERE seq = 1",
    "an importance out of range": "UPDATE ledger_entries SET importance = 11",
    "no JSON": "UPDATE buffer_entries SET intent_json = 'He said'",
    "a time that is none": "UPDATE buffer_entries SET timestamp = '1247-3-1'",
    "a vector of another length": "INSERT INTO embeddings (owner_kind, id, model, dim, vector) VALUES ('ledger', 'l', 'm', 2, x'00')",
}


@pytest.mark.parametrize("sql", REFUSED.values(), ids=[name.replace(" ", "-") for name in REFUSED])
async def test_the_database_refuses(filled: Store, sql: str) -> None:
    before = await filled.db.read(_everything)
    with pytest.raises(SaveError, match="refused a change"):
        await filled.db.write(lambda c: c.execute(sql).rowcount)
    assert await filled.db.read(_everything) == before


def _everything(conn: sqlite3.Connection) -> list[list[object]]:
    tables = ("objects", "buffer_entries", "buffer_archive", "ledger_entries", "ledger_sources", "embeddings")
    return [conn.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


@pytest.mark.parametrize("column", ["owner_id = 'mira'", "timestamp = '1247-03-01T18:05:09'", "intent_json = '{}'", "grasp = 'seen'"])
async def test_an_archive_row_that_differs_does_not_count(filled: Store, column: str) -> None:
    """A forged archive row, with one column other than the entry's, does not let the entry go."""
    name, value = column.split(" = ")
    forged = _COPY.replace(f" {name}", f" {value}", 2).replace(f"({_ALL}".replace(f" {name}", f" {value}"), f"({_ALL}", 1)

    def swap(conn: sqlite3.Connection) -> None:
        conn.execute(forged + " WHERE seq = 1")
        conn.execute("DELETE FROM buffer_entries WHERE seq = 1")

    with pytest.raises(SaveError, match="only go when the archive holds it"):
        await filled.db.write(swap)


async def test_people_and_words_follow_their_entry(filled: Store, samples: "Samples") -> None:
    """The tables that recall searches are kept by the database, also for statements that know nothing of them."""

    def work(conn: sqlite3.Connection) -> None:
        entry = filled.ledger.add(conn, samples.memory(involved=("mira", "key", "mira")), ["buf-000001"], "a quarrel")
        filled.embeddings.put(conn, "ledger", entry.id, "m", 1, b"1234")
        people = "SELECT entity_id FROM ledger_involved_entities WHERE entry_id = ? ORDER BY entity_id"
        assert [row[0] for row in conn.execute(people, (entry.id,))] == ["key", "mira"]
        conn.execute("UPDATE ledger_entries SET involved_json = '[\"bob\"]', timestamp = '1247-05-05T05:05:05' WHERE id = ?", (entry.id,))
        assert conn.execute("SELECT entity_id, timestamp FROM ledger_involved_entities WHERE entry_id = ?", (entry.id,)).fetchall() == [
            ("bob", "1247-05-05T05:05:05")
        ]
        filled.ledger_archive.archive(conn, [entry.id], "removed", 1)
        for table, column in (("ledger_involved_entities", "entry_id"), ("ledger_sources", "ledger_id"), ("embeddings", "id")):
            assert conn.execute(f"SELECT count(*) FROM {table} WHERE {column} = ?", (entry.id,)).fetchone() == (0,)
        assert [key for key, _ in filled.ledger.by_words(conn, "bob", ["quarrel"], 9)] == ["led-000001"]
        conn.execute("INSERT INTO ledger_words (ledger_words, rank) VALUES ('integrity-check', 1)")

    await filled.db.write(work)
