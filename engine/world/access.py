"""Who may know which attribute, and who is in a state to perceive and act."""

from engine.records.base import EntityId
from engine.records.world import Entity, Place

SENSELESS = frozenset({"asleep", "unconscious", "dead", "inactive"})
"""Values of the attribute `status` that take perception and action away."""


def visible_attributes(entity: Entity, viewer: EntityId) -> dict[str, str]:
    """Values of `entity` that `viewer` may know, by attribute name, in the order they were authored."""
    return {name: attribute.value for name, attribute in entity.attributes.items() if attribute.may_know(viewer)}


def is_awake(entity: Entity) -> bool:
    """Whether the entity can perceive. Without a status it can."""
    return (entity.value("status") or "").strip().casefold() not in SENSELESS


def is_active(entity: Entity) -> bool:
    """Whether the entity acts in a round: an agent, and awake."""
    return entity.agent and is_awake(entity)


def is_dark(place: Place) -> bool:
    """Whether nothing can be seen in the place."""
    light = place.attributes.get("light")
    return light is not None and light.value.strip().casefold() == "dark"
