"""The triggers that keep the journal, written from the tables as they are now.

A migration that makes a table, or adds a column to one, takes the triggers of that table from here: `test_journal_triggers` fails until
it does, and prints them. One that rewrites rows drops the triggers of their tables first, and ends with `DELETE FROM journal` and
`DELETE FROM journal_rows`: what was recorded before fits the new rows no longer.
"""

import sqlite3
from collections.abc import Iterable

DERIVED = frozenset({"ledger_involved_entities", "ledger_words"})
"""Tables that follow from others by triggers."""
OWN = frozenset({"journal", "journal_rows", "journal_gate"})

_TABLES = """
SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
"""
_COLUMNS = "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid"


def triggers(conn: sqlite3.Connection) -> dict[str, str]:
    """By name the triggers of every table that holds state."""
    found: dict[str, str] = {}
    for name, keyed in conn.execute(_TABLES).fetchall():
        if name not in DERIVED | OWN:
            columns = conn.execute(_COLUMNS, (name,)).fetchall()
            found |= _vectors(columns) if name == "embeddings" else _of(name, bool(keyed), columns)
    return found


def _of(name: str, keyed: bool, columns: list[tuple[str, str, int]]) -> dict[str, str]:
    by = [column for column, _, pk in sorted((c for c in columns if c[2]), key=lambda c: c[2])]

    def key(side: str) -> str:
        parts = ", ".join(f"{side}.{column}" for column in by)
        return f"json_array({parts})" if keyed else parts

    differs = _lines((f"old.{column} IS NOT new.{column}" for column, *_ in columns), " OR ", 4)
    changed = _lines(
        (f"""CASE WHEN old.{c} IS NOT new.{c} THEN ',"{c}":' || {_json(c, kind)} ELSE '' END""" for c, kind, _ in columns), " || ", 8
    )
    return {
        f"journal_{name}_insert": f"""CREATE TRIGGER journal_{name}_insert AFTER INSERT ON {name}
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('{name}', '+', {key("new")});
END""",
        f"journal_{name}_delete": f"""CREATE TRIGGER journal_{name}_delete AFTER DELETE ON {name}
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('{name}', '-', {_image([(c, kind) for c, kind, _ in columns])});
END""",
        f"journal_{name}_update": f"""CREATE TRIGGER journal_{name}_update AFTER UPDATE ON {name} WHEN
{differs}
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('{name}', '~', {key("new")}, '{{' || substr(
{changed}
    , 2) || '}}');
END""",
    }


def _vectors(columns: list[tuple[str, str, int]]) -> dict[str, str]:
    """Vectors go with the words that they were made of: only what goes is recorded, and only when its words went with it."""
    image = _image([(column, kind) for column, kind, pk in columns if not pk])
    return {
        "journal_embeddings_delete": f"""CREATE TRIGGER journal_embeddings_delete AFTER DELETE ON embeddings
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'derived')
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('embeddings', '-', {image});
END"""
    }


def _image(columns: list[tuple[str, str]]) -> str:
    parts = [f"'{column}', {_value(column, kind)}" for column, kind in columns]
    return f"json_object(\n{_lines(parts, ', ', 8)}\n    )"


def _value(column: str, kind: str) -> str:
    """JSON would round a REAL to 15 digits, and knows no BLOB."""
    return {"REAL": f"quote(old.{column})", "BLOB": f"hex(old.{column})"}.get(kind, f"old.{column}")


def _json(column: str, kind: str) -> str:
    return f"json_quote({_value(column, kind)})"


def _lines(parts: Iterable[str], joint: str, indent: int) -> str:
    """Parts joined, in lines of at most 140 characters. A joint that is an operator begins the next line."""
    pad, lines, held = " " * indent, [], ""
    for part in parts:
        if held and indent + len(held) + len(joint) + len(part) > 136:
            lines.append(pad + held + (joint.rstrip() if joint == ", " else ""))
            held = part if joint == ", " else joint.lstrip() + part
        else:
            held = f"{held}{joint}{part}" if held else part
    return "\n".join([*lines, pad + held])
