"""What the Models screen asks of the desk: reading it, trying models, and having settings written."""

import asyncio
import re
import time
from dataclasses import replace
from typing import Literal

from textual import getters, work
from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from engine.errors import OthermindsError
from engine.records.models import CapName, LocalServer
from engine.settings import STORYTELLER
from tui.dialogs.route import Choice, RouteDraft
from tui.figures import CAPS, duration
from tui.host import GameHost
from tui.models_view import By, Desk, ModelsView, Slot, environment, looked
from tui.panes.endpoint import INSTALL, absent
from tui.panes.routes import slot_name
from tui.screens.playbars import said
from tui.text import capital, plain
from tui.view import Note

_LIVE = 1.0
"""Seconds between looks at what calls have taken meanwhile: play goes on behind this screen."""
_FINDING_OUT = "Looking up windows and prices…"
_TURN = 0.1
"""Seconds for which one picture of the spinner stands."""
_SPINNER = "▖▘▝▗"
_AMOUNT = re.compile(r"(\d{1,12}|\d{1,3}(,\d{3}){1,3})(\.\d{1,8})?")


class SettingScreen(Screen[None]):
    """Holds the view and keeps it true. What it is drawn on and which keys there are is its subclass's matter."""

    view: reactive[ModelsView] = reactive(ModelsView(), init=False, repaint=False)
    note = getters.query_one("#models-note", Static)

    def __init__(self, host: GameHost) -> None:
        super().__init__()
        self.host = host
        self.desk: Desk | None = None
        self.by: By = "task"
        self._spinner: Timer | None = None
        self._began = 0.0
        self._said = ""
        self._foretold: object = None
        """At what the forecast was reckoned."""

    # reading

    @property
    def alive(self) -> bool:
        """Whether there is anything to draw on: leaving takes the panes away before it ends what the screen still does."""
        return self.is_attached and bool(self.query("#models-note"))

    @work(group="open", exclusive=True)
    async def open(self) -> None:
        """Take the desk, show it, and look for servers."""
        try:
            self.desk = await self.host.models()
            self.view = replace(self.view, environment=environment())
        except OthermindsError as error:
            self.say(f"{error} r tries again.", "bad")
            return
        self.look()
        if not self.view.alone:
            self.say(_FINDING_OUT)
        self.find_servers()
        self.find_out()
        self.set_interval(_LIVE, self.look)

    def look(self) -> None:
        """Read what has changed."""
        if self.desk is None or not self.alive:
            return
        view = looked(self.view, self.desk, self.by)
        if view != self.view:
            self.view = view
        game = self.host.game
        now = (view.routes, view.caps, game.world.round if game else None)
        if self.host.running:
            self.view = replace(self.view, forecast=None, no_forecast="It is reckoned when play rests.")
            self._foretold = None
        elif now != self._foretold:
            self._foretold = now
            self.foretell()

    @work(group="ready", exclusive=True)
    async def find_out(self) -> None:
        """Learn what windows and prices the models in use have."""
        if self.desk is not None:
            await self.desk.ready()
            self.look()
            if self._said == _FINDING_OUT:
                self.say("")

    @work(group="forecast", exclusive=True)
    async def foretell(self) -> None:
        """Reckon what the next round may take."""
        if self.desk is None:
            return
        if self.host.game is None:
            self.view = replace(self.view, no_forecast="There is a forecast while a game is open: M in Play.")
            return
        try:
            forecast = await self.desk.forecast()
        except OthermindsError as error:
            self.view = replace(self.view, forecast=None, no_forecast=str(error))
        else:
            self.view = replace(self.view, forecast=forecast, no_forecast="")

    @work(group="servers", exclusive=True)
    async def find_servers(self) -> None:
        """Look for model servers on this machine."""
        if self.desk is None:
            return
        self.view = replace(self.view, servers=None, trouble="")
        try:
            servers = await self.desk.servers()
        except OthermindsError as error:
            self.view = replace(self.view, servers=(), trouble=str(error))
        else:
            self.view = replace(self.view, servers=servers)

    # trying

    @work(group="test", exclusive=True)
    async def try_model(self, name: str) -> None:
        """One small live call. Escape stops it at once."""
        if self.desk is None:
            return
        self.view = replace(self.view, testing=name, reports={key: one for key, one in self.view.reports.items() if key != name})
        self._began = time.monotonic()
        self._spinner = self._spinner or self.set_interval(_TURN, self._spin)
        self._spin()
        self.refresh_bindings()
        try:
            report = await self.desk.test(name)
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

    # having written

    async def written(self, key: str, value: object | None, done: str) -> str:
        """Write a setting, say so, and show what has come of it. Returns what is wrong when it could not be written."""
        if self.desk is None:
            return "Settings could not be read yet."
        try:
            await self.desk.set(key, value)
        except OthermindsError as error:
            return str(error)
        self.say(done, "good")
        self.look()
        self.find_out()
        return ""

    async def used(self, server: LocalServer, model: str, slot: Slot) -> str:
        """Let a server's model answer a task. Returns what is wrong when that could not be written."""
        if self.desk is None:
            return "Settings could not be read yet."
        try:
            await self.desk.use(server, model, slot)
        except OthermindsError as error:
            return str(error)
        self.say(f"{plain(model)} answers {slot_name(slot)} from now on. x at the task takes that back.", "good")
        self.look()
        self.find_out()
        return ""

    @work(group="write")
    async def write(self, key: str, value: object | None, done: str) -> None:
        """Write a setting; what is wrong is said in the last line but one."""
        if problem := await self.written(key, value, done):
            self.say(problem, "bad")

    @work(group="write")
    async def use(self, server: LocalServer, model: str, slot: Slot) -> None:
        """Let a server's model answer a task, and see at once whether it does; what is wrong is said in the last line but one."""
        if problem := await self.used(server, model, slot):
            self.say(problem, "bad")
        elif (known := self.view.known(server, model)) is not None and not self.view.testing:
            self.try_model(known.name)

    async def keep_route(self, slot: Slot, draft: RouteDraft) -> str:
        """Write who answers a task. Returns what is wrong when that could not be written."""
        server = next((one for one in self.view.servers or () if draft.api_base and one.api_base == draft.api_base), None)
        if server is not None:
            model = next((one for one in server.models if plain(one) == draft.model), draft.model)
            if problem := await self.used(server, model, slot):
                return problem
            if isinstance(draft.value, str):
                return ""
            known = self.view.known(server, model)
            draft = replace(draft, model=known.name if known else model)
        return await self.written(f"models.{slot}", draft.value, f"{draft.model} answers {slot_name(slot)} from now on.")

    async def keep_cap(self, cap: CapName, text: str) -> str:
        """Write a cap; an empty text takes it out. Returns what is wrong when it could not be written."""
        if not text:
            return await self.written(f"caps.{cap}", None, f"No cap on {CAPS[cap]} any more.")
        amount = _amount(text.removeprefix("$"))
        money = cap.endswith("money")
        if amount is None or amount <= 0 or not (money or amount == int(amount)):
            return "A sum in US dollars, please: 2.50" if money else "A whole number of tokens, please: 200,000"
        value: object = amount if money else int(amount)
        return await self.written(f"caps.{cap}", value, f"The cap on {CAPS[cap]} is set. n in Play goes on.")

    async def keep_embedder(self, text: str) -> str:
        """Write which embedder finds memories; an empty text takes it back. Returns what is wrong when it could not be written."""
        if not text:
            return await self.written("models.embed", None, "hash768 finds memories again, from the next opening of a save on.")
        if text == "minilm" and absent():
            return f"minilm is not installed here. Leave with esc, install it with `{INSTALL}`, and start again."
        return await self.written("models.embed", text, f"{text} finds memories from the next opening of a save on.")

    # what can be chosen

    def choices(self) -> list[Choice]:
        """Models that are set up, found on this machine or suggested by the world."""
        view = self.view
        found = [Choice(one.name, one.model if one.model != one.name else "") for one in view.endpoints]
        names = {choice.name for choice in found}
        found += [] if STORYTELLER in names else [Choice(STORYTELLER, "built in")]
        for server in view.servers or ():
            found += [Choice(model, server.api_base, server.api_base) for model in server.models if view.known(server, model) is None]
        return found + [Choice(name, "the world suggests it") for name in dict.fromkeys(view.suggested.values()) if name not in names]

    def draft_of(self, slot: Slot) -> RouteDraft:
        """Who answers a task, as settings have it; for a task without any, as the default has it."""
        models = self.view.settings.models
        chosen = next((models.answering(route.task) for route in self.view.routes if route.task == slot), models.default)
        return RouteDraft(chosen.model, "", chosen.fallbacks, chosen.temperature, chosen.timeout)

    def named(self, key: str) -> str:
        """What the reader calls what calls were added up by."""
        game = self.host.game
        match self.view.by:
            case "entity":
                if game is None or key not in game.world.entities:
                    return "nobody"
                return capital(game.name(key, None if key == game.played else game.played))
            case "round":
                return f"round {key}"
        return key

    # saying

    def say(self, text: str, kind: Literal["plain", "good", "bad"] = "plain") -> None:
        """Say it in the last line but one; over the screen too when it is bad and too long for that."""
        if not self.alive:
            return
        if kind == "bad" and len(text) > self.size.width - 4:
            self.notify(plain(text), severity="warning", markup=False)
        self._said = text
        self.note.update(said(Note(text, kind)), layout=False)


def _amount(text: str) -> float | None:
    """A number as people write it, with commas between thousands only; None when it is none."""
    return float(text.replace(",", "")) if _AMOUNT.fullmatch(text) else None
