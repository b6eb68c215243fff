"""Settings that cannot be used: reading them again, opening them in the reader's editor, putting a line aside."""

import asyncio
import os
import shlex
import shutil
import subprocess
from pathlib import Path

from textual import getters, work
from textual.app import SuspendNotSupported

from engine.errors import OthermindsError
from engine.settings import FaultAt, put_aside
from tui.panes.mending import FAULT, fault_of
from tui.panes.rows import RowList
from tui.screens.trying import TryingScreen
from tui.text import count, plain

_EDITORS = ("nano", "vim", "vi", "emacs", "micro", "hx")
"""Editors that are looked for when nobody says which; all of them take a line as `+12`."""


class MendingScreen(TryingScreen):
    """What can be done about faults of settings."""

    tasks = getters.query_one("#tasks", RowList)

    @property
    def fault(self) -> FaultAt | None:
        """The fault under the cursor of Tasks."""
        return fault_of(self.view, self.tasks.cursor)

    @work(group="write")
    async def read_again(self) -> None:
        """Read the settings anew, and say what has come of it."""
        if self.desk is None:
            return
        try:
            await self.desk.reload()
        except OthermindsError:
            self.look()
            self._on_fault()
            if self.view.broken is not None:
                self.say(f"{self.view.broken.short}. r reads it again.", "bad")
            return
        self.look()
        self.say("The settings are right, and hold from now on.", "good")
        self.find_out()

    @work(group="write")
    async def put_aside(self, fault: FaultAt) -> None:
        """Make a comment of a line at fault, and read the settings anew."""
        found = self.view.broken
        if found is None or found.path is None or self.desk is None:
            return
        try:
            lines = await asyncio.to_thread(put_aside, found.path, fault.line)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        said = f"{count(lines, 'line')} from {fault.line} on: a comment now." if lines > 1 else f"Line {fault.line} is a comment now."
        try:
            await self.desk.reload()
        except OthermindsError:
            self.look()
            self._on_fault()
            left = len(self.view.broken.faults) if self.view.broken else 0
            self.say(f"{said} {count(left, 'fault')} left.", "bad")
            return
        self.look()
        self.say(f"{said} The settings are right, and hold from now on.", "good")
        self.find_out()

    def open_file(self) -> None:
        """Open the settings in the reader's editor, at the line at fault; read them anew when it is left."""
        found, fault = self.view.broken, self.fault
        if found is None or found.path is None:
            return
        editor = _editor()
        if not editor:
            self.say(f"No editor is known: set EDITOR, or open {found.path} by hand and press r.", "bad")
            return
        at = [f"+{fault.line}"] if fault is not None and fault.line and Path(editor[0]).name in _EDITORS else []
        try:
            with self.app.suspend():
                subprocess.run([*editor, *at, str(found.path)], check=False)
        except SuspendNotSupported:
            self.say(f"No other program can be shown here: open {found.path} by hand and press r.", "bad")
            return
        except OSError as error:
            self.say(f"{plain(editor[0])} cannot be started: {error.strerror or error}. Set EDITOR, or open {found.path} by hand.", "bad")
            return
        self.read_again()

    def _on_fault(self) -> None:
        """Keep the cursor on a fault while there is one."""
        if self.view.broken is not None and self.fault is None:
            self.tasks.cursor = f"{FAULT}0"


def _editor() -> list[str]:
    """The reader's editor with its options, or one that is there; empty when none is."""
    for name in ("VISUAL", "EDITOR"):
        if said := os.environ.get(name, "").strip():
            try:
                return shlex.split(said)
            except ValueError:
                return [said]
    found = next((path for name in _EDITORS if (path := shutil.which(name))), None)
    return [found] if found else []
