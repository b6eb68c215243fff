"""Rules for looking, opening and reading: what an actor comes to know of what is there."""

from engine.mind.perception import reach
from engine.mind.whereabouts import where
from engine.records.base import EntityId
from engine.records.intents import Intent
from engine.records.tokens import token
from engine.records.world import Attribute, Entity, LearnAttribute, World
from engine.turns.ruling import Ruling
from engine.world.access import is_awake

_REVEALING = frozenset(["read", "opened", "unsealed", "unfolded", "unwrapped", "uncovered", "searched", "leafed"])
"""First words of deeds that bring out what a thing keeps to itself."""
_WRITTEN = frozenset({"writing", "entry", "text", "inscription", "letter", "page"})
_ASIDE = frozenset({"name", "label", "status", "fixed"})


def held_by_another(world: World, actor: Entity, thing: Entity) -> EntityId | None:
    """Who holds the thing and would notice; None when it is free, in the actor's hand, or in a sleeper's."""
    holder = world.entities.get(thing.holder or "")
    return holder.id if holder is not None and holder.id != actor.id and is_awake(holder) else None


def look(world: World, actor: Entity, intent: Intent) -> Ruling:
    """Looking takes no time. What is looked at must be in sight."""
    senses = reach(world, actor.id)
    if intent.targets:
        seen = world.entities[intent.targets[0]]
        if seen.id == actor.id:
            held = ", ".join(token(i) for i in senses.carried)
            return Ruling(True, finding=f"in hand: {held}" if held else "nothing in hand", summary="looked over what was in hand")
        if seen.id not in senses.around and seen.holder not in senses.around:
            return Ruling(False, f"{token(seen.id)} is not in sight")
        return Ruling(True, finding=_looks(seen))
    if (portal := world.portals.get(intent.portal or "")) is not None:
        beyond_it = world.places.get(portal.beyond(actor.place or "") or "")
        return Ruling(True, finding=f"{portal.state}, to {beyond_it.name}" if beyond_it else portal.state)
    if senses.dark:
        return Ruling(True, finding="too dark to see anything")
    place = world.places.get(actor.place or "")
    around = [token(i) for i in (*senses.here, *senses.things)]
    parts = [" ".join(place.description.split()).rstrip(".")] if place and place.description else []
    parts += [f"Here: {', '.join(around)}"] if around else ["Nobody else is here"]
    parts += [f"{token(i)} is {where(world.places[beyond.place_id])}" for beyond in senses.beyond for i in beyond.seen]
    ways = [f"{portal.name} ({portal.state})" for portal in world.exits(actor.place or "")]
    return Ruling(True, finding=". ".join([*parts, f"Ways out: {', '.join(ways)}"] if ways else parts))


def open_up(world: World, actor: Entity, intent: Intent) -> Ruling | None:
    """Opening or reading a thing reveals what only some may know of it. None when the deed is none of that kind, or the thing has
    nothing to reveal."""
    revealing = intent.verb in ("open", "other") and intent.summary.split(maxsplit=1)[:1] and intent.summary.split()[0] in _REVEALING
    things = [world.entities[t] for t in intent.targets if not world.entities[t].agent]
    if not revealing or intent.portal is not None or not things:
        return None
    thing = things[0]
    kept = [a for a in thing.attributes.values() if not a.public and a.name not in _ASIDE]
    if not kept:
        return None
    if (holder := held_by_another(world, actor, thing)) is not None:
        return Ruling(False, f"{token(holder)} holds it", summary=f"tried to look into {token(thing.id)}")
    learned = tuple(
        LearnAttribute(viewer=actor.id, entity=thing.id, name=a.name) for a in kept if not a.may_know(actor.id)
    )
    return Ruling(True, deltas=learned, minutes=1, finding="; ".join(_told(a) for a in kept))


def _looks(entity: Entity) -> str:
    shown = [a for a in entity.attributes.values() if a.public and a.name not in _ASIDE]
    texts = [a.value if a.name == "appearance" else f"{a.name.replace('_', ' ')}: {a.value}" for a in shown]
    texts += [] if is_awake(entity) or not entity.agent else [entity.value("status") or "asleep"]
    return "; ".join(" ".join(text.split()).rstrip(".") for text in texts) or "nothing out of the ordinary"


def _told(attribute: Attribute) -> str:
    text = " ".join(attribute.value.split()).rstrip(".")
    return f"it reads: {text}" if attribute.name in _WRITTEN else text
