"""Shapes closed for one call: whatever a grammar lets a model say fits the tokens it has, and says the same as an open reply."""

import json
from typing import Any

import pytest
from pydantic import BaseModel, Field

from engine.llm.tokens import estimate_tokens
from engine.records import wire
from engine.records.limits import bounded, bounds_of, closed, fullest, limited, room
from engine.records.wire import CollapseReply, DecodeReply, HandoffReply, RefereeReply, ValidateReply, WireReply

SHAPES = [each for each in vars(wire).values() if isinstance(each, type) and issubclass(each, WireReply) and each is not WireReply]
CHUNK = {"sourceEntryIds": ["M1"], "involvedEntityIds": [], "importance": 3, "retainInBuffer": False, "quotes": [], "content": "P1 slept."}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_reply_can_grow_without_end_and_the_longest_is_one(shape: type[WireReply]) -> None:
    text = fullest(shape, {"sourceEntryIds": ("M1", "M10")})
    assert shape.model_validate_json(text)
    assert len(text) < 12_000


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_bounds_make_no_reply_wrong(shape: type[WireReply]) -> None:
    """Twice as much of everything is still read."""

    def doubled(value: Any) -> Any:
        match value:
            case bool():
                return value
            case str() if " " in value:
                return value * 2
            case int() | float():
                return value * 20
            case list():
                return [doubled(each) for each in value] * 2
            case dict():
                return {key: doubled(each) for key, each in value.items()}
        return value

    assert shape.model_validate(doubled(json.loads(fullest(shape, {}))))


def test_a_field_without_bounds_is_noticed() -> None:
    class Endless(BaseModel):
        items: list[str] = Field(json_schema_extra=bounded(maxItems=2))

    with pytest.raises(ValueError, match=r"Endless.items has no maxLength"):
        fullest(Endless, {})
    assert fullest(Endless, {"items": ("a", "bcd")}) == '{"items":["bcd","bcd"]}'


def test_narrower_bounds_reach_fields_within() -> None:
    shape = limited(HandoffReply, {"chunks": {"maxItems": 2}, "content": {"maxLength": 20}})
    assert issubclass(shape, HandoffReply)
    assert shape.__name__ == "HandoffReply"
    assert shape.__doc__ == HandoffReply.__doc__
    assert shape is limited(HandoffReply, {"content": {"maxLength": 20}, "chunks": {"maxItems": 2}})
    found = json.loads(fullest(shape, {"quotes": ("No.",)}))
    assert len(found["chunks"]) == 2
    assert {len(chunk["content"]) for chunk in found["chunks"]} == {20}
    assert bounds_of(shape.model_fields["chunks"]) == {"minItems": 1, "maxItems": 2}
    assert bounds_of(HandoffReply.model_fields["chunks"])["maxItems"] > 2, "the shape itself stays as it is"
    assert list(shape.model_fields) == list(HandoffReply.model_fields)
    [chunk] = shape.model_validate({"chunks": [CHUNK | {"content": "x" * 500}]}).chunks
    assert isinstance(chunk, wire.HandoffChunk)
    assert limited(HandoffReply, {}) is HandoffReply


@pytest.mark.parametrize("tokens", [1, 300, 800, 1360, 2000, 9000])
def test_as_many_items_as_there_is_room_for(tokens: int) -> None:
    choices = {"sourceEntryIds": ("M1", "M2"), "involvedEntityIds": ("P1",), "quotes": ("Have you a room?",)}
    found = closed(HandoffReply, choices, estimate_tokens, tokens, items="chunks", most=6)
    count = bounds_of(found.shape.model_fields["chunks"])["maxItems"]
    assert 1 <= count <= 6
    assert room(found.shape, found.choices, estimate_tokens) <= found.max_tokens == max(tokens, found.max_tokens)
    assert count == 1 or found.max_tokens == tokens
    if count < 6:
        assert room(limited(HandoffReply, {"chunks": {"maxItems": count + 1}}), found.choices, estimate_tokens) > tokens


def test_a_list_that_nothing_may_stand_in_stays_empty() -> None:
    found = closed(HandoffReply, {"quotes": (), "sourceEntryIds": ("M1",)}, estimate_tokens, 900, items="chunks", most=2)
    assert found.choices["quotes"] == ()
    assert all(chunk["quotes"] == [] for chunk in json.loads(fullest(found.shape, found.choices))["chunks"])


@pytest.mark.parametrize(
    ("shape", "first", "last"),
    [
        (wire.WireIntent, ["type", "verb", "targets"], "modifiers"),
        (RefereeReply, ["reason", "possible"], "changes"),
        (wire.WireChange, ["kind", "target", "to"], "value"),
        (wire.HandoffChunk, ["sourceEntryIds", "involvedEntityIds", "importance", "retainInBuffer", "quotes"], "content"),
        (wire.CompressReply, ["sourceEntryIds", "involvedEntityIds", "quotes"], "content"),
        (wire.Choice, ["reason", "sourceEntryIds"], "retainInBuffer"),
        (wire.Telling, ["group", "involvedEntityIds", "quotes"], "content"),
        (CollapseReply, ["outcome", "relevantEntities", "goal"], "nextSteps"),
        (ValidateReply, ["reason", "against", "verdict"], "confidence"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_handles_stand_before_words_and_reasons_before_verdicts(shape: type[WireReply], first: list[str], last: str) -> None:
    fields = list(shape.model_fields)
    assert (fields[: len(first)], fields[-1]) == (first, last)


@pytest.mark.parametrize(("given", "kept"), [("0.7", 0.7), ("1", 1.0), ("7", 1.0), ("-2", 0.0), ("NaN", 0.0), ("Infinity", 1.0)])
def test_confidence_is_a_share_whatever_a_model_writes(given: str, kept: float) -> None:
    value = json.loads(f'{{"reason": "", "verdict": "supported", "confidence": {given}}}')
    assert ValidateReply.model_validate(value).confidence == kept


def test_decode_keeps_its_names() -> None:
    assert list(DecodeReply.model_fields) == ["intents"]
