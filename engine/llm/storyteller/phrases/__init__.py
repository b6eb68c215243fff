"""The storyteller's words, as data: plain text files beside this module, one phrase a line, read once."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_HEADING = re.compile(r"\[(\w+)\]")


@cache
def lines(name: str) -> tuple[str, ...]:
    """Lines of a file, without comments and blank ones."""
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for raw in text.splitlines() if (line := raw.strip()) and not line.startswith("#"))


@cache
def lists(name: str) -> Mapping[str, tuple[str, ...]]:
    """Lines of a file by the `[heading]` they stand under."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in lines(name):
        match = _HEADING.fullmatch(line)
        if match:
            heading = match[1]
        else:
            found.setdefault(heading, []).append(line)
    return {key: tuple(items) for key, items in found.items()}


@cache
def words(name: str) -> Mapping[str, frozenset[str]]:
    """Words of a file by the `[heading]` they stand under."""
    return {key: frozenset(word for line in items for word in line.split()) for key, items in lists(name).items()}
