"""Names as they stand in speech: where one begins and ends, and which words are no names."""

import re
from collections.abc import Iterator
from functools import lru_cache

from engine.mind.wordlists import COMMON, ED_NAMES, PARTICLES, TITLES

_WORD = re.compile(r"[^\W\d_](?:[\w'\u2019-]*\w)?")
_POSSESSIVE = re.compile(r"['\u2019]s$", re.IGNORECASE)
_BARE_POSSESSIVE = re.compile(r"['\u2019] \w")
_MOST = 3
"""Capitalised words of a name, titles aside."""


@lru_cache(maxsize=2048)
def core(name: str) -> tuple[str, ...]:
    """The words of a name that tell somebody apart: lower case, without titles and particles; all of them when nothing else is left."""
    words = tuple(word.strip(".,").casefold() for word in name.split())
    return tuple(word for word in words if word not in TITLES and word not in PARTICLES) or words


def is_part(part: str, whole: str) -> bool:
    """Whether all that `part` says is said by `whole` too: `Master Harrow` of `Bryn Harrow`, `Bryn` of itself."""
    return set(core(part)) <= set(core(whole))


def is_ordinary(word: str) -> bool:
    """Whether a capitalised word is more likely no name: `Sorry`, `Leaving`, `Finished`, `Swedish`."""
    low = word.casefold().replace("\u2019", "'")
    if low in COMMON or (low.endswith("ed") and len(low) > 4 and low not in ED_NAMES):
        return True
    return (low.endswith("ing") and len(low) > 5) or (low.endswith("ish") and len(low) > 4)


def name_at(text: str, start: int, *, epithet: bool = False) -> tuple[str, int] | None:
    """A name that begins at `start`, as spoken, and where it ends: up to three capitalised words, with titles and particles.

    None for words that are no names, for a name in the possessive (`Bryn's brother`) and for speech all in capitals.
    With `epithet` it may begin with an article: `the Rook`.
    """
    words: list[re.Match[str]] = []
    proper = 0
    for match in _words_from(text, start):
        word = match.group()
        if not word[0].isupper():
            if word not in PARTICLES or not (words or (epithet and word == "the") or word not in ("the", "of")):
                break
        elif word.casefold() not in TITLES:
            if proper == _MOST or is_ordinary(word):
                break
            proper += 1
        words.append(match)
    while words and words[-1].group()[0].islower():
        words.pop()
    if not words or not proper:
        return None
    end = words[-1].end()
    if _POSSESSIVE.search(words[-1].group()) or (text[end - 1] in "sS" and _BARE_POSSESSIVE.match(text, end)):
        return None
    return (text[words[0].start() : end], end) if not text.isupper() or " " not in text.strip() else None


def _words_from(text: str, start: int) -> Iterator[re.Match[str]]:
    """Words that follow each other with nothing but a space between them, or a full stop after an abbreviated title."""
    at = start
    while match := _WORD.match(text, at):
        yield match
        at = match.end()
        if text[at : at + 2] == ". " and match.group().casefold() in TITLES and len(match.group()) <= 3:
            at += 1
        if text[at : at + 1] != " ":
            return
        at += 1
