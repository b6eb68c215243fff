"""Stored text as one viewer reads it: tokens become names, with capitals, possessives and verbs to match."""

import re
from collections.abc import Mapping

from engine.records.base import EntityId
from engine.records.tokens import substitute

NOBODY = "someone"
"""Stands where a text refers to somebody for whom there is no name at hand. Never the id."""

_POSSESSIVE = re.compile(r"(\{\{e:[A-Za-z0-9_.-]+\}\})['\u2019]s\b")
_START = re.compile(r"(?:^|[.!?\u2026][\"'\u201d\u2019)]*\s+)(?:[\"'\u201c\u2018(]*)(?=\{\{e:)")
_AGREEMENT = {
    "was": "were", "is": "are", "has": "have", "does": "do", "wasn't": "weren't", "isn't": "aren't", "hasn't": "haven't",
    "doesn't": "don't",
}  # fmt: skip
_DISAGREES = re.compile(r"\b([Yy]ou) (" + "|".join(_AGREEMENT) + r")\b(?!')")
_MARK = "\x00"


def render(text: str, names: Mapping[EntityId, str]) -> str:
    """The text on one line with each reference token replaced by its name; those without one are `someone`.

    A name at the start of a sentence gets a capital. The reader's own `you` takes `your` and `were` as English wants it.
    """
    line = " ".join(text.split())
    if "{{e:" not in line:
        return line
    line = _START.sub(lambda match: match.group(0) + _MARK, line)
    line = _POSSESSIVE.sub(lambda match: substitute(match.group(1), lambda id_: _owner(names.get(id_, NOBODY))), line)
    line = substitute(line, lambda id_: names.get(id_, NOBODY))
    line = re.sub(_MARK + "(.)", lambda match: match.group(1).upper(), line).replace(_MARK, "")
    return _DISAGREES.sub(lambda match: f"{match.group(1)} {_AGREEMENT[match.group(2)]}", line)


def capital(text: str) -> str:
    """The text with its first letter in upper case, whatever opens before it."""
    return re.sub(r"^([\"'\u201c\u2018(]*)(\w)", lambda match: match.group(1) + match.group(2).upper(), text, count=1)


def joined(parts: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def _owner(name: str) -> str:
    return "your" if name == "you" else f"{name}'s"
