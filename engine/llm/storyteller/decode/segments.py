"""Prose cut into what is spoken, what is thought and what is told."""

import re
from dataclasses import dataclass
from typing import Literal

from engine.llm.storyteller.language.verbs import reading

Kind = Literal["speech", "thought", "telling"]

_PAIRS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "‘": "’", "`": "`"}  # noqa: RUF001 - the quotes people use
_THOUGHT = re.compile(r"\*{1,3}(?=\S)([^*\n]+?)(?<=\S)\*{1,3}|(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)")
_SINGLE = re.compile(r"(?:(?<=\s)|^)'(?=\w)([^\n]*?[.,!?…\-])'(?!\w)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of prose of one kind, without its marks."""

    kind: Kind
    text: str


def segments(prose: str) -> list[Segment]:
    """The prose in order. A quotation that is never closed ends with its paragraph."""
    found: list[Segment] = []
    if not re.search("[\"\u201c\u201e\u00ab]", prose):  # single quotation marks inside double ones quote a third
        prose = _SINGLE.sub(lambda match: f'"{match[1]}"', prose)
    position = 0
    for start, end, words in _quotations(prose):
        found += _told(prose[position:start])
        if words.strip():
            found.append(Segment("speech", " ".join(words.split())))
        position = end
    return [*found, *_told(prose[position:])]


def _quotations(prose: str) -> list[tuple[int, int, str]]:
    """Start, end and inner words of each quotation."""
    found: list[tuple[int, int, str]] = []
    position = 0
    while position < len(prose):
        mark = prose[position]
        if mark in _PAIRS and _opens(prose, position, mark):
            end = _closing(prose, position + 1, mark)
            found.append((position, end + 1, prose[position + 1 : end]))
            position = end
        position += 1
    return found


def _opens(prose: str, at: int, mark: str) -> bool:
    """Whether a mark opens a quotation here. Curly apostrophes do not, nor does a lone guillemet that faces outwards."""
    if mark in "‘`":  # noqa: RUF001
        following = prose[at + 1 : at + 2]
        return bool(following.strip()) and re.search(r"[.,!?…\-][’`]", prose[at + 1 :]) is not None  # noqa: RUF001
    if mark == "»":
        return "«" in prose[at + 1 :]
    return True


def _closing(prose: str, start: int, mark: str) -> int:
    """Index of the mark that closes a quotation, or the end of the paragraph."""
    for at in range(start, len(prose)):
        if prose.startswith("\n\n", at):
            return at
        if prose[at] in _PAIRS[mark]:
            inner_apostrophe = mark == "‘" and re.match(r"\w", prose[at + 1 : at + 2])  # noqa: RUF001
            if not inner_apostrophe:
                return at
    return len(prose)


def _told(text: str) -> list[Segment]:
    found: list[Segment] = []
    position = 0
    for match in _THOUGHT.finditer(text):
        words = (match[1] or match[2]).strip()
        if _emphasis(text, match, words):
            continue
        found += _plain(text[position : match.start()])
        found += _plain(words) if _stage_direction(words) else [Segment("thought", words)]
        position = match.end()
    return [*found, *_plain(text[position:])]


def _emphasis(text: str, match: re.Match[str], words: str) -> bool:
    """A word or two in mid-sentence are stressed, not thought."""
    before, after = text[: match.start()].rstrip(" "), text[match.end() :].lstrip(" ")
    inside = before[-1:].isalnum() and (after[:1].isalnum() or after[:1] in ".,;!?")
    return inside and len(words.split()) <= 2 and words[-1] not in ".!?…"


def _stage_direction(words: str) -> bool:
    """`*wipes the counter*`, as role players write deeds: a small letter, and a verb without subject."""
    first = words.split(maxsplit=1)[0]
    return first[:1].islower() and reading(first, "third") is not None


def _plain(text: str) -> list[Segment]:
    cleaned = " ".join(text.replace("*", "").split())
    return [Segment("telling", cleaned)] if re.search(r"\w|^[,;:]", cleaned) else []
