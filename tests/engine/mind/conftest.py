"""Worlds for minds: a small inn told by hand, and generated ones in which everything secret can be recognised."""

from collections.abc import Mapping
from datetime import datetime

import pytest

from engine.records.base import EntityId, PlaceId
from engine.records.intents import Intent
from engine.records.memory import NewBufferEntry
from engine.records.world import Attribute, Entity, Place, Portal, World

NOW = datetime(1247, 3, 1, 18, 5)


class Maker:
    """Builds records with few words."""

    now = NOW

    @staticmethod
    def entity(
        id_: EntityId,
        name: str = "",
        *,
        label: str = "",
        looks: str = "",
        place: PlaceId | None = "taproom",
        agent: bool = True,
        order: int = 0,
        holder: EntityId | None = None,
        aliases: Mapping[EntityId, str] | None = None,
        status: str = "",
        known_to: tuple[EntityId, ...] = (),
    ) -> Entity:
        """An entity whose name is private to it (and `known_to`), the rest public."""
        attributes = {}
        if name:
            attributes["name"] = Attribute(name="name", value=name, known_to=(id_, *known_to))
        for key, value in (("label", label), ("appearance", looks), ("status", status)):
            if value:
                attributes[key] = Attribute(name=key, value=value, public=True)
        return Entity(id=id_, agent=agent, place=place, order=order, holder=holder, attributes=attributes, aliases=aliases or {})

    @staticmethod
    def place(id_: PlaceId, name: str, *, dark: bool = False) -> Place:
        return Place(id=id_, name=name, attributes={"light": Attribute(name="light", value="dark", public=True)} if dark else {})

    def world(self, *entities: Entity, places: tuple[Place, ...] = (), portals: tuple[Portal, ...] = ()) -> World:
        """A world of these. Without places: taproom, cellar and quay."""
        places = places or (self.place("taproom", "the taproom"), self.place("cellar", "the cellar"), self.place("quay", "the quay"))
        return World(
            slug="inn", name="The Inn", now=NOW, places={p.id: p for p in places}, portals={p.id: p for p in portals},
            entities={e.id: e for e in entities},
        )  # fmt: skip

    @staticmethod
    def said(actor: EntityId, text: str, *targets: EntityId, to: EntityId = "viewer", place: PlaceId = "taproom") -> NewBufferEntry:
        """A line of speech in the memory of `to`."""
        intent = Intent(type="dialogue", verb="say", text=text, actor=actor, targets=targets, place=place)
        return NewBufferEntry(owner_id=to, timestamp=NOW, location_id=place, round=1, intent=intent)


@pytest.fixture(scope="session")
def make() -> Maker:
    return Maker()
