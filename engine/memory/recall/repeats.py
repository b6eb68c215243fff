"""Whether two memories tell the same thing, so that a prompt needs only one of them (DESIGN 8, item 7). Pure."""

import re

from engine.records.memory import LedgerEntry

_NUMBER = re.compile(r"\d+")
_NEGATION = re.compile(r"\b(?:not|no|never|nobody|nothing|none|without|refused|cannot)\b|n['\u2019]t\b", re.IGNORECASE)


def says_the_same(a: LedgerEntry, b: LedgerEntry) -> bool:
    """Whether two entries whose vectors are near agree in numbers and negations too.

    Near an embedder's threshold those are what differs most often between texts that only look alike (facts-recall 5).
    """
    return _numbers(a) == _numbers(b) and _negated(a) == _negated(b)


def richer(a: LedgerEntry, b: LedgerEntry) -> bool:
    """Whether `a` says more than `b`: quotes count as text."""
    return _size(a) > _size(b)


def _size(entry: LedgerEntry) -> int:
    return len(entry.content) + sum(len(quote) for quote in entry.quotes)


def _numbers(entry: LedgerEntry) -> set[str]:
    return set(_NUMBER.findall(" ".join((entry.content, *entry.quotes))))


def _negated(entry: LedgerEntry) -> bool:
    return _NEGATION.search(entry.content) is not None
