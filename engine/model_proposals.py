"""What the models that a world suggests would be and cost, found out before any of them is set."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from engine.llm.caps import Caps
from engine.llm.meter import Meter
from engine.llm.opening import Models, open_models
from engine.records.hints import HintKey
from engine.records.models import CapState, EndpointView, Forecast, Proposal, Spent, Suggestion
from engine.records.prompts import Task
from engine.settings import STORYTELLER, CapSettings, Settings
from engine.settings.hints import with_models

_DECODE: Final = (700, 150)
"""Tokens of prompt and reply that splitting a piece of prose takes, before any was seen."""
_ANSWER: Final = 90
"""Tokens of an actor's reply, before any was seen."""
_HANDOFF: Final = (700, 400)
"""Tokens of a handoff's prompt besides the moments it is about, and of its reply, before any was seen."""
_PATIENCE: Final = 8.0
"""Seconds to find out prices and windows."""


class Due(NamedTuple):
    """What the next round is to do."""

    beats: int
    handoffs: int
    prompt_tokens: int
    """Of one actor's prompt, as it would be now."""
    buffer_tokens: int
    """Of the moments that one handoff would be about."""


def foretold(due: Due, models: Models, meter: Meter, caps: tuple[CapState, ...] = ()) -> Forecast:
    """What the next round may take with these models, by what `meter` has seen of them, else as a guess."""
    actor, decode, handoff = (_first(models, task) for task in ("actor", "decode", "handoff"))
    beat = _taking(actor, due.prompt_tokens, _ANSWER) + _taking(decode, *_DECODE)
    handover = _taking(handoff, _HANDOFF[0] + due.buffer_tokens, _HANDOFF[1])
    return meter.forecast(
        due.beats, due.handoffs, beat=beat, handoff=handover, guess="a prompt as it would be now, for each who acts",
        outside=any(view.model != STORYTELLER for view in (actor, decode, handoff)), caps=caps,
    )


async def proposed(
    names: Mapping[HintKey, str], settings: Settings, open_by_leave: Mapping[HintKey, str], due: Callable[[], Awaitable[Due]] | None
) -> Proposal:
    """What it would come to if the models of these names answered their tasks. `open_by_leave` are those that would be used with
    `models.hints` alone. Prices and windows are found out; no model is called."""
    meter = Meter()
    models = open_models(with_models(settings, names), meter, Caps(CapSettings(), meter), lambda note: None)
    await models.ready(_PATIENCE)
    views = {view.name: view for view in models.endpoint_views()}
    return Proposal(
        suggestions=tuple(
            Suggestion(task=task, endpoint=views[name], by_leave=task in open_by_leave) for task, name in names.items() if name in views
        ),
        forecast=foretold(await due(), models, meter) if due is not None else None,
    )


def _first(models: Models, task: Task) -> EndpointView:
    return next(route.endpoints[0] for route in models.views() if route.task == task)


def _taking(view: EndpointView, prompt: int, reply: int) -> Spent:
    """What a call of so many tokens takes of a model."""
    if view.input_price is None or view.output_price is None:
        return Spent(calls=1, prompt_tokens=prompt, reply_tokens=reply, unpriced=1)
    cost = (prompt * view.input_price + reply * view.output_price) / 1e6
    return Spent(calls=1, prompt_tokens=prompt, reply_tokens=reply, cost=cost)
