"""Whether a quote was really said."""

import re
from collections.abc import Sequence

_MARKS = "\"\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02"
_APOSTROPHES = "'\u2018\u2019\u201b"
_GAP = f"[\\s{_MARKS}]+"
_SPLIT = re.compile(_GAP)
_OUTER = f" \t\r\n{_MARKS}{_APOSTROPHES}`"


def verbatim(quote: str, speeches: Sequence[str]) -> str | None:
    """The words of `quote` as one of `speeches` has them, or None when none does.

    White space and quotation marks do not count, kinds of apostrophes neither; everything else does, and a quote ends
    where words end. What is returned is the speech's own text on one line, not the model's copy of it.
    """
    words = [word for word in _SPLIT.split(quote.strip(_OUTER)) if word]
    if not any(character.isalnum() for word in words for character in word):
        return None
    pattern = re.compile(r"(?<!\w)" + _GAP.join(_literal(word) for word in words) + r"(?!\w)")
    for speech in speeches:
        found = pattern.search(speech)
        if found:
            return " ".join(found.group().split())
    return None


def _literal(word: str) -> str:
    return "".join(f"[{_APOSTROPHES}]" if character in _APOSTROPHES else re.escape(character) for character in word)
