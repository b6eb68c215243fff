"""The command `doctor`: what is well, what is not, and what to do about it."""

import asyncio
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from engine.records.clean import one_line

if TYPE_CHECKING:
    from engine.doctor import Area, Finding, State

_SIGNS: Final[dict["State", tuple[str, str, str]]] = {
    "ok": ("✓", "", "32"), "warn": ("!", "warning: ", "33"), "bad": ("✗", "bad: ", "31"),
}
"""For each state its sign, what is said before the text, and its colour on a terminal."""
_PLAIN: Final = str.maketrans({"✓": "+", "✗": "x", "→": "-", "…": "..."})
"""For terminals without the better signs."""
_PATIENCE: Final = 1.0
"""Seconds without a word."""
_WIDEST: Final = 120
_NARROWEST: Final = 30
_LONGEST: Final = 24
"""Cells of a name that the others are aligned with."""


def doctor(
    offline: Annotated[bool, typer.Option("--offline", help="Ask no provider and no model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """Look at program, settings, models, servers, embedder, database and terminal. Exit code 1 when something set up does not work.

    Each model in use gets a live call of a few words unless --offline is given.
    """
    from engine.doctor import worst

    found = asyncio.run(_examined(offline))
    state = worst(found)
    if as_json:
        typer.echo(json.dumps({"state": state, "findings": [one.model_dump(mode="json") for one in found]}, indent=2, ensure_ascii=False))
    else:
        for line in _lines(found, state):
            typer.echo(_fit(line))
    raise typer.Exit(1 if state == "bad" else 0)


async def _examined(offline: bool) -> "list[Finding]":
    from engine.doctor import Terminal, examine

    size = shutil.get_terminal_size()
    seen = Terminal(os.environ, sys.stdin.isatty() and sys.stdout.isatty(), (size.columns, size.lines), sys.stdout.encoding)
    waiting: list[frozenset[Area]] = [frozenset()]
    ticker = asyncio.create_task(_ticking(waiting)) if sys.stderr.isatty() else None
    try:
        return await examine(seen, offline=offline, tell=lambda areas: waiting.append(areas))
    finally:
        if ticker is not None:
            ticker.cancel()
            await asyncio.wait({ticker})


async def _ticking(waiting: "Sequence[frozenset[Area]]") -> None:
    """Says on standard error what is waited for, once that has taken a while; leaves nothing behind."""
    width = 0
    try:
        await asyncio.sleep(_PATIENCE)
        while True:
            line = f"asking: {', '.join(sorted(waiting[-1]))} …"
            sys.stderr.write(f"\r{line.ljust(width)}")
            sys.stderr.flush()
            width = len(line)
            await asyncio.sleep(0.2)
    finally:
        if width:
            sys.stderr.write(f"\r{' ' * width}\r")
            sys.stderr.flush()


def _lines(found: "Sequence[Finding]", state: "State") -> Iterator[str]:
    """The findings for people, aligned, with a sign and by word what is not well."""
    on_terminal = sys.stdout.isatty()
    coloured = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = min(_WIDEST, shutil.get_terminal_size().columns) if on_terminal else _WIDEST
    names = max(len(one.name) for one in found if len(one.name) <= _LONGEST)
    indent = " " * (names + 6)
    area = None
    for one in found:
        if one.area != area:
            yield one.area if area is None else f"\n{one.area}"
            area = one.area
        sign, word, colour = _SIGNS[one.state]
        first, *rest = _wrapped(f"{one_line(one.name).ljust(names)}  {word}{one_line(one.text)}", width - 4, indent[4:])
        shown = f"\x1b[{colour}m{sign}\x1b[0m" if coloured else sign
        yield f"  {shown} {first}"
        yield from (f"    {line}" for line in rest)
        if one.advice:
            yield from (f"{indent}{line}" for line in _wrapped(f"→ {one_line(one.advice)}", width - len(indent), "  "))
        if one.command:
            yield f"{indent}  {one_line(one.command)}"  # not broken into lines: it is to be copied
    yield f"\n{_ending(found, state)}"


def _ending(found: "Sequence[Finding]", state: "State") -> str:
    counts = {each: sum(one.state == each for one in found) for each in ("warn", "bad")}
    if state == "ok":
        return "All is well."
    warnings = f"{counts['warn']} {'warning' if counts['warn'] == 1 else 'warnings'}"
    if state == "warn":
        return f"{warnings}; play goes on."
    return f"{counts['bad']} bad{f', {warnings}' if counts['warn'] else ''}."


def _fit(line: str) -> str:
    """The line as standard output can take it."""
    try:
        line.encode(sys.stdout.encoding)
    except (LookupError, UnicodeEncodeError):
        return line.translate(_PLAIN).encode("ascii", "replace").decode()
    return line


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    """Lines of a text; as it is where there is no width to keep to, or too little."""
    if width < _NARROWEST:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [text]
