"""Reference tokens: how stored text names entities (`{{e:ID}}`), so that each viewer reads its own names."""

import re
from collections.abc import Callable
from functools import lru_cache

from engine.records.base import EntityId

_TOKEN = re.compile(r"\{\{e:([A-Za-z0-9_.-]+)\}\}")
_MARK = "\x00"
_MARKED = re.compile(_MARK + "(?:['\u2019]s\\b)?")


def token(entity: EntityId) -> str:
    """The reference token of an entity."""
    return "{{e:" + entity + "}}"


def referred(text: str) -> tuple[EntityId, ...]:
    """Entities that a text refers to, each once, in order of first mention."""
    return tuple(dict.fromkeys(_TOKEN.findall(text)))


def substitute(text: str, name: Callable[[EntityId], str]) -> str:
    """The text with each reference token replaced by `name(id)`."""
    return _TOKEN.sub(lambda match: name(match.group(1)), text)


@lru_cache(maxsize=2048)
def bare(text: str) -> str:
    """The text on one line with its reference tokens, and the possessive endings they carry, taken out."""
    return " ".join(_MARKED.sub(" ", substitute(text.replace(_MARK, " "), lambda _: _MARK)).split())
