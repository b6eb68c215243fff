"""Sessions as a list shows them: one line each, with how much it holds and what became of it, by page."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from engine.records.base import EntityId
from engine.records.sessions import Session, SessionId
from engine.storage.rows import marks
from engine.storage.sessions import SessionRepository, SessionSize

SessionState: TypeAlias = Literal["open", "collapsing", "collapsed", "discarded", "failed"]
"""As people tell sessions apart: one whose collapse failed, and that waits for another try, is neither open nor being collapsed."""
_STATES: dict[SessionState, str] = {
    "open": "status = 'open' AND promotion_state <> 'failed'",
    "collapsing": "status = 'collapsing' AND promotion_state <> 'failed'",
    "collapsed": "status = 'collapsed'",
    "discarded": "status = 'discarded'",
    "failed": "status IN ('open', 'collapsing') AND promotion_state = 'failed'",
}
_HOLDS = r"""
(agent_id IN (SELECT value FROM json_each(?)) OR actor_id IN (SELECT value FROM json_each(?))
    OR scratch_json LIKE ? ESCAPE '\' OR tasks_json LIKE ? ESCAPE '\'
    OR EXISTS (SELECT 1 FROM session_turns AS turn WHERE turn.session_id = sessions.id AND turn.content LIKE ? ESCAPE '\')
    OR EXISTS (
        SELECT 1 FROM session_summaries AS run WHERE run.session_id = sessions.id AND run.run_json -> '$.summary' LIKE ? ESCAPE '\'
    ))
"""
_PARTS = """
SELECT who, count(*) FROM (SELECT agent_id AS who FROM sessions UNION ALL SELECT actor_id FROM sessions WHERE actor_id <> agent_id)
GROUP BY who ORDER BY who
"""
RUNS = """
SELECT session_id, status, run_json ->> '$.gate.asked', run_json ->> '$.summary.outcome', run_json ->> '$.summary.goal',
    run_json ->> '$.error', max(seq), count(*), sum(coalesce(run_json ->> '$.summary.turns_processed', 0)),
    sum(run_json ->> '$.added'), sum(run_json ->> '$.merged'), sum(run_json ->> '$.retired')
FROM session_summaries WHERE session_id IN (%s) GROUP BY session_id
"""
"""Bare columns beside `max` are those of its row: the newest run's."""


class LastRun(NamedTuple):
    """What the newest collapse of a session came to, and what all of them together did."""

    status: str
    asked: bool
    outcome: str
    goal: str
    error: str
    tries: int
    turns: int
    """Turns that went into summaries."""
    added: int
    merged: int
    retired: int


class Listed(NamedTuple):
    """A session with what a line says of it."""

    session: Session
    size: SessionSize
    run: LastRun | None


class SessionList:
    """Finds sessions for lists. Reads only."""

    def __init__(self, sessions: SessionRepository) -> None:
        self._sessions = sessions

    def find(
        self, conn: sqlite3.Connection, *, agent: EntityId | None = None, party: EntityId | None = None, state: SessionState | None = None,
        words: Sequence[tuple[str, Sequence[EntityId]]] = (), before: SessionId | None = None, limit: int = 100,
    ) -> list[Listed]:
        """The newest sessions that fit every filter given, newest first. `party` is either of the two. Each of `words` comes with who is
        called so. Case is told apart beyond ASCII only. The next page is `before` the last of this one."""
        sql, values = query(agent=agent, party=party, state=state, words=words, before=before, limit=limit)
        return self._with_more(conn, [key for (key,) in conn.execute(sql, values)])

    def one(self, conn: sqlite3.Connection, key: SessionId) -> Listed | None:
        """One session."""
        return next(iter(self._with_more(conn, [key])), None)

    def counts(self, conn: sqlite3.Connection) -> dict[EntityId, int]:
        """How many sessions each agent has."""
        return dict(conn.execute("SELECT agent_id, count(*) FROM sessions GROUP BY agent_id ORDER BY agent_id").fetchall())

    def parts(self, conn: sqlite3.Connection) -> dict[EntityId, int]:
        """In how many sessions each entity takes part, as whose it is or as the other."""
        return dict(conn.execute(_PARTS).fetchall())

    def _with_more(self, conn: sqlite3.Connection, keys: Sequence[SessionId]) -> list[Listed]:
        sizes = self._sessions.sizes(conn, keys)
        runs = {
            key: LastRun(status, bool(asked), outcome or "", goal or "", error or "", tries, turns, added, merged, retired)
            for key, status, asked, outcome, goal, error, _, tries, turns, added, merged, retired in conn.execute(
                RUNS % marks(len(keys)), list(keys)
            )
        }
        found = (self._sessions.get(conn, key) for key in keys)
        return [Listed(one, sizes.get(one.id, SessionSize(0, 0, 0)), runs.get(one.id)) for one in found if one is not None]


def query(
    *, agent: EntityId | None = None, party: EntityId | None = None, state: SessionState | None = None,
    words: Sequence[tuple[str, Sequence[EntityId]]] = (), before: SessionId | None = None, limit: int = 100,
) -> tuple[str, list[object]]:
    """The statement behind `SessionList.find`, with its values."""
    conditions, values = list[str](), list[object]()
    if agent is not None:
        conditions.append("agent_id = ?")
        values.append(agent)
    if party is not None:
        conditions.append("? IN (agent_id, actor_id)")
        values.append(party)
    if state is not None:
        conditions.append(_STATES[state])
    if before is not None:
        conditions.append("seq < (SELECT seq FROM sessions WHERE id = ?)")
        values.append(before)
    for word, people in words:
        like = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        named = json.dumps(list(people))
        conditions.append(_HOLDS)
        values += [named, named, like, like, like, like]
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    return f"SELECT id FROM sessions {where}ORDER BY seq DESC LIMIT ?", [*values, limit]
