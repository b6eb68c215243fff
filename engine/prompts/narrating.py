"""The prompt that asks for a passage of prose about what somebody lived through, in its own names for others."""

from collections.abc import Callable, Sequence
from typing import Final

from engine.llm.tokens import estimate_tokens
from engine.mind.voice import events_section, mentioned
from engine.prompts.remembering import Window, assembled
from engine.prompts.scene import Scene
from engine.records.base import EntityId
from engine.records.memory import BufferEntry
from engine.records.prompts import Prompt, Section
from engine.records.world import World
from engine.world.clock import present_words

REPLY_TOKENS: Final = 500
"""Room for two paragraphs."""


def build(
    world: World, viewer: EntityId, entries: Sequence[BufferEntry], *,
    count_tokens: Callable[[str], int] = estimate_tokens, context_window: int = 0,
) -> Prompt:  # fmt: skip
    """The call that tells `entries` of the viewer's as a story. Its reply is prose, for eyes only. Pure."""
    scene = Scene(world, viewer, [viewer, *(entity for entry in entries for entity in mentioned(entry))])
    sections = [
        Section(key="moment", title="This moment", text=f"{present_words(world.now)}\nYou are {scene.place()}"),
        Section(
            key="events", title="What happened", text=events_section(world, viewer, entries, world.now, scene.names),
            sources=tuple(entry.id for entry in entries), why_empty="" if entries else "nothing has happened",
        ),
    ]
    return assembled(world, "narrate", viewer, "narrate", sections, Window(context_window, count_tokens, REPLY_TOKENS))
