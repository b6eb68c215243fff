"""How far an entity's senses reach from where it is, as the map shows it. Pure."""

from collections.abc import Mapping
from typing import Literal

from engine.mind import perception
from engine.records.base import EntityId, PlaceId
from engine.records.world import World
from engine.world.access import is_dark
from engine.world.index import portals_at

Reach = Literal["here", "seen", "heard", "faint"]


def reach(world: World, entity: EntityId) -> Mapping[PlaceId, Reach]:
    """Places the entity perceives something of: what is done there is seen, or talk there is understood or only audible."""
    senses = perception.reach(world, entity)
    if senses.place is None:
        return {}
    reached: dict[PlaceId, Reach] = {
        place: "heard" if carried >= perception.UNDERSTOOD else "faint" for place, carried in senses.heard_places.items()
    }
    for portal in portals_at(world, senses.place) if senses.awake else ():
        beyond = portal.beyond(senses.place)
        if beyond is not None and beyond in world.places and portal.vision >= perception.CLEAR_SIGHT and not is_dark(world.places[beyond]):
            reached[beyond] = "seen"
    return reached | {senses.place: "here"}
