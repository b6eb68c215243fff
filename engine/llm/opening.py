"""From the settings to the models that answer: for each endpoint one stack of wrappers, for each task a chain of endpoints."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from engine.events import ModelNote
from engine.llm.caps import Caps
from engine.llm.chain import Chain, Endpoint
from engine.llm.gates import Gate, Gates
from engine.llm.meter import Meter
from engine.llm.metered import Metered
from engine.llm.protocol import LanguageModel
from engine.llm.retrying import Retrying
from engine.llm.storyteller import Storyteller
from engine.llm.underway import CallsUnderWay, Watched
from engine.llm.usage_log import UsageLog
from engine.records.models import EndpointView, RouteView, Speaking
from engine.records.prompts import Task
from engine.settings.records import STORYTELLER, EndpointSettings, Settings, TaskSettings

if TYPE_CHECKING:  # loaded with the first such model
    from engine.llm.remote.bridge import LitellmBridge
    from engine.llm.remote.model import RemoteModel

TASKS: Final[tuple[Task, ...]] = ("actor", "decode", "referee", "handoff", "alias", "collapse", "validate", "narrate")
"""What language models are asked for, in the order in which people read it."""
SetBy = Literal["environment", "settings", "world", "default", "built in"]


@dataclass(frozen=True)
class _Opened:
    """An endpoint with what is known of it."""

    endpoint: Endpoint
    once: Metered
    """Asked once, without waiting and asking again."""
    settings: EndpointSettings
    remote: "RemoteModel | None" = None
    gate: Gate | None = None

    def view(self, name: str, now: datetime) -> EndpointView:
        """It as it is at a moment, for people."""
        model, rests = self.endpoint.model, self.endpoint.rests
        note = f"rests until {now + timedelta(seconds=rests):%H:%M:%S}: it {self.endpoint.trouble}" if rests else ""
        if self.remote is None or self.gate is None:
            return EndpointView(
                name=name, model=model.name, context_window=model.context_window, window_from="built in", input_price=0.0, output_price=0.0,
                key="none needed", note=note,
            )
        price, (key, key_names) = self.remote.price, self.remote.key_state()
        return EndpointView(
            name=name, model=model.name, api_base=self.settings.api_base, context_window=model.context_window,
            window_from=self.remote.window_from, structured=self.remote.structured, small=model.small,
            temperature=self.settings.temperature, timeout=self.remote.timeout, concurrency=self.gate.limit,
            input_price=price.prompt if price else None, output_price=price.reply if price else None, key=key, key_names=key_names,
            note=note,
        )


class Models:
    """The models of the settings, ready to be routed to: `Router(models.default, models.routes)`.

    An endpoint that several tasks name is one object: what it has learned, and the rest it has after trouble, hold for all of them.
    """

    def __init__(
        self, settings: Settings, open_: Callable[[str], _Opened], tell: Callable[[ModelNote], None], caps: Caps,
        sources: Mapping[str, SetBy], now: Callable[[], datetime],
    ) -> None:
        self._settings, self._open, self._caps, self._sources, self._now = settings, open_, caps, sources, now
        self._opened: dict[str, _Opened] = {}
        lines = {task: line for task in TASKS if (line := settings.models.of(task)) is not None}
        self._first, self._chains = self._chain(settings.models.default, tell), {task: self._chain(lines[task], tell) for task in lines}
        self.default: LanguageModel = self._first
        self.routes: Mapping[Task, LanguageModel] = self._chains
        self._lines: Mapping[Task, TaskSettings] = lines

    def endpoint(self, name: str) -> LanguageModel:
        """One endpoint by itself, which a call asks once: metered and held against the caps, but without others to stand in."""
        return self._of(name).once

    def remote(self, name: str) -> "RemoteModel | None":
        """The model of an endpoint beneath all wrappers, to ask it about itself. None for the storyteller. Calls to it are not counted."""
        return self._of(name).remote

    def speaking(self, task: Task) -> Speaking:
        """Who answers a task now."""
        return self._chains.get(task, self._first).speaking(task)

    @property
    def loading(self) -> bool:
        """Whether a model in the routes wants a library that is still to be loaded."""
        return any(opened.remote is not None and not opened.remote.loaded for opened in self._opened.values())

    def views(self) -> tuple[RouteView, ...]:
        """Who answers each task, as things stand now."""
        return tuple(
            RouteView(
                task=task, set_by=self._set_by(task),
                endpoints=tuple(self._view(name) for name in dict.fromkeys(self._settings.models.answering(task).names)),
            )
            for task in TASKS
        )

    def endpoint_views(self) -> tuple[EndpointView, ...]:
        """All endpoints that routes name, in their order, then those that have a table of their own."""
        routed = (name for line in (self._settings.models.default, *self._lines.values()) for name in line.names)
        return tuple(self._view(name) for name in dict.fromkeys([*routed, *self._settings.endpoint]))

    async def ready(self, limit: float = 20.0) -> None:
        """Find out windows and prices of the endpoints in the routes, and what the day has taken: in `limit` seconds, or at each
        endpoint's first call. Never fails. With the storyteller alone nothing happens."""
        asked = [opened.remote.ready() for opened in self._opened.values() if opened.remote is not None]
        tasks = [asyncio.ensure_future(one) for one in (*asked, self._caps.ready())]
        try:
            await asyncio.wait(tasks, timeout=limit)
        finally:
            for task in tasks:
                task.cancel()

    def _chain(self, line: TaskSettings, tell: Callable[[ModelNote], None]) -> Chain:
        endpoints = [self._of(name).endpoint for name in dict.fromkeys(line.names)]
        return Chain(endpoints, tell, temperature=line.temperature, timeout=line.timeout)

    def _of(self, name: str) -> _Opened:
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    def _set_by(self, task: Task) -> SetBy:
        if task in self._lines:
            return self._sources.get(f"models.{task}", "settings")
        return self._sources.get("models.default", "default") if "default" in self._settings.models.model_fields_set else "built in"

    def _view(self, name: str) -> EndpointView:
        return self._of(name).view(name, self._now())


def open_models(
    settings: Settings, meter: Meter, caps: Caps, tell: Callable[[ModelNote], None], *, bridge: "LitellmBridge | None" = None,
    usage_log: UsageLog | None = None, calls: CallsUnderWay | None = None, sources: Mapping[str, SetBy] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep, now: Callable[[], datetime] = datetime.now,
) -> Models:
    """The models that the settings name. Nothing is asked and nothing of litellm is loaded before a call, or `Models.ready`.

    What answers in trouble is what the settings say, and nothing else. `tell` hears of all waiting and standing in, on the event loop;
    `calls` watches over the calls of the routes, but not over those of `Models.endpoint`, which a person asks for one by one.
    `sources` has who set what, by key (`models.actor`), where it was not the settings file; `clock` and `sleep` count seconds, `now` is
    local time for people. Forecasts of the meter begin anew.
    """
    gates = Gates(settings.provider)
    sent = calls.sent if calls is not None else lambda request: None

    def watched(model: Metered) -> LanguageModel:
        return Watched(model, calls) if calls is not None else model

    def opened(name: str) -> _Opened:
        endpoint = settings.resolved(name)
        if endpoint.model == STORYTELLER:
            once = Metered(Storyteller(), meter, caps, clock=clock, sent=sent)
            return _Opened(Endpoint(name, watched(once), clock), once, endpoint)
        from engine.llm.remote.bridge import shared_bridge
        from engine.llm.remote.model import RemoteModel

        remote, gate = RemoteModel(bridge or shared_bridge(), name, endpoint), gates.of(endpoint)
        once = Metered(remote, meter, caps, outside=remote, gate=gate, usage_log=usage_log, tell=tell, clock=clock, sent=sent)
        called = name if name == endpoint.model else f"{name} ({endpoint.model})"
        return _Opened(Endpoint(called, Retrying(watched(once), tell, sleep, called), clock), once, endpoint, remote, gate)

    meter.models_changed()
    return Models(settings, opened, tell, caps, sources or {}, now)
