"""A copy of a save as it stood at the end of an earlier round. For looking: the save itself is only read."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from engine.errors import CommandError, SaveError
from engine.storage import rewind_sessions
from engine.storage.opening import explained, open_save
from engine.storage.schema import migrate

_ROUND = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'"
_RECORDED = "SELECT min(round) FROM rounds"
_GUARDS = """
SELECT name, sql FROM sqlite_schema
WHERE type = 'trigger' AND (name LIKE '%\\_guard\\_%' ESCAPE '\\' OR name LIKE 'restorations\\_%' ESCAPE '\\'
    OR name LIKE 'journal\\_%' ESCAPE '\\' OR name IN ('ledger_versions_keep', 'objects_move', 'audit_stays', 'audit_kept', 'turns_kept'))
"""

_BUFFER = "seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned"
_LEDGER = """
seq, id, owner_id, timestamp, ended, location_id, involved_json, content, quotes_json, importance, mode, run_id, version, plain, origin,
created_round
"""
_WORDED = (
    "timestamp", "ended", "location_id", "involved_json", "content", "quotes_json", "importance", "mode", "run_id", "plain", "origin",
)

_BACK = """
SELECT id AS was_id, fate AS was_fate, left_round AS was_left, run_id AS was_run, ledger_id AS was_in, origin AS was_from, min(seq)
FROM restorations WHERE kind = '%s' AND left_round <= :n AND round > :n GROUP BY id
"""
"""What was in the archive at the end of the round and was brought back later."""

# Each statement takes the round as `:n`. Their order matters: what came later goes, what left later comes back, what was rewritten
# later is worded as it was.
_STEPS = (
    # Events that left the buffer later are in it again; those brought back later are gone again.
    f"""
    INSERT INTO buffer_entries ({_BUFFER}) SELECT {_BUFFER} FROM buffer_archive
    WHERE round <= :n AND run_id IN (SELECT id FROM handoff_runs WHERE round > :n)
    """,
    "DELETE FROM buffer_archive WHERE run_id IN (SELECT id FROM handoff_runs WHERE round > :n)",
    f"""
    INSERT INTO buffer_archive ({_BUFFER}, fate, run_id, ledger_id) SELECT {_BUFFER}, was_fate, was_run, was_in
    FROM ({_BACK % "buffer"}) JOIN buffer_entries ON id = was_id
    """,
    "DELETE FROM buffer_entries WHERE round > :n OR id IN (SELECT id FROM buffer_archive)",
    # Memories in the same way.
    f"""
    INSERT INTO ledger_entries ({_LEDGER}) SELECT {_LEDGER} FROM ledger_archive WHERE archived_round > :n AND created_round <= :n
    """,
    """
    INSERT INTO ledger_sources (buffer_id, ledger_id, round)
    SELECT source.value, gone.id, since.value
    FROM ledger_archive AS gone, json_each(gone.sources_json) AS source
    JOIN json_each(gone.source_rounds_json) AS since ON since.key = source.key
    WHERE gone.archived_round > :n AND gone.created_round <= :n
    """,
    "DELETE FROM ledger_archive WHERE archived_round > :n",
    "DELETE FROM ledger_sources WHERE round > :n",
    f"""
    INSERT INTO ledger_archive ({_LEDGER.replace(", origin", "")}, origin, sources_json, source_rounds_json, fate, archived_round, by_run,
        into_id)
    SELECT {_LEDGER.replace(", origin", "")}, was_from,
        (SELECT json_group_array(buffer_id) FROM (SELECT buffer_id FROM ledger_sources WHERE ledger_id = id ORDER BY buffer_id)),
        (SELECT json_group_array(round) FROM (SELECT round FROM ledger_sources WHERE ledger_id = id ORDER BY buffer_id)),
        was_fate, was_left, was_run, was_in
    FROM ({_BACK % "ledger"}) JOIN ledger_entries ON id = was_id
    """,
    "DELETE FROM ledger_entries WHERE created_round > :n OR id IN (SELECT id FROM ledger_archive)",
    f"""
    UPDATE ledger_entries SET version = was.version, {", ".join(f"{name} = was.{name}" for name in _WORDED)}
    FROM (
        SELECT * FROM ledger_versions AS one WHERE replaced_round > :n
            AND version = (SELECT min(version) FROM ledger_versions WHERE entry_id = one.entry_id AND replaced_round > :n)
    ) AS was WHERE was.entry_id = ledger_entries.id
    """,
    # A restored memory counts as one by hand only since it was restored.
    """
    UPDATE ledger_entries SET origin = was_from
    FROM (
        SELECT id AS was_id, origin AS was_from, round AS back_round, min(seq) FROM restorations
        WHERE kind = 'ledger' AND round > :n GROUP BY id
    ) WHERE was_id = ledger_entries.id AND NOT EXISTS (
        SELECT 1 FROM ledger_versions WHERE entry_id = was_id AND replaced_round > :n AND replaced_round <= back_round
    )
    """,
    """
    DELETE FROM ledger_versions
    WHERE replaced_round > :n OR entry_id NOT IN (SELECT id FROM ledger_entries UNION ALL SELECT id FROM ledger_archive)
    """,
    # Sources that are no events are turns from outside of play: they went into the memory in which they are named.
    """
    DELETE FROM ledger_sources
    WHERE buffer_id LIKE 'buf-%' AND buffer_id NOT IN (SELECT id FROM buffer_entries UNION ALL SELECT id FROM buffer_archive)
    """,
    # How often memories were used is not known for an earlier round.
    "DELETE FROM ledger_use",
    "DELETE FROM restorations WHERE round > :n",
    "DELETE FROM proposals WHERE round > :n",
    "DELETE FROM handoff_runs WHERE round > :n",
    # The clock as the next round found it; saves of earlier versions know when the next beat began.
    """
    UPDATE meta SET value = coalesce(
        (SELECT started FROM rounds WHERE round = :n + 1), (SELECT min(timestamp) FROM beats WHERE round > :n), value
    ) WHERE key = 'now'
    """,
    # What happened.
    "DELETE FROM happenings WHERE round > :n",
    "DELETE FROM beats WHERE round > :n",
    # A memory that went on without a new wording had not lasted longer than the clock.
    "UPDATE ledger_entries SET ended = max(timestamp, min(ended, (SELECT value FROM meta WHERE key = 'now')))",
    "DELETE FROM rounds WHERE round > :n",
    "UPDATE meta SET value = CAST(:n AS TEXT) WHERE key = 'round'",
    # No way leads on from here to what the journal knows of.
    "DELETE FROM journal",
    "DELETE FROM journal_rows",
)
_MOVES = "SELECT entity_id, from_place FROM moves WHERE round > ? ORDER BY seq DESC"
_RENAMED = "SELECT viewer_id, target_id, old FROM alias_changes WHERE round > ? ORDER BY seq DESC"
_SET_ALIAS = "UPDATE objects SET aliases_json = json_set(aliases_json, '$.' || json_quote(?), ?) WHERE id = ?"
_NO_ALIAS = "UPDATE objects SET aliases_json = json_remove(aliases_json, '$.' || json_quote(?)) WHERE id = ?"


def copy_save(path: Path, target: Path) -> None:
    """A whole, compact copy of a save in a new file. The save may be in use. Raises `SaveError`."""
    with closing(open_save(path, read_only=True)) as opened:
        try:
            opened.conn.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.Error as error:
            raise explained(error, target) from error


def rewind(path: Path, number: int) -> tuple[str, ...]:
    """Take a *copy* of a save back to the end of round `number`. In place; never call it on a save that anybody plays.

    Buffers, archives, ledgers with their wordings, names, whereabouts, runs, story and clock are as they were; sessions, knowledge,
    factions and the audit trail, too, as far as `rewind_sessions` says. Other attributes, the state of portals, pins and counts of use
    are those of the copy: saves do not keep their history, nor those of earlier versions where anybody was. Returns what else is not
    known, for people.
    Raises `CommandError` when there was no such round, `SaveError`.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        try:
            migrate(conn)
            conn.execute("PRAGMA foreign_keys = ON")
            [(reached,)] = conn.execute(_ROUND)
            if not 0 <= number <= reached:
                raise CommandError(f"There is no round {number} in this save.", f"It has rounds 0 (before the first) to {reached}.")
            [(since,)] = conn.execute(_RECORDED)
            unknown = rewind_sessions.unknown(conn, number)
            conn.execute("BEGIN IMMEDIATE")
            for statement in _taken_back(conn, number):
                conn.execute(*statement)
            conn.execute("COMMIT")
        except sqlite3.Error as error:
            raise SaveError(f"{path} could not be taken back to round {number}: {error}.", "The save itself was only read.") from error
    if number < reached and (since is None or number + 1 < since):
        places = "Who was where at the end of that round was not written down by the version that played it: places are those of later."
        return (places, *unknown)
    return unknown


def _taken_back(conn: sqlite3.Connection, number: int) -> Iterator[tuple[str, tuple[object, ...] | dict[str, int]]]:
    """The statements that take a copy back, with what they need. Guards, and what records, are off meanwhile and on again at the end."""
    guards = conn.execute(_GUARDS).fetchall()
    yield from ((f"DROP TRIGGER {name}", ()) for name, _ in guards)
    for entity, place in conn.execute(_MOVES, (number,)).fetchall():
        yield "UPDATE objects SET place_id = ? WHERE id = ?", (place, entity)
    yield "DELETE FROM moves WHERE round > ?", (number,)
    for viewer, target, old in conn.execute(_RENAMED, (number,)).fetchall():
        yield (_NO_ALIAS, (target, viewer)) if old is None else (_SET_ALIAS, (target, old, viewer))
    yield "DELETE FROM alias_changes WHERE round > ?", (number,)
    yield from ((step, {"n": number}) for step in _STEPS)
    yield from rewind_sessions.taken_back(conn, number)
    yield from ((sql, ()) for _, sql in guards)
