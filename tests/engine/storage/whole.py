"""All rows of a save, to hold two moments of it against each other."""

import sqlite3

_TABLES = """
SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'journal%' ORDER BY name
"""
_WORDS = "SELECT rowid FROM ledger_words WHERE ledger_words MATCH 'the OR and OR of OR you OR words OR in OR came'"
_VECTOR = "owner_kind, id, model, dim, vector"


def everything(conn: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """By table all rows, also those that follow from others. Vectors may be made in any order: their number does not count."""
    found = {
        name: sorted(conn.execute(f'SELECT {_VECTOR if name == "embeddings" else "*"} FROM "{name}"'), key=repr)
        for (name,) in conn.execute(_TABLES).fetchall()
    }
    return found | {"ledger_words": sorted(conn.execute(_WORDS))}


def sound(conn: sqlite3.Connection) -> None:
    """Nothing refers to what is not there, and the word index holds the words of the ledger."""
    assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
    conn.execute("INSERT INTO ledger_words (ledger_words, rank) VALUES ('integrity-check', 1)")
