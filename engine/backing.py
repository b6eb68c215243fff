"""Copies of a save made now and then while it is played, beside play: no round waits for one."""

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from engine.errors import SaveError
from engine.events import Listener, Trouble
from engine.storage.backups import Backup, back_up, backups_of
from engine.storage.opening import open_save
from engine.storage.restoring import same_as

EVERY: Final = 600.0
"""Seconds of play from one copy to the next (DESIGN 16)."""


class Backing:
    """Copies one open save. The first copy of a sitting is made before its first round, unless nothing changed since the last copy."""

    def __init__(self, save: Path, emit: Listener, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        self._save, self._emit, self._every, self._clock = save, emit, every, clock
        self._copied: float | None = None
        self._task: asyncio.Task[None] | None = None
        self._told = ""

    def round_begins(self) -> None:
        """Begin a copy when it is time for one."""
        now = self._clock()
        if self._task is not None or (self._copied is not None and now - self._copied < self._every):
            return
        first, self._copied = self._copied is None, now
        self._task = asyncio.create_task(self._copy(first))

    async def close(self) -> None:
        """Wait for the copy that is under way."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _copy(self, first: bool) -> None:
        try:
            await asyncio.to_thread(copied, self._save, unless_the_same=first)
            self._told = ""
        except SaveError as error:  # play goes on: the save itself is sound
            if str(error) != self._told:
                self._told = str(error)
                self._emit(Trouble(text=str(error)))
        finally:
            self._task = None


def copied(save: Path, *, unless_the_same: bool = False) -> Backup | None:
    """Copy a save that may be in use; with `unless_the_same` only when something changed since the last copy. Blocking. Raises
    `SaveError`."""
    with closing(open_save(save, read_only=True)) as opened:
        if unless_the_same and same_as(opened.conn, next(iter(backups_of(save)), None)):
            return None
        return back_up(opened.conn, save, "play")
