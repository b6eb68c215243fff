"""What the Models screen asks of the desk: reading it, trying models, and having settings written."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from textual import getters, work
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import OthermindsError, SettingsError
from engine.records.models import CapName, LocalServer
from engine.settings import STORYTELLER, broken
from engine.settings.amounts import dollars, tokens
from tui.dialogs.route import Choice, RouteDraft
from tui.host import GameHost
from tui.models_view import By, Desk, ModelsView, Slot, environment, looked
from tui.panes.endpoint import INSTALL, absent
from tui.panes.routes import slot_name
from tui.panes.spending import kept, no_cap
from tui.screens.playbars import said
from tui.text import capital, plain
from tui.view import Note

_LIVE = 1.0
"""Seconds between looks at what calls have taken meanwhile: play goes on behind this screen."""
_FINDING_OUT = "Looking up windows and prices…"


class SettingScreen(Screen[None]):
    """Holds the view and keeps it true. What it is drawn on and which keys there are is its subclass's matter."""

    view: reactive[ModelsView] = reactive(ModelsView(), init=False, repaint=False)
    note = getters.query_one("#models-note", Static)

    def __init__(self, host: GameHost) -> None:
        super().__init__()
        self.host = host
        self.desk: Desk | None = None
        self.by: By = "task"
        self._said = ""
        self._foretold: object = None
        """At what the forecast was reckoned."""
        self._added_up: object = None
        """At what was added up what day and save have taken."""
        self._fault: SettingsError | None = None
        """That of the view."""

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
            await self.desk.refresh()
            self.view = replace(self.view, environment=environment())
        except OthermindsError as error:
            self.say(f"{error} r tries again.", "bad")
            return
        self.look()
        if self.view.broken is not None:
            self.say("The settings cannot be used. enter opens the file, x puts the line aside, r reads it again.", "bad")
        elif not self.view.alone:
            self.say(_FINDING_OUT)
        self.find_servers()
        self.find_out()
        self.set_interval(_LIVE, self.look)

    def look(self) -> None:
        """Read what has changed."""
        if self.desk is None or not self.alive:
            return
        view = looked(self.view, self.desk, self.by)
        if self.desk.fault is not self._fault:
            self._fault = self.desk.fault
            view = replace(view, broken=broken(self._fault) if self._fault is not None else None)
        if view != self.view:
            self.view = view
        if (view.total, view.settings) != self._added_up:
            self._added_up = view.total, view.settings
            self.add_up()
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

    @work(group="usage", exclusive=True)
    async def add_up(self) -> None:
        """Read what the day and the save have taken, beyond this sitting."""
        if self.desk is not None:
            usage = await self.desk.usage()
            self.view = replace(self.view, usage=usage)

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

    # having written

    async def written(self, key: str, value: object | None, done: str) -> str:
        """Write a setting, say so, and show what has come of it. Returns what is wrong when it could not be written."""
        return await self.all_written({key: value}, done)

    async def all_written(self, changes: Mapping[str, object | None], done: str) -> str:
        """Write several settings, all or none; otherwise as `written`."""
        if self.desk is None:
            return "Settings could not be read yet."
        try:
            if len(changes) == 1:
                await self.desk.set(*next(iter(changes.items())))
            else:
                await self.desk.set_all(changes)
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
            return await self.written(f"caps.{cap}", None, no_cap(cap))
        amount = dollars(text) if cap.endswith("money") else tokens(text)
        if not amount:
            return "A sum in US dollars, please: 2.50" if cap.endswith("money") else "A whole number of tokens, please: 200,000 or 1.5M"
        if problem := await self.written(f"caps.{cap}", amount, ""):
            return problem
        done, goes_on = kept(cap, next((state for state in self.view.caps if state.cap == cap), None))
        self.say(done, "good" if goes_on else "bad")
        return ""

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
