"""How sessions fill by play: from what a beat made heard to turns, and to sessions that open with them (DESIGN 9). No model, no chance."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.memory.sessions.scratching import notes_of, scratch
from engine.records.base import EntityId
from engine.records.intents import Intent, Outcome
from engine.records.memory import BufferEntry
from engine.records.sessions import NewTurn, Role, SessionId, SessionPolicy
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store

TO_ANOTHER = "to another"
"""Hint of a turn that was overheard: the words were for somebody else."""
Pair = tuple[EntityId, EntityId]
"""The agent whose session it is, and the other."""


class Filling(NamedTuple):
    """What decides which pairs have sessions."""

    policy: SessionPolicy = SessionPolicy(pairs="none")
    played: frozenset[EntityId] = frozenset()
    """Who is under a person's hand."""

    @property
    def asleep(self) -> bool:
        """Whether no pair has sessions."""
        return self.policy.pairs == "none" or (self.policy.pairs == "player" and not self.played)

    def covers(self, agent: EntityId, actor: EntityId) -> bool:
        """Whether an agent has sessions with somebody."""
        pairs = self.policy.pairs
        return agent != actor and (pairs == "all" or (pairs == "player" and actor in self.played and agent not in self.played))


class Heard(NamedTuple):
    """One thing that was said or done, as it stands in the buffers of those who perceived it."""

    intent: Intent
    """The whole of it."""
    outcome: Outcome | None
    entries: Sequence[BufferEntry]
    """One for each entity that perceived it."""


class PlannedTurn(NamedTuple):
    """A turn and the pair whose session it goes to."""

    pair: Pair
    turn: NewTurn
    opens: bool
    """Whether the session opens for it; else it is for one that is open already."""


def fill(store: Store, conn: sqlite3.Connection, filling: Filling, world: World, heard: Iterable[Heard]) -> tuple[SessionId, ...]:
    """Write the turns that a beat makes, opening sessions where they begin, and what its thoughts leave on scratchpads. Inside the beat's
    transaction. Returns the sessions that have changed."""
    heard = tuple(heard)
    filled = _filled(store, conn, filling, plan_turns(filling, world, heard))
    noted = [key for each in heard if each.intent.type == "monologue" for key in _noted(store, conn, filling, world, each)]
    return tuple(dict.fromkeys((*filled, *noted)))


def _filled(store: Store, conn: sqlite3.Connection, filling: Filling, planned: Sequence[PlannedTurn]) -> tuple[SessionId, ...]:
    if not planned:
        return ()
    sessions = store.sessions.open_among(conn, list(dict.fromkeys(turn.pair for turn in planned)))
    written: list[tuple[SessionId, NewTurn]] = []
    for (agent, actor), turn, opens in planned:
        key = sessions.get((agent, actor))
        if key is None:
            if not opens:
                continue
            change = Change("opened", "play", "they began to talk", turn.timestamp)
            key = store.sessions.open(conn, agent, actor, filling.policy.of(agent), turn.round, change).id
            sessions[agent, actor] = key
        written.append((key, turn))
    store.sessions.add_turns(conn, written)
    return tuple(dict.fromkeys(key for key, _ in written))


def _noted(store: Store, conn: sqlite3.Connection, filling: Filling, world: World, heard: Heard) -> tuple[SessionId, ...]:
    """A thought is written down where its thinker has sessions by the policy."""
    thought = heard.intent
    if filling.asleep or not heard.entries or not notes_of(thought.text):
        return ()
    held = store.sessions.open_with(conn, thought.actor)
    sessions = {other: key for other, key in held.items() if filling.covers(thought.actor, other)}
    change = Change("edited", "play", "a thought", heard.entries[0].timestamp)
    return scratch(store, conn, world, thought, sessions, change)


def plan_turns(filling: Filling, world: World, heard: Iterable[Heard]) -> list[PlannedTurn]:
    """The turns that may come of what was perceived, in order. Pure. Murmurs, whispers not understood and thoughts make none."""
    if filling.asleep:
        return []
    found: list[PlannedTurn] = []
    for each in heard:
        if each.intent.type == "dialogue":
            found += _said(filling, world, each)
        elif each.intent.type == "action" and each.intent.verb != "look":  # a look does nothing to anybody
            found += _done(filling, world, each)
    return found


def _said(filling: Filling, world: World, heard: Heard) -> list[PlannedTurn]:
    """Words go to the sessions of those who understood them with the speaker, and to the speaker's own with those it spoke to."""
    speaker, addressed = heard.intent.actor, _people(world, heard.intent)
    own, listeners = _understood(heard)
    if not heard.intent.text.strip():
        return []
    found = []
    for listener, entry in listeners.items():
        to_me = not addressed or listener in addressed
        if own is not None and to_me and filling.covers(speaker, listener):
            found.append(PlannedTurn((speaker, listener), _turn("agent", own, heard.intent.text), True))
        if filling.covers(listener, speaker):
            hint = "" if to_me else TO_ANOTHER
            found.append(PlannedTurn((listener, speaker), _turn("actor", entry, heard.intent.text, hint), to_me))
    return found


def _done(filling: Filling, world: World, heard: Heard) -> list[PlannedTurn]:
    """What is done to somebody is a remark in the sessions that the two have with each other."""
    actor, about = heard.intent.actor, _people(world, heard.intent)
    own, onlookers = _understood(heard)
    if not about or not heard.intent.summary:
        return []
    told = f"{token(actor)} {heard.intent.summary.rstrip('.')}"
    if heard.outcome is not None and not heard.outcome.is_valid:
        told += ", without success"
    found = []
    for other in about:
        if own is not None and filling.covers(actor, other):
            found.append(PlannedTurn((actor, other), _turn("note", own, told), False))
        if other in onlookers and filling.covers(other, actor):
            found.append(PlannedTurn((other, actor), _turn("note", onlookers[other], told), False))
    return found


def _people(world: World, intent: Intent) -> tuple[EntityId, ...]:
    """Those with a mind whom an intent is directed at. Who speaks to a thing speaks to nobody in particular."""
    known = (world.entities.get(target) for target in intent.targets)
    return tuple(dict.fromkeys(one.id for one in known if one is not None and one.agent and one.id != intent.actor))


def _understood(heard: Heard) -> tuple[BufferEntry | None, Mapping[EntityId, BufferEntry]]:
    """The actor's own entry, and those of the others who perceived all of it."""
    full = {entry.owner_id: entry for entry in heard.entries if entry.grasp == "full"}
    return full.pop(heard.intent.actor, None), full


def _turn(role: Role, entry: BufferEntry, content: str, hint: str = "") -> NewTurn:
    return NewTurn(
        role=role, speaker_id=entry.intent.actor, content=content, hint=hint, timestamp=entry.timestamp, round=entry.round,
        source_id=entry.id,
    )
