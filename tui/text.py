"""Text as it may be drawn: literal, without control characters, of a width that terminals agree on."""

import re

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\ud800-\udfff]")
_UNSURE = re.compile("(?<=[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f])\u200d|[\ufe00-\ufe0f\u20e3\u3164\U0001f3fb-\U0001f3ff]")
"""What terminals measure in different ways: joined emoji, variation selectors, keycaps, skin tones, the Hangul filler."""
_ARTICLES = ("the ", "a ", "an ")


def plain(text: str) -> str:
    """The text on one line, safe to draw: spaces for line ends and tabs, no control characters or direction overrides, nothing of
    uncertain width."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSURE.sub("", _CONTROLS.sub(_replace, " ".join(re.split(r"[\r\n\t\v\f\u2028\u2029\x85]+", text))))


def paragraphs(text: str) -> list[str]:
    """The lines of a text, each as `plain` makes it."""
    return [plain(line) for line in text.splitlines()]


def prose(text: str) -> list[str]:
    """Paragraphs of a longer text: lines broken by an editor are joined, blank lines part. A blank stands between paragraphs."""
    blocks = [" ".join(plain(block).split()) for block in re.split(r"\n[ \t]*\n", text) if block.strip()]
    return [line for block in blocks for line in (block, "")][:-1]


def _replace(match: re.Match[str]) -> str:
    return "\N{REPLACEMENT CHARACTER}" if "\ud800" <= match.group() <= "\udfff" else ""


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def without_article(text: str) -> str:
    """A name for tight places: `the tap room` as `tap room`."""
    for article in _ARTICLES:
        if text.lower().startswith(article) and len(text) > len(article):
            return text[len(article):]
    return text


def short_name(name: str) -> str:
    """What fits in a box: the first name of a named person, a label without its article."""
    bare = without_article(plain(name))
    return bare.split(" ", 1)[0] if bare == name and bare[:1].isupper() else bare


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 entry`, `2 entries`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class ControlFilter(LineFilter):
    """The last guard before the terminal: no text that is drawn can hold an escape or control character."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments, those with control characters cleaned."""
        if not any(not control and _CONTROLS.search(text) for text, _, control in segments):
            return segments
        return [
            segment if segment.control else Segment(_CONTROLS.sub(_blank, segment.text), segment.style)
            for segment in segments
        ]


def _blank(match: re.Match[str]) -> str:
    """A surrogate takes a cell, all others none: what replaces them takes the same."""
    return "?" if "\ud800" <= match.group() <= "\udfff" else ""
