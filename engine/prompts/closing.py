"""What replies to decode and referee may hold: handles of their prompts, and no more words than there is room for. Pure."""

from collections.abc import Callable
from typing import Final

from engine.mind.handles import Handles
from engine.records.base import EntityId
from engine.records.limits import Choices, Closed, closed, limited, room
from engine.records.wire import DecodeReply, RefereeReply

_DECODED, _MOST_DECODED, _SHARE_DECODED = 700, 1_600, 3
"""Tokens of a decoded prose: as a rule, at the most, and the part of a window that they may fill beyond the rule."""
_STEP: Final = 100
"""Characters by which longer prose is measured: shapes are made anew for each length."""
_SHORTEST, _LONGEST = 200, 2_000
"""Characters that an intent can always hold, and the most that it ever does."""
_LEAST_INTENTS, _MOST_INTENTS = 3, 8
_JUDGED: Final = 300


def decode_reply(
    handles: Handles, actor: EntityId, prose: str, count_tokens: Callable[[str], int], context_window: int
) -> Closed[DecodeReply]:
    """The reply to a decoding. Each intent may hold all of the prose, or as much as there is room for in a few of them."""
    me = handles.of(actor)
    choices: Choices = {"targets": tuple(handle for handle in handles.given("P", "L") if handle != me)}
    tokens = max(_DECODED, min(_MOST_DECODED, context_window // _SHARE_DECODED))
    length = -(-min(max(1, len(prose)), _LONGEST) // _STEP) * _STEP
    while length > _SHORTEST and room(_with(length, _LEAST_INTENTS), choices, count_tokens) > tokens:
        length -= _STEP
    return closed(_with(length, _MOST_INTENTS), choices, count_tokens, tokens, items="intents", most=_MOST_INTENTS)


def _with(length: int, intents: int) -> type[DecodeReply]:
    return limited(DecodeReply, {"text": {"maxLength": length}, "intents": {"maxItems": intents}})


def referee_reply(handles: Handles, count_tokens: Callable[[str], int]) -> Closed[RefereeReply]:
    """The reply to a judgement."""
    everything = handles.given("P", "L")
    choices: Choices = {"target": everything, "to": ("", *everything)}
    return closed(RefereeReply, choices, count_tokens, _JUDGED)
