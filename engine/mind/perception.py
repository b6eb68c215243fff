"""What reaches whom: sight and sound, through portals, in the dark and asleep (DESIGN 6)."""

from collections.abc import Mapping
from typing import NamedTuple

from engine.mind.render import joined
from engine.records.base import EntityId, PlaceId, PortalId, Record
from engine.records.intents import Intent
from engine.records.memory import Grasp
from engine.records.tokens import token
from engine.records.world import Entity, Place, Portal, World
from engine.world.access import is_awake, is_dark
from engine.world.index import Recent, carried_by, entities_at, portals_at

WHISPER, TALK, SHOUT = 1, 4, 8
"""Loudness of speech."""
UNDERSTOOD = 3
"""Carried value from which words are understood."""
AUDIBLE = 1
"""Carried value from which one hears that somebody speaks."""
CLEAR_SIGHT = 5
"""Vision of a portal from which actions and people beyond it are seen."""
FAINT_SUMMARY = "said something that did not carry"

_WHISPERING = frozenset({"whispering", "whispered", "whisper", "in a whisper", "softly whispering", "under breath"})
_SHOUTING = frozenset({"shouting", "shouted", "shout", "yelling", "screaming", "bellowing", "roaring", "crying out", "calling out"})


class Beyond(NamedTuple):
    """What is seen through one portal."""

    portal_id: PortalId
    place_id: PlaceId
    seen: tuple[EntityId, ...]


class Senses(Record):
    """What one entity perceives of where it is."""

    viewer_id: EntityId
    place: PlaceId | None
    awake: bool
    """False for who sleeps, is unconscious, dead or inactive: then nothing is perceived."""
    dark: bool
    """True when nothing can be seen here."""
    here: tuple[EntityId, ...] = ()
    """Agents seen in the place, awake or not, without the viewer, in fixed order."""
    things: tuple[EntityId, ...] = ()
    """Other entities seen in the place that nobody carries."""
    carried: tuple[EntityId, ...] = ()
    """What the viewer carries. Felt, so darkness does not matter."""
    beyond: tuple[Beyond, ...] = ()
    """Agents seen in neighbouring places; each once, portals that show nobody left out."""
    heard_places: Mapping[PlaceId, int] = {}
    """Carried value of talk from each place where it is audible at all, this place included."""

    @property
    def around(self) -> tuple[EntityId, ...]:
        """Everybody and everything that can be pointed at, nearest first."""
        return (*self.here, *self.things, *self.carried, *(entity for beyond in self.beyond for entity in beyond.seen))


_REACHED: Recent[Mapping[EntityId, Entity], dict[EntityId, tuple[Mapping[PlaceId, Place], Mapping[PortalId, Portal], Senses]]] = Recent(4)


def carried(loudness: int, sound: int) -> int:
    """What is left of a loudness after a portal with this `sound`. At 3 understood, at 1 or 2 only heard."""
    return loudness - (10 - sound)


def loudness(intent: Intent) -> int:
    """How loud the words of a dialogue are, by verb, else by modifiers."""
    how = {modifier.strip().casefold() for modifier in intent.modifiers}
    if intent.verb == "whisper" or (intent.verb != "shout" and how & _WHISPERING):
        return WHISPER
    return SHOUT if intent.verb == "shout" or how & _SHOUTING else TALK


def reach(world: World, viewer_id: EntityId) -> Senses:
    """What the viewer perceives now. An unknown viewer, or one that is nowhere or not awake, perceives nothing around it.

    Asked several times in a beat, and most beats move nobody: what was found is kept for the last few states of a world's entities.
    """
    known = _REACHED.get(world.entities)
    if known is None:
        known = _REACHED.put(world.entities, {})
    held = known.get(viewer_id)
    if held is None or held[0] is not world.places or held[1] is not world.portals:
        held = known[viewer_id] = (world.places, world.portals, _reach(world, viewer_id))
    return held[2]


def _reach(world: World, viewer_id: EntityId) -> Senses:
    viewer = world.entities.get(viewer_id)
    place = world.places.get(viewer.place) if viewer and viewer.place is not None else None
    if viewer is None or place is None or not is_awake(viewer):
        return Senses(viewer_id=viewer_id, place=place.id if place else None, awake=viewer is not None and is_awake(viewer),
                      dark=place is not None and is_dark(place))  # fmt: skip
    dark = is_dark(place)
    around = [] if dark else [entity for entity in entities_at(world, place.id) if entity.id != viewer_id]
    portals = portals_at(world, place.id)
    return Senses(
        viewer_id=viewer_id,
        place=place.id,
        awake=True,
        dark=dark,
        here=tuple(entity.id for entity in around if entity.agent),
        things=tuple(entity.id for entity in around if not entity.agent),
        carried=tuple(entity.id for entity in carried_by(world, viewer_id)),
        beyond=_beyond(world, place.id, portals),
        heard_places={place.id: TALK} | _heard(place.id, portals),
    )


def _beyond(world: World, here: PlaceId, portals: list[Portal]) -> tuple[Beyond, ...]:
    found: list[Beyond] = []
    shown: set[PlaceId] = {here}
    for portal in portals:
        there = portal.beyond(here)
        if there is None or there in shown or portal.vision < CLEAR_SIGHT or there not in world.places or is_dark(world.places[there]):
            continue
        shown.add(there)
        seen = tuple(entity.id for entity in entities_at(world, there) if entity.agent)
        if seen:
            found.append(Beyond(portal.id, there, seen))
    return tuple(found)


def _heard(here: PlaceId, portals: list[Portal], loud: int = TALK) -> dict[PlaceId, int]:
    """Places next to `here` that speech of this loudness is audible from or in, with the best carried value."""
    best: dict[PlaceId, int] = {}
    for portal in portals:
        there, value = portal.beyond(here), carried(loud, portal.sound)
        if there is not None and there != here and value >= AUDIBLE:
            best[there] = max(value, best.get(there, 0))
    return best


def perceivers(world: World, intent: Intent, place: PlaceId | None) -> list[tuple[EntityId, Grasp]]:
    """Agents that an event in `place` reaches, and how much of it: the actor first, the others in fixed order.

    `place` is where the event happens; for a departure and an arrival ask once for each end.
    """
    reached: list[tuple[Entity, Grasp]] = []
    if place is not None and place in world.places and intent.type != "monologue":
        reached = _hearers(world, intent, place) if intent.type == "dialogue" else _onlookers(world, place)
    others = sorted((entity.order, entity.id, grasp) for entity, grasp in reached if entity.id != intent.actor)
    actor = world.entities.get(intent.actor)
    first: list[tuple[EntityId, Grasp]] = [(actor.id, "full")] if actor is not None and actor.agent else []
    return first + [(id_, grasp) for _, id_, grasp in others]


def _minds(world: World, place: PlaceId) -> list[Entity]:
    return [entity for entity in entities_at(world, place) if entity.agent and is_awake(entity)]


def _onlookers(world: World, place: PlaceId) -> list[tuple[Entity, Grasp]]:
    """Minds that see what is done in `place`. The dark there hides it from all; the dark where they are does not."""
    if is_dark(world.places[place]):
        return []
    shown = {place: None}
    for portal in portals_at(world, place):
        there = portal.beyond(place)
        if there is not None and portal.vision >= CLEAR_SIGHT:
            shown[there] = None
    return [(entity, "full") for each in shown for entity in _minds(world, each)]


def _hearers(world: World, intent: Intent, place: PlaceId) -> list[tuple[Entity, Grasp]]:
    loud, lit = loudness(intent), not is_dark(world.places[place])
    found: list[tuple[Entity, Grasp]] = []
    for entity in _minds(world, place):
        whispered_past = loud == WHISPER and entity.id not in intent.targets
        found.append((entity, "full" if not whispered_past else "seen" if lit else "faint"))
    for there, value in _heard(place, portals_at(world, place), loud).items():
        found.extend((entity, "full" if value >= UNDERSTOOD else "faint") for entity in _minds(world, there))
    return found


def as_perceived(intent: Intent, viewer_id: EntityId, grasp: Grasp) -> Intent:
    """The event as it goes into the viewer's memory, without the words that did not reach it.

    The prose of somebody else's deed goes too: it speaks with the actor's names, and `summary` says what was seen.
    """
    if viewer_id == intent.actor:
        return intent
    if grasp == "faint":
        return Intent(type="dialogue", verb="say", summary=FAINT_SUMMARY, actor=intent.actor, place=intent.place)
    if grasp == "seen" and intent.type == "dialogue":
        whom = joined([token(target) for target in intent.targets])
        return intent.model_copy(update={"text": "", "summary": f"whispered something to {whom}" if whom else "whispered something"})
    return intent.model_copy(update={"text": ""}) if intent.type == "action" else intent
