"""Stored text as search sees it: without reference tokens."""

from collections.abc import Sequence
from functools import lru_cache

from engine.records.tokens import bare

__all__ = ["bare", "plain"]


@lru_cache(maxsize=8192)
def _plain(content: str, quotes: tuple[str, ...]) -> str:
    return " ".join(part for part in (bare(content), *(" ".join(quote.split()) for quote in quotes)) if part)


def plain(content: str, quotes: Sequence[str]) -> str:
    """A memory as it is embedded and indexed by words: content and quotes. Who is involved is matched by id, not by name."""
    return _plain(content, tuple(quotes))
