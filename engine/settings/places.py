"""Where in the file something is that is wrong with settings: its line, for the key of a fault and for what TOML cannot read."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from engine.settings.faults import Fault
from engine.settings.keys import Key, dotted
from engine.settings.toml_text import Line, lines_of

_AT: Final = re.compile(r" \(at line (\d+), column \d+\)$")
_PARTS: Final = r"'([^']*)'"
_KEY: Final = re.compile(rf"\(((?:{_PARTS.replace('(', '(?:')},? ?)+)\)")
"""A key as the parser names it: `('models', 'embed')`."""
_END: Final = " (at end of document)"
_TWICE: Final = ("twice", "overwrite", "Duplicate", "immutable")
_TEXTS: Final = 'Texts stand in quotes: embed = "minilm".'
_REMEDIES: Final = {
    **dict.fromkeys(_TWICE, "Each table and each key stands there once: put together what belongs together."),
    "Unclosed": "A bracket is not closed: see where the list or the table begins.",
    "Unterminated": "A text has no second quotation mark.",
    **dict.fromkeys(("Expected '\"'", "Expected \"'\"", "Illegal character '\\n'"), "A text has no second quotation mark."),
    "Expected ']'": "The name of a table stands in brackets: [models].",
    "Expected '=' after": 'A setting is a name, = and a value: embed = "minilm".',
    "statement": 'A setting is a name, = and a value: embed = "minilm".',
    "character": "Take out the character that cannot be printed, or write the line anew.",
}
"""What to do, by words of the parser's complaint; the first that is found counts."""


def line_of(lines: Sequence[Line], text: str, path: Key) -> int:
    """The line, counted from 1, in which what is at a key is written, or the nearest above it that is; 0 when none is.

    `lines` are those of `text`, as `lines_of` gives them.
    """
    for length in range(len(path), 0, -1):
        found = next((line for line in lines if line.path == path[:length]), None)
        found = found or next((line for line in lines if line.path[:length] == path[:length]), None)
        if found is not None:
            return text.count("\n", 0, found.start) + 1
    return 0


def lines_at(text: str, faults: Iterable[Fault]) -> tuple[int, ...]:
    """The line of each fault in a text that is TOML."""
    lines = list(lines_of(text))
    return tuple(line_of(lines, text, fault.path) for fault in faults)


def unreadable(reason: str, text: str) -> tuple[int, str, str]:
    """Line and words of what TOML's parser complains of, and what to do about it."""
    at = _AT.search(reason)
    line = int(at[1]) if at else text.rstrip().count("\n") + 1 if reason.endswith(_END) else 0
    words = _KEY.sub(lambda key: f"`{dotted(re.findall(_PARTS, key[1]))}`", _AT.sub("", reason).removesuffix(_END))
    return line, words, next((remedy for sign, remedy in _REMEDIES.items() if sign in words), _TEXTS)


def marked(name: str, line: int, text: str) -> str:
    """A fault with file and line in front: `settings.toml:12: …`. Without a line only the fault."""
    return f"{name}:{line}: {text}" if line else text

