"""Tables for people: columns as wide as what they hold, the last one wrapped so that every line fits the terminal."""

import shutil
from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len

from tui.text import plain

_GAP: Final = "  "
_NARROWEST: Final = 20
"""Cells that the last column has, however wide the others are."""
_WIDEST: Final = 120


def columns() -> int:
    """How wide lines may be: as the terminal is, at the most 120; 80 where there is none."""
    return min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> Iterator[str]:
    """The lines of a table. Nothing for no rows."""
    if not rows:
        return
    clean = [tuple(heads), *(tuple(plain(cell) for cell in row) for row in rows)]
    widths = [max(map(cell_len, column)) for column in list(zip(*clean, strict=True))[:-1]]
    indent = sum(widths) + len(_GAP) * len(widths)
    room = max(_NARROWEST, (width or columns()) - indent)
    for row in clean:
        first = _GAP.join([*(_padded(cell, to) for cell, to in zip(row[:-1], widths, strict=True)), ""])
        for number, line in enumerate(wrapped(row[-1], room) or [""]):
            yield f"{first if number == 0 else ' ' * indent}{line}".rstrip()


def hanging(first: str, text: str, width: int | None = None) -> Iterator[str]:
    """A text behind its beginning, on as many lines as it needs, the further ones indented as far."""
    indent = cell_len(first)
    room = max(_NARROWEST, (width or columns()) - indent)
    for number, line in enumerate(wrapped(plain(text), room) or [""]):
        yield f"{first if number == 0 else ' ' * indent}{line}".rstrip()


def wrapped(text: str, room: int) -> list[str]:
    """The text on lines of at most so many cells. Words that are longer are broken."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        while cell_len(word) > room:
            if line:
                lines.append(line)
                line = ""
            cut = _fitting(word, room)
            lines.append(word[:cut])
            word = word[cut:]
        longer = f"{line} {word}" if line else word
        if cell_len(longer) <= room:
            line = longer
        else:
            lines.append(line)
            line = word
    return [*lines, line] if line else lines


def _fitting(word: str, room: int) -> int:
    """How many characters of a word fit; at least one."""
    cells = 0
    for number, sign in enumerate(word):
        cells += cell_len(sign)
        if cells > room:
            return max(1, number)
    return len(word)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
