"""Templates: the fixed words of prompts, which a world may replace by its own."""

from collections.abc import Mapping
from typing import Final, Literal

from engine.records.base import Record

Kind = Literal[
    "actor", "decode", "referee", "alias", "handoff", "choose", "tell", "compress", "collapse", "validate", "narrate"
]
"""What a template is for: a task, or another use of one. `choose` and `tell` are the two halves of a handoff by a small model,
`compress` tells old memories as one; all three are calls of task `handoff`."""

_WHOLE: Final = ("what to do",)
PARTS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "actor": ("what the model is", "how to act", "what is asked at the end"),
    "decode": _WHOLE, "referee": _WHOLE, "alias": _WHOLE, "handoff": _WHOLE, "choose": _WHOLE, "tell": _WHOLE, "compress": _WHOLE,
    "collapse": _WHOLE, "validate": _WHOLE, "narrate": _WHOLE,
}  # fmt: skip
"""The parts that a template consists of, in order, by what they say."""
_DIVIDER: Final = "---"


class Template(Record):
    """The fixed words of a prompt. Parts of one text are divided by lines of `---`."""

    name: str
    """What it is for and its version: `actor.1`, `actor.harbour-1`. Runs record it."""
    parts: tuple[str, ...]


def parts_of(text: str) -> tuple[str, ...]:
    """The parts of a template's text."""
    parts: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip() == _DIVIDER:
            parts.append([])
        else:
            parts[-1].append(line.rstrip())
    return tuple("\n".join(lines).strip() for lines in parts)
