"""Trying models: one small live call, which can be stopped; of those that are set up, and of those that were only found."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal

from textual import work
from textual.timer import Timer

from engine.errors import OthermindsError
from engine.records.models import LocalServer, TestReport
from tui.figures import duration
from tui.host import GameHost
from tui.models_view import Slot
from tui.screens.setting import SettingScreen
from tui.text import plain

_TURN = 0.1
"""Seconds for which one picture of the spinner stands."""
_SPINNER = "▖▘▝▗"


class TryingScreen(SettingScreen):
    """Asks a model for a few words, and says what came of it."""

    def __init__(self, host: GameHost) -> None:
        super().__init__(host)
        self._spinner: Timer | None = None
        self._began = 0.0

    @work(group="test", exclusive=True)
    async def try_model(self, name: str) -> None:
        """One small live call to a model that is set up. Escape stops it at once."""
        if (desk := self.desk) is not None:
            await self._try(name, lambda: desk.test(name))

    @work(group="test", exclusive=True)
    async def try_found(self, server: LocalServer, model: str) -> None:
        """One small live call to a model of a server that is not set up."""
        if (desk := self.desk) is not None:
            await self._try(model, lambda: desk.test_found(server, model))

    async def _try(self, name: str, call: Callable[[], Awaitable[TestReport]]) -> None:
        self.view = replace(self.view, testing=name, reports={key: one for key, one in self.view.reports.items() if key != name})
        self._began = time.monotonic()
        self._spinner = self._spinner or self.set_interval(_TURN, self._spin)
        self._spin()
        self.refresh_bindings()
        try:
            report = await call()
        except OthermindsError as error:
            self._tried(f"{plain(name)}: {error}", "bad")
        except asyncio.CancelledError:
            self._tried(f"Stopped. {plain(name)} was not waited for.", "plain")
            raise
        else:
            self.view = replace(self.view, reports={**self.view.reports, name: report})
            took = f" in {duration(report.seconds)}" if report.seconds else ""
            self._tried(f"{plain(name)} answered{took}." if report.ok else f"{plain(name)}: {report.text}", "good" if report.ok else "bad")
            self.look()

    def _spin(self) -> None:
        passed = time.monotonic() - self._began
        sign = _SPINNER[int(passed / _TURN) % len(_SPINNER)]
        self.say(f"{sign} {plain(self.view.testing)} is asked for a few words… {passed:.0f} s. esc stops.")

    def _tried(self, text: str, kind: Literal["plain", "good", "bad"]) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None
        self.view = replace(self.view, testing="")
        self.say(text, kind)
        self.refresh_bindings()

    @work(group="write")
    async def use(self, server: LocalServer, model: str, slot: Slot) -> None:
        """Let a server's model answer a task, and see at once whether it does; what is wrong is said in the last line but one."""
        if problem := await self.used(server, model, slot):
            self.say(problem, "bad")
        elif (known := self.view.known(server, model)) is not None and not self.view.testing:
            self.try_model(known.name)
