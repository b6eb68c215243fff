"""What every call about somebody's memories has in common: whose they are, the people by handles, what is judged, the form."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from engine.mind.aliases import names_for, own_name
from engine.mind.handles import Handles
from engine.prompts.templates import load
from engine.records.base import EntityId
from engine.records.prompts import Message, Prompt, PromptReport, Section, Task, heading
from engine.records.templates import Kind
from engine.records.tokens import substitute
from engine.records.world import World

Told = Mapping[EntityId, str]
"""The handle of everybody in a prompt."""


class Window(NamedTuple):
    """What the routed model can hold, and how it counts."""

    context_window: int
    count_tokens: Callable[[str], int]
    reserved: int
    """Tokens kept for the reply."""


def call(
    world: World, owner: EntityId, template: Kind, people: Sequence[EntityId], alone: str, window: Window,
    judged: Callable[[Handles, Told], Sequence[Section]], task: Task = "handoff", given: Handles | None = None,
) -> tuple[Prompt, Handles]:  # fmt: skip
    """A whole prompt by a template, and the handles its reply will use. Pure.

    `people` begin with the owner; the others are named as it calls them, or `alone` says that there are none. `judged` makes the
    sections that the call is about, from the handles and each person's. `given` are the handles of a call that this one goes on with.
    """
    handles = given if given is not None else Handles()
    names = names_for(world, owner, [entity for entity in people if entity != owner])
    told = {entity: handles.of(entity) for entity in people}
    sections = [
        Section(key="owner", title="Whose memory", text=f"{told[owner]}: {own_name(world.entities[owner])}", sources=(owner,)),
        Section(
            key="people", title="People", text="\n".join(f"{told[entity]}: {names[entity]}" for entity in people if entity in names),
            why_empty="" if names else alone,
        ),
        *judged(handles, told),
    ]
    return assembled(world, task, owner, template, sections, window), handles


def assembled(world: World, task: Task, entity: EntityId, template: Kind, sections: Sequence[Section], window: Window) -> Prompt:
    """The prompt that a template and sections make: the form as the system's message, what there is to say as the user's."""
    form, count = load(template, world), window.count_tokens
    counted = tuple(s.model_copy(update={"tokens": count(_render(s)) if s.text else 0}) for s in sections)
    user = "\n\n".join(_render(section) for section in counted if section.text)
    messages = (Message(role="system", content="\n\n".join(form.parts)), Message(role="user", content=user))
    report = PromptReport(
        context_window=window.context_window, reserved=window.reserved, tokens=sum(count(message.content) for message in messages)
    )
    return Prompt(task=task, entity=entity, template=form.name, sections=counted, messages=messages, report=report)


def plain(text: str, told: Told) -> str:
    """Stored text on one line with handles in the place of reference tokens; who has none is somebody."""
    return " ".join(substitute(text, lambda entity: told.get(entity, "somebody")).split())


def _render(section: Section) -> str:
    return f"{heading(section.title)}\n{section.text}"
