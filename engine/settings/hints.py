"""What a world suggests, below what a person sets: temperatures where nothing is set, models only with the person's leave."""

from collections.abc import Iterator, Mapping
from typing import Final, cast, get_args

from engine.records.hints import HintKey, ModelHints
from engine.records.prompts import Task
from engine.settings.records import STORYTELLER, ModelSettings, Settings, TaskSettings
from engine.settings.relations import is_litellms

CALLED: Final = tuple(cast(Task, task) for task in get_args(Task) if task != "embed")
"""The tasks that are calls to a model that writes."""


def with_hints(settings: Settings, hints: ModelHints) -> Settings:
    """Settings with what a world suggests below them.

    A temperature counts where neither the task nor any endpoint that answers it has one. A model counts only where neither the
    task nor the default names one, and `models.hints` is true: it is the player who pays. A suggestion is never an address.
    """
    models = settings.models
    if models.hints:
        models = _changed(models, {key: {"model": name} for key, name in suggested(settings, hints).items()})
    warm = dict(_temperatures(settings.model_copy(update={"models": models}), hints))
    return settings.model_copy(update={"models": _changed(models, {task: {"temperature": value} for task, value in warm.items()})})


def suggested(settings: Settings, hints: ModelHints) -> Mapping[HintKey, str]:
    """The models that a world suggests where the settings leave it open, whether or not they are used."""
    models = settings.models
    return {} if names_models(models, "default") else {key: name for key, name in offers(hints).items() if not names_models(models, key)}


def offers(hints: ModelHints) -> Mapping[HintKey, str]:
    """The models that a world suggests and that may be used at all, whatever the settings say."""
    return {
        key: name for key, name in hints.models.items()
        if key != "embed" and (name == STORYTELLER or (is_litellms(name) and "://" not in name))
    }


def with_models(settings: Settings, names: Mapping[HintKey, str]) -> Settings:
    """Settings in which models of these names answer their tasks, and nothing instead of them."""
    changes: Mapping[HintKey, Mapping[str, object]] = {key: {"model": name, "fallbacks": ()} for key, name in names.items()}
    return settings.model_copy(update={"models": _changed(settings.models, changes)})


def first_of(settings: Settings, key: HintKey) -> str:
    """The model that is asked first for a task, or for all others."""
    return settings.models.default.model if key == "default" else settings.models.answering(key).model


def names_models(models: ModelSettings, key: HintKey) -> bool:
    """Whether a task's own line, or the default's, says who answers."""
    field = _field(key)
    found = getattr(models, field)
    return field in models.model_fields_set and isinstance(found, TaskSettings) and "model" in found.model_fields_set


def _temperatures(settings: Settings, hints: ModelHints) -> Iterator[tuple[Task, float]]:
    for task in CALLED:
        warm, answering = hints.temperature(task), settings.models.answering(task)
        set_already = answering.temperature is not None or any(
            settings.endpoint[name].temperature is not None for name in answering.names if name in settings.endpoint
        )
        if warm is not None and not set_already:
            yield task, warm


def _changed(models: ModelSettings, changes: Mapping[HintKey, Mapping[str, object]]) -> ModelSettings:
    fields: dict[str, TaskSettings] = {}
    for key, change in changes.items():
        field = _field(key)
        line = getattr(models, field)
        own = line if isinstance(line, TaskSettings) else TaskSettings()
        if "model" in change:  # from now on it no longer has from the default what else that says
            patient = {name: getattr(models.default, name) for name in ("temperature", "timeout") if name not in own.model_fields_set}
            own = own.model_copy(update={name: value for name, value in patient.items() if value is not None})
        fields[field] = own.model_copy(update=change)
    return models.model_copy(update=fields)


def _field(key: HintKey) -> str:
    return "validate_" if key == "validate" else key
