"""Everything a person asks of models and sets about them: who answers what, what it costs, caps, tests, servers on this machine."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from engine.errors import CommandError, SettingsError
from engine.events import CallChanged, Called, Listener, Trouble
from engine.folders import data_folder
from engine.llm.caps import Caps
from engine.llm.local_servers import endpoint_for, facts_of, find_servers
from engine.llm.meter import Meter
from engine.llm.offers import offered_instead
from engine.llm.opening import Models, open_models
from engine.llm.remote.bridge import shared_bridge
from engine.llm.trying import LIMIT, patience, try_model
from engine.llm.underway import CallsUnderWay
from engine.llm.usage_log import SaveLog, UsageLog
from engine.model_proposals import Due, foretold, proposed
from engine.records.hints import HintKey, ModelHints
from engine.records.models import Call, CapState, EndpointView, Forecast, LocalServer, Proposal, RouteView, Speaking, TestReport, Usage
from engine.records.prompts import Task
from engine.settings import (
    STORYTELLER,
    EndpointSettings,
    Settings,
    change_all,
    choosers,
    load_or_stand_in,
    load_settings,
    settings_path,
    suggested,
    with_hints,
)
from engine.settings.environment import overridden
from engine.settings.hints import first_of, offers
from engine.settings.keys import dotted, parsed_key
from engine.setup import Setup


class ModelDesk:
    """A person's desk over models: of one open game, or of none. What is set is written to `settings.toml` and holds at once, also for a
    game that is being played: calls under way end as they began."""

    fault: SettingsError | None = None
    """Why the settings cannot be used as they are now; then what held before holds, or what is built in."""

    def __init__(
        self, emit: Listener = lambda event: None, *, hints: ModelHints | None = None, setup: Setup | None = None,
        due: Callable[[], Awaitable[Due]] | None = None, apply: Callable[[Models], None] = lambda models: None,
        environ: Mapping[str, str] = os.environ, save: Path | None = None,
    ) -> None:
        """`emit` hears of calls, waiting and standing in; `hints` are the world's; `due` tells what the next round is to do; `apply`
        is given the models whenever they have changed; `save` is the file of the open game. Raises `SettingsError` for settings that
        cannot be used, unless `setup` lets the storyteller stand in."""
        self._emit, self._hints, self._setup, self._due, self._apply = emit, hints or ModelHints(), setup or Setup(), due, apply
        self._environ = environ
        self._seen = _stamp(settings_path(environ))
        if self._setup.stand_in:
            self._written, self.fault = load_or_stand_in(environ)
        else:
            self._written = load_settings(environ=environ)
        self.settings = self._in_force()
        """In force now: the file's, with the environment and what holds for this run over it and the world's suggestions below."""
        self.meter = Meter()
        self.meter.listen(lambda call: emit(Called(call=call)))
        self.calls = CallsUnderWay(lambda call: emit(CallChanged(call=call)))
        """What is under way, and a person's word on it."""
        self.calls.ask_first(self._setup.asks)
        self._log = UsageLog(data_folder(environ))
        self._spent = SaveLog(data_folder(environ), save) if save is not None else None
        self.meter.listen(self._keep)
        self._caps = Caps(self.settings.caps, self.meter, self._log)
        self._readying: asyncio.Task[None] | None = None
        self.models = self._opened()

    # looking
    def routes(self) -> tuple[RouteView, ...]:
        """Who answers each task, the first that can."""
        return self.models.views()

    def speaking(self, task: Task) -> Speaking:
        """Who answers a task now, and whether instead of another."""
        return self.models.speaking(task)

    @property
    def getting_ready(self) -> str:
        """What calls would have to wait for now, for people; empty when nothing is under way."""
        if self._readying is None or self._readying.done():
            return ""
        return "Loading the model adapter…" if self.models.loading else "Looking up windows and prices…"

    def endpoints(self) -> tuple[EndpointView, ...]:
        """All models that routes or settings name."""
        return self.models.endpoint_views()

    def caps(self) -> tuple[CapState, ...]:
        """The caps that are set, with what is used of them."""
        return self._caps.states()

    def suggested(self) -> Mapping[HintKey, str]:
        """Models that the world suggests and that do not answer already, whether or not something else is set."""
        return {} if self._setup.model else {key: name for key, name in offers(self._hints).items() if first_of(self.settings, key) != name}

    async def proposal(self) -> Proposal:
        """What the world's suggestions would come to, all of them: what they cost is found out, and no model is called."""
        return await proposed(self.suggested(), self.settings, suggested(self._written, self._hints), self._due)

    async def usage(self) -> Usage:
        """What the day has taken, and the save in all its sittings, of providers and servers."""
        today = await asyncio.to_thread(self._log.today)
        return Usage(today=today, save=await asyncio.to_thread(self._spent.sum) if self._spent is not None else None)

    async def forecast(self) -> Forecast:
        """What the next round may take. Raises `CommandError` without a game."""
        if self._due is None:
            raise CommandError("No game is open.", "Open one to see what its next round may take.")
        return foretold(await self._due(), self.models, self.meter, self.caps())

    async def ready(self) -> None:
        """Know the windows and prices of all models in use, as far as they can be known in some seconds. Never fails."""
        if self._readying is None:
            self._readying = asyncio.create_task(self.models.ready(), name="otherminds-models")
        if not self._readying.done():
            await asyncio.wait({self._readying})

    async def test(self, name: str) -> TestReport:
        """One small live call to an endpoint, by its name in settings or litellm's. Counted by the meter, held by the caps."""
        return await self._tried(self.models, self.settings, name)

    async def test_found(self, server: LocalServer, model: str) -> TestReport:
        """The same of a model of a server on this machine that is not set up: nothing is written for it."""
        name, endpoint = endpoint_for(server, model, await facts_of(server, model))
        settings = Settings(endpoint={name: endpoint}, provider=self.settings.provider)
        meter = Meter()  # the forecasts of the one in use go on as they are
        meter.listen(self.meter.add)
        return await self._tried(open_models(settings, meter, self._caps, self._emit, usage_log=self._log), settings, name)

    async def servers(self) -> tuple[LocalServer, ...]:
        """Model servers that answer on this machine."""
        return await find_servers(environ=self._environ)

    # setting; each raises `SettingsError`, and then nothing has changed
    async def set(self, key: str, value: object | None) -> None:
        """Write one setting (`models.actor`, `caps.run_tokens`); None takes it out."""
        await self.set_all({key: value})

    async def set_all(self, changes: Mapping[str, object | None]) -> None:
        """Write several settings, all or none."""
        for key in changes:
            if variable := _overriding(key, self._environ):
                raise SettingsError(f"{variable} in the environment stands over `{key}`.", "Take the variable out, and start again.")
        await asyncio.to_thread(change_all, settings_path(self._environ), changes)
        await self.reload()

    async def use(self, server: LocalServer, model: str, task: str = "default") -> None:
        """Let a model of a server on this machine answer a task, or all: its endpoint is written, and the task's line."""
        name, endpoint = endpoint_for(server, model, await facts_of(server, model))
        if self._written.endpoint.get(name, EndpointSettings()).model == model:  # what a person has set of it stays
            await self.set(f"models.{task}", name)
            return
        table = endpoint.model_dump(exclude_none=True, exclude_unset=True)
        await self.set_all({dotted(("endpoint", name)): table, f"models.{task}": name})

    async def refresh(self) -> None:
        """Let settings hold that another program has written since. Faults in them are told once; then the old ones still hold."""
        now = await asyncio.to_thread(_stamp, settings_path(self._environ))
        if now == self._seen:
            return
        self._seen = now
        try:
            await self.reload()
        except SettingsError as error:
            self._emit(Trouble(text=f"The settings were changed, and cannot be used: {error}"))

    async def reload(self) -> None:
        """Read the settings anew and let them hold."""
        before = self.settings
        self._seen = await asyncio.to_thread(_stamp, settings_path(self._environ))
        try:
            self._written = await asyncio.to_thread(load_settings, environ=self._environ)
        except SettingsError as error:
            self.fault = error
            raise
        self.fault = None
        self.settings = self._in_force()
        self._caps.change(self.settings.caps)
        if before.model_copy(update={"caps": self.settings.caps}) != self.settings:  # else what was learned of the models stays
            self.close()
            self.models = self._opened()
            self._apply(self.models)

    def close(self) -> None:
        """Look after nothing any more. Models can still be called."""
        if self._readying is not None:
            self._readying.cancel()
            self._readying = None

    async def _tried(self, models: Models, settings: Settings, name: str) -> TestReport:
        resolved = settings.resolved(name)
        view = next((one for one in models.endpoint_views() if one.name == name), None)
        return await try_model(
            models.endpoint(name), name, models.remote(name), offered=lambda: offered_instead(resolved, shared_bridge()),
            limit=LIMIT if view is None else patience(view),
        )

    def _keep(self, call: Call) -> None:
        """Count a call for the save, in which costs of earlier sittings are not forgotten."""
        if self._spent is not None and call.model != STORYTELLER:
            self._spent.add(call)

    def _in_force(self) -> Settings:
        return with_hints(self._setup.over(self._written), self._hints)

    def _opened(self) -> Models:
        chosen = choosers(self._written, self._environ, self._hints)
        if self._setup.model is not None:
            chosen = dict.fromkeys(chosen, "environment")
        return open_models(self.settings, self.meter, self._caps, self._emit, usage_log=self._log, calls=self.calls, sources=chosen)


def _overriding(key: str, environ: Mapping[str, str]) -> str:
    """The variable of the environment that stands over a setting, or over a part of it; empty when none does."""
    place = parsed_key(key)
    return next((variable for found, variable in overridden(environ).items() if found[: len(place)] == place), "")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells whether a file was written since; None when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
