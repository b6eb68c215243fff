"""A handoff in two calls, for small models: first which moments are kept and belong together, then what each group of them tells."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from engine.llm.tokens import estimate_tokens
from engine.mind.handles import Handles
from engine.prompts.handoff import line_of, people_of
from engine.prompts.remembering import Told, Window, call
from engine.records.base import EntityId
from engine.records.memory import BufferEntry
from engine.records.prompts import Prompt, Section
from engine.records.world import World

REASONS: Final = ("danger", "conflict", "promise", "secret", "news", "feeling", "trade", "meeting", "trifle")
"""What makes a group matter: words rather than sentences, for a small model that explains itself goes on explaining."""
_MOST_GROUPS: Final = 5
_FORM: Final = 40
"""Tokens of a reply beside its groups."""
_CHOSEN, _TOLD = 80, 230
"""Tokens of one group: its handles, or its account with a quote."""
_ALONE: Final = "nobody else is in these moments"


def choose_prompt(
    world: World, owner: EntityId, candidates: Sequence[BufferEntry], now: datetime, *,
    count_tokens: Callable[[str], int] = estimate_tokens, context_window: int = 0,
) -> tuple[Prompt, Handles]:  # fmt: skip
    """The first call, and the handles of both. Pure."""
    def judged(handles: Handles, told: Told) -> list[Section]:
        lines = (f"{handles.entry(entry.id)} {line_of(world, owner, entry, now, told)}" for entry in candidates)
        return [Section(key="entries", title="Moments", sources=tuple(entry.id for entry in candidates), text="\n".join(lines))]

    window = Window(context_window, count_tokens, _FORM + _CHOSEN * most_groups(len(candidates)))
    return call(world, owner, "choose", people_of(owner, candidates), _ALONE, window, judged)


def tell_prompt(
    world: World, owner: EntityId, groups: Sequence[Sequence[BufferEntry]], handles: Handles, now: datetime, *,
    count_tokens: Callable[[str], int] = estimate_tokens, context_window: int = 0,
) -> Prompt:  # fmt: skip
    """The second call, about the groups that the first one chose, with its handles. Group 1 is `G1`. Pure."""
    entries = [entry for group in groups for entry in group]

    def judged(handles: Handles, told: Told) -> list[Section]:
        blocks = (
            "\n".join([group_handle(number), *(f"  {line_of(world, owner, entry, now, told)}" for entry in group)])
            for number, group in enumerate(groups, 1)
        )
        return [Section(key="entries", title="Groups", sources=tuple(entry.id for entry in entries), text="\n".join(blocks))]

    window = Window(context_window, count_tokens, _FORM + _TOLD * len(groups))
    return call(world, owner, "tell", people_of(owner, entries), _ALONE, window, judged, given=handles)[0]


def most_groups(moments: int) -> int:
    """Groups that so many moments are put into at the most."""
    return max(1, min(_MOST_GROUPS, (moments + 1) // 2))


def group_handle(number: int) -> str:
    """`G1` for the first group."""
    return f"G{number}"
