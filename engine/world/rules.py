"""The closed set of changes, applied to a world value. What is impossible raises and changes nothing."""

from engine.errors import RuleError
from engine.records.base import EntityId, PlaceId
from engine.records.world import Attribute, Delta, Entity, LearnAttribute, Move, SetAttribute, SetPortal, Transfer, World
from engine.world.index import carried_by, with_entities, with_portal


def apply(world: World, delta: Delta) -> World:
    """The world after one change; the same value when it changes nothing. Raises `RuleError` for what cannot be.

    Checks that the world stays whole, not whether an actor could bring the change about: that is the referee's part.
    """
    match delta:
        case Move():
            return _move(world, delta)
        case Transfer():
            return _transfer(world, delta)
        case SetAttribute():
            return _set_attribute(world, delta)
        case SetPortal():
            return _set_portal(world, delta)
        case LearnAttribute():
            return _learn(world, delta)


def _entity(world: World, id_: EntityId) -> Entity:
    found = world.entities.get(id_)
    if found is None:
        raise RuleError("There is no such person or thing.")
    return found


def _settled(world: World, entity: Entity, place: PlaceId | None) -> list[Entity]:
    """The entity and all that it holds, however deep, in `place`."""
    settled, open_ = [], [entity]
    while open_:
        each = open_.pop()
        settled.append(each.model_copy(update={"place": place}))
        open_.extend(carried_by(world, each.id))
    return settled


def _move(world: World, delta: Move) -> World:
    entity = _entity(world, delta.entity)
    if delta.to not in world.places:
        raise RuleError("There is no such place.")
    if entity.holder is not None:
        raise RuleError("What somebody carries cannot go by itself.")
    return world if entity.place == delta.to else with_entities(world, _settled(world, entity, delta.to))


def _transfer(world: World, delta: Transfer) -> World:
    if delta.thing in world.places and delta.thing not in world.entities:
        raise RuleError("A place cannot change hands.")
    thing = _entity(world, delta.thing)
    if thing.agent:
        raise RuleError("Only things change hands.")
    if delta.holder == thing.holder:
        return world
    place = thing.place
    if delta.holder is not None:
        above: Entity | None = _entity(world, delta.holder)
        place = above.place if above else None
        while above is not None:
            if above.id == thing.id:
                raise RuleError("A thing cannot hold itself.")
            above = world.entities.get(above.holder) if above.holder is not None else None
    return with_entities(world, _settled(world, thing.model_copy(update={"holder": delta.holder}), place))


def _set_attribute(world: World, delta: SetAttribute) -> World:
    entity = _entity(world, delta.entity)
    if not delta.name:
        raise RuleError("An attribute needs a name.")
    old = entity.attributes.get(delta.name)
    if old is not None and old.value == delta.value:
        return world
    new = old.model_copy(update={"value": delta.value}) if old else Attribute(name=delta.name, value=delta.value, public=delta.public)
    return with_entities(world, [entity.model_copy(update={"attributes": {**entity.attributes, delta.name: new}})])


def _set_portal(world: World, delta: SetPortal) -> World:
    portal = world.portals.get(delta.portal)
    if portal is None:
        raise RuleError("There is no such way.")
    if portal.state == delta.state:
        return world
    update: dict[str, object] = {"state": delta.state}
    if "open" in (portal.state, delta.state):  # closed and locked let the same through
        update |= {"vision": portal.vision_other, "vision_other": portal.vision}
        update |= {"sound": portal.sound_other, "sound_other": portal.sound}
    return with_portal(world, portal.model_copy(update=update))


def _learn(world: World, delta: LearnAttribute) -> World:
    entity = _entity(world, delta.entity)
    _entity(world, delta.viewer)
    old = entity.attributes.get(delta.name)
    if old is None:
        raise RuleError("There is nothing of that kind to learn.")
    if old.may_know(delta.viewer):
        return world
    new = old.model_copy(update={"known_to": (*old.known_to, delta.viewer)})
    return with_entities(world, [entity.model_copy(update={"attributes": {**entity.attributes, delta.name: new}})])
