"""What the Models screen draws: one frozen value, read from the desk where models are set up and counted."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from engine.errors import SettingsError
from engine.records.models import (
    CapName,
    CapState,
    EndpointView,
    Forecast,
    LocalServer,
    Proposal,
    RouteView,
    Spent,
    TestReport,
    Usage,
)
from engine.records.prompts import Task
from engine.settings import STORYTELLER, Broken, Settings
from engine.settings.environment import overridden
from engine.settings.keys import dotted

if TYPE_CHECKING:
    from engine.records.hints import HintKey

Slot = str
"""What a model can be set for: a task, or `default` for all that have none of their own."""
By = Literal["task", "entity", "round", "model"]
"""By what calls are added up."""
DEFAULT, EMBED = "default", "embed"
CAP_NAMES: tuple[CapName, ...] = get_args(CapName)


class Spending(Protocol):
    """Calls added up."""

    @property
    def total(self) -> Spent:
        """All of them."""
        ...

    @property
    def by_task(self) -> "Mapping[Task, Spent]":
        """What each task took."""
        ...

    @property
    def by_entity(self) -> Mapping[str, Spent]:
        """What was taken on behalf of each entity."""
        ...

    @property
    def by_round(self) -> Mapping[int, Spent]:
        """What each round took, in the order of rounds."""
        ...

    @property
    def by_model(self) -> Mapping[str, Spent]:
        """What each model took."""
        ...


class Desk(Protocol):
    """Where models are set up, tried and counted. With a game, or without one."""

    @property
    def settings(self) -> Settings:
        """In force now."""
        ...

    @property
    def meter(self) -> Spending:
        """Calls since the save was opened."""
        ...

    async def ready(self) -> None:
        """Find out windows and prices of the models in use, as far as that takes some seconds at most. Never fails."""
        ...

    def close(self) -> None:
        """Find out no more."""
        ...

    def routes(self) -> tuple[RouteView, ...]:
        """Who answers each task that is called."""
        ...

    def endpoints(self) -> tuple[EndpointView, ...]:
        """All models that settings or routes name."""
        ...

    def caps(self) -> tuple[CapState, ...]:
        """Those that are set."""
        ...

    @property
    def fault(self) -> SettingsError | None:
        """Why settings cannot be used as they are now."""
        ...

    def suggested(self) -> "Mapping[HintKey, str]":
        """Models that the world suggests and that do not answer already."""
        ...

    async def proposal(self) -> Proposal:
        """What all that the world suggests would cost."""
        ...

    async def usage(self) -> Usage:
        """What the day and the save have taken, beyond this sitting."""
        ...

    async def refresh(self) -> None:
        """Let settings hold that were written elsewhere meanwhile. Never fails."""
        ...

    async def reload(self) -> None:
        """Read the settings anew. Raises `SettingsError`."""
        ...

    async def forecast(self) -> Forecast:
        """Of the next round. Needs a game."""
        ...

    async def test(self, name: str) -> TestReport:
        """One small live call."""
        ...

    async def test_found(self, server: LocalServer, model: str) -> TestReport:
        """The same of a model of a server that is not set up; nothing is written."""
        ...

    async def servers(self) -> tuple[LocalServer, ...]:
        """Model servers on this machine."""
        ...

    async def set(self, key: str, value: object | None) -> None:
        """Write a setting and apply it at once; None takes it out. Raises `SettingsError`, and then nothing has changed."""
        ...

    async def set_all(self, changes: Mapping[str, object | None]) -> None:
        """Write several settings, all or none. Raises `SettingsError`."""
        ...

    async def use(self, server: LocalServer, model: str, task: str = DEFAULT) -> None:
        """Write how a server's model is reached, and that it answers a task. Raises `SettingsError`, and then nothing has changed."""
        ...


@dataclass(frozen=True, slots=True)
class ModelsView:
    """All that the Models screen draws from. Replaced, never changed in place."""

    settings: Settings = field(default_factory=Settings)
    routes: tuple[RouteView, ...] = ()
    endpoints: tuple[EndpointView, ...] = ()
    caps: tuple[CapState, ...] = ()
    suggested: Mapping[Slot, str] = field(default_factory=dict)
    by: By = "task"
    spent: Mapping[str, Spent] = field(default_factory=dict)
    """What calls took, by what the reader chose."""
    total: Spent = field(default_factory=Spent)
    usage: Usage | None = None
    """What the day and the save have taken, once that is read."""
    broken: Broken | None = None
    """Why settings cannot be used as they are now; then what held before holds, or what is built in."""
    servers: tuple[LocalServer, ...] | None = None
    """Found on this machine; None while they are looked for."""
    trouble: str = ""
    """Why they could not be looked for."""
    forecast: Forecast | None = None
    no_forecast: str = ""
    """Why there is none."""
    reports: Mapping[str, TestReport] = field(default_factory=dict)
    """What tests have shown, by the name that was tested."""
    testing: str = ""
    """The model that is being tested."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the environment that stand over settings, by the setting."""

    def variable(self, slot: Slot) -> str:
        """The variable of the environment that says what answers a task; empty when none does."""
        return self.environment.get(f"models.{slot}.model", "")

    @property
    def alone(self) -> bool:
        """Whether the storyteller answers everything: there is no key, no network and no cost."""
        return all(one.model == STORYTELLER for route in self.routes for one in route.endpoints)

    def route(self, slot: Slot) -> RouteView | None:
        """Who answers a task."""
        return next((route for route in self.routes if route.task == slot), None)

    def endpoint(self, name: str) -> EndpointView | None:
        """A model by the name that settings give it."""
        return next((one for one in self.endpoints if one.name == name), None)

    def chain(self, slot: Slot) -> tuple[EndpointView, ...]:
        """Models that answer a task, in the order in which they are asked."""
        if slot != DEFAULT:
            route = self.route(slot)
            return route.endpoints if route else ()
        chosen = self.settings.models.default
        found = (self.endpoint(name) for name in (chosen.model, *chosen.fallbacks))
        return tuple(one for one in found if one is not None)

    def follows(self, slot: Slot) -> bool:
        """Whether a task has no model of its own: what answers all others answers it too."""
        route = self.route(slot)
        return route is not None and self.settings.models.of(route.task) is None

    def known(self, server: LocalServer, model: str) -> EndpointView | None:
        """The endpoint that settings have for a model of a server, if any."""
        return next((one for one in self.endpoints if (one.model, one.api_base) == (model, server.api_base)), None)

    def users(self, name: str) -> list[Slot]:
        """What a model answers first; tasks without a model of their own go without saying."""
        slots = [DEFAULT, *(route.task for route in self.routes if not self.follows(route.task))]
        return [slot for slot in slots if (chain := self.chain(slot)) and chain[0].name == name]


def environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Which settings the environment says, and by which variable."""
    return {dotted(key): variable for key, variable in overridden(environ).items()}


def looked(view: ModelsView, desk: Desk, by: By) -> ModelsView:
    """The view with all that can be read from a desk without waiting."""
    meter = desk.meter
    spent: dict[By, Mapping[str, Spent]] = {
        "task": {str(key): one for key, one in meter.by_task.items()}, "entity": dict(meter.by_entity),
        "round": {str(key): one for key, one in meter.by_round.items()}, "model": dict(meter.by_model),
    }
    return replace(
        view, settings=desk.settings, routes=desk.routes(), endpoints=desk.endpoints(), caps=desk.caps(),
        suggested={str(key): model for key, model in desk.suggested().items()}, by=by, spent=spent[by], total=meter.total,
    )
