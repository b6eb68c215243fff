"""From the shape of a reply to what a model is told of it: a closed schema for a grammar, a flat one for a provider, a line of words.

All are inlined, for several engines do not follow references. Field names, their order and the meaning stay as the shape has them; replies
are validated by the shape itself wherever they come from.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel

Schema = dict[str, Any]
Choices = Mapping[str, tuple[str, ...]]
"""What fields may hold, by their names on the wire, wherever they stand."""

BOUNDS: Final = "bounds"
"""Key of a field's own schema under which bounds for grammars stand."""
_LIMITS: Final = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems",
)
_OF_ITEMS: Final = ("minimum", "maximum", "minLength", "maxLength", "pattern")
_MOST_CHOICES: Final = 20
"""Values of an enum that providers without a grammar of their own are sent. More make some of them refuse the schema."""
_LONGEST_CHOICE: Final = 40
"""Characters of such a value."""
_FORM: Final = "Reply with one JSON object of this form and nothing else:"


def closed_schema(shape: type[BaseModel], choices: Choices) -> Schema:
    """For an engine that enforces a grammar: enums from the choices, bounds on lengths and numbers, nothing beside.

    A list without choices is empty, a text without any is blank. Every field is required: what may be left out, such as a reason, a small
    model leaves out.
    """
    return _closed(_inlined(shape), choices, "", None)


def flat_schema(shape: type[BaseModel], choices: Choices) -> Schema:
    """For a provider that takes JSON schema: every field required, no bounds and no defaults, for each of which some provider refuses it.

    Choices become enums where they are few and short, and the field must not be blank: a blank value in an enum makes a provider refuse
    it. What fields are for is said in their descriptions.
    """
    return _flat(_inlined(shape), choices, "")


def form(shape: type[BaseModel], choices: Choices) -> str:
    """For a model that takes no schema: one line that shows what to reply, to stand at the end of the prompt."""
    return f"{_FORM} {_shown(_inlined(shape), choices, '')}"


def _inlined(shape: type[BaseModel]) -> Schema:
    made: Schema = json.loads(_text_of(shape))
    return made


@lru_cache(maxsize=256)
def _text_of(shape: type[BaseModel]) -> str:
    whole = shape.model_json_schema()
    return json.dumps(_resolved(whole, whole.get("$defs", {}), ()))


def _resolved(schema: Schema, named: Mapping[str, Schema], within: tuple[str, ...]) -> Schema:
    """The schema with references replaced, and without titles. Raises `ValueError` for a shape that holds itself."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        if name in within:
            raise ValueError(f"{name} holds itself: no schema without references can say so")
        of_the_field = {key: value for key, value in schema.items() if key not in ("$ref", "title")}
        return _resolved(named[name], named, (*within, name)) | of_the_field
    schema = {key: value for key, value in schema.items() if key not in ("title", "$defs")}
    if "properties" in schema:
        schema.pop("description", None)  # what a class says of itself is for developers
        schema["properties"] = {name: _resolved(field, named, within) for name, field in schema["properties"].items()}
    if isinstance(schema.get("items"), dict):
        schema["items"] = _resolved(schema["items"], named, within)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            schema[key] = [_resolved(each, named, within) for each in schema[key]]
    if len(schema.get("allOf", ())) == 1:
        schema |= schema.pop("allOf")[0]
    return schema


def _closed(schema: Schema, choices: Choices, name: str, default: object) -> Schema:
    bounds = schema.get(BOUNDS, {})
    limits = {key: schema[key] for key in _LIMITS if key in schema} | {key: value for key, value in bounds.items() if key in _LIMITS}
    if "anyOf" in schema:
        return {"anyOf": [_closed(each, choices, name, None) for each in schema["anyOf"]]}
    if schema.get("type") == "object" and "properties" in schema:
        fields = schema["properties"].items()
        return {
            "type": "object", "properties": {key: _closed(field, choices, key, field.get("default")) for key, field in fields},
            "required": list(schema["properties"]), "additionalProperties": False,
        }
    if schema.get("type") == "array":
        return _closed_list(schema, choices, name, limits)
    if name in choices and schema.get("type") == "string":
        spare = (default,) if isinstance(default, str) else ()
        return {"type": "string", "enum": list(dict.fromkeys([*choices[name], *spare])) or [""]}
    kept: Schema = {key: schema[key] for key in ("type", "enum", "const") if key in schema}
    return kept | limits


def _closed_list(schema: Schema, choices: Choices, name: str, limits: Schema) -> Schema:
    own = schema.get(BOUNDS, {})
    of_items = {key: limits.pop(key) for key in _OF_ITEMS if key in limits}
    inner = dict(schema.get("items", {}))
    inner[BOUNDS] = inner.get(BOUNDS, {}) | of_items | {key: value for key, value in own.get("items", {}).items() if key in _LIMITS}
    if name in choices and not choices[name]:
        return {"type": "array", "items": {"type": inner.get("type", "string")}, "maxItems": 0}
    return {"type": "array", "items": _closed(inner, choices, name, None), **limits}


def _flat(schema: Schema, choices: Choices, name: str) -> Schema:
    told = {"description": schema["description"]} if "description" in schema else {}
    if "anyOf" in schema:
        return {"anyOf": [_flat(each, choices, name) for each in schema["anyOf"]], **told}
    if schema.get("type") == "object" and "properties" in schema:
        fields = {key: _flat(field, choices, key) for key, field in schema["properties"].items()}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False, **told}
    if schema.get("type") == "array":
        return {"type": "array", "items": _flat(schema.get("items", {"type": "string"}), choices, name), **told}
    kept = {key: schema[key] for key in ("type", "enum") if key in schema}
    if "const" in schema:
        kept["enum"] = [schema["const"]]
    few = _few(choices.get(name, ()))
    if few and schema.get("type") == "string" and "enum" not in kept and "default" not in schema:
        kept["enum"] = list(few)
    return kept | told


def _few(values: tuple[str, ...]) -> tuple[str, ...]:
    return values if len(values) <= _MOST_CHOICES and all(0 < len(value) <= _LONGEST_CHOICE for value in values) else ()


def _shown(schema: Schema, choices: Choices, name: str) -> str:
    """A schema as an example in which kinds stand in place of values."""
    if "anyOf" in schema:
        return "|".join(_shown(each, choices, name) for each in schema["anyOf"])
    if schema.get("type") == "object" and "properties" in schema:
        fields = (f"{json.dumps(key)}: {_shown(field, choices, key)}" for key, field in schema["properties"].items())
        return "{" + ", ".join(fields) + "}"
    if schema.get("type") == "array":
        if name in choices and not choices[name]:
            return "[]"
        return f"[{_shown(schema.get('items', {}), choices, name)}, ...]"
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else []) or _few(choices.get(name, ()))
    if values:
        return "|".join(json.dumps(value, ensure_ascii=False) for value in values)
    return _kind(schema)


def _kind(schema: Schema) -> str:
    limits = schema | schema.get(BOUNDS, {})
    lowest, highest = limits.get("minimum"), limits.get("maximum")
    numbers = f" from {lowest:g} to {highest:g}" if lowest is not None and highest is not None else ""
    return {
        "string": '"text"', "boolean": "true|false", "integer": f"whole number{numbers}", "number": f"number{numbers}", "null": "null",
    }.get(str(schema.get("type")), "value")
