"""The prompt that asks what somebody could be called by its looks. It holds what anybody can see, and no id."""

from collections.abc import Callable
from typing import Final

from engine.llm.tokens import estimate_tokens
from engine.prompts.remembering import Window, assembled
from engine.prompts.scene import Scene
from engine.records.base import EntityId
from engine.records.prompts import Prompt, Section
from engine.records.world import World

REPLY_TOKENS: Final = 40
_NO_LOOKS: Final = frozenset({"name", "label"})


def build(
    world: World, viewer: EntityId, target: EntityId, *, count_tokens: Callable[[str], int] = estimate_tokens, context_window: int = 0
) -> Prompt:
    """The call that asks for a label of `target` by which `viewer` can tell it from the others around. Pure."""
    scene, other = Scene(world, viewer, (target,)), world.entities[target]
    looks = [
        f"{name.replace('_', ' ')}: {scene.say(attribute.value)}"
        for name, attribute in other.attributes.items()
        if attribute.public and name not in _NO_LOOKS and attribute.value.strip()
    ]
    others = [scene.name(entity) for entity in scene.around if entity != target]
    sections = [
        Section(
            key="looks", title="Looks", text="\n".join([f"kind: {'a person' if other.agent else 'a thing'}", *looks]), sources=(target,)
        ),
        Section(key="others", title="Others", text="\n".join(others), why_empty="" if others else "nobody else is there"),
    ]
    return assembled(world, "alias", viewer, "alias", sections, Window(context_window, count_tokens, REPLY_TOKENS))
