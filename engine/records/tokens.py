"""Reference tokens: how stored text names entities (`{{e:ID}}`), so that each viewer reads its own names."""

import re
from collections.abc import Callable

from engine.records.base import EntityId

_TOKEN = re.compile(r"\{\{e:([A-Za-z0-9_.-]+)\}\}")


def token(entity: EntityId) -> str:
    """The reference token of an entity."""
    return "{{e:" + entity + "}}"


def referred(text: str) -> tuple[EntityId, ...]:
    """Entities that a text refers to, each once, in order of first mention."""
    return tuple(dict.fromkeys(_TOKEN.findall(text)))


def substitute(text: str, name: Callable[[EntityId], str]) -> str:
    """The text with each reference token replaced by `name(id)`."""
    return _TOKEN.sub(lambda match: name(match.group(1)), text)
