"""A scripted desk of models: settings in memory, a provider of four models, one server on this machine. Every name holds the spice."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from engine.errors import OthermindsError, SettingsError
from engine.llm.meter import Meter
from engine.llm.underway import CallsUnderWay
from engine.model_desk import ModelDesk
from engine.records.hints import HintKey
from engine.records.models import (
    Call,
    CallView,
    CapState,
    EndpointView,
    Forecast,
    LocalServer,
    Proposal,
    RouteView,
    Speaking,
    Spent,
    Suggestion,
    TestReport,
    Usage,
)
from engine.records.prompts import Task
from engine.settings import STORYTELLER, Settings

TASKS: tuple[Task, ...] = ("actor", "decode", "referee", "handoff")
SERVER = "http://127.0.0.1:11434"
MARKUP = "[red]x[/] [/nope] [@click=app.quit]go[/]"
"""What settings and servers take as a name, for it can be printed."""


def call(task: Task = "actor", entity: str = "bryn", number: int = 1, model: str = "openai/gpt-5-mini", **known: Any) -> Call:
    """One call, by default of a model with a price."""
    given = {"prompt_tokens": 900, "reply_tokens": 100, "cost": 0.0021, "seconds": 1.5} | known
    return Call(task=task, entity=entity, round=number, model=model, **given)


class FakeModels(ModelDesk):
    """What is done is remembered in `did`."""

    def __init__(self, spice: str = "") -> None:
        self.spice = spice
        self.settings = Settings()
        self.meter = Meter()
        self.did: list[str] = []
        self.refuse = ""
        """Why nothing is written."""
        self.trouble = ""
        """Why nothing can be found out."""
        self.gate: asyncio.Event | None = None
        """When set, a test waits for it: a model that hangs."""
        self.report: TestReport | None = None
        self.hints: dict[HintKey, str] = {}
        self.notes: dict[str, str] = {}
        names = tuple(f"ollama_chat/{name}{MARKUP if spice else ''}" for name in ("llama3.2", "qwen3"))
        self.found: tuple[LocalServer, ...] = (LocalServer(kind="ollama", api_base=SERVER, models=names, note=spice),)
        self.foretold = Forecast(
            calls=9, prompt_tokens=8_000, reply_tokens=1_200, cost=0.02, seconds=14, basis=f"as the last 5 rounds{spice}",
        )
        self.cancelled = 0
        self.taken = Usage(today=Spent(), save=None)
        self.offer: Proposal | None = None
        self.fault = None
        self.speaker, self.away = STORYTELLER, ""
        self.speakers: dict[Task, str] = {}
        """Who answers other tasks than the actor's."""
        self.told: list[Callable[[CallView], None]] = []
        self.calls = CallsUnderWay(self._tell_of_call)
        self.loading = ""
        """What calls would have to wait for."""
        self.loaded: asyncio.Event | None = None
        """When set, models are ready only then."""

    def _tell_of_call(self, call: CallView) -> None:
        for tell in self.told:
            tell(call)

    def speaking(self, task: Task) -> Speaking:
        return Speaking(model=self.speakers.get(task, self.speaker), away=self.away)

    @property
    def getting_ready(self) -> str:
        return self.loading

    async def ready(self) -> None:
        self.did.append("ready")
        if self.loaded is not None:
            await self.loaded.wait()
            self.loading = ""

    async def refresh(self) -> None:
        """Nobody else writes."""

    async def reload(self) -> None:
        self.did.append("reloaded")

    async def usage(self) -> Usage:
        await asyncio.sleep(0)
        return self.taken

    async def proposal(self) -> Proposal:
        await asyncio.sleep(0)
        views = ((key, self._view(name)) for key, name in self.hints.items())
        return self.offer or Proposal(
            suggestions=tuple(Suggestion(task=key, endpoint=view, by_leave=key == "actor") for key, view in views), forecast=self.foretold,
        )

    async def test_found(self, server: LocalServer, model: str) -> TestReport:
        return await self.test(model)

    async def set_all(self, changes: Mapping[str, object | None]) -> None:
        for key, value in changes.items():
            await self.set(key, value)

    def close(self) -> None:
        self.did.append("closed")

    def routes(self) -> tuple[RouteView, ...]:
        models = self.settings.models
        return tuple(
            RouteView(
                task=task, endpoints=tuple(self._view(name) for name in models.answering(task).names),
                set_by="settings" if models.of(task) else "default" if "default" in models.model_fields_set else "built in",
            )
            for task in TASKS
        )

    def endpoints(self) -> tuple[EndpointView, ...]:
        models = self.settings.models
        lines = (models.default, *(models.answering(task) for task in TASKS))
        names = dict.fromkeys([name for line in lines for name in line.names] + list(self.settings.endpoint))
        return tuple(self._view(name) for name in names)

    def _view(self, name: str) -> EndpointView:
        if name == STORYTELLER:
            return EndpointView(
                name=name, model=name, context_window=8_192, window_from="built in", input_price=0.0, output_price=0.0, key="none needed",
            )
        set_up = self.settings.resolved(name)
        paid, local = name.startswith("openai/"), set_up.api_base is not None
        return EndpointView(
            name=name, model=set_up.model, api_base=set_up.api_base, context_window=32_000 if local else 200_000,
            window_from="server" if local else "package" if paid else "guess", structured="grammar" if local else "schema",
            small=local, timeout=60.0, concurrency=1 if local else 4, input_price=0.0 if local else 0.25 if paid else None,
            output_price=0.0 if local else 2.0 if paid else None, key="none needed" if local else "set" if paid else "missing",
            key_names=() if local else ("SOME_API_KEY",), note=self.notes.get(name, ""),
        )

    def caps(self) -> tuple[CapState, ...]:
        total = self.meter.total
        limits = self.settings.caps.model_dump(exclude_none=True)
        return tuple(
            CapState(cap=name, limit=limit, used=total.cost if name.endswith("money") else total.tokens) for name, limit in limits.items()
        )

    def suggested(self) -> Mapping[HintKey, str]:
        return self.hints

    async def forecast(self) -> Forecast:
        await asyncio.sleep(0)
        if self.trouble:
            raise OthermindsError(self.trouble, "Try later.")
        return self.foretold

    async def test(self, name: str) -> TestReport:
        self.did.append(f"tested {name}")
        if self.gate is not None:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if self.trouble:
            raise OthermindsError(self.trouble, "Try later.")
        return self.report or TestReport(
            name=name, ok=True, text=f"It answers{self.spice}, and replies with JSON by a schema.", seconds=1.3, structured="schema",
            context_window=32_000, cost=0.0001,
        )

    async def servers(self) -> tuple[LocalServer, ...]:
        self.did.append("looked")
        await asyncio.sleep(0)
        if self.trouble:
            raise OthermindsError(self.trouble, "Try later.")
        return self.found

    async def set(self, key: str, value: object | None) -> None:
        await asyncio.sleep(0.01)
        if self.refuse:
            raise SettingsError(self.refuse, "Correct it.")
        self.did.append(f"set {key} {value!r}")
        tables: dict[str, Any] = self.settings.model_dump(exclude_unset=True, by_alias=True)
        table, _, name = key.partition(".")
        within = tables.setdefault(table, {})
        within.pop(name, None)
        if value is not None:
            within[name] = value
        self._take(tables)

    async def use(self, server: LocalServer, model: str, task: str = "default") -> None:
        if self.refuse:
            raise SettingsError(self.refuse, "Correct it.")
        self.did.append(f"use {server.api_base} {model} {task}")
        name = f"ollama-{model.rsplit('/', 1)[-1].split(' ')[0]}"
        tables: dict[str, Any] = self.settings.model_dump(exclude_unset=True, by_alias=True)
        tables.setdefault("endpoint", {})[name] = {"model": model, "api_base": server.api_base}
        tables.setdefault("models", {})[task] = name
        self._take(tables)

    def _take(self, tables: dict[str, Any]) -> None:
        try:
            self.settings = Settings.model_validate(tables)
        except ValidationError as error:
            raise SettingsError(f"That cannot be set: {error.errors()[0]['msg']}.", "Correct it.") from error
