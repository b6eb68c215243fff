"""How SQLite finds sessions and knowledge: by their indexes, never by looking at every row."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from engine.storage import embeddings, knowledge, knowledge_audit, knowledge_bearing, knowledge_queries, promotions, sessions
from engine.storage.schema import migrate


@pytest.fixture(scope="module")
def empty() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        migrate(conn)
        yield conn


def plan(conn: sqlite3.Connection, sql: str, values: object) -> str:
    rows = conn.execute(f"EXPLAIN QUERY PLAN {sql}", values)  # type: ignore[arg-type]
    return "\n".join(text for *_, text in rows)


HELD = knowledge_queries.held_by("bob", ["harbour", "watch"], ["hot", "warm"], None, "", None)
ABOUT = knowledge_queries.held_by("bob", ["harbour"], ["hot"], "mira", "mira_boat", "long")
LOOKED_AT = {"now": "1247-03-01T12:00:00", "since": "1247-03-01T11:00:00"}
QUERIES: dict[str, tuple[str, object, str]] = {
    "a session": (sessions.GET, ["ses-1"], r"sessions USING INDEX sqlite_autoindex_sessions_1 \(id=\?\)"),
    "the open session of a pair": (sessions.OPEN_OF, ["bob", "mira"], r"INDEX sessions_open \(agent_id=\? AND actor_id=\?\)"),
    "open sessions of an agent": (sessions.OPEN_PAIRS, ["bob"], r"INDEX sessions_open \(agent_id=\?\)"),
    "open sessions of pairs": (sessions.OPEN_AMONG, ["[]"], r"one USING INDEX sessions_open \(agent_id=\? AND actor_id=\?\)"),
    "what an agent has in hand": (sessions.PURSUITS, ["bob"], r"sessions USING INDEX sessions_open \(agent_id=\?\)"),
    "the last of a pair": (sessions.LAST_ENDED, ["bob", "mira"], r"INDEX sessions_by_agent \(agent_id=\?\)"),
    "sessions to look at": (sessions.LOOKED_AT, LOOKED_AT, r"INDEX sessions_by_status \(status=\?\)"),
    "sessions of an agent": (*sessions.query(agent="bob", before="ses-9"), r"INDEX sessions_by_agent \(agent_id=\? AND seq<\?\)"),
    "turns": (sessions.TURNS, ["ses-1"], r"INDEX session_turns_by_session \(session_id=\?\)"),
    "sizes": (sessions.SIZES % "?, ?", ["ses-1", "ses-2"], r"INDEX session_turns_by_session \(session_id=\?\)"),
    "runs": (sessions.RUNS, ["ses-1"], r"INDEX session_summaries_by_session \(session_id=\?\)"),
    "the last run": (sessions.LAST_RUN, ["ses-1"], r"INDEX session_summaries_by_session \(session_id=\?\)"),
    "what an entity believes": (*HELD, r"row USING INDEX knowledge_by_scope \(scope=\? AND scope_id=\? AND tier=\?\)"),
    "what it believes of somebody": (*ABOUT, r"kept USING PRIMARY KEY \(entity_id=\?\)"),
    "a topic": (knowledge.OF_TOPIC, ["entity", "bob", "x"], r"INDEX knowledge_by_topic \(scope=\? AND scope_id=\? AND topic_key=\?\)"),
    "candidates": (knowledge.CANDIDATES, ["1247-03-01T12:00:00", 0.7], r"INDEX knowledge_short \(created<\?\)"),
    "what came of a session": (knowledge.OF_SESSION, ["bob", "ses-1"], r"INDEX knowledge_by_owner \(owner_id=\?\)"),
    "knowledge of a subject": (
        *knowledge_queries.find(None, "mira", None, None, None, (), None, None, 5, 9, False),
        r"INDEX knowledge_by_subject \(subject_id=\? AND seq>\?\)",
    ),
    "the newest of all": (
        *knowledge_queries.find(None, None, None, None, None, (), None, None, 5, 9, True), r"INTEGER PRIMARY KEY \(rowid<\?\)",
    ),
    "all that a holder believes": (
        knowledge_bearing.OUTLINES, ["entity", "bob"], r"knowledge USING INDEX knowledge_by_scope \(scope=\? AND scope_id=\?\)",
    ),
    "what waits": (promotions.OF_KNOWLEDGE, ["kno-1"], r"INDEX sqlite_autoindex_review_queue_2 \(knowledge_id=\?\)"),
    "audit of a piece": (*knowledge_audit.query(knowledge="kno-1", before=9), r"INDEX audit_by_knowledge \(knowledge_id=\? AND seq<\?\)"),
    "audit of a session": (*knowledge_audit.query(session="ses-1"), r"INDEX audit_by_session \(session_id=\?\)"),
    "audit of a mind": (*knowledge_audit.query(owner="bob", actions=["cut"]), r"INDEX audit_by_owner \(owner_id=\?\)"),
    "missing vectors": (embeddings.MISSING_KNOWLEDGE, [5, "m", 9], r"held USING COVERING INDEX sqlite_autoindex_embeddings_1"),
}  # fmt: skip
_FOUND = re.compile(r"SCAN (pair|json_each) VIRTUAL TABLE INDEX \d+:|SCAN CONSTANT ROW")
"""What is given with the question, row by row."""


@pytest.mark.parametrize(("sql", "values", "index"), QUERIES.values(), ids=[name.replace(" ", "-") for name in QUERIES])
def test_lookups_use_their_index_and_look_at_no_other_row(empty: sqlite3.Connection, sql: str, values: object, index: str) -> None:
    text = plan(empty, sql, values)
    assert re.search(index, text), text
    assert "SCAN" not in _FOUND.sub("", text), text


@pytest.mark.parametrize("name", ["turns", "runs", "the last of a pair", "sessions of an agent", "candidates", "audit of a mind"])
def test_what_comes_in_order_is_not_sorted_first(empty: sqlite3.Connection, name: str) -> None:
    sql, values, _ = QUERIES[name]
    assert "TEMP B-TREE" not in plan(empty, sql, values)


def test_each_arm_of_what_is_believed_is_sought_by_who_holds_it(empty: sqlite3.Connection) -> None:
    text = plan(empty, *HELD)
    assert len(re.findall(r"SEARCH row USING INDEX knowledge_by_scope \(scope=\? AND scope_id=\? AND tier=\?\)", text)) == 3
    assert re.search(r"SEARCH kept USING PRIMARY KEY \(entity_id=\?\)", text)


def test_an_episode_goes_from_events_to_memories(empty: sqlite3.Connection) -> None:
    text = plan(empty, sessions.EPISODE, {"agent": "bob", "session": "ses-1"})
    assert "SEARCH one USING PRIMARY KEY (session_id=?)" in text
    assert "SEARCH held USING PRIMARY KEY (buffer_id=?)" in text
    assert "SEARCH turn USING INDEX session_turns_by_session (session_id=?)" in text
    assert not re.search(r"SCAN (?!one|turn|CONSTANT)", text), text


def test_the_trail_without_a_filter_is_read_from_its_end(empty: sqlite3.Connection) -> None:
    assert plan(empty, *knowledge_audit.query(limit=5)) == "SCAN audit"
    assert plan(empty, *knowledge_audit.query(before=9, limit=5)) == "SEARCH audit USING INTEGER PRIMARY KEY (rowid<?)"
