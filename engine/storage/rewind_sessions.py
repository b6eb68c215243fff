"""Sessions and knowledge of a copy, taken back to the end of an earlier round as far as saves keep them."""

import sqlite3
from collections.abc import Iterator
from typing import TypeAlias

from engine.records.knowledge import Knowledge
from engine.records.tokens import bare
from engine.storage.knowledge_history import KnowledgeHistory
from engine.storage.knowledge_queries import COLUMNS, values_of
from engine.storage.rows import list_text, marks

Statement: TypeAlias = tuple[str, tuple[object, ...] | dict[str, int]]

_COLLAPSED_SINCE = "SELECT 1 FROM session_summaries WHERE round > ? AND status <> 'failed' LIMIT 1"
_NOT_ENDED_THEN = """
(status = 'collapsed' AND NOT EXISTS (
    SELECT 1 FROM session_summaries WHERE session_id = sessions.id AND status <> 'failed' AND run_json ->> 'partial' = 0
)) OR (status IN ('collapsing', 'discarded') AND ended_round > :n)
"""

# Each takes the round as `:n`. The clock has been taken back before.
_STEPS = (
    "DELETE FROM session_turns WHERE round > :n",
    "DELETE FROM session_sources WHERE round > :n",
    "DELETE FROM session_summaries WHERE round > :n",
    # Turns that came while a session was being collapsed were carried into the next one, which was not there yet.
    """
    UPDATE session_turns SET session_id = coalesce((
        SELECT earlier.id FROM sessions AS later
        JOIN sessions AS earlier ON earlier.agent_id = later.agent_id AND earlier.actor_id = later.actor_id
        WHERE later.id = session_turns.session_id AND earlier.started_round <= :n ORDER BY earlier.seq DESC LIMIT 1
    ), session_id) WHERE session_id IN (SELECT id FROM sessions WHERE started_round > :n)
    """,
    "DELETE FROM session_turns WHERE session_id IN (SELECT id FROM sessions WHERE started_round > :n)",
    "DELETE FROM sessions WHERE started_round > :n",
    f"""
    UPDATE sessions SET status = 'open', promotion_state = 'none', ended = NULL, ended_round = NULL, asked = ''
    WHERE {_NOT_ENDED_THEN}
    """,
    """
    UPDATE sessions SET last_turn_at = coalesce(
        (SELECT max(timestamp) FROM session_turns WHERE session_id = sessions.id),
        min(last_turn_at, (SELECT value FROM meta WHERE key = 'now'))
    ), parts = (
        SELECT count(*) FROM session_summaries WHERE session_id = sessions.id AND status <> 'failed' AND run_json ->> 'partial' = 1
    ) WHERE status = 'open'
    """,
    "UPDATE sessions SET entities_json = '[]', decisions_json = '[]' WHERE status = 'open' AND parts = 0",
    "DELETE FROM knowledge_keepers WHERE round > :n",
    "DELETE FROM review_queue WHERE round > :n",
    "DELETE FROM promotion_runs WHERE round > :n",
    "DELETE FROM faction_changes WHERE round > :n",
    "DELETE FROM knowledge WHERE created_round > :n",
    "DELETE FROM knowledge_versions WHERE replaced_round > :n OR row_json ->> 'created_round' > :n",
    # What was in a prompt since: how often it was before is not known.
    """
    UPDATE knowledge SET retrieval_count = 0, last_retrieved_at = NULL, activation = 0, strength = 0
    WHERE last_retrieved_at > (SELECT value FROM meta WHERE key = 'now')
    """,
    "DELETE FROM meta WHERE key = 'swept' AND value > (SELECT value FROM meta WHERE key = 'now')",
    "DELETE FROM audit WHERE round > :n",
    "DELETE FROM lore_calls WHERE round > :n",
)
_EARLIER = """
SELECT row_json FROM knowledge_versions AS one WHERE replaced_round > ?1 AND version = (
    SELECT min(version) FROM knowledge_versions WHERE knowledge_id = one.knowledge_id AND replaced_round > ?1
) ORDER BY knowledge_id
"""
_NAMES = (*COLUMNS.split(", "), "plain")
_PUT = f"""
INSERT INTO knowledge ({", ".join(_NAMES)}) VALUES ({marks(len(_NAMES))})
ON CONFLICT (id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _NAMES)}
"""
_MOVED_IN_FACTIONS = "SELECT DISTINCT entity_id FROM faction_changes WHERE round > ? ORDER BY entity_id"
_SET_FACTIONS = "UPDATE objects SET factions_json = ? WHERE id = ?"


def unknown(conn: sqlite3.Connection, number: int) -> tuple[str, ...]:
    """What of sessions and knowledge at the end of a round is not kept, for people. To be asked before the copy is taken back."""
    if not conn.execute(_COLLAPSED_SINCE, (number,)).fetchall():
        return ()
    return ("The words of sessions that were collapsed since are gone: those sessions are open again with what is left of them.",)


def taken_back(conn: sqlite3.Connection, number: int) -> Iterator[Statement]:
    """The statements that take sessions and knowledge of a copy back, with what they need. The guards are to be off meanwhile.

    Scratchpads, pins and tasks are those of the copy, and what waited for review and was decided on since does not wait again.
    """
    history = KnowledgeHistory()
    for (entity,) in conn.execute(_MOVED_IN_FACTIONS, (number,)).fetchall():
        yield _SET_FACTIONS, (list_text(history.factions_at(conn, entity, number)), entity)
    for (text,) in conn.execute(_EARLIER, (number,)).fetchall():
        row = Knowledge.model_validate_json(text)
        if row.created_round <= number:
            yield _PUT, (*values_of(row), bare(row.content))
    yield from ((step, {"n": number}) for step in _STEPS)
