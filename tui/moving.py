"""A world in which something has moved or a portal has turned, as events tell of it: values, changed by nobody."""

from engine.records.base import EntityId, PlaceId, PortalId
from engine.records.world import PortalState, World


def moved(world: World, entity: EntityId, to: PlaceId | None) -> World:
    """The world in which an entity is at `to`, with all that it carries."""
    if entity not in world.entities:
        return world
    entities = dict(world.entities)
    moving = [entity]
    while moving:
        one = moving.pop()
        entities[one] = entities[one].model_copy(update={"place": to})
        moving += [other.id for other in entities.values() if other.holder == one and other.place != to]
    return world.model_copy(update={"entities": entities})


def turned(world: World, portal: PortalId, state: PortalState) -> World:
    """The world in which a portal is in this state: what it lets through when it is open and when it is shut change places."""
    if portal not in world.portals:
        return world
    before = world.portals[portal]
    changes: dict[str, object] = {"state": state}
    if (before.state == "open") != (state == "open"):
        changes |= {
            "vision": before.vision_other, "sound": before.sound_other, "vision_other": before.vision, "sound_other": before.sound,
        }
    return world.model_copy(update={"portals": {**world.portals, portal: before.model_copy(update=changes)}})
