"""The prompt of a compression: old memories as M-handles, people as P-handles, no id and no name the owner has not heard."""

from collections.abc import Callable, Sequence
from datetime import datetime

from engine.llm.tokens import estimate_tokens
from engine.mind.handles import Handles
from engine.mind.timewords import naturalize_time
from engine.mind.voice import remembered
from engine.mind.whereabouts import where
from engine.prompts.remembering import Told, Window, call, plain
from engine.records.base import EntityId
from engine.records.memory import LedgerEntry
from engine.records.prompts import Prompt, Section
from engine.records.world import World

REPLY_TOKENS = 400
"""Room for the reply: two sentences, two quotes and the handles."""


def build(
    world: World,
    owner: EntityId,
    memories: Sequence[LedgerEntry],
    now: datetime,
    *,
    count_tokens: Callable[[str], int] = estimate_tokens,
    context_window: int = 0,
) -> tuple[Prompt, Handles]:
    """The call that tells `memories`, which are in order of time, as one, and the handles its reply will use. Pure."""
    def judged(handles: Handles, told: Told) -> list[Section]:
        lines = (f"{handles.entry(memory.id)} {_line(world, memory, now, told)}" for memory in memories)
        return [Section(key="memories", title="Old memories", sources=tuple(memory.id for memory in memories), text="\n".join(lines))]

    window = Window(context_window, count_tokens, REPLY_TOKENS)
    return call(world, owner, "compress", people_of(owner, memories), "nobody else is in these memories", window, judged)


def people_of(owner: EntityId, memories: Sequence[LedgerEntry]) -> list[EntityId]:
    """The owner, then everybody and everything that the memories name or involve, in order of first mention."""
    return list(dict.fromkeys([owner, *(each for memory in memories for each in (*remembered(memory), *memory.involved_entity_ids))]))


def _line(world: World, memory: LedgerEntry, now: datetime, told: Told) -> str:
    """`[said, 3] about a week ago, in the taproom: P2 asked P1 for a room.` and its quotes, each on a line of its own."""
    place = world.places.get(memory.location_id or "")
    moment = naturalize_time(now, memory.timestamp) + (f", {where(place)}" if place else "")
    lines = [f"[{memory.mode}, {memory.importance}] {moment}: {plain(memory.content, told)}"]
    return "\n".join([*lines, *(f'    Quote: "{plain(quote, told)}"' for quote in memory.quotes)])
