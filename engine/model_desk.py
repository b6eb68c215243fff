"""Everything a person asks of models and sets about them: who answers what, what it costs, caps, tests, servers on this machine."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from engine.errors import CommandError, SettingsError
from engine.events import CallChanged, Called, Listener, Trouble
from engine.folders import data_folder
from engine.llm.caps import Caps
from engine.llm.local_servers import endpoint_for, facts_of, find_servers
from engine.llm.meter import Meter
from engine.llm.offers import offered_instead
from engine.llm.opening import Models, open_models
from engine.llm.remote.bridge import shared_bridge
from engine.llm.trying import try_model
from engine.llm.underway import CallsUnderWay
from engine.llm.usage_log import UsageLog
from engine.records.hints import HintKey, ModelHints
from engine.records.models import CapState, EndpointView, Forecast, LocalServer, RouteView, Speaking, Spent, TestReport
from engine.records.prompts import Task
from engine.settings import (
    STORYTELLER,
    EndpointSettings,
    Settings,
    change_all,
    choosers,
    load_settings,
    settings_path,
    suggested,
    with_hints,
)
from engine.settings.environment import overridden
from engine.settings.keys import dotted, parsed_key
from engine.setup import Setup

_DECODE: Final = (700, 150)
"""Tokens of prompt and reply that splitting a piece of prose takes, before any was seen."""
_ANSWER: Final = 90
"""Tokens of an actor's reply, before any was seen."""
_HANDOFF: Final = (700, 400)
"""Tokens of a handoff's prompt besides the moments it is about, and of its reply, before any was seen."""


class Due(NamedTuple):
    """What the next round is to do."""

    beats: int
    handoffs: int
    prompt_tokens: int
    """Of one actor's prompt, as it would be now."""
    buffer_tokens: int
    """Of the moments that one handoff would be about."""


class ModelDesk:
    """A person's desk over models: of one open game, or of none. What is set is written to `settings.toml` and holds at once, also for a
    game that is being played: calls under way end as they began."""

    def __init__(
        self, emit: Listener = lambda event: None, *, hints: ModelHints | None = None, setup: Setup | None = None,
        due: Callable[[], Awaitable[Due]] | None = None, apply: Callable[[Models], None] = lambda models: None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`emit` hears of calls, waiting and standing in; `hints` are the world's; `due` tells what the next round is to do; `apply`
        is given the models whenever they have changed. Raises `SettingsError` for settings that cannot be used."""
        self._emit, self._hints, self._setup, self._due, self._apply = emit, hints or ModelHints(), setup or Setup(), due, apply
        self._environ = environ
        self._seen = _stamp(settings_path(environ))
        self._written = load_settings(environ=environ)
        self.settings = self._in_force()
        """In force now: the file's, with the environment and what holds for this run over it and the world's suggestions below."""
        self.meter = Meter()
        self.meter.listen(lambda call: emit(Called(call=call)))
        self._log = UsageLog(data_folder(environ))
        self._caps = Caps(self.settings.caps, self.meter, self._log)
        self._readying: asyncio.Task[None] | None = None
        self.models = self._opened()

    # looking
    def routes(self) -> tuple[RouteView, ...]:
        self.calls = CallsUnderWay(lambda call: emit(CallChanged(call=call)))
        """What is under way, and a person's word on it."""
        """Who answers each task, the first that can."""
        return self.models.views()

    def endpoints(self) -> tuple[EndpointView, ...]:
        """All models that routes or settings name."""
        return self.models.endpoint_views()

    def caps(self) -> tuple[CapState, ...]:
        """The caps that are set, with what is used of them."""
        return self._caps.states()
    def speaking(self, task: Task) -> Speaking:
        """Who answers a task now, and whether instead of another."""
        return self.models.speaking(task)

    @property
    def getting_ready(self) -> str:
        """What calls would have to wait for now, for people; empty when nothing is under way."""
        if self._readying is None or self._readying.done():
            return ""
        return "Loading the model adapter…" if self.models.loading else "Looking up windows and prices…"


    def suggested(self) -> Mapping[HintKey, str]:
        """Models that the world suggests and settings leave open."""
        return {} if self._setup.model else suggested(self._written, self._hints)

    async def forecast(self) -> Forecast:
        """What the next round may take. Raises `CommandError` without a game."""
        if self._due is None:
            raise CommandError("No game is open.", "Open one to see what its next round may take.")
        due = await self._due()
        actor, decode, handoff = (self._first(task) for task in ("actor", "decode", "handoff"))
        beat = _taking(actor, due.prompt_tokens, _ANSWER) + _taking(decode, *_DECODE)
        handover = _taking(handoff, _HANDOFF[0] + due.buffer_tokens, _HANDOFF[1])
        return self.meter.forecast(
            due.beats, due.handoffs, beat=beat, handoff=handover, guess="a prompt as it would be now, for each who acts",
            outside=any(view.model != STORYTELLER for view in (actor, decode, handoff)), caps=self.caps(),
        )

    async def ready(self) -> None:
        """Know the windows and prices of all models in use, as far as they can be known in some seconds. Never fails."""
        if self._readying is None:
            self._readying = asyncio.create_task(self.models.ready(), name="otherminds-models")
        if not self._readying.done():
            await asyncio.wait({self._readying})

    async def test(self, name: str) -> TestReport:
        """One small live call to an endpoint, by its name in settings or litellm's. Counted by the meter, held by the caps."""
        models, resolved = self.models, self.settings.resolved(name)
        return await try_model(
            models.endpoint(name), name, models.remote(name), offered=lambda: offered_instead(resolved, shared_bridge()),
        )

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
        self._written = await asyncio.to_thread(load_settings, environ=self._environ)
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

    def _in_force(self) -> Settings:
        return with_hints(self._setup.over(self._written), self._hints)

    def _opened(self) -> Models:
        chosen = choosers(self._written, self._environ, self._hints)
        if self._setup.model is not None:
            chosen = dict.fromkeys(chosen, "environment")
        return open_models(self.settings, self.meter, self._caps, self._emit, usage_log=self._log, calls=self.calls, sources=chosen)

    def _first(self, task: Task) -> EndpointView:
        return next(route.endpoints[0] for route in self.routes() if route.task == task)


def _taking(view: EndpointView, prompt: int, reply: int) -> Spent:
    """What a call of so many tokens takes of a model."""
    if view.input_price is None or view.output_price is None:
        return Spent(calls=1, prompt_tokens=prompt, reply_tokens=reply, unpriced=1)
    cost = (prompt * view.input_price + reply * view.output_price) / 1e6
    return Spent(calls=1, prompt_tokens=prompt, reply_tokens=reply, cost=cost)


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
