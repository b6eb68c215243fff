"""What replies may hold, those about memories aside: handles of their prompts, and no more words than there is room for. Pure."""

from collections.abc import Callable, Collection
from typing import Final

from engine.mind.handles import Handles
from engine.records.base import EntityId
from engine.records.limits import Choices, Closed, closed, limited, room
from engine.records.wire import CollapseReply, DecodeReply, RefereeReply, ValidateReply

_DECODED, _MOST_DECODED, _SHARE_DECODED = 700, 1_600, 3
"""Tokens of a decoded prose: as a rule, at the most, and the part of a window that they may fill beyond the rule."""
_STEP: Final = 100
"""Characters by which longer prose is measured: shapes are made anew for each length."""
_SHORTEST, _LONGEST = 200, 2_000
"""Characters that an intent can always hold, and the most that it ever does."""
_LEAST_INTENTS, _MOST_INTENTS = 3, 8
_JUDGED: Final = 300
_AMPLE: Final = 1_700
"""Tokens from which a collapse has room for several decisions and strategies."""


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


def collapse_reply(
    handles: Handles, wanted: Collection[str], count_tokens: Callable[[str], int], tokens: int
) -> Closed[CollapseReply]:
    """The reply to a collapse in `tokens`, with no lists but the `wanted` ones among those that a policy may leave out."""
    people, short = handles.given("P"), tokens < _AMPLE
    choices: Choices = {
        "sourceTurnIds": handles.given("M"), "relevantEntities": people, "about": ("", *people), "supersedes": ("", *handles.given("K")),
    }  # fmt: skip
    most = {"facts": 6, "decisions": 1 if short else 3, "strategies": 1 if short else 2, "nextSteps": 2 if short else 3}
    limits = {name: {"maxItems": count if name in wanted else 0} for name, count in most.items()}
    if "facts" not in wanted:
        return closed(CollapseReply, choices, count_tokens, tokens, limits=limits)
    return closed(CollapseReply, choices, count_tokens, tokens, items="facts", most=most["facts"], limits=limits)


def validate_reply(handles: Handles, count_tokens: Callable[[str], int], tokens: int) -> Closed[ValidateReply]:
    """The reply to a validation in `tokens`."""
    return closed(ValidateReply, {"against": handles.given("K")}, count_tokens, tokens)
