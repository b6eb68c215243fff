"""What the terminal can show, as far as it says."""

import asyncio
import codecs
import shutil
from collections.abc import Mapping
from typing import Final, NamedTuple

from engine.doctor.findings import Finding, State

_WIDE, _HIGH = 80, 24
_LIMIT: Final = 1.0
"""Seconds that tmux is given to answer."""


class Terminal(NamedTuple):
    """A terminal as a process sees it."""

    environ: Mapping[str, str]
    is_there: bool
    """Whether input and output are a terminal, rather than a file or a pipe."""
    size: tuple[int, int]
    """Columns and lines."""
    encoding: str
    """Of what is written to it."""


async def terminal(seen: Terminal) -> list[Finding]:
    """What the screens will find. Where there is no terminal nothing is amiss, only less to be told."""
    kind = seen.environ.get("TERM", "")
    if not seen.is_there:
        return [_finding("kind", "ok", "none here: input or output is a file or a pipe"), _encoding(seen)]
    found = [_kind(kind), _size(seen), _encoding(seen), _colours(seen, kind)]
    if "TMUX" in seen.environ:
        found.append(_tmux(kind, await _asked_tmux(), seen))
    return [*found, _mouse(kind)]


def _kind(kind: str) -> Finding:
    if kind in ("dumb", "unknown"):
        return _finding("kind", "warn", f"can only print lines (TERM={kind})", "Play in another one, or without a screen: otherminds run.")
    return _finding("kind", "ok", kind or "unnamed (TERM is not set)")


def _size(seen: Terminal) -> Finding:
    columns, lines = seen.size
    text = f"{columns} by {lines}"
    if columns < _WIDE or lines < _HIGH:
        return _finding("size", "warn", f"{text} is tight", f"Make it {_WIDE} by {_HIGH} or larger; 120 by 40 shows more at once.")
    return _finding("size", "ok", text)


def _encoding(seen: Terminal) -> Finding:
    try:
        utf8 = codecs.lookup(seen.encoding).name == "utf-8"
    except LookupError:
        utf8 = False
    if utf8:
        return _finding("characters", "ok", "UTF-8")
    return _finding("characters", "warn", f"{seen.encoding or 'unknown'} lacks many of them", "Set LC_ALL=C.UTF-8, or PYTHONUTF8=1.")


def _colours(seen: Terminal, kind: str) -> Finding:
    if seen.environ.get("NO_COLOR"):
        return _finding("colours", "ok", "off: NO_COLOR is set")
    if seen.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return _finding("colours", "ok", "16 million")
    if "256color" in kind:
        return _finding("colours", "ok", "256", "Set COLORTERM=truecolor if your terminal has more.")
    return _finding("colours", "warn", "16 or fewer", "Set TERM=xterm-256color or COLORTERM=truecolor if your terminal has more.")


def _mouse(kind: str) -> Finding:
    if kind in ("linux", "dumb", "unknown"):
        return _finding("mouse", "ok", "none in this terminal; every command has a key")
    return _finding("mouse", "ok", "used where the terminal passes it on; every command has a key")


def _tmux(kind: str, told: str, seen: Terminal) -> Finding:
    version, _, features = told.partition(" ")
    text = f"inside tmux {version}".rstrip()
    if not kind.startswith(("tmux", "screen")):
        return _finding(
            "tmux", "warn", f"{text}, but TERM={kind or '(not set)'}", 'Set `set -g default-terminal "tmux-256color"` in ~/.tmux.conf.'
        )
    true_colour = seen.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit")
    if features and true_colour and "RGB" not in features.split(","):
        return _finding(
            "tmux", "warn", f"{text} passes on 256 colours only", "Set `set -as terminal-features ',*:RGB'` in ~/.tmux.conf."
        )
    return _finding("tmux", "ok", text)


async def _asked_tmux() -> str:
    """Version and features of the terminal that tmux runs in, with a space between; empty when it does not answer."""
    program = shutil.which("tmux")
    if program is None:
        return ""
    try:
        async with asyncio.timeout(_LIMIT):
            process = await asyncio.create_subprocess_exec(
                program, "display-message", "-p", "#{version} #{client_termfeatures}",
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                said, _ = await process.communicate()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
    except (OSError, TimeoutError):
        return ""
    line = said.decode("utf-8", "replace").strip()
    return line if process.returncode == 0 and line.isprintable() else ""


def _finding(name: str, state: State, text: str, advice: str = "") -> Finding:
    return Finding(area="terminal", name=name, state=state, text=text, advice=advice)
