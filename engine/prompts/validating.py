"""The prompt that holds one statement against others: they are K-handles, people P-handles, no id and no name the owner has not heard."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from engine.llm.tokens import estimate_tokens
from engine.mind.handles import Handles
from engine.mind.timewords import naturalize_time
from engine.prompts.remembering import Told, Window, call, plain
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge
from engine.records.prompts import Prompt, Section
from engine.records.tokens import referred
from engine.records.world import World

REPLY_TOKENS: Final = 200
"""Room for the reply: a sentence, handles and a verdict."""


def build(
    world: World, statement: Knowledge, others: Sequence[Knowledge], now: datetime, *,
    count_tokens: Callable[[str], int] = estimate_tokens, context_window: int = 0,
) -> tuple[Prompt, Handles]:  # fmt: skip
    """The call that judges whether `statement` can stand beside `others`, and the handles its reply will use. Pure.

    All are told as the statement's owner calls those in them.
    """
    def judged(handles: Handles, told: Told) -> list[Section]:
        lines = [f"{handles.fact(one.id)} {_line(one, now, told)}" for one in others]
        return [
            Section(key="known", title="Known", text="\n".join(lines), sources=tuple(one.id for one in others)),
            Section(key="statement", title="Statement", text=_line(statement, now, told), sources=(statement.id,)),
        ]

    window = Window(context_window, count_tokens, REPLY_TOKENS)
    people = people_of(statement, others)
    return call(world, statement.owner_id, "validate", people, "nobody else is spoken of", window, judged, "validate")


def people_of(statement: Knowledge, others: Sequence[Knowledge]) -> list[EntityId]:
    """The owner, then everybody and everything that is spoken of, in order of first mention."""
    named = (
        entity for one in (statement, *others)
        for entity in (*([one.subject_id] if one.subject_id else []), *referred(one.content), *referred(one.rationale))
    )  # fmt: skip
    return list(dict.fromkeys([statement.owner_id, *named]))


def _line(one: Knowledge, now: datetime, told: Told) -> str:
    """`[fact] since a few hours ago: P2 has a boat.` What no longer holds says so."""
    ended = f", until {naturalize_time(now, one.valid_to)}" if one.valid_to else ""
    because = f" ({plain(one.rationale, told)})" if one.rationale.strip() else ""
    return f"[{one.kind}] since {naturalize_time(now, one.valid_from)}{ended}: {plain(one.content, told)}{because}"
