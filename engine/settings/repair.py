"""Settings that cannot be used, as people look at them: which lines are at fault, what stands around them, and a way to put one aside.

A line is put aside by a comment sign in front of it. Nothing is taken away: what a person wrote stands there still, to be made right.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.errors import SettingsError
from engine.records.base import Record
from engine.records.clean import one_line
from engine.settings.faults import examined
from engine.settings.names import is_variable, named_like_key, without_keys
from engine.settings.reading import MARK, parsed, read_text
from engine.settings.toml_text import lines_of
from engine.settings.writing import rewrite

_AROUND: Final = 2
"""Lines that are shown before one at fault, and after it."""
_LONGEST: Final = 200
_PAIR: Final = re.compile(r"""([\w-]+)(["']?\s*=\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,}]+)""")
"""A name and its value, also within a table on one line, also where the second quotation mark is missing."""
_KEYS_IN_ADDRESSES: Final = re.compile(r"(://)[^/@\s]+(?=@)")
_BY_HAND: Final = "Change it by hand."


class FaultAt(Record):
    """Something wrong, and where."""

    text: str
    """For people, with file and line in front where it has one: `settings.toml:12: …`."""
    line: int = 0
    """Counted from 1; 0 for what is in no line of the file."""


class Broken(Record):
    """Why settings cannot be used."""

    path: Path | None
    """The file at fault; None when the fault is elsewhere."""
    faults: tuple[FaultAt, ...]
    advice: str
    lines: tuple[str, ...] = ()
    """The file, line by line, fit to be shown: no keys to services. Empty when it cannot be read."""

    def around(self, line: int) -> Iterator[tuple[int, str]]:
        """The line and those around it, with their numbers."""
        for number in range(max(line - _AROUND, 1), min(line + _AROUND, len(self.lines)) + 1):
            yield number, self.lines[number - 1]

    @property
    def short(self) -> str:
        """What is wrong in a sentence: the first fault, and how many more there are."""
        more = len(self.faults) - 1
        return self.faults[0].text + (f" (and {more} more)" if more else "")


def broken(error: SettingsError) -> Broken:
    """What there is to say and to show of settings that cannot be used. Reads the file again."""
    lines: tuple[str, ...] = ()
    if error.path is not None and any(error.lines):
        try:
            lines = tuple(_shown(line) for line in read_text(error.path).removeprefix(MARK).split("\n"))
        except SettingsError:  # it went meanwhile
            lines = ()
    faults = error.faults or (str(error.args[0]),)
    at = error.lines or (0,) * len(faults)
    found = tuple(FaultAt(text=text, line=line) for text, line in zip(faults, at, strict=True))
    return Broken(path=error.path, faults=found, advice=error.advice, lines=lines)


def put_aside(path: Path, line: int) -> int:
    """Make a comment of the line, counted from 1, with all that hangs on it: a value of many lines, a table's own. Returns how many lines
    that are. Raises `SettingsError`, and then nothing has changed: when the line is not alone at fault, and what writing raises."""
    count = 0

    def without(text: str) -> str:
        nonlocal count
        mark, bare = (MARK, text.removeprefix(MARK)) if text.startswith(MARK) else ("", text)
        lines = bare.split("\n")
        first, last = _extent(bare, line, path)
        if not 1 <= first <= last <= len(lines):
            raise SettingsError(f"{path} has no line {line} any more.", "Look again.")
        count = last - first + 1
        new = "\n".join(f"# {one}" if first <= number <= last and one.strip() else one for number, one in enumerate(lines, 1))
        if _progress(new, path) <= _progress(bare, path):
            raise SettingsError(f"Line {line} of {path} is not alone at fault: without it there is no less wrong.", _BY_HAND)
        return mark + new

    rewrite(path, without)
    return count


def _extent(text: str, line: int, path: Path) -> tuple[int, int]:
    """The first and the last line of what begins at a line, or around it."""
    try:
        parsed(text, path)
    except SettingsError:
        lines = text.split("\n")
        last = line
        if lines[line - 1: line] and lines[line - 1].lstrip().startswith("["):  # else what is below would come to be another table's
            while last < len(lines) and not lines[last].lstrip().startswith("["):
                last += 1
        return line, last
    written = list(lines_of(text))
    for place, one in enumerate(written):
        first = text.count("\n", 0, one.start) + 1
        last = max(text.count("\n", 0, max(one.end - 1, one.start)) + 1, first)
        if first <= line <= last:
            if one.value is None:
                below = [each for each in written[place + 1:] if each.table == one.table and each.value is not None]
                last = text.count("\n", 0, below[-1].end - 1) + 1 if below else last
            return first, last
    return line, line


def _progress(text: str, path: Path) -> tuple[int, int]:
    """How near a text is to settings that can be used: how far it is read, then how little is wrong with it."""
    try:
        tables = parsed(text, path)
    except SettingsError as error:
        return 0, error.lines[0] if error.lines else 0
    return 1, -len(examined(tables, path.parent).faults)


def _shown(line: str) -> str:
    """A line of the file without anything that may be a key to a service."""
    masked = _KEYS_IN_ADDRESSES.sub(r"\1…", _PAIR.sub(_without_key, line))
    indent = line[: len(line) - len(line.lstrip())].expandtabs(4)
    return (indent + without_keys(one_line(masked)))[:_LONGEST]


def _without_key(found: re.Match[str]) -> str:
    name, value = found[1], found[3].strip("\"'")
    hidden = named_like_key(name) or (name == "key_env" and not is_variable(value))
    return f"{name}{found[2]}…" if hidden else found[0]
