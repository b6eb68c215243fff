"""TOML as text that a person wrote: one setting is changed in it, and all else stays letter for letter, comments and order too.

Libraries that keep the style of a file count comments between two tables to the first of them: they go when it goes, and new keys
come to stand below them. Here a file is a row of lines that open a table or set a key; only such lines are touched.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from engine.settings.keys import Key, dotted, quoted, split_key

_SKIPPED: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY: Final = re.compile(r"""(?:[^"'=\]\n]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')+""")
_VALUE: Final = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[\[\]{}\n]|[^"'#\[\]{}\n]+''', re.DOTALL
)
_LINE: Final = re.compile(r"[^\n]*\n?")
_INDENT: Final = re.compile(r"[ \t]*")


class Line(NamedTuple):
    """A line that opens a table, or as many as set a key."""

    path: Key
    """Of the table, or of the key with that of its table in front."""
    table: Key
    """The table that is opened, or that the key stands in."""
    start: int
    """Where the line begins, with what it is indented by."""
    value: slice | None
    """Where the value stands; None for a table."""
    end: int
    """Where the next line begins."""


def with_value(text: str, path: Key, value: object) -> str:
    """The text of a TOML file with a setting set. Of a table that has lines of its own each key is set, or taken out.

    The text must be valid TOML, the path of two parts at least. Whether the result is valid and says what it should is for the
    caller to see: a file may be written in a way that leaves no place for a key.
    """
    lines = list(lines_of(text))
    holder = _holder(lines, path)
    if holder is not None and holder.value is not None:
        inner = path[len(holder.path):]
        new = put(_read(text[holder.value]), inner, value) if inner else value
        return text[: holder.value.start] + rendered(new) + text[holder.value.stop:]
    below = [line for line in lines if line.path[: len(path)] == path]
    if not isinstance(value, Mapping) or not below:
        return _inserted(without(text, path) if below else text, path, value)
    for name in {line.path[len(path)] for line in below if len(line.path) > len(path)} - set(value):
        text = without(text, (*path, name))
    for name, inner_value in value.items():
        text = with_value(text, (*path, name), inner_value)
    return text


def without(text: str, path: Key) -> str:
    """The text of a TOML file without a setting, or without a table and all that it holds. Comments on lines of their own stay."""
    lines = list(lines_of(text))
    holder = _holder(lines, path)
    if holder is not None and holder.value is not None and holder.path != path:
        rest = taken(_read(text[holder.value]), path[len(holder.path):])
        return text[: holder.value.start] + rendered(rest) + text[holder.value.stop:]
    for line in reversed(lines):
        if line.path[: len(path)] == path:
            before, after = text[: line.start], text[line.end:]
            text = before + (after[1:] if after.startswith("\n") and before.endswith("\n\n") else after)
    return text


def rendered(value: object) -> str:
    """A value as TOML writes it on one line. Raises `TypeError` for what TOML has no way to write."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str() | PurePath():
            return quoted(str(value))
        case Mapping():
            pairs = [f"{dotted((name,))} = {rendered(inner)}" for name, inner in value.items()]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
        case Sequence():
            return f"[{', '.join(map(rendered, value))}]"
        case _:
            raise TypeError(f"TOML has no {type(value).__name__}.")


def put(table: object, path: Key, value: object) -> dict[str, object]:
    """A copy of a table with a value set, however deep. What is no table on the way there is replaced by one."""
    found = dict(table) if isinstance(table, Mapping) else {}
    first, *rest = path
    return {**found, first: put(found.get(first), tuple(rest), value) if rest else value}


def taken(table: object, path: Key) -> dict[str, object]:
    """A copy of a table without the value at a path, if there is any."""
    found = dict(table) if isinstance(table, Mapping) else {}
    first, *rest = path
    if not rest:
        found.pop(first, None)
    elif isinstance(found.get(first), Mapping):
        found[first] = taken(found[first], tuple(rest))
    return found


def _holder(lines: Sequence[Line], path: Key) -> Line | None:
    """The line whose value is the setting at a path, or a table in which it is."""
    return next((line for line in lines if line.value is not None and line.path == path[: len(line.path)]), None)


def lines_of(text: str) -> Iterator[Line]:
    """The lines of a TOML file, which must be valid, that open a table or set a key, in their order."""
    table: Key = ()
    at = 0
    while (at := _end(_SKIPPED, text, at)) < len(text):
        start = text.rfind("\n", 0, at) + 1
        if text[at] == "[":
            at += 2 if text.startswith("[[", at) else 1
            end = _end(_KEY, text, at)
            table = split_key(text[at:end]) or ()
            line = Line(table, table, start, None, _end(_LINE, text, end))
        else:
            end = _end(_KEY, text, at)
            key = split_key(text[at:end].rstrip()) or ()
            value = _value(text, _end(_INDENT, text, end + 1))
            line = Line((*table, *key), table, start, value, _end(_LINE, text, value.stop))
        yield line
        at = line.end


def _value(text: str, start: int) -> slice:
    depth, at, stop = 0, start, start
    while (found := _VALUE.match(text, at)) is not None:
        token = found[0]
        if not depth and token[0] in "#\n":
            break
        at = found.end()
        depth += (token in "[{") - (token in "]}")
        if token[0] not in "#\n":
            stop = at - len(token) + len(token.rstrip()) if token.strip() else stop
    return slice(start, stop)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _read(value: str) -> object:
    return tomllib.loads(f"x = {value}")["x"]


def _inserted(text: str, path: Key, value: object) -> str:
    """The text with a new line: below an example of it in a comment, or at the end of its table, or in a new table at the end."""
    lines = list(lines_of(text))
    parent, end = path[:-1], "\r\n" if "\r\n" in text else "\n"
    opened = [line for line in lines if line.table == parent]
    near = opened or [line for line in lines if line.value and len(line.table) < len(parent) and line.path[: len(parent)] == parent]
    if near:
        last = near[-1]
        line = f"{text[last.start:_end(_INDENT, text, last.start)]}{dotted(path[len(last.table):])} = {rendered(value)}{end}"
        at = (_below_example(text, lines, parent, path[-1]) if opened else None) or last.end
        return text[:at] + ("" if text[:at].endswith("\n") else end) + line + text[at:]
    before = text if not text or text.endswith("\n") else text + end
    gap = end if before and not before.endswith(end + end) else ""
    return f"{before}{gap}[{dotted(parent)}]{end}{dotted(path[-1:])} = {rendered(value)}{end}"


def _below_example(text: str, lines: Sequence[Line], table: Key, name: str) -> int | None:
    """Where the line after the last comment like `# actor = "..."` in a table begins."""
    begins = next(line.end for line in lines if line.table == table)
    ends = next((line.start for line in lines if line.start >= begins and line.table != table), len(text))
    example = re.compile(rf"^[ \t]*#[ \t]*{re.escape(name)}[ \t]*=[^\n]*\n", re.MULTILINE)
    found = [comment.end() for comment in example.finditer(text, begins, ends)]
    return next((at for at in reversed(found) if not any(line.start < at < line.end for line in lines)), None)
