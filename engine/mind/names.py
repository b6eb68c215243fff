"""How names are learned: by rule, from speech that was perceived in full (DESIGN 5)."""

from collections.abc import Iterator

from engine.mind.aliases import known_name
from engine.mind.claims import claims
from engine.mind.labels import is_name
from engine.mind.spoken import core, is_part
from engine.records.base import EntityId
from engine.records.memory import AliasCause, BufferEntry, NewBufferEntry
from engine.records.world import World
from engine.world.index import entities_at

Lesson = tuple[EntityId, str, AliasCause]


def learned(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry) -> list[Lesson]:
    """Names that the viewer learns from one perceived line, as (whom, name as spoken, cause), each target at most once.

    Three kinds of evidence: somebody gives its own name (`introduction`), is addressed by a name, or is introduced by
    another (`overheard`). A lie is believed. A name that the viewer has already, or a part of it, teaches nothing.
    """
    intent = entry.intent
    if intent.type != "dialogue" or entry.grasp != "full" or intent.actor == viewer_id:
        return []
    found: dict[EntityId, Lesson] = {}
    for lesson in _lessons(world, viewer_id, entry):
        target, name, cause = lesson
        if target == viewer_id or target not in world.entities or not _is_news(world, viewer_id, lesson):
            continue
        before = found.get(target)
        if before is None or (before[2] == cause and len(core(name)) > len(core(before[1]))):
            found[target] = lesson
    return list(found.values())


def _lessons(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry) -> Iterator[Lesson]:
    intent, heard = entry.intent, claims(entry.intent.text)
    for name in heard.own:
        if not _is_place(world, name):
            yield intent.actor, name, "introduction"
    own = _true_name(world, intent.actor)
    for name in heard.bare:
        if _fits(name, own) and not any(_is_called(world, intent.actor, target, name) for target in intent.targets):
            yield intent.actor, name, "introduction"
    for name, shown in heard.introduced:
        target = None if _is_place(world, name) else _third(world, viewer_id, entry, name, shown=shown)
        if target is not None:
            yield target, name, "introduction" if target == intent.actor else "overheard"
    for name in heard.addressed:
        for target in intent.targets:
            if target != intent.actor and _is_called(world, intent.actor, target, name):
                yield target, name, "overheard"


def _is_news(world: World, viewer_id: EntityId, lesson: Lesson) -> bool:
    """Whether the name says more than what the viewer calls the target already."""
    target, name, cause = lesson
    present = known_name(world, viewer_id, target)
    if present is None:
        return True
    if is_part(name, present) and (is_name(present) or core(name) == core(present)):
        return False
    true = _true_name(world, target)
    if cause == "introduction" or not true:
        return True
    # one who is called Bryn by some and Harrow by others keeps the name that was heard first
    return not (is_part(present, true) and is_part(name, true)) or len(core(name)) > len(core(present))


def _is_place(world: World, name: str) -> bool:
    wanted = name.casefold().removeprefix("the ")
    return any(place.name.casefold().removeprefix("the ") == wanted for place in world.places.values())


def _is_called(world: World, speaker: EntityId, target: EntityId, name: str) -> bool:
    """Whether `name` is what the speaker calls the target, or the target's true name, whole or by its first or last word."""
    if target not in world.entities:
        return False
    alias = known_name(world, speaker, target) or ""
    if not is_name(alias) and not _is_epithet(alias):
        alias = ""
    return _fits(name, alias) or _fits(name, _true_name(world, target))


def _true_name(world: World, id_: EntityId) -> str:
    entity = world.entities.get(id_)
    return (entity.value("name") or "").strip() if entity else ""


def _is_epithet(alias: str) -> bool:
    return alias.startswith("the ") and alias[4:5].isupper()


def _fits(name: str, whole: str) -> bool:
    """Whether `name` is all of another name, or its first or last word; titles and particles aside."""
    if not whole:
        return False
    said, known = core(name), core(whole)
    return said == known or said in ((known[0],), (known[-1],))


def _third(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry, name: str, *, shown: bool) -> EntityId | None:
    """Who is meant by `this is X`: the only one present whom the speaker calls so, the speaker too.

    When X is nobody's name here and somebody is `shown`, it is the other one of two who are spoken to: so lies work.
    """
    intent = entry.intent
    if shown and _fits(name, _true_name(world, intent.actor)):
        return intent.actor
    present = {entity.id for entity in entities_at(world, intent.place or entry.location_id)} | set(intent.targets)
    called = [id_ for id_ in present if id_ != intent.actor and _is_called(world, intent.actor, id_, name)]
    if called:
        return called[0] if len(called) == 1 else None
    others = [target for target in intent.targets if target not in (viewer_id, intent.actor)]
    return others[0] if shown and viewer_id in intent.targets and len(others) == 1 else None
