"""Where each setting that holds comes from."""

import os
from collections.abc import Iterator, Mapping
from typing import Literal

from engine.records.base import Record
from engine.records.hints import ModelHints
from engine.settings.environment import overridden
from engine.settings.hints import CALLED, names_models, suggested
from engine.settings.keys import Key, dotted
from engine.settings.records import Settings

Source = Literal["environment", "settings", "default"]
Chooser = Literal["environment", "settings", "world", "default", "built in"]


def sources(settings: Settings, environ: Mapping[str, str] = os.environ) -> Mapping[str, Source]:
    """Where each value comes from, by its key (`models.actor.model`): the environment, the settings file, or nobody.

    `settings` are as loaded, without a world's suggestions. Tables that are not there have no keys here.
    """
    variables = overridden(environ)
    return {
        dotted(key): "environment" if key in variables else "settings" if said else "default" for key, _, said in leaves(settings)
    }


def leaves(settings: Settings) -> Iterator[tuple[Key, object, bool]]:
    """All values with their keys, and whether anybody set them."""
    yield from _below((), settings, said=True)


def choosers(settings: Settings, environ: Mapping[str, str] = os.environ, hints: ModelHints | None = None) -> Mapping[str, Chooser]:
    """Who chose the models of each task and of all others: `models.actor`, …, `models.default`.

    `environment` and `settings`: a variable, or a line of the file, for the task itself; `default`: the file's line for all, or a
    variable's is `environment`; `world`: a suggestion in use; `built in`: nobody. `settings` are as loaded, without suggestions.
    """
    used = suggested(settings, hints) if hints is not None and settings.models.hints else {}
    variables = overridden(environ)
    if names_models(settings.models, "default"):
        all_others: Chooser = "environment" if ("models", "default", "model") in variables else "default"
    else:
        all_others = "world" if "default" in used else "built in"
    found: dict[str, Chooser] = {"models.default": all_others}
    for task in CALLED:
        if names_models(settings.models, task):
            found[f"models.{task}"] = "environment" if ("models", task, "model") in variables else "settings"
        else:
            found[f"models.{task}"] = "world" if task in used else all_others
    return found


def _below(place: Key, value: object, *, said: bool) -> Iterator[tuple[Key, object, bool]]:
    if isinstance(value, Record):
        for name, field in type(value).model_fields.items():
            yield from _below((*place, field.alias or name), getattr(value, name), said=said and name in value.model_fields_set)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _below((*place, name), inner, said=said)
    elif value is not None or len(place) != 2 or place[0] != "models":  # a task without a line
        yield place, value, said
