"""System ids in text about memories: nobody in a world knows them (invariant 1). Pure."""

import re
from collections.abc import Callable, Collection

from engine.records.base import EntityId
from engine.records.tokens import token

_TOKEN = re.compile(r"(\{\{e:[A-Za-z0-9_.-]+\}\})")
_LOOSE = re.compile(r"(?:\{\s*)+e\s*:\s*([A-Za-z0-9_.-]+)(?:\s*\})*")


def with_plain_tokens(text: str, ids: Collection[EntityId]) -> str:
    """The text with reference tokens as they should be: one that lacks a brace, or holds a space, is set right."""
    return _LOOSE.sub(lambda found: token(found[1]) if found[1] in ids or found[0] == token(found[1]) else found[0], text)


def replace_ids(text: str, ids: Collection[str], told: Callable[[str], str]) -> str:
    """The text with `told(what stands there)` for ids that cannot be ordinary words; they hold a digit, a dot, an underscore or a hyphen.

    Ids are found in any case. One with an underscore is found within a longer word, too: all of that is machinery. Reference tokens
    stay as they are.
    """
    pattern = _pattern(text, ids)
    if pattern is None:
        return text
    parts = _TOKEN.split(text)
    for at in range(0, len(parts), 2):  # odd places hold tokens
        parts[at] = pattern.sub(lambda found: told(found.group()), parts[at])
    return "".join(parts)


def first_id(text: str, ids: Collection[str]) -> str:
    """The first id of those that cannot be ordinary words, as it stands in a text; empty when there is none."""
    pattern = _pattern(text, ids)
    found = pattern.search("".join(_TOKEN.split(text)[::2])) if pattern else None
    return found.group() if found else ""


def spelt(text: str, ids: Collection[str]) -> str:
    """The id that `text` is, in any case; empty when it is none."""
    if text in ids:
        return text
    low = text.casefold()
    return next((each for each in ids if each.casefold() == low), "")


def _pattern(text: str, ids: Collection[str]) -> re.Pattern[str] | None:
    low = text.casefold()
    odd = sorted((each for each in ids if not each.isalpha() and each.casefold() in low), key=len, reverse=True)
    if not odd:
        return None
    within = [rf"\w*{re.escape(each)}\w*" if "_" in each else rf"(?<![^\W_]){re.escape(each)}(?![^\W_])" for each in odd]
    return re.compile("|".join(within), re.IGNORECASE)
