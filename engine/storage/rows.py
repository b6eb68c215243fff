"""How values become columns and come back: world time as text, small collections as JSON."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from pydantic import TypeAdapter

from engine.records.world import Attribute

Row: TypeAlias = tuple[Any, ...]
"""A row as `sqlite3` gives it. Records validate what they are made of, so columns need no types here."""

_ATTRIBUTES = TypeAdapter(dict[str, Attribute])


def time_text(moment: datetime) -> str:
    """World time as fixed-width ISO text, whole seconds."""
    return moment.isoformat(timespec="seconds")


def list_text(values: Iterable[str]) -> str:
    """Texts as a JSON array, in order."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def text_list(text: str) -> tuple[str, ...]:
    """What `list_text` wrote."""
    return () if text == "[]" else tuple(json.loads(text))


def mapping_text(values: Mapping[str, str]) -> str:
    """Texts by key as a JSON object, in the mapping's order."""
    return json.dumps(dict(values), ensure_ascii=False, separators=(",", ":"))


def text_mapping(text: str) -> dict[str, str]:
    """What `mapping_text` wrote."""
    found: dict[str, str] = json.loads(text)
    return found


def attributes_text(attributes: Mapping[str, Attribute]) -> str:
    """Attributes by name as a JSON object, in the mapping's order."""
    return _ATTRIBUTES.dump_json(dict(attributes)).decode()


def text_attributes(text: str) -> dict[str, Attribute]:
    """What `attributes_text` wrote."""
    return _ATTRIBUTES.validate_json(text)


def marks(count: int) -> str:
    """Placeholders for a list of `count` values: `?,?,?`."""
    return ",".join("?" * count)
