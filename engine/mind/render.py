"""Stored text as one viewer reads it: tokens become names, with capitals, possessives and verbs to match."""

import re
from collections.abc import Mapping, Sequence

from engine.records.base import EntityId

NOBODY = "someone"
"""Stands where a text refers to somebody for whom there is no name at hand. Never the id."""

_YOUR_VERBS = {
    "was": "were", "is": "are", "has": "have", "does": "do", "wasn't": "weren't", "isn't": "aren't", "hasn't": "haven't",
    "doesn't": "don't",
}  # fmt: skip
_ADVERBS = "always|never|still|now|often|also|only|sometimes"
_NO_VERBS = frozenset({"always", "sometimes", "perhaps", "besides", "afterwards", "towards", "thus", "as", "this", "us", "yes"})
_REFERENCE = re.compile(
    r"(?P<start>(?:^|[.!?\u2026][\"'\u201d\u2019)]*\s+)[\"'\u201c\u2018(]*)?"
    r"\{\{e:(?P<id>[A-Za-z0-9_.-]+)\}\}(?P<own>['\u2019]s\b)?(?: (?P<verb>" + "|".join(_YOUR_VERBS) + r")(?![\w'\u2019])"
    r"|(?P<present> (?:(?:" + _ADVERBS + r") )?[a-z]+s)(?![\w'\u2019]))?"
)
_FIRST_LETTER = re.compile(r"^([\"'\u201c\u2018(]*)(\w)")


def render(text: str, names: Mapping[EntityId, str]) -> str:
    """The text on one line with each reference token replaced by its name; those without one are `someone`.

    A name at the start of a sentence gets a capital. The reader's own `you` takes `your`, `were` and, at the start of one,
    `mean` for `means`, as English wants it.
    """
    line = " ".join(text.split())
    return _REFERENCE.sub(lambda match: _worded(match, names), line) if "{{e:" in line else line


def _worded(match: re.Match[str], names: Mapping[EntityId, str]) -> str:
    start, own, verb, present = match["start"], match["own"] or "", match["verb"], match["present"] or ""
    name = names.get(match["id"], NOBODY)
    if name == "you":
        present = _of_yours(present) if start is not None and not own else present
        name, own = ("your", "") if own else (name, own)
        verb = _YOUR_VERBS[verb] if verb and name == "you" else verb
    if start is not None:
        name = capital(name)
    return f"{start or ''}{name}{own}{' ' + verb if verb else ''}{present}"


def _of_yours(words: str) -> str:
    """` always carries` as it stands behind `you`: ` always carry`."""
    before, _, verb = words.rpartition(" ")
    if not verb or verb in _NO_VERBS or verb.endswith(("ss", "us")):
        return words
    stem = re.sub(r"(?<=[^aeiou]{1})ies$", "y", verb) if len(verb) > 4 else verb  # dies, lies, ties
    if stem == verb:
        stem = re.sub(r"(?<=ch|sh|ss)es$|(?<=[xzo])es$|s$", "", verb)
    return f"{before} {stem}"


def capital(text: str) -> str:
    """The text with its first letter in upper case, whatever opens before it."""
    if text[:1].isalnum():
        return text[0].upper() + text[1:]
    return _FIRST_LETTER.sub(lambda match: match[1] + match[2].upper(), text, count=1)


def joined(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
