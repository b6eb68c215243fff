"""The story in a save: each beat, and what happened in it."""

import sqlite3
from datetime import datetime

from engine.records.base import EntityId, PlaceId
from engine.records.intents import Intent, Outcome
from engine.records.rounds import OpenRound
from engine.records.story import Happening
from engine.storage.rows import Row, time_text

_ADD_BEAT = "INSERT INTO beats (round, entity_id, timestamp, prose, template) VALUES (?, ?, ?, ?, ?) RETURNING seq"
_ADD_HAPPENING = """
INSERT INTO happenings (beat, round, timestamp, place_id, actor_id, kind, intent_json, outcome_json)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq
"""
RECENT = """
SELECT seq, beat, round, timestamp, place_id, intent_json, outcome_json FROM happenings ORDER BY seq DESC LIMIT ?
"""
LAST_OUTWARD = "SELECT max(round) FROM happenings WHERE actor_id = ? AND kind <> 'monologue'"
_BEATS = "SELECT count(*) FROM beats"
_ROUND = "INSERT INTO rounds (round, started) VALUES (?, ?)"
_OPEN = "SELECT value FROM meta WHERE key = 'open_round'"
_SET_OPEN = "INSERT INTO meta (key, value) VALUES ('open_round', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class StoryRepository:
    """Reads and writes beats and happenings."""

    def add_round(self, conn: sqlite3.Connection, number: int, started: datetime) -> None:
        """Note the world time at which a round began."""
        conn.execute(_ROUND, (number, time_text(started)))

    def open_round(self, conn: sqlite3.Connection) -> OpenRound | None:
        """The round that was begun and not finished, if there is one."""
        text = next((text for (text,) in conn.execute(_OPEN)), "")
        return OpenRound.model_validate_json(text) if text else None

    def set_open_round(self, conn: sqlite3.Connection, this: OpenRound | None) -> None:
        """Say how far the round is; None when it is over."""
        conn.execute(_SET_OPEN, (this.model_dump_json() if this is not None else "",))

    def add_beat(
        self, conn: sqlite3.Connection, round_number: int, entity: EntityId, timestamp: datetime, prose: str, template: str
    ) -> int:
        """Write an agent's act: its prose as the model or the player gave it. Returns the beat's number."""
        return _number(conn.execute(_ADD_BEAT, (round_number, entity, time_text(timestamp), prose, template)))

    def add_happening(
        self,
        conn: sqlite3.Connection,
        beat: int,
        round_number: int,
        timestamp: datetime,
        place: PlaceId | None,
        intent: Intent,
        outcome: Outcome | None,
    ) -> int:
        """Write one intent of a beat as it turned out. Returns its number."""
        return _number(
            conn.execute(
                _ADD_HAPPENING,
                (
                    beat,
                    round_number,
                    time_text(timestamp),
                    place,
                    intent.actor,
                    intent.type,
                    intent.model_dump_json(),
                    outcome.model_dump_json() if outcome else None,
                ),
            )
        )

    def recent(self, conn: sqlite3.Connection, limit: int) -> list[Happening]:
        """What happened last, oldest first."""
        return [_happening(row) for row in reversed(conn.execute(RECENT, (limit,)).fetchall())]

    def last_outward_round(self, conn: sqlite3.Connection, entity: EntityId) -> int:
        """The last round in which the entity spoke or did something, 0 when it never did."""
        [(found,)] = conn.execute(LAST_OUTWARD, (entity,)).fetchall()
        return int(found or 0)

    def beats(self, conn: sqlite3.Connection) -> int:
        """How many beats were played."""
        return _number(conn.execute(_BEATS))


def _number(cursor: sqlite3.Cursor) -> int:
    [(found,)] = cursor.fetchall()
    return int(found)


def _happening(row: Row) -> Happening:
    seq, beat, number, timestamp, place, intent, outcome = row
    return Happening(
        seq=seq,
        beat=beat,
        round=number,
        timestamp=datetime.fromisoformat(timestamp),
        location_id=place,
        intent=Intent.model_validate_json(intent),
        outcome=Outcome.model_validate_json(outcome) if outcome is not None else None,
    )
