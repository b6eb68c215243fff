"""Whether two memories, or a memory and a piece of knowledge, tell the same, so that a prompt needs one of them only (DESIGN 8, item 7).

Pure.
"""

import re

from engine.memory.lore import Line
from engine.memory.text import bare
from engine.records.memory import LedgerEntry

_NUMBER = re.compile(r"\d+")
_NEGATION = re.compile(r"\b(?:not|no|never|nobody|nothing|none|without|refused|cannot)\b|n['\u2019]t\b", re.IGNORECASE)


def says_the_same(a: LedgerEntry | Line, b: LedgerEntry | Line) -> bool:
    """Whether two entries whose vectors are near agree in numbers and negations too.

    Near an embedder's threshold those are what differs most often between texts that only look alike (facts-recall 5).
    """
    return _numbers(a) == _numbers(b) and _negated(a) == _negated(b)


def richer(a: LedgerEntry | Line, b: LedgerEntry | Line) -> bool:
    """Whether `a` says more than `b`: quotes count as text."""
    return _size(a) > _size(b)


def _size(told: LedgerEntry | Line) -> int:
    return sum(len(part) for part in _parts(told))


def _numbers(told: LedgerEntry | Line) -> set[str]:
    return set(_NUMBER.findall(bare(" ".join(_parts(told)))))


def _negated(told: LedgerEntry | Line) -> bool:
    return _NEGATION.search(_parts(told)[0]) is not None


def _parts(told: LedgerEntry | Line) -> tuple[str, ...]:
    """The account, then the quotes."""
    return (told.text,) if isinstance(told, Line) else (told.content, *told.quotes)
