"""Where a piece of knowledge comes from: who said what, when, also once a collapse has let go of the turns, told to one viewer."""

import sqlite3

from engine.knowledge_views import told
from engine.mind.render import capital
from engine.mind.timewords import naturalize_time
from engine.records.base import EntityId, Record
from engine.records.knowledge import Knowledge
from engine.records.memory import BufferEntry
from engine.records.sessions import SessionId, Turn, TurnId
from engine.records.world import World
from engine.storage.store import Store
from engine.views import called


class SourceLine(Record):
    """A turn that a piece was taken from."""

    turn_id: TurnId
    session_id: SessionId | None
    """The session that it was said in; None when that is not known any more."""
    speaker: str = ""
    """Who said or did it, as the viewer calls that one; empty when it is not known any more."""
    text: str = ""
    """The words as they were said, or what was done; empty when they are not known any more."""
    when: str = ""
    """Time words."""
    round: int | None = None
    said: bool = True
    """False for a remark on what was done."""


def sources_of(conn: sqlite3.Connection, store: Store, world: World, row: Knowledge, viewer: EntityId | None) -> tuple[SourceLine, ...]:
    """What a piece was taken from, in order of its turns.

    Turns that are gone lead to the events they were made of, in the buffer or its archive; those that no event is behind stand in the
    collapse that took them.
    """
    trail = store.audit.find(conn, knowledge=row.id, limit=1_000_000) if row.turn_ids else []
    sessions = dict.fromkeys([*([row.session_id] if row.session_id else []), *(one.session_id for one in trail if one.session_id)])
    events: dict[TurnId, tuple[SessionId, str]] = {}
    turns: dict[TurnId, Turn] = {}
    for session in sessions:
        for run in store.sessions.runs(conn, session):
            events |= {turn: (session, event) for turn, event in run.events.items()}
            turns |= {turn.id: turn for turn in run.kept}
    there = {key: turn for key in row.turn_ids if (turn := store.sessions.turn(conn, key)) is not None}
    entries = {entry.id: entry for entry in store.buffer.find(conn, [events[key][1] for key in row.turn_ids if key in events])}
    found = []
    for key in row.turn_ids:
        turn = there.get(key) or turns.get(key)
        behind = events.get(key)
        if turn is not None:
            found.append(_of_turn(world, turn, viewer))
        elif behind is not None and behind[1] in entries:
            found.append(_of_event(world, key, behind[0], entries[behind[1]], viewer))
        else:
            found.append(SourceLine(turn_id=key, session_id=behind[0] if behind is not None else row.session_id))
    return tuple(found)


def _of_turn(world: World, turn: Turn, viewer: EntityId | None) -> SourceLine:
    said = turn.role != "note"
    return SourceLine(
        turn_id=turn.id, session_id=turn.session_id, speaker=_name(world, turn.speaker_id, viewer),
        text=turn.content if said else capital(told(world, turn.content, viewer)), when=naturalize_time(world.now, turn.timestamp),
        round=turn.round, said=said,
    )


def _of_event(world: World, turn: TurnId, session: SessionId | None, entry: BufferEntry, viewer: EntityId | None) -> SourceLine:
    said = entry.intent.type == "dialogue"
    return SourceLine(
        turn_id=turn, session_id=session, speaker=_name(world, entry.intent.actor, viewer),
        text=entry.intent.text if said else capital(told(world, f"{{{{e:{entry.intent.actor}}}}} {entry.intent.summary}", viewer)),
        when=naturalize_time(world.now, entry.timestamp), round=entry.round, said=said,
    )


def _name(world: World, entity: EntityId | None, viewer: EntityId | None) -> str:
    if entity is None:
        return ""
    return capital(called(world, entity, viewer)) if entity in world.entities else entity
