"""Objective truth: places, portals, entities and the world that holds them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from engine.records.base import EntityId, PlaceId, PortalId, Record
from engine.records.templates import Kind, Template

PortalState = Literal["open", "closed", "locked"]


class Attribute(Record):
    """One named text value and who may know it."""

    name: str = Field(min_length=1)
    value: str
    public: bool = False
    """True when anybody who perceives the entity may know it."""
    known_to: tuple[EntityId, ...] = ()
    """Who may know a private value. Empty means nobody but the narrator, not even its owner."""

    def may_know(self, viewer: EntityId) -> bool:
        """Whether `viewer` may know this value."""
        return self.public or viewer in self.known_to


class Place(Record):
    """Somewhere an entity can be."""

    id: PlaceId
    name: str
    description: str = ""
    attributes: Mapping[str, Attribute] = Field(default_factory=dict)
    """For instance `light`: `dark` takes sight away."""
    position: tuple[int, int] | None = None
    """Authored column and row on the map; None lets the map lay it out."""


class Portal(Record):
    """A way between two places, passable from `a` to `b` and, unless `one_way`, back."""

    id: PortalId
    name: str
    a: PlaceId
    b: PlaceId
    one_way: bool = False
    state: PortalState = "open"
    vision: int = Field(default=10, ge=0, le=10)
    """How far sight carries as the portal stands now, 0 (none) to 10 (as if in the same room)."""
    sound: int = Field(default=10, ge=0, le=10)
    """How far sound carries as the portal stands now, 0 to 10."""
    vision_other: int = Field(default=10, ge=0, le=10)
    """`vision` once the portal is opened (if shut now) or shut (if open now)."""
    sound_other: int = Field(default=10, ge=0, le=10)
    """`sound` once the portal is opened or shut."""
    key: EntityId | None = None
    """The thing whose holder can lock and unlock it; None means anybody can from inside reach."""

    def leads(self, here: PlaceId) -> PlaceId | None:
        """The place one gets to from `here` through this portal, or None if it does not lead on from there."""
        if here == self.a:
            return self.b
        if here == self.b and not self.one_way:
            return self.a
        return None

    def beyond(self, here: PlaceId) -> PlaceId | None:
        """The place on the other side for sight and sound, which also pass a one-way portal backwards."""
        return self.b if here == self.a else self.a if here == self.b else None


class Entity(Record):
    """Anything with attributes that can be somewhere. An agent also acts."""

    id: EntityId
    agent: bool = False
    place: PlaceId | None = None
    """Where it is. A held thing has the place of its holder."""
    holder: EntityId | None = None
    """Who carries it."""
    order: int = 0
    """Place in the fixed order of acting."""
    factions: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    """What it means to do, with reference tokens."""
    habits: tuple[str, ...] = ()
    """What it does when nothing presses, with reference tokens."""
    voice: tuple[str, ...] = ()
    """Samples of how it speaks. They never happened."""
    attributes: Mapping[str, Attribute] = Field(default_factory=dict)
    aliases: Mapping[EntityId, str] = Field(default_factory=dict)
    """What this entity calls others (DESIGN 5)."""

    def value(self, name: str) -> str | None:
        """The objective value of an attribute, whoever may know it."""
        found = self.attributes.get(name)
        return found.value if found else None


class World(Record):
    """One moment of a running world. Rules return a new one."""

    slug: str
    """Name of the world's folder."""
    name: str
    description: str = ""
    seed: int = 0
    now: datetime
    """World time, without zone, whole seconds."""
    round: int = Field(default=0, ge=0)
    """The last round begun."""
    places: Mapping[PlaceId, Place]
    portals: Mapping[PortalId, Portal]
    entities: Mapping[EntityId, Entity]
    templates: Mapping[Kind, Template] = Field(default_factory=dict)
    """Words of prompts that this world has in place of those built in. They never change in a running world."""

    def agents(self) -> list[Entity]:
        """All agents in their fixed order of acting."""
        return sorted((e for e in self.entities.values() if e.agent), key=lambda e: (e.order, e.id))

    def at(self, place: PlaceId | None) -> list[Entity]:
        """Entities in `place` that nobody carries, in fixed order. None gives an empty list."""
        found = (e for e in self.entities.values() if e.place == place and e.holder is None)
        return sorted(found, key=lambda e: (e.order, e.id)) if place is not None else []

    def exits(self, place: PlaceId) -> list[Portal]:
        """Portals one can leave `place` by, in the order they were authored."""
        return [p for p in self.portals.values() if p.leads(place) is not None]


class Move(Record):
    """The entity is in another place."""

    kind: Literal["move"] = "move"
    entity: EntityId
    to: PlaceId


class SetAttribute(Record):
    """An attribute has a new value. Its access stays; a new attribute is public, or known to nobody but the narrator."""

    kind: Literal["set"] = "set"
    entity: EntityId
    name: str
    value: str
    public: bool = True
    """For a new attribute only."""


class Transfer(Record):
    """A thing changes hands: to a holder, or to the floor of a place when `holder` is None."""

    kind: Literal["transfer"] = "transfer"
    thing: EntityId
    holder: EntityId | None


class SetPortal(Record):
    """A portal is opened, closed or locked."""

    kind: Literal["portal"] = "portal"
    portal: PortalId
    state: PortalState


class LearnAttribute(Record):
    """`viewer` may from now on know a private attribute of `entity`."""

    kind: Literal["learn"] = "learn"
    viewer: EntityId
    entity: EntityId
    name: str


Delta = Move | SetAttribute | Transfer | SetPortal | LearnAttribute
"""The closed set of changes that a referee may ask for (DESIGN 6)."""
