"""Who is where without a walk over the whole world.

A world is a value, so what can be derived from its mappings stays true for as long as they live. The indexes are kept for the
last few mappings, by identity: a world copied with another clock shares its entities and thereby the index. `with_entities`
hands the index on with only the changed entities moved, so a beat costs by what it changed.
"""

from bisect import insort
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from engine.records.base import EntityId, PlaceId, PortalId
from engine.records.world import Entity, Portal, World

S = TypeVar("S")
T = TypeVar("T")


class Recent(Generic[S, T]):
    """Derived values of the last few sources, told apart by identity. Holds the sources, so that no identity is reused."""

    def __init__(self, kept: int = 16) -> None:
        self._kept = kept
        self._found: OrderedDict[int, tuple[S, T]] = OrderedDict()

    def get(self, source: S) -> T | None:
        """The value that was kept for this very source."""
        held = self._found.get(id(source))
        return held[1] if held else None

    def put(self, source: S, value: T) -> T:
        """Keep a value, and let go of the oldest when there are too many. Gives the value."""
        self._found[id(source)] = (source, value)
        while len(self._found) > self._kept:
            self._found.popitem(last=False)
        return value


@dataclass(frozen=True, slots=True)
class _Whereabouts:
    """Keys are `(order, id)`, which is the fixed order of a world."""

    by_place: dict[PlaceId, list[tuple[int, EntityId]]]
    """Uncarried entities of each place."""
    by_holder: dict[EntityId, list[tuple[int, EntityId]]]

    def bucket(self, entity: Entity) -> list[tuple[int, EntityId]] | None:
        """The list that the entity belongs in, made when missing."""
        if entity.holder is not None:
            return self.by_holder.setdefault(entity.holder, [])
        return self.by_place.setdefault(entity.place, []) if entity.place is not None else None


_WHEREABOUTS: Recent[Mapping[EntityId, Entity], _Whereabouts] = Recent()
_WAYS: Recent[Mapping[PortalId, Portal], dict[PlaceId, tuple[PortalId, ...]]] = Recent()


def _whereabouts(world: World) -> _Whereabouts:
    found = _WHEREABOUTS.get(world.entities)
    if found is None:
        found = _Whereabouts({}, {})
        for key, entity in sorted(((e.order, e.id), e) for e in world.entities.values()):
            bucket = found.bucket(entity)
            if bucket is not None:
                bucket.append(key)
        _WHEREABOUTS.put(world.entities, found)
    return found


def entities_at(world: World, place: PlaceId | None) -> list[Entity]:
    """Entities in `place` that nobody carries, in fixed order: as `World.at`, at the cost of the place alone."""
    if place is None:
        return []
    return [world.entities[id_] for _, id_ in _whereabouts(world).by_place.get(place, ())]


def carried_by(world: World, holder: EntityId) -> list[Entity]:
    """What `holder` carries, in fixed order, without what those things hold in turn."""
    return [world.entities[id_] for _, id_ in _whereabouts(world).by_holder.get(holder, ())]


def portals_at(world: World, place: PlaceId | None) -> list[Portal]:
    """Portals that touch `place` from either side, in the order they were authored; one-way ones from both sides."""
    if place is None:
        return []
    found = _WAYS.get(world.portals)
    if found is None:
        ways: dict[PlaceId, list[PortalId]] = {}
        for portal in world.portals.values():
            for side in dict.fromkeys((portal.a, portal.b)):
                ways.setdefault(side, []).append(portal.id)
        found = _WAYS.put(world.portals, {side: tuple(ids) for side, ids in ways.items()})
    return [world.portals[id_] for id_ in found.get(place, ())]


def with_entities(world: World, changed: Iterable[Entity]) -> World:
    """The world with these entities in place of those with the same ids. They must be known already."""
    news = {entity.id: entity for entity in changed}
    entities = {**world.entities, **news}
    known = _WHEREABOUTS.get(world.entities)
    if known is not None:
        moved = [(world.entities[id_], new) for id_, new in news.items() if _seat(world.entities[id_]) != _seat(new)]
        _WHEREABOUTS.put(entities, _moved(known, moved) if moved else known)
    return world.model_copy(update={"entities": entities})


def with_portal(world: World, portal: Portal) -> World:
    """The world with this portal in place of the one with its id, which joins the same places."""
    portals = {**world.portals, portal.id: portal}
    known = _WAYS.get(world.portals)
    if known is not None:
        _WAYS.put(portals, known)
    return world.model_copy(update={"portals": portals})


def _seat(entity: Entity) -> tuple[PlaceId | None, EntityId | None, int]:
    return entity.place, entity.holder, entity.order


def _moved(known: _Whereabouts, moved: list[tuple[Entity, Entity]]) -> _Whereabouts:
    """A copy with entities in their new lists. Lists are shared between copies, so touched ones are copied first."""
    by_place, by_holder = dict(known.by_place), dict(known.by_holder)
    for pair in moved:
        for entity in pair:
            if entity.holder is not None:
                by_holder[entity.holder] = list(by_holder.get(entity.holder, ()))
            elif entity.place is not None:
                by_place[entity.place] = list(by_place.get(entity.place, ()))
    fresh = _Whereabouts(by_place, by_holder)
    for old, new in moved:
        left, joined = fresh.bucket(old), fresh.bucket(new)
        if left is not None:
            left.remove((old.order, old.id))
        if joined is not None:
            insort(joined, (new.order, new.id))
    return fresh
