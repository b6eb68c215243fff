"""Patterns of speech, as `phrases/collapsing_patterns.txt` has them."""

import re
from collections.abc import Mapping
from functools import cache

from engine.llm.storyteller.phrases import lines


@cache
def pattern(name: str) -> re.Pattern[str]:
    """The pattern of a name."""
    return re.compile(_texts()[name])


@cache
def _texts() -> Mapping[str, str]:
    """Patterns by name, with the parts that they are made of."""
    parts: dict[str, str] = {}
    found: dict[str, str] = {}
    for line in lines("collapsing_patterns"):
        name, text = line.split(" :: ", 1)
        if name.startswith("$"):
            parts[f"{{{name[1:]}}}"] = text
            continue
        for part, words in parts.items():
            text = text.replace(part, words)
        found[name] = text
    return found
