"""Stored text as search sees it: without reference tokens."""

import re
from collections.abc import Sequence
from functools import lru_cache

from engine.records.tokens import substitute

_MARK = "\x00"
_MARKED = re.compile(_MARK + "(?:['\u2019]s\\b)?")


@lru_cache(maxsize=2048)
def bare(text: str) -> str:
    """The text on one line with its reference tokens, and the possessive endings they carry, taken out."""
    return " ".join(_MARKED.sub(" ", substitute(text.replace(_MARK, " "), lambda _: _MARK)).split())


@lru_cache(maxsize=8192)
def _plain(content: str, quotes: tuple[str, ...]) -> str:
    return " ".join(part for part in (bare(content), *(" ".join(quote.split()) for quote in quotes)) if part)


def plain(content: str, quotes: Sequence[str]) -> str:
    """A memory as it is embedded and indexed by words: content and quotes. Who is involved is matched by id, not by name."""
    return _plain(content, tuple(quotes))
