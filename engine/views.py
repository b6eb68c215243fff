"""What screens draw: memories and events told to one viewer, as values."""

from collections.abc import Mapping
from datetime import datetime

from engine.mind.aliases import narrator_name, resolve_alias
from engine.mind.render import capital, render
from engine.mind.timewords import naturalize_time
from engine.mind.voice import names_of, remembered, tell
from engine.records.base import BufferId, EntityId, PlaceId, Record
from engine.records.intents import Intent, Outcome
from engine.records.memory import BufferEntry, LedgerEntry, Partition, TriggerReport
from engine.records.tokens import referred
from engine.records.world import World


class BufferView(Record):
    """A buffer with everything its pane draws."""

    owner_id: EntityId
    partition: Partition
    report: TriggerReport
    lines: Mapping[BufferId, str]
    """Each entry as its owner would tell it now."""
    when: Mapping[BufferId, str]
    """Time words of each entry."""


class LedgerLine(Record):
    """A ledger entry as its pane draws it."""

    entry: LedgerEntry
    text: str
    """Content as its owner reads it now."""
    when: str
    place: str
    people: tuple[str, ...]


class Sizes(Record):
    """How many rows each tier of memory holds."""

    buffer: int
    archive: int
    ledger: int


class StoryLine(Record):
    """One thing that happened, told to one viewer."""

    round: int
    at: datetime
    """World time."""
    when: str
    """The same as a clock reading: `18:05`."""
    place: str
    actor: EntityId
    speaker: str
    """What the viewer calls the actor, first letter in upper case."""
    kind: str
    """dialogue, action or monologue."""
    text: str
    """The sentence as told: `The wet stranger spoke to you: "Evening."`"""
    intent: Intent
    ok: bool
    """False for an action that was refused."""


def called(world: World, entity: EntityId, viewer: EntityId | None) -> str:
    """What `viewer` calls `entity`; its true name for the narrator (None)."""
    return narrator_name(world.entities[entity]) if viewer is None else resolve_alias(world, viewer, entity)


def ledger_line(world: World, entry: LedgerEntry) -> LedgerLine:
    """A memory as its owner reads it now."""
    owner, place = entry.owner_id, world.places.get(entry.location_id or "")
    text = render(entry.content, names_of(world, owner, remembered(entry)))
    return LedgerLine(
        entry=entry, text=capital(text), when=naturalize_time(world.now, entry.timestamp), place=place.name if place else "",
        people=tuple(called(world, i, owner) for i in entry.involved_entity_ids if i != owner),
    )


def narrated(world: World, round_: int, at: datetime, place: PlaceId | None, intent: Intent, outcome: Outcome | None) -> StoryLine:
    """An event told by true names."""
    text = _with_findings(world, tell(world, None, intent, outcome=_worth_telling(outcome)), outcome, None)
    return _line(world, round_, at, place, intent, outcome, text, called(world, intent.actor, None))


def lived_through(world: World, entry: BufferEntry) -> StoryLine:
    """An event as the owner of `entry` perceived it, in its words."""
    text = tell(world, entry.owner_id, entry.model_copy(update={"outcome": _worth_telling(entry.outcome)}))
    text = _with_findings(world, text, entry.outcome, entry.owner_id)
    if entry.intent.verb == "go" and entry.intent.actor == entry.owner_id and entry.outcome is not None and entry.outcome.is_valid:
        arrived = world.places.get(entry.location_id or "")
        text += f" {arrived.description}" if arrived else ""
        text = render(text, names_of(world, entry.owner_id, referred(text)))
    speaker = "somebody" if entry.grasp == "faint" else called(world, entry.intent.actor, entry.owner_id)
    place = entry.intent.place or entry.location_id
    return _line(world, entry.round, entry.timestamp, place, entry.intent, entry.outcome, text, speaker)


def _line(
    world: World, round_: int, at: datetime, place: PlaceId | None, intent: Intent, outcome: Outcome | None, text: str, speaker: str
) -> StoryLine:
    where = world.places.get(place or "")
    return StoryLine(
        round=round_, at=at, when=at.strftime("%H:%M"), place=where.name if where else "", actor=intent.actor, speaker=capital(speaker),
        kind=intent.type, text=text, intent=intent, ok=outcome is None or outcome.is_valid,
    )


def _with_findings(world: World, text: str, outcome: Outcome | None, viewer: EntityId | None) -> str:
    """The sentence and, after it, what came to light."""
    if outcome is None or not outcome.is_valid or not outcome.finding:
        return text
    found = render(outcome.finding, names_of(world, viewer, referred(outcome.finding)))
    return f"{text} {capital(found)}{'' if found.endswith(('.', '!', '?')) else '.'}"


def _worth_telling(outcome: Outcome | None) -> Outcome | None:
    """A story tells of what failed and takes it for granted that the rest did not."""
    return None if outcome is None or outcome.is_valid else outcome
