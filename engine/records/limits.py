"""How long a structured reply may get: bounds on the fields of its shape, for engines that enforce a grammar token by token.

A field carries its bounds as `json_schema_extra={"bounds": {...}}` in the words of JSON schema. They are no part of validation: a
reply that is longer than a grammar would have allowed is as good as any other.
"""

import json
import math
from collections.abc import Callable, Mapping
from copy import copy
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, create_model
from pydantic.fields import FieldInfo

T = TypeVar("T", bound=BaseModel)

Bounds = Mapping[str, Any]
"""`maxLength`, `minimum`, `maximum`, `maxItems`; for a list of texts `items` has the bounds of each."""
Choices = Mapping[str, tuple[str, ...]]
"""What fields may hold, by their names on the wire, wherever they stand."""

BOUNDS: Final = "bounds"
_FILLER: Final = "and then it was as they had said it would be, "
_FRACTION: Final = 0.99
_SLACK: Final = 1.4
"""Tokens that a reply takes for each one that its plain text is counted as: handles are cut small, and a grammar leaves white space
free. Measured with a small model's own tokenizer: 1.1 to 1.3."""


def bounded(**bounds: Any) -> dict[str, Any]:
    """For `json_schema_extra` of a field."""
    return {BOUNDS: bounds}


def bounds_of(field: FieldInfo) -> Bounds:
    """The bounds that a field carries."""
    extra = field.json_schema_extra
    return cast(Bounds, extra.get(BOUNDS, {})) if isinstance(extra, dict) else {}


def limited(shape: type[T], limits: Mapping[str, Bounds]) -> type[T]:
    """The shape with these bounds in place of its own on fields of these names, wherever they stand. What fits one fits the other."""
    return cast(type[T], _limited(shape, tuple((name, tuple(sorted(bounds.items()))) for name, bounds in sorted(limits.items()))))


@lru_cache(maxsize=256)
def _limited(shape: type[BaseModel], limits: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]) -> type[BaseModel]:
    wanted = {name: dict(bounds) for name, bounds in limits}
    changed: dict[str, Any] = {}
    for name, field in shape.model_fields.items():
        kind = _narrowed(field.annotation, limits)
        if name in wanted or kind is not field.annotation:
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            fresh = copy(field)
            fresh.annotation = kind
            fresh.json_schema_extra = {**extra, BOUNDS: {**bounds_of(field), **wanted.get(name, {})}}
            changed[name] = (kind, fresh)
    return create_model(shape.__name__, __base__=shape, __doc__=shape.__doc__, __module__=shape.__module__, **changed) if changed else shape


def _narrowed(kind: Any, limits: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]) -> Any:
    """The kind of a field with the bounds within it; the very same when none of them stands in it."""
    if get_origin(kind) is list:
        [inner] = get_args(kind)
        found = _narrowed(inner, limits)
        return kind if found is inner else list[found]  # type: ignore[valid-type]
    return _limited(kind, limits) if isinstance(kind, type) and issubclass(kind, BaseModel) else kind


class Closed(NamedTuple, Generic[T]):
    """A shape closed for one call."""

    shape: type[T]
    choices: Choices
    max_tokens: int
    """Tokens within which a reply under a grammar ends by itself."""


def closed(
    shape: type[T], choices: Choices, count_tokens: Callable[[str], int], tokens: int, *, items: str = "", most: int = 0,
    limits: Mapping[str, Bounds] = MappingProxyType({}),
) -> Closed[T]:  # fmt: skip
    """The shape for one call, with as many `items` as `tokens` are enough for: at least one, at most `most`, and no more than its own
    bounds allow. A list without choices stays empty. When not even one item fits, the call takes more tokens."""
    bounds = {**limits, **{name: {"minItems": 0, "maxItems": 0} for name, options in choices.items() if not options}}
    counts = range(min(most, bounds_of(shape.model_fields[items])["maxItems"]), 0, -1) if items else (0,)
    for count in counts:
        found = limited(shape, {**bounds, items: {"maxItems": count}} if items else bounds)
        needed = room(found, choices, count_tokens)
        if needed <= tokens:
            break
    return Closed(found, choices, max(tokens, needed))


def fullest(shape: type[BaseModel], choices: Choices) -> str:
    """A reply as long as bounds and choices allow, as compact JSON. Raises ValueError for a field that may grow without end."""
    return json.dumps(_fullest(shape, choices), ensure_ascii=False, separators=(",", ":"))


def room(shape: type[BaseModel], choices: Choices, count_tokens: Callable[[str], int]) -> int:
    """Tokens within which a reply under a grammar ends by itself, whatever it says."""
    return math.ceil(count_tokens(fullest(shape, choices)) * _SLACK)


def _fullest(shape: type[BaseModel], choices: Choices) -> dict[str, object]:
    return {
        name: _longest(f"{shape.__name__}.{name}", field.annotation, bounds_of(field), choices, choices.get(name))
        for name, field in shape.model_fields.items()
    }


def _longest(what: str, kind: Any, bounds: Bounds, choices: Choices, own: tuple[str, ...] | None) -> object:
    """The longest value that a field may have; `own` are what its texts are chosen from, if they are."""
    if get_origin(kind) is list:
        [inner] = get_args(kind)
        most = int(_bound(what, bounds, "maxItems"))
        return [_longest(what, inner, bounds.get("items", {}), choices, own)] * most if most else []
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _fullest(kind, choices)
    if get_origin(kind) is Literal:
        return max(map(str, get_args(kind)), key=len)
    if kind is bool:
        return False
    if kind is float:
        return _FRACTION
    if kind is int:
        return int(_bound(what, bounds, "maximum"))
    if own is not None:
        return max(own, key=len, default="")
    length = int(_bound(what, bounds, "maxLength"))
    return (_FILLER * (length // len(_FILLER) + 1))[:length]


def _bound(what: str, bounds: Bounds, name: str) -> Any:
    if name not in bounds:
        raise ValueError(f"{what} has no {name}: a reply could grow without end")
    return bounds[name]
