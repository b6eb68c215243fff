"""What every call about somebody's memories has in common: whose they are, the people by handles, what is judged, the form."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from engine.mind.aliases import names_for, own_name
from engine.mind.handles import Handles
from engine.prompts.templates import load
from engine.records.base import EntityId
from engine.records.prompts import Message, Prompt, PromptReport, Section, heading
from engine.records.templates import Kind
from engine.records.world import World


class Window(NamedTuple):
    """What the routed model can hold, and how it counts."""

    context_window: int
    count_tokens: Callable[[str], int]
    reserved: int
    """Tokens kept for the reply."""


def call(
    world: World, owner: EntityId, template: Kind, people: Sequence[EntityId], alone: str, window: Window,
    judged: Callable[[Handles, Mapping[EntityId, str]], Section], given: Handles | None = None,
) -> tuple[Prompt, Handles]:
    """A whole prompt of task `handoff` by a template, and the handles its reply will use. Pure.

    `people` begin with the owner; the others are named as it calls them, or `alone` says that there are none. `judged` makes the
    section that the call is about, from the handles and each person's. `given` are the handles of a call that this one goes on with.
    """
    form, handles = load(template, world), given if given is not None else Handles()
    names = names_for(world, owner, [entity for entity in people if entity != owner])
    told = {entity: handles.of(entity) for entity in people}
    sections = [
        Section(key="owner", title="Whose memory", text=f"{told[owner]}: {own_name(world.entities[owner])}", sources=(owner,)),
        Section(
            key="people", title="People", text="\n".join(f"{told[entity]}: {names[entity]}" for entity in people if entity in names),
            why_empty="" if names else alone,
        ),
        judged(handles, told),
    ]
    count = window.count_tokens
    counted = tuple(s.model_copy(update={"tokens": count(_render(s)) if s.text else 0}) for s in sections)
    user = "\n\n".join(_render(section) for section in counted if section.text)
    messages = (Message(role="system", content="\n\n".join(form.parts)), Message(role="user", content=user))
    report = PromptReport(
        context_window=window.context_window, reserved=window.reserved, tokens=sum(count(message.content) for message in messages)
    )
    prompt = Prompt(task="handoff", entity=owner, template=form.name, sections=counted, messages=messages, report=report)
    return prompt, handles


def _render(section: Section) -> str:
    return f"{heading(section.title)}\n{section.text}"
