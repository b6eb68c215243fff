"""What models are told of a reply's shape: closed for grammars, flat for providers, a line of words for the rest."""

import importlib
import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from engine.llm.schemas import closed_schema, flat_schema, form
from engine.llm.structured import read_reply
from engine.records import wire
from engine.records.limits import fullest
from engine.records.wire import DecodeReply, HandoffReply, RefereeReply, ValidateReply, WireReply

CHOICES = {
    "targets": ("P1", "P2", "L1"), "target": ("P1", "L1"), "to": ("P2", "L1"), "sourceEntryIds": ("M1", "M2"), "involvedEntityIds": ("P1",),
    "quotes": ("He took it.",),
}
SHAPES = [
    each for each in vars(wire).values() if isinstance(each, type) and issubclass(each, WireReply) and each.__name__.endswith("Reply")
    and each is not WireReply
]  # fmt: skip
FORBIDDEN = {
    "$defs", "$ref", "bounds", "const", "default", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "pattern",
    "title",
}


def check(value: object, schema: object) -> None:
    """Raises for what does not fit the schema, or a schema that is none."""
    library: Any = importlib.import_module("jsonschema")
    library.Draft202012Validator.check_schema(schema)
    library.validate(value, schema)


def keys(schema: object, within: str = "") -> Iterator[str]:
    """Keywords of a schema: names of fields are none."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if within != "properties":
                yield key
            yield from keys(value, key if within != "properties" else "")
    elif isinstance(schema, list):
        for each in schema:
            yield from keys(each)


def objects(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for each in schema.values():
            yield from objects(each)


def test_there_are_shapes() -> None:
    assert {DecodeReply, RefereeReply, HandoffReply} <= set(SHAPES)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_shape_of_the_wire_has_all_three(shape: type[BaseModel]) -> None:
    longest = json.loads(fullest(shape, CHOICES))
    closed, flat = closed_schema(shape, CHOICES), flat_schema(shape, CHOICES)
    check(longest, closed)
    check(longest, flat)
    assert not {"$ref", "$defs", "title", "default", "bounds", "description"} & set(keys(closed))
    assert not FORBIDDEN & set(keys(flat))
    for each in objects(flat):
        assert each["required"] == list(each["properties"])
    for each in (*objects(closed), *objects(flat)):
        assert each["additionalProperties"] is False
    line = form(shape, CHOICES)
    assert "\n" not in line
    assert all(f'"{name}"' in line for name in shape.model_fields)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_fields_keep_their_order(shape: type[BaseModel]) -> None:
    for made in (closed_schema(shape, CHOICES), flat_schema(shape, CHOICES)):
        assert list(made["properties"]) == list(shape.model_fields)
    line = form(shape, CHOICES)
    places = [line.index(f'"{name}":') for name in shape.model_fields]
    assert places == sorted(places)


def test_choices_and_bounds_close_the_schema_for_a_grammar() -> None:
    intent = closed_schema(DecodeReply, CHOICES)["properties"]["intents"]
    assert (intent["minItems"], intent["maxItems"]) == (1, 8)
    fields = intent["items"]["properties"]
    assert fields["targets"] == {"type": "array", "items": {"type": "string", "enum": ["P1", "P2", "L1"]}, "minItems": 0, "maxItems": 4}
    assert fields["text"]["maxLength"] == 400
    assert fields["modifiers"]["items"]["maxLength"] == 24
    change = closed_schema(RefereeReply, CHOICES)["properties"]["changes"]["items"]
    assert change["properties"]["target"] == {"type": "string", "enum": ["P1", "L1"]}
    assert change["properties"]["to"]["enum"] == ["P2", "L1", ""], "what may be left out may be blank"
    assert closed_schema(ValidateReply, {})["properties"]["confidence"] == {"type": "number", "minimum": 0, "maximum": 1}


@pytest.mark.parametrize("field", ["targets", "sourceEntryIds"])
def test_a_list_without_choices_is_empty(field: str) -> None:
    shape = DecodeReply if field == "targets" else HandoffReply
    [rows] = closed_schema(shape, {field: ()})["properties"].values()
    assert rows["items"]["properties"][field] == {"type": "array", "items": {"type": "string"}, "maxItems": 0}
    assert f'"{field}": []' in form(shape, {field: ()})
    [rows] = flat_schema(shape, {field: ()})["properties"].values()
    assert rows["items"]["properties"][field]["items"] == {"type": "string"}


def test_a_text_without_choices_is_blank_for_a_grammar_and_free_for_a_provider() -> None:
    change = closed_schema(RefereeReply, {"target": ()})["properties"]["changes"]["items"]["properties"]
    assert change["target"]["enum"] == [""]
    flat = flat_schema(RefereeReply, {"target": ()})["properties"]["changes"]["items"]["properties"]
    assert "enum" not in flat["target"]


def test_providers_get_no_choices_for_what_may_be_blank() -> None:
    flat = flat_schema(RefereeReply, CHOICES)["properties"]["changes"]["items"]["properties"]
    assert flat["target"]["enum"] == ["P1", "L1"]
    assert "enum" not in flat["to"]
    assert '"to": "P2"|"L1"' in form(RefereeReply, CHOICES)


def test_providers_get_choices_only_when_they_are_few_and_short() -> None:
    people = tuple(f"P{n}" for n in range(20))
    many = {"sourceEntryIds": tuple(f"M{n}" for n in range(21)), "quotes": ("x" * 41,), "involvedEntityIds": people}
    fields = flat_schema(HandoffReply, many)["properties"]["chunks"]["items"]["properties"]
    assert "enum" not in fields["sourceEntryIds"]["items"]
    assert "enum" not in fields["quotes"]["items"]
    assert len(fields["involvedEntityIds"]["items"]["enum"]) == 20
    assert len(closed_schema(HandoffReply, many)["properties"]["chunks"]["items"]["properties"]["sourceEntryIds"]["items"]["enum"]) == 21


def test_the_line_is_short_and_says_it_all() -> None:
    assert form(ValidateReply, {"against": ("K1", "K2")}) == (
        'Reply with one JSON object of this form and nothing else: {"reason": "text", "against": ["K1"|"K2", ...], '
        '"verdict": "supported"|"contradicted"|"unrelated", "confidence": number from 0 to 1}'
    )
    assert '"importance": whole number from 1 to 10' in form(HandoffReply, {})


class Part(BaseModel):
    """For developers."""

    kind: Literal["one"]
    size: int = Field(ge=1, le=9)
    note: str | None = None


class Choosing(BaseModel):
    target: str
    to: str = ""


class Whole(BaseModel):
    first: Part = Field(description="The first of them.")
    parts: list[Part] = Field(max_length=3)
    tags: list[str] = Field(max_length=2, json_schema_extra={"bounds": {"maxLength": 5}})


class Ring(BaseModel):
    inner: list["Ring"]


def test_constraints_of_the_shape_itself_bound_it_too() -> None:
    closed = closed_schema(Whole, {})
    part = closed["properties"]["parts"]
    assert part["maxItems"] == 3
    assert part["items"]["properties"]["size"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert part["items"]["properties"]["kind"]["const"] == "one"
    assert closed["properties"]["tags"] == {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 2}
    check({"first": {"kind": "one", "size": 2, "note": None}, "parts": [], "tags": ["abcde"]}, closed)
    flat = flat_schema(Whole, {})
    assert flat["properties"]["first"]["description"] == "The first of them."
    assert flat["properties"]["first"]["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert flat["properties"]["first"]["properties"]["kind"]["enum"] == ["one"]
    assert "For developers" not in json.dumps([closed, flat])


def test_what_may_be_left_out_may_be_so_under_a_grammar_and_not_at_a_provider() -> None:
    assert closed_schema(Choosing, {})["required"] == ["target", "to"], "a small model leaves out what it may"
    assert flat_schema(Choosing, {})["required"] == ["target", "to"]


def test_a_shape_within_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="Ring holds itself"):
        flat_schema(Ring, {})


@given(ids=st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=6, unique=True), picked=st.data())
def test_what_the_closed_schema_allows_the_shape_takes(ids: list[str], picked: st.DataObject) -> None:
    choices = {"targets": tuple(ids)}
    chosen = picked.draw(st.lists(st.sampled_from(ids), max_size=4))
    reply = {"intents": [{"type": "action", "verb": "go", "targets": chosen, "text": "I go.", "summary": "went", "modifiers": []}]}
    for made in (closed_schema(DecodeReply, choices), flat_schema(DecodeReply, choices)):
        check(reply, made)
    assert read_reply(json.dumps(reply), DecodeReply).intents[0].targets == chosen
