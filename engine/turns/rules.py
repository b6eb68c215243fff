"""Code rules of the referee: one for each verb that needs no model. Pure."""

from collections.abc import Callable, Mapping

from engine.records.base import EntityId
from engine.records.intents import Intent, Verb
from engine.records.tokens import token
from engine.records.world import Entity, Move, Portal, PortalState, SetAttribute, SetPortal, Transfer, World
from engine.turns.looking import held_by_another, look, open_up
from engine.turns.ruling import Ruling
from engine.turns.schedule import ASLEEP_SINCE
from engine.world.access import is_awake


def rule_on(world: World, intent: Intent) -> Ruling | None:
    """The ruling on an action, or None when only a model can tell (verb `other` aimed at nobody absent)."""
    actor = world.entities[intent.actor]
    if intent.verb != "look" and (missing := _out_of_reach(world, actor, intent.targets)):
        return Ruling(False, missing)
    if (reveals := open_up(world, actor, intent)) is not None:
        return reveals
    rule = _RULES.get(intent.verb)
    return rule(world, actor, intent) if rule else None


def _out_of_reach(world: World, actor: Entity, targets: tuple[EntityId, ...]) -> str:
    for target in targets:
        found = world.entities.get(target)
        if found is None or found.place != actor.place:
            return f"{token(target)} is not here" if found else "there is no such thing here"
    return ""


def _way(world: World, actor: Entity, intent: Intent) -> Portal | None:
    portal = world.portals.get(intent.portal or "")
    return portal if portal and actor.place and portal.beyond(actor.place) else None


def _has_key(world: World, actor: Entity, portal: Portal) -> bool:
    return portal.key is None or world.entities[portal.key].holder == actor.id


def _go(world: World, actor: Entity, intent: Intent) -> Ruling:
    portal = _way(world, actor, intent)
    onward = portal.leads(actor.place or "") if portal else None
    if portal is None or onward is None:
        return Ruling(False, "there is no such way from here", summary="looked for a way to go")
    here, there = world.places[actor.place or ""].name, world.places[onward].name
    move = Move(entity=actor.id, to=onward)
    went = f"went from {here} to {there}"
    if portal.state != "locked":
        # A closed door is shut again behind one, or no door would ever stay closed.
        how = f" through {portal.name}" if portal.state == "closed" else ""
        return Ruling(True, deltas=(move,), minutes=1, summary=went + how)
    if portal.key is not None and _has_key(world, actor, portal):
        unlock = SetPortal(portal=portal.id, state="closed")
        return Ruling(True, f"unlocked {portal.name}", (unlock, move), 1, f"unlocked {portal.name} and {went}")
    return Ruling(False, f"{portal.name} is locked", minutes=1, summary=f"tried to go to {there}")


def _set_portal(done: str, base: str, wanted: PortalState) -> Callable[[World, Entity, Intent], Ruling | None]:
    def rule(world: World, actor: Entity, intent: Intent) -> Ruling | None:
        portal = _way(world, actor, intent)
        if portal is None:
            # A chest or a letter is opened too: that is no way, and a model has to judge it.
            return None if intent.targets else Ruling(False, "there is no such thing here", summary=f"looked for something to {base}")
        tried = f"tried to {base} {portal.name}"
        if base == "unlock" and portal.state != "locked":
            return Ruling(False, f"{portal.name} is not locked", summary=tried)
        if portal.state == wanted or (base == "close" and portal.state == "locked"):
            return Ruling(False, f"{portal.name} is already {portal.state}", summary=tried)
        locks = "locked" in (portal.state, wanted)
        if locks and not _has_key(world, actor, portal):
            return Ruling(False, f"{portal.name} is locked" if base == "open" else "the key is missing", summary=tried)
        if base == "open" and portal.state == "locked" and portal.key is None:
            return Ruling(False, f"{portal.name} is locked", summary=tried)
        return Ruling(True, deltas=(SetPortal(portal=portal.id, state=wanted),), summary=f"{done} {portal.name}")

    return rule


def _take(world: World, actor: Entity, intent: Intent) -> Ruling:
    things = [t for t in intent.targets if not world.entities[t].agent]
    if not things:
        reason = "people are not for taking" if intent.targets else "there is no such thing here"
        return Ruling(False, reason, summary="looked for something to take")
    thing = world.entities[things[0]]
    tried = f"tried to take {token(thing.id)}"
    if thing.holder == actor.id:
        return Ruling(False, "it is in hand already", summary=tried)
    if (holder := held_by_another(world, actor, thing)) is not None:
        return Ruling(False, f"{token(holder)} holds it", summary=tried)
    if (thing.value("fixed") or "").lower() in ("yes", "true", "fixed"):
        return Ruling(False, "it cannot be moved", summary=tried)
    return Ruling(True, deltas=(Transfer(thing=thing.id, holder=actor.id),), summary=f"took {token(thing.id)}")


def _give(world: World, actor: Entity, intent: Intent) -> Ruling | None:
    things = [t for t in intent.targets if not world.entities[t].agent]
    people = [t for t in intent.targets if world.entities[t].agent]
    if not things:
        return None  # giving a mug of ale that is no object of its own: a model judges it
    if not people:
        return Ruling(False, "there is nobody to give it to", summary=f"held out {token(things[0])}")
    thing, receiver = world.entities[things[0]], world.entities[people[0]]
    tried = f"tried to give {token(thing.id)} to {token(receiver.id)}"
    if thing.holder != actor.id:
        return Ruling(False, f"{token(thing.id)} is not in hand", summary=tried)
    if not is_awake(receiver):
        return Ruling(False, f"{token(receiver.id)} cannot take it now", summary=tried)
    gift = Transfer(thing=thing.id, holder=receiver.id)
    return Ruling(True, deltas=(gift,), summary=f"gave {token(thing.id)} to {token(receiver.id)}")


def _drop(world: World, actor: Entity, intent: Intent) -> Ruling:
    held = [t for t in intent.targets if world.entities[t].holder == actor.id]
    if not held:
        return Ruling(False, "it is not in hand", summary="reached for something to put down")
    return Ruling(True, deltas=(Transfer(thing=held[0], holder=None),), summary=f"put down {token(held[0])}")


def _sleep(world: World, actor: Entity, intent: Intent) -> Ruling:
    since = SetAttribute(entity=actor.id, name=ASLEEP_SINCE, value=world.now.isoformat(), public=False)
    status = SetAttribute(entity=actor.id, name="status", value="asleep")
    return Ruling(True, deltas=(since, status), summary="lay down and fell asleep")


def _wake(world: World, actor: Entity, intent: Intent) -> Ruling:
    sleepers = [t for t in intent.targets or (actor.id,) if world.entities[t].value("status") == "asleep"]
    if not sleepers:
        return Ruling(False, "nobody there is asleep", summary="tried to wake somebody")
    awake = SetAttribute(entity=sleepers[0], name="status", value="awake")
    return Ruling(True, deltas=(awake,), summary="woke" if sleepers[0] == actor.id else f"woke {token(sleepers[0])}")


def _wait(world: World, actor: Entity, intent: Intent) -> Ruling:
    return Ruling(True, minutes=1, summary=intent.summary if intent.summary != "did something" else "waited")


_RULES: Mapping[Verb, Callable[[World, Entity, Intent], Ruling | None]] = {
    "go": _go,
    "open": _set_portal("opened", "open", "open"),
    "close": _set_portal("closed", "close", "closed"),
    "lock": _set_portal("locked", "lock", "locked"),
    "unlock": _set_portal("unlocked", "unlock", "closed"),
    "take": _take,
    "give": _give,
    "drop": _drop,
    "sleep": _sleep,
    "wake": _wake,
    "look": look,
    "wait": _wait,
}
