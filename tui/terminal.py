"""The terminal as it may be: none at all, dumb, or gone in the middle of a sentence."""

import asyncio
import os
import select
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    from textual.driver import Driver

_SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Signals that end the program, and the exit codes for them."""
_LOOK = 0.5
"""Seconds between looks whether the terminal is still there."""
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL
Leave = Callable[[int], None]


def unfit() -> str:
    """Why this terminal cannot show the screen and what to do instead; empty when it can."""
    instead = "For a run without a screen: otherminds run WORLD --rounds N --json"
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return f"Otherminds needs a terminal. {instead}"
    if os.environ.get("TERM", "") in ("dumb", "unknown"):
        return f"This terminal can only print lines (TERM={os.environ['TERM']}). {instead}"
    return ""


class LastingFile:
    """The terminal's output. What is written after it has gone is lost, instead of ending the thread that writes: the screen's
    queue would fill up and the program stand still."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, if there is somebody to read."""
        try:
            return self._file.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Flush, if there is somebody to read."""
        try:
            self._file.flush()
        except OSError:
            return

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


def lasting(driver: "type[Driver]") -> "type[Driver]":
    """A driver like `driver` that outlives its terminal."""

    class LastingDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)
            if (file := getattr(self, "_file", None)) is not None:
                setattr(self, "_file", LastingFile(file))  # noqa: B010 - its type is the base's matter

    return cast("type[Driver]", LastingDriver)


def leave_on_signals(leave: Leave) -> None:
    """Call `leave` with an exit code when the program is told to end. Within a running loop."""
    loop = asyncio.get_running_loop()
    for number, code in _SIGNALS.items():
        loop.add_signal_handler(number, partial(leave, code))


async def leave_when_gone(leave: Leave) -> None:
    """Call `leave` when the terminal has gone away, also without a signal."""
    poller = select.poll()
    poller.register(sys.stdin.fileno(), select.POLLHUP)
    while not any(event & _GONE for _, event in poller.poll(0)):  # noqa: ASYNC110 - the kernel tells by no event
        await asyncio.sleep(_LOOK)
    leave(129)
