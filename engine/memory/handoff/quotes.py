"""Whether a quote was really said."""

import re
from collections.abc import Sequence

_MARKS = "\"\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02"
_APOSTROPHES = "'\u2018\u2019\u201b"
_WORD = re.compile(f"[^\\s{_MARKS}]+")
_OUTER = f" \t\r\n{_MARKS}{_APOSTROPHES}`"
_ONE_APOSTROPHE = str.maketrans(dict.fromkeys(_APOSTROPHES, "'"))
"""One character for one, so that places in a text stay what they are."""


def verbatim(quote: str, speeches: Sequence[str]) -> str | None:
    """The words of `quote` as one of `speeches` has them, or None when none does.

    White space and quotation marks do not count, kinds of apostrophes neither; everything else does, and a quote ends
    where words end. What is returned is the speech's own text on one line, not the model's copy of it.
    """
    words = _WORD.findall(quote.strip(_OUTER).translate(_ONE_APOSTROPHE))
    if not any(character.isalnum() for word in words for character in word):
        return None
    for speech in speeches:
        found = _place(words, speech.translate(_ONE_APOSTROPHE))
        if found:
            return " ".join(speech[found[0] : found[1]].split())
    return None


def _place(words: Sequence[str], speech: str) -> tuple[int, int] | None:
    """Where the words stand first in a speech, one after the other: from the end of a word of it to the beginning of another."""
    if len(words) == 1:
        return _within(words[0], speech)
    held = [(found.start(), found.group()) for found in _WORD.finditer(speech)]
    inner, count = list(words[1:-1]), len(words)
    for at in range(len(held) - count + 1):
        (first, head), (last, tail) = held[at], held[at + count - 1]
        if not head.endswith(words[0]) or not tail.startswith(words[-1]) or [word for _, word in held[at + 1 : at + count - 1]] != inner:
            continue
        start, end = first + len(head) - len(words[0]), last + len(words[-1])
        if _parted(speech, start, end):
            return start, end
    return None


def _within(word: str, speech: str) -> tuple[int, int] | None:
    start = speech.find(word)
    while start >= 0:
        if _parted(speech, start, start + len(word)):
            return start, start + len(word)
        start = speech.find(word, start + 1)
    return None


def _parted(speech: str, start: int, end: int) -> bool:
    """Whether no word goes on across the ends of a span."""
    around = (speech[start - 1] if start else " ", speech[end] if end < len(speech) else " ")
    return not any(character.isalnum() or character == "_" for character in around)
