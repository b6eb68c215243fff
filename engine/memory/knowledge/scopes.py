"""Who holds a piece of knowledge, and who would come to hold it in another scope (DESIGN 10). Pure."""

from collections.abc import Collection, Iterable

from engine.errors import KnowledgeError
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, PromotionPolicy, Scope
from engine.records.world import World

Holder = tuple[Scope, str]
"""A scope and whose it is: an entity, a faction, or nothing for the world."""

_WIDTH: dict[Scope, int] = {"entity": 0, "faction": 1, "world": 2}


def holder_of(row: Knowledge) -> Holder:
    """By whom a piece is held now."""
    return row.scope, row.scope_id


def is_wider(one: Holder, other: Holder) -> bool:
    """Whether more may know what `one` holds than what `other` does. Another entity or faction is wider too: it is not who knew."""
    return _WIDTH[one[0]] > _WIDTH[other[0]] or (one[0] == other[0] and one[1] != other[1])


def members(world: World, holder: Holder) -> tuple[EntityId, ...]:
    """The minds that know what a holder holds, in their order of acting: of a faction those who are in it now, of the world all."""
    scope, key = holder
    if scope == "entity":
        return (key,) if key in world.entities else ()
    return tuple(one.id for one in world.agents() if scope == "world" or key in one.factions)


def holders(world: World, row: Knowledge, keepers: Iterable[EntityId] = ()) -> tuple[EntityId, ...]:
    """Everybody who knows a piece now. `keepers` have left its faction and know it still."""
    return tuple(dict.fromkeys([*members(world, holder_of(row)), *keepers]))


def would_know(world: World, row: Knowledge, to: Holder, keepers: Iterable[EntityId] = ()) -> tuple[EntityId, ...]:
    """Who would come to know a piece in another scope and does not know it yet, in order of acting."""
    known = set(holders(world, row, keepers))
    return tuple(entity for entity in members(world, to) if entity not in known)


def would_forget(world: World, row: Knowledge, to: Holder) -> tuple[EntityId, ...]:
    """Who knows a piece by its scope and would not in another one."""
    then = set(members(world, to))
    return tuple(entity for entity in members(world, holder_of(row)) if entity not in then)


def targets(world: World, row: Knowledge, policy: PromotionPolicy) -> tuple[Holder, ...]:
    """Whose a piece becomes by the world's policy when it is promoted: never narrower than it is. Of somebody without a faction it stays
    its own."""
    if row.scope != "entity" or policy.scope == "entity":
        return (holder_of(row),)
    if policy.scope == "world":
        return (("world", ""),)
    owner = world.entities.get(row.owner_id)
    factions = tuple(dict.fromkeys(owner.factions)) if owner else ()
    return tuple(("faction", faction) for faction in factions) or (holder_of(row),)


def known_factions(world: World) -> tuple[str, ...]:
    """All factions that somebody is in, in order of their names."""
    return tuple(sorted({faction for entity in world.entities.values() for faction in entity.factions}))


def checked(world: World, scope: Scope, scope_id: str, more: Collection[str] = ()) -> Holder:
    """A holder as a person named it. `more` are factions that exist though nobody is in them. Raises `KnowledgeError` for nobody."""
    if scope == "world":
        return ("world", "")
    if scope == "entity":
        if scope_id not in world.entities or not world.entities[scope_id].agent:
            raise KnowledgeError("Nobody with a mind has that id.", "Choose one of the people.", kind="unknown_entity")
        return ("entity", scope_id)
    factions = known_factions(world)
    if scope_id not in factions and scope_id not in more:
        there = f"There are: {', '.join(factions)}." if factions else "Nobody here is in a faction."
        raise KnowledgeError(f'There is no faction "{scope_id[:60]}".', there, kind="unknown_faction")
    return ("faction", scope_id)
