"""What one beat does to the world and to every mind that perceives it: planned as a value, then written in one transaction."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engine.events import AliasLearned, EngineEvent, EntityMoved, Happened, PortalChanged, SessionsChanged
from engine.memory.sessions.filling import Filling, Heard, fill
from engine.mind.names import learned
from engine.mind.perception import as_perceived, perceivers
from engine.records.base import EntityId, PlaceId
from engine.records.intents import Intent, Outcome
from engine.records.memory import AliasChange, BufferEntry, Grasp, NewAliasChange, NewBufferEntry
from engine.records.tokens import token
from engine.records.world import Move, SetPortal, World
from engine.storage.store import Store
from engine.turns.referee import Referee, Verdict
from engine.world.clock import advance
from engine.world.index import with_entities

LONGEST_TEXT = 4000
"""Characters of one utterance, thought or deed that are heard and remembered."""
_SAME_MURMUR = timedelta(minutes=15)
"""Faint talk from one place is one event for this long."""
_TOLD, _SHORT = 2, 60
"""Deeds that the label of a beat names, and the characters of what was said."""
_NO_SESSIONS = Filling()


@dataclass(frozen=True, slots=True)
class Happening:
    """One judged intent with the time, the place, and who perceived it how."""

    verdict: Verdict
    at: datetime
    place: PlaceId | None
    witnesses: tuple[tuple[EntityId, Grasp], ...]


@dataclass(frozen=True, slots=True)
class Beat:
    """A planned beat. Nothing is written yet."""

    actor: EntityId
    prose: str
    template: str
    before: World
    after: World
    happenings: tuple[Happening, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Written:
    """What a committed beat left behind."""

    world: World
    events: tuple[EngineEvent, ...]


async def plan(referee: Referee, world: World, actor: EntityId, prose: str, template: str, intents: Sequence[Intent]) -> Beat:
    """Judge each intent against the world as the ones before it left it; the clock runs by what was done. Raises `ModelError`."""
    before, happenings = world, []
    for said in intents:
        # Longer words would fit no prompt and so no handoff; what looks like a token in them is none.
        intent = said.model_copy(update={"text": said.text[:LONGEST_TEXT].replace("{{", "{")})
        origin = world.entities[actor].place
        verdict = await referee.judge(world, intent)
        happenings.append(Happening(verdict, world.now, origin, _witnesses(world, verdict, origin)))
        world = verdict.world.model_copy(update={"now": advance(world.now, verdict.minutes)})
    return Beat(actor, prose, template, before, world, tuple(happenings))


def _witnesses(world: World, verdict: Verdict, origin: PlaceId | None) -> tuple[tuple[EntityId, Grasp], ...]:
    """Who perceives an intent where it begins and, when it leads elsewhere, where it ends; the actor first."""
    found: dict[EntityId, Grasp] = dict(perceivers(world, verdict.intent, origin))
    destination = verdict.world.entities[verdict.intent.actor].place
    if destination and destination != origin:
        for entity, grasp in perceivers(verdict.world, verdict.intent, destination):
            found.setdefault(entity, grasp)
    return tuple(found.items())


def write(store: Store, conn: sqlite3.Connection, beat: Beat, current: World, filling: Filling = _NO_SESSIONS) -> Written:
    """Write a beat: the beat row, what happened, an entry for each perceiver, names learned, turns of sessions, the world. Inside one
    transaction.

    `current` is the world on disk: it may hold aliases and factions edited by hand since the beat was planned, and they stand.
    """
    world, moved = _with_edits(beat, current), beat.before
    number = max(1, beat.before.round)  # what is done before the first round belongs to it; 0 is backstory
    events: list[EngineEvent] = []
    perceived: list[Heard] = []
    beat_id = store.story.add_beat(conn, number, beat.actor, beat.before.now, beat.prose, beat.template)
    for happening in beat.happenings:
        verdict = happening.verdict
        store.story.add_happening(
            conn, beat_id, number, happening.at, happening.place, verdict.intent, verdict.outcome
        )
        heard = [
            _entry(happening, viewer, grasp, number)
            for viewer, grasp in happening.witnesses
            if grasp != "faint" or not _murmuring(store, conn, viewer, happening)
        ]
        entries = store.buffer.add_all(conn, heard)
        perceived.append(Heard(verdict.intent, verdict.outcome, entries))
        events.append(
            Happened(
                round=number, now=happening.at, place=happening.place, intent=verdict.intent, outcome=verdict.outcome,
                entries=tuple(entries),
            )
        )
        for entry in entries:
            world, changes = _learn(store, conn, world, entry)
            events += [AliasLearned(change=change) for change in changes]
        for delta in verdict.deltas:
            if isinstance(delta, Move):
                events.append(EntityMoved(entity=delta.entity, origin=moved.entities[delta.entity].place, to=delta.to))
            elif isinstance(delta, SetPortal):
                events.append(PortalChanged(portal=delta.portal, state=delta.state))
        moved = verdict.world
    store.journal.note(conn, "beat", _label(beat))
    if filled := fill(store, conn, filling, world, perceived):
        events.append(SessionsChanged(session_ids=filled))
    store.worlds.update(conn, current, world)
    return Written(world, tuple(events))


def _label(beat: Beat) -> str:
    """What a beat was, in a few words for people."""
    told = [_deed(happening.verdict.intent) for happening in beat.happenings]
    more = ["\u2026"] if len(told) > _TOLD else []
    return f"{token(beat.actor)}: {'; '.join([*told[:_TOLD], *more]) or 'waited'}"


def _deed(intent: Intent) -> str:
    if intent.type == "dialogue":
        return f'"{_shortened(intent.text)}"'
    return intent.summary or intent.verb if intent.type == "action" else "thought to themselves"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "\u2026"


def _murmuring(store: Store, conn: sqlite3.Connection, viewer: EntityId, happening: Happening) -> bool:
    """Whether the viewer hears the same murmur go on: talk it cannot make out is one thing to notice, not one for each line."""
    last = store.buffer.latest(conn, viewer, "faint")
    if last is None or last.intent.place != happening.verdict.intent.place:
        return False
    return happening.at - last.timestamp < _SAME_MURMUR


def _with_edits(beat: Beat, current: World) -> World:
    if current is beat.before:
        return beat.after
    return with_entities(
        beat.after,
        [
            beat.after.entities[i].model_copy(update={"aliases": mind.aliases, "factions": mind.factions})
            for i, mind in current.entities.items()
            if mind.aliases is not beat.before.entities[i].aliases or mind.factions != beat.before.entities[i].factions
        ],
    )


def _entry(happening: Happening, viewer: EntityId, grasp: Grasp, round_: int) -> NewBufferEntry:
    intent = happening.verdict.intent
    after = happening.verdict.world.entities[viewer]
    return NewBufferEntry(
        owner_id=viewer, timestamp=happening.at, location_id=after.place, round=round_, intent=as_perceived(intent, viewer, grasp),
        outcome=_outcome_for(viewer, intent, happening.verdict.outcome), grasp=grasp,
    )


def _outcome_for(viewer: EntityId, intent: Intent, outcome: Outcome | None) -> Outcome | None:
    """The reason of an outcome is the actor's to know; others see whether it worked."""
    if outcome is None or viewer == intent.actor:
        return outcome
    return Outcome(is_valid=outcome.is_valid)


def _learn(store: Store, conn: sqlite3.Connection, world: World, entry: BufferEntry) -> tuple[World, list[AliasChange]]:
    changes = []
    for target, name, cause in learned(world, entry.owner_id, entry):
        if store.aliases.last_cause(conn, entry.owner_id, target) == "by hand":
            continue
        viewer = world.entities[entry.owner_id]
        change = NewAliasChange(
            viewer_id=viewer.id, target_id=target, old=viewer.aliases.get(target), new=name, timestamp=entry.timestamp,
            round=entry.round, cause=cause, evidence=entry.id,
        )
        changes.append(store.aliases.add(conn, change))
        world = with_alias(world, viewer.id, target, name)
    return world, changes


def alias_by_hand(
    store: Store, conn: sqlite3.Connection, world: World, viewer: EntityId, target: EntityId, alias: str | None
) -> Written:
    """Write an alias that a person set, or with None took away."""
    change = store.aliases.add(
        conn,
        NewAliasChange(
            viewer_id=viewer, target_id=target, old=world.entities[viewer].aliases.get(target), new=alias, timestamp=world.now,
            round=world.round, cause="by hand",
        ),
    )
    called = f"the name for {token(target)} is {alias} now" if alias else f"no name for {token(target)} any more"
    store.journal.note(conn, "hand", f"{token(viewer)}: {called}")
    after = with_alias(world, viewer, target, alias)
    store.worlds.update(conn, world, after)
    return Written(after, (AliasLearned(change=change),))


def with_alias(world: World, viewer: EntityId, target: EntityId, alias: str | None) -> World:
    """The world in which `viewer` calls `target` by `alias`, or has no alias for it when None."""
    mind = world.entities[viewer]
    aliases = {k: v for k, v in mind.aliases.items() if k != target} | ({target: alias} if alias else {})
    return with_entities(world, [mind.model_copy(update={"aliases": aliases})])
