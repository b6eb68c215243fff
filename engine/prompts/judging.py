"""Prompts of the two calls between prose and consequence: decode and referee. Both speak in handles."""

from collections.abc import Sequence
from typing import Final

from engine.mind.handles import Handles
from engine.mind.whereabouts import where
from engine.prompts.scene import Scene
from engine.prompts.templates import load
from engine.records.base import EntityId
from engine.records.intents import Intent
from engine.records.prompts import Message, Prompt, PromptReport, Section, Task, heading
from engine.records.templates import Template
from engine.records.world import World

CROWDS: Final = (None, 40, 20, 10, 4, 0)
"""How many of those around a prompt names, from all to nobody, until it fits."""
_REPORT = PromptReport(context_window=0, reserved=0, tokens=0)


def decode_prompt(world: World, actor: EntityId, prose: str, most: int | None = None) -> tuple[Prompt, Handles]:
    """The call that splits `prose` into intents, and the handles its reply will use. Names `most` of those around at the most, people who
    are here before things and whoever is beyond."""
    scene, handles = Scene(world, actor), Handles()
    senses = scene.senses
    told = [(i, "here") for i in senses.here] + [(i, "thing, here") for i in senses.things]
    told += [(i, "thing, carried by you") for i in senses.carried]
    told += [(i, f"beyond, {where(world.places[place])}") for _, place, ids in senses.beyond for i in ids]
    lines = [f"{handles.of(actor)}: you, {_own_name(scene)}"]
    lines += [f"{handles.of(i)}: {scene.name(i)} ({how})" for i, how in told[:most]]
    ways = [f"{handles.way(p.id)}: {scene.way(p)}" for p in scene.ways()]
    sections = [
        Section(key="who", title="Who", text="\n".join(lines)),
        Section(key="ways", title="Ways", text="\n".join(ways)),
        Section(key="prose", title="Prose", text=prose),
    ]
    return _prompt("decode", actor, load("decode", world), sections), handles


def referee_prompt(world: World, intent: Intent, most: int | None = None) -> tuple[Prompt, Handles]:
    """The call that judges one action. It holds no more than the actor itself may know, and of those around whom the action is directed
    at and `most` others at the most."""
    scene, handles = Scene(world, intent.actor), Handles()
    actor = f"{handles.of(intent.actor)}: {_own_name(scene)}"
    present: list[str] = []
    meant = [entity for entity in scene.around if entity in intent.targets]
    for entity in [*meant, *(entity for entity in scene.around if entity not in meant)][: None if most is None else most + len(meant)]:
        other = world.entities[entity]
        thing = "" if other.agent else " (thing, carried by you)" if other.holder == intent.actor else " (thing)"
        present.append(f"{handles.of(entity)}: {scene.name(entity)}{thing}{scene.looks(entity)}")
    ways = [f"{handles.way(p.id)}: {scene.way(p)}" for p in scene.ways()]
    deed = handles.replace_tokens(intent.summary) or intent.text
    sections = [
        Section(key="actor", title="Actor", text=actor),
        Section(key="present", title="Present", text="\n".join(present)),
        Section(key="place", title="Place", text=scene.place()),
        Section(key="ways", title="Ways", text="\n".join(ways)),
        Section(key="action", title="Action", text=f"{deed}\nProse: {intent.text}"),
    ]
    return _prompt("referee", intent.actor, load("referee", world), sections), handles


def _own_name(scene: Scene) -> str:
    name = scene.me.attributes.get("name")
    return name.value if name and name.may_know(scene.me.id) else "somebody"


def _prompt(task: Task, entity: EntityId, template: Template, sections: Sequence[Section]) -> Prompt:
    user = "\n\n".join(f"{heading(s.title)}\n{s.text}" for s in sections if s.text)
    messages = (Message(role="system", content=template.parts[0]), Message(role="user", content=user))
    return Prompt(task=task, entity=entity, template=template.name, sections=tuple(sections), messages=messages, report=_REPORT)
