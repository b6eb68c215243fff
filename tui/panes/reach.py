"""How far an entity's senses reach from where it is, as the map shows it. Pure."""

import heapq
from collections.abc import Mapping
from typing import Literal

from engine.records.base import EntityId, PlaceId
from engine.records.world import World

Reach = Literal["here", "seen", "heard", "faint"]
_TALK = 4
"""Loudness of talk; a portal takes 10 minus its sound from it (DESIGN 6)."""
_CLEAR, _AUDIBLE, _SIGHT = 3, 1, 5
_AWAKE = (None, "", "awake")


def reach(world: World, entity: EntityId) -> Mapping[PlaceId, Reach]:
    """Places the entity perceives something of: what is done there is seen, or talk there is understood or only audible."""
    found = world.entities.get(entity)
    if found is None or found.place is None:
        return {}
    if found.value("status") not in _AWAKE:
        return {found.place: "here"}
    reached: dict[PlaceId, Reach] = {}
    for place, carried in _carried(world, found.place).items():
        reached[place] = "heard" if carried >= _CLEAR else "faint"
    for portal in world.portals.values():
        beyond = portal.beyond(found.place)
        if beyond is not None and portal.vision >= _SIGHT and not _dark(world, beyond):
            reached[beyond] = "seen"
    reached[found.place] = "here"
    return reached


def _carried(world: World, place: PlaceId) -> dict[PlaceId, int]:
    """How loud talk is once it has come over the best way from each place to here, where it can still be heard."""
    best: dict[PlaceId, int] = {}
    heap = [(-_TALK, place)]
    while heap:
        loud, here = heapq.heappop(heap)
        if -loud <= best.get(here, 0):
            continue
        best[here] = -loud
        for portal in world.portals.values():
            beyond = portal.beyond(here)
            left = -loud - (10 - portal.sound)
            if beyond is not None and left >= _AUDIBLE and left > best.get(beyond, 0):
                heapq.heappush(heap, (-left, beyond))
    return best


def _dark(world: World, place: PlaceId) -> bool:
    light = world.places[place].attributes.get("light") if place in world.places else None
    return light is not None and light.value == "dark"
