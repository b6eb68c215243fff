"""The prompt of a handoff: candidates as M-handles, people as P-handles, no id and no name the owner has not heard."""

from collections.abc import Callable, Sequence
from datetime import datetime

from engine.llm.tokens import estimate_tokens
from engine.mind.handles import Handles
from engine.mind.timewords import naturalize_time
from engine.mind.voice import mentioned, tell
from engine.mind.whereabouts import where
from engine.prompts.remembering import Told, Window, call
from engine.records.base import EntityId
from engine.records.memory import BufferEntry
from engine.records.prompts import Prompt, Section
from engine.records.world import World

_TOKENS_PER_ENTRY, _LEAST_REPLY, _LONGEST_REPLY = 80, 400, 2000


def build(
    world: World,
    owner: EntityId,
    candidates: Sequence[BufferEntry],
    now: datetime,
    *,
    count_tokens: Callable[[str], int] = estimate_tokens,
    context_window: int = 0,
) -> tuple[Prompt, Handles]:
    """The call that judges `candidates`, which are in order of time, and the handles its reply will use. Pure."""
    def judged(handles: Handles, told: Told) -> list[Section]:
        lines = (f"{handles.entry(entry.id)} {line_of(world, owner, entry, now, told)}" for entry in candidates)
        return [Section(key="entries", title="Entries", sources=tuple(entry.id for entry in candidates), text="\n".join(lines))]

    window = Window(context_window, count_tokens, reply_tokens(candidates))
    return call(world, owner, "handoff", people_of(owner, candidates), "nobody else is in these moments", window, judged)


def reply_tokens(candidates: Sequence[BufferEntry]) -> int:
    """Room for the reply: an account and its form for each moment at the most."""
    return min(_LONGEST_REPLY, _LEAST_REPLY + _TOKENS_PER_ENTRY * len(candidates))


def people_of(owner: EntityId, candidates: Sequence[BufferEntry]) -> list[EntityId]:
    """The owner, then everybody and everything that telling the candidates names, in order of first mention."""
    return list(dict.fromkeys([owner, *(entity for entry in candidates for entity in mentioned(entry))]))


def line_of(world: World, owner: EntityId, entry: BufferEntry, now: datetime, told: Told) -> str:
    """A moment as every half of a handoff shows it: `[said] a few hours ago, in the taproom: P2 spoke to P1: "Have you a room?"`"""
    mark = entry.mode if entry.pinned == "none" else f"{entry.mode}, pinned"
    place = world.places.get(entry.intent.place or entry.location_id or "")
    moment = naturalize_time(now, entry.timestamp) + (f", {where(place)}" if place else "")
    # A voice whose words did not carry has no speaker: told to the owner, not to the narrator.
    text = tell(world, owner, entry) if entry.grasp == "faint" else tell(world, None, entry, told)
    return f"[{mark}] {moment}: {text}"
