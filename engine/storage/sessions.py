"""Sessions in a save: their state, their turns, what they came to and the events they were made of (DESIGN 9)."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from engine.records.base import BufferId, EntityId
from engine.records.memory import LedgerEntry
from engine.records.sessions import CollapsePolicy, CollapseRun, NewTurn, Pursuit, Session, SessionId, SessionStatus, Turn, TurnId
from engine.storage.knowledge_audit import AuditRepository, Change
from engine.storage.ledger import COLUMNS as LEDGER_COLUMNS
from engine.storage.ledger import ledger_entry
from engine.storage.numbers import next_number, next_numbers, number_of
from engine.storage.rows import Row, list_text, mapping_text, marks, text_list, text_mapping, time_text

_COLUMNS = """
seq, id, agent_id, actor_id, status, promotion_state, started, started_round, last_turn_at, ended, ended_round, policy_json,
scratch_json, tasks_json, entities_json, decisions_json, parts, asked
"""
_OPEN = f"INSERT INTO sessions ({_COLUMNS}) VALUES ({marks(18)})"
_UPDATE = """
UPDATE sessions SET status = ?, promotion_state = ?, last_turn_at = ?, ended = ?, ended_round = ?, policy_json = ?, scratch_json = ?,
    tasks_json = ?, entities_json = ?, decisions_json = ?, parts = ?, asked = ?
WHERE id = ?
"""
GET = f"SELECT {_COLUMNS} FROM sessions WHERE id = ?"
OPEN_OF = f"SELECT {_COLUMNS} FROM sessions WHERE agent_id = ? AND actor_id = ? AND status IN ('open', 'collapsing')"
OPEN_PAIRS = "SELECT actor_id, id FROM sessions INDEXED BY sessions_open WHERE agent_id = ? AND status IN ('open', 'collapsing')"
OPEN_AMONG = """
SELECT one.agent_id, one.actor_id, one.id FROM json_each(?) AS pair CROSS JOIN sessions AS one
WHERE one.agent_id = pair.value ->> 0 AND one.actor_id = pair.value ->> 1 AND one.status IN ('open', 'collapsing')
"""
PURSUITS = """
SELECT id, actor_id, tasks_json, scratch_json FROM sessions INDEXED BY sessions_open
WHERE agent_id = ? AND status IN ('open', 'collapsing') AND (tasks_json <> '[]' OR scratch_json <> '{}') ORDER BY seq
"""
LAST_ENDED = f"""
SELECT {_COLUMNS} FROM sessions WHERE agent_id = ? AND actor_id = ? AND status = 'collapsed' ORDER BY seq DESC LIMIT 1
"""
LOOKED_AT = f"""
SELECT {_COLUMNS} FROM sessions WHERE status = 'collapsing'
UNION ALL SELECT {_COLUMNS} FROM sessions WHERE status = 'open' AND (
    asked <> '' OR (policy_json ->> 'mode' <> 'explicit' AND (
        last_turn_at >= :since
        OR last_turn_at <= strftime('%Y-%m-%dT%H:%M:%S', :now, '-' || (policy_json ->> 'inactivity_timeout') || ' seconds')
    ))
) ORDER BY seq
"""

_TURN_COLUMNS = "seq, id, session_id, role, speaker_id, content, pinned, hint, timestamp, round, source_id"
_ADD_TURN = f"INSERT INTO session_turns ({_TURN_COLUMNS}) VALUES ({marks(11)})"
_LAST_TURN = "UPDATE sessions SET last_turn_at = max(last_turn_at, ?) WHERE id = ?"
TURNS = f"SELECT {_TURN_COLUMNS} FROM session_turns WHERE session_id = ? ORDER BY seq"
_TURN = f"SELECT {_TURN_COLUMNS} FROM session_turns WHERE id = ?"
_PIN = "UPDATE session_turns SET pinned = ? WHERE id = ? AND session_id = ?"
_REMOVE_TURNS = "DELETE FROM session_turns WHERE session_id = ? AND id IN (%s)"
_CARRY = "UPDATE session_turns SET session_id = ? WHERE session_id = ?"
SIZES = """
SELECT session_id, count(*), sum(pinned), sum((length(CAST(content AS BLOB)) + 3) / 4) FROM session_turns
WHERE session_id IN (%s) GROUP BY session_id
"""

_ADD_RUN = """
INSERT INTO session_summaries (seq, id, session_id, agent_id, part, status, round, timestamp, run_json)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
RUNS = "SELECT run_json FROM session_summaries WHERE session_id = ? ORDER BY seq"
LAST_RUN = "SELECT run_json FROM session_summaries WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
_RUN = "SELECT run_json FROM session_summaries WHERE id = ?"

_ADD_SOURCE = "INSERT INTO session_sources (session_id, buffer_id, part, round) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_SOURCES = "SELECT buffer_id FROM session_sources WHERE session_id = ?"
EPISODE = f"""
SELECT {LEDGER_COLUMNS} FROM ledger_entries WHERE owner_id = :agent AND id IN (
    SELECT held.ledger_id FROM session_sources AS one JOIN ledger_sources AS held ON held.buffer_id = one.buffer_id
    WHERE one.session_id = :session
    UNION SELECT held.ledger_id FROM session_turns AS turn JOIN ledger_sources AS held ON held.buffer_id = turn.source_id
    WHERE turn.session_id = :session
) ORDER BY timestamp, seq
"""
_BATCH = 400
"""Ids in one statement."""


class SessionSize(NamedTuple):
    """How much a session holds."""

    turns: int
    pinned: int
    tokens: int
    """Of the contents of its turns: four bytes a token, each rounded up. Never more than what `estimate_tokens` says."""


class SessionRepository:
    """Reads and writes sessions. What is done to one by hand or by a collapse leaves its audit row in the same transaction."""

    def __init__(self) -> None:
        self._audit = AuditRepository()

    # sessions
    def open(
        self, conn: sqlite3.Connection, agent: EntityId, actor: EntityId, policy: CollapsePolicy, round_number: int, change: Change
    ) -> Session:
        """Open the pair's session. What the pair's last one left to do are its tasks.

        Raises `sqlite3.IntegrityError` when the pair has an open one.
        """
        seq, key = next_number(conn, "ses")
        session = Session(
            id=key, agent_id=agent, actor_id=actor, started=change.at, started_round=round_number, last_turn_at=change.at,
            policy=policy, tasks=self.tasks_left(conn, agent, actor),
        )
        conn.execute(_OPEN, (seq, key, agent, actor, *_state(session)[:2], time_text(change.at), round_number, *_state(session)[2:]))
        self._audit.add(conn, change, owner=agent, session=key)
        return session

    def get(self, conn: sqlite3.Connection, key: SessionId) -> Session | None:
        """One session."""
        rows = conn.execute(GET, (key,)).fetchall()
        return _session(rows[0]) if rows else None

    def open_of(self, conn: sqlite3.Connection, agent: EntityId, actor: EntityId) -> Session | None:
        """The pair's session that is open, or being collapsed."""
        rows = conn.execute(OPEN_OF, (agent, actor)).fetchall()
        return _session(rows[0]) if rows else None

    def open_with(self, conn: sqlite3.Connection, agent: EntityId) -> dict[EntityId, SessionId]:
        """Whom an agent has a session with that is open, or being collapsed, and its key."""
        return dict(conn.execute(OPEN_PAIRS, (agent,)).fetchall())

    def open_among(
        self, conn: sqlite3.Connection, pairs: Sequence[tuple[EntityId, EntityId]]
    ) -> dict[tuple[EntityId, EntityId], SessionId]:
        """Which of some pairs, agent and other, have a session that is open or being collapsed, and its key."""
        return {(agent, actor): key for agent, actor, key in conn.execute(OPEN_AMONG, (json.dumps(pairs),))}

    def pursuits(self, conn: sqlite3.Connection, agent: EntityId) -> list[Pursuit]:
        """What an agent has in hand with others in sessions that are open or being collapsed: those with tasks or notes, oldest first."""
        return [
            Pursuit(session_id=key, actor_id=actor, tasks=text_list(tasks), scratch=text_mapping(scratch))
            for key, actor, tasks, scratch in conn.execute(PURSUITS, (agent,))
        ]

    def of_agent(self, conn: sqlite3.Connection, agent: EntityId, limit: int = 100) -> list[Session]:
        """The newest sessions of an agent, newest first."""
        return self.find(conn, agent=agent, limit=limit)

    def find(
        self, conn: sqlite3.Connection, *, agent: EntityId | None = None, actor: EntityId | None = None,
        statuses: Collection[SessionStatus] = (), before: SessionId | None = None, limit: int = 100,
    ) -> list[Session]:
        """The newest sessions that fit every filter given, newest first. The next page is `before` the last of this one."""
        sql, values = query(agent=agent, actor=actor, statuses=statuses, before=before, limit=limit)
        return [_session(row) for row in conn.execute(sql, values)]

    def to_look_at(self, conn: sqlite3.Connection, now: datetime, since: datetime) -> list[Session]:
        """Sessions that may be due, in order of their keys: those with a turn at `since` or later, or without one for as long as their
        policy bears, unless only a word ends them; asked for; being collapsed."""
        return [_session(row) for row in conn.execute(LOOKED_AT, {"now": time_text(now), "since": time_text(since)})]

    def update(
        self, conn: sqlite3.Connection, session: Session, change: Change | None = None, *, before: str = "", after: str = ""
    ) -> None:
        """Keep a session as it is now; who it is of and when it began stay. With a change its audit row, too. Raises `KeyError`."""
        if conn.execute(_UPDATE, (*_state(session), session.id)).rowcount != 1:
            raise KeyError(session.id)
        if change is not None:
            self._audit.add(conn, change, owner=session.agent_id, session=session.id, before=before, after=after)

    def carry_on(self, conn: sqlite3.Connection, ended: Session, round_number: int, change: Change) -> Session | None:
        """Open the pair's next session with the turns that came while this one was being collapsed; None when there are none. To be
        called once it has its summary, has let go of the turns that went into that, and is no longer open."""
        left = self.turns(conn, ended.id)
        if not left:
            return None
        following = self.open(conn, ended.agent_id, ended.actor_id, ended.policy, round_number, change._replace(at=left[0].timestamp))
        conn.execute(_CARRY, (following.id, ended.id))
        conn.execute(_LAST_TURN, (time_text(left[-1].timestamp), following.id))
        return self.get(conn, following.id)

    def tasks_left(self, conn: sqlite3.Connection, agent: EntityId, actor: EntityId) -> tuple[str, ...]:
        """What the pair's last session left to do: the next steps of its summary, or its own tasks when no model was asked what became
        of them."""
        rows = conn.execute(LAST_ENDED, (agent, actor)).fetchall()
        if not rows:
            return ()
        ended = _session(rows[0])
        run = self.last_run(conn, ended.id)
        return run.summary.next_steps if run is not None and run.status == "committed" and run.summary is not None else ended.tasks

    # turns
    def add_turns(self, conn: sqlite3.Connection, turns: Sequence[tuple[SessionId, NewTurn]]) -> list[Turn]:
        """Write turns in this order, each to the session it is given with."""
        if not turns:
            return []
        numbers = next_numbers(conn, "turn", len(turns))
        conn.executemany(
            _ADD_TURN,
            [
                (
                    seq, key, session, turn.role, turn.speaker_id, turn.content, turn.pinned, turn.hint, time_text(turn.timestamp),
                    turn.round, turn.source_id,
                )
                for (seq, key), (session, turn) in zip(numbers, turns, strict=True)
            ],
        )
        latest: dict[SessionId, datetime] = {}
        for session, turn in turns:
            latest[session] = max(turn.timestamp, latest.get(session, turn.timestamp))
        conn.executemany(_LAST_TURN, [(time_text(moment), session) for session, moment in latest.items()])
        return [
            Turn(id=key, session_id=session, seq=seq, **{name: getattr(turn, name) for name in NewTurn.model_fields})
            for (seq, key), (session, turn) in zip(numbers, turns, strict=True)
        ]

    def turns(self, conn: sqlite3.Connection, key: SessionId) -> list[Turn]:
        """The turns that a session holds, oldest first."""
        return [_turn(row) for row in conn.execute(TURNS, (key,))]

    def turn(self, conn: sqlite3.Connection, key: TurnId) -> Turn | None:
        """One turn."""
        rows = conn.execute(_TURN, (key,)).fetchall()
        return _turn(rows[0]) if rows else None

    def pin(self, conn: sqlite3.Connection, session: SessionId, turn: TurnId, on: bool) -> None:
        """Pin a turn, or let go of it. Raises `KeyError` when the session has no such turn."""
        if conn.execute(_PIN, (on, turn, session)).rowcount != 1:
            raise KeyError(turn)

    def remove_turns(self, conn: sqlite3.Connection, session: SessionId, turns: Iterable[TurnId]) -> int:
        """Take turns away: their summary is written, or the session is discarded, else the database refuses. Returns how many."""
        wanted, gone = list(turns), 0
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            gone += conn.execute(_REMOVE_TURNS % marks(len(batch)), (session, *batch)).rowcount
        return gone

    def sizes(self, conn: sqlite3.Connection, keys: Iterable[SessionId]) -> dict[SessionId, SessionSize]:
        """How much sessions hold, without reading it. Those without turns are left out."""
        wanted = list(keys)
        found: dict[SessionId, SessionSize] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            found.update((key, SessionSize(*size)) for key, *size in conn.execute(SIZES % marks(len(batch)), batch))
        return found

    # collapses
    def new_run_id(self, conn: sqlite3.Connection) -> str:
        """The key of a collapse that is about to be written in this transaction: the changes it makes name it."""
        return next_number(conn, "col")[1]

    def add_run(self, conn: sqlite3.Connection, run: CollapseRun) -> CollapseRun:
        """Keep a collapse, under the key it has from `new_run_id` or, with an empty one, under a new key.

        Raises `sqlite3.IntegrityError` when this part of the session was collapsed before.
        """
        kept = run if run.id else run.model_copy(update={"id": self.new_run_id(conn)})
        when = (kept.round, time_text(kept.timestamp))
        about = (kept.session_id, kept.agent_id, kept.part, kept.status)
        conn.execute(_ADD_RUN, (number_of(kept.id), kept.id, *about, *when, kept.model_dump_json()))
        return kept

    def runs(self, conn: sqlite3.Connection, session: SessionId) -> list[CollapseRun]:
        """All collapses of a session, failed ones too, oldest first."""
        return [CollapseRun.model_validate_json(text) for (text,) in conn.execute(RUNS, (session,))]

    def last_run(self, conn: sqlite3.Connection, session: SessionId) -> CollapseRun | None:
        """The newest collapse of a session, failed or not."""
        rows = conn.execute(LAST_RUN, (session,)).fetchall()
        return CollapseRun.model_validate_json(rows[0][0]) if rows else None

    def run(self, conn: sqlite3.Connection, key: str) -> CollapseRun | None:
        """One collapse."""
        rows = conn.execute(_RUN, (key,)).fetchall()
        return CollapseRun.model_validate_json(rows[0][0]) if rows else None

    def add_sources(self, conn: sqlite3.Connection, session: SessionId, sources: Iterable[str], part: int, round_number: int) -> None:
        """Remember which events turns were made of that are about to go. A turn that no event is behind is its own source."""
        conn.executemany(_ADD_SOURCE, [(session, source, part, round_number) for source in sources])

    def sources(self, conn: sqlite3.Connection, session: SessionId) -> tuple[BufferId, ...]:
        """The events that collapsed turns of a session were made of, in order of writing."""
        found = [source for (source,) in conn.execute(_SOURCES, (session,))]
        return tuple(sorted(found, key=lambda source: (len(source), source)))

    def episode(self, conn: sqlite3.Connection, session: Session) -> list[LedgerEntry]:
        """The agent's memories that tell events of a session, chronological."""
        return [ledger_entry(row) for row in conn.execute(EPISODE, {"agent": session.agent_id, "session": session.id})]


def query(
    *, agent: EntityId | None = None, actor: EntityId | None = None, statuses: Collection[SessionStatus] = (),
    before: SessionId | None = None, limit: int = 100,
) -> tuple[str, list[object]]:
    """The statement behind `SessionRepository.find`, with its values."""
    conditions, values = list[str](), list[object]()
    for column, value in (("agent_id", agent), ("actor_id", actor)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if statuses:
        conditions.append(f"status IN ({marks(len(statuses))})")
        values += sorted(statuses)
    if before is not None:
        conditions.append("seq < (SELECT seq FROM sessions WHERE id = ?)")
        values.append(before)
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    return f"SELECT {_COLUMNS} FROM sessions {where}ORDER BY seq DESC LIMIT ?", [*values, limit]


def _state(session: Session) -> tuple[object, ...]:
    """What changes in a session, in the order of both statements."""
    return (
        session.status, session.promotion_state, time_text(session.last_turn_at), time_text(session.ended) if session.ended else None,
        session.ended_round, session.policy.model_dump_json(), mapping_text(session.scratch), list_text(session.tasks),
        list_text(session.entities_found), list_text(session.decisions_made), session.parts, session.asked or "",
    )


def _session(row: Row) -> Session:
    (
        _, key, agent, actor, status, state, started, began, last, ended, ended_round, policy, scratch, tasks, entities, decisions, parts,
        asked,
    ) = row
    return Session(
        id=key, agent_id=agent, actor_id=actor, status=status, promotion_state=state, started=datetime.fromisoformat(started),
        started_round=began, last_turn_at=datetime.fromisoformat(last), ended=datetime.fromisoformat(ended) if ended else None,
        ended_round=ended_round, policy=CollapsePolicy.model_validate_json(policy), scratch=text_mapping(scratch),
        tasks=text_list(tasks), entities_found=text_list(entities), decisions_made=text_list(decisions), parts=parts, asked=asked or None,
    )


def _turn(row: Row) -> Turn:
    seq, key, session, role, speaker, content, pinned, hint, timestamp, number, source = row
    return Turn(
        id=key, session_id=session, seq=seq, role=role, speaker_id=speaker, content=content, pinned=bool(pinned), hint=hint,
        timestamp=datetime.fromisoformat(timestamp), round=number, source_id=source,
    )
