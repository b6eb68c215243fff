"""Texts that turn out too long for a model: drafted anew, smaller, and sent again."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from engine.errors import ProviderError
from engine.events import ModelNote
from engine.llm.protocol import LanguageModel
from engine.records.prompts import Task

T = TypeVar("T")

_TRIES: Final = 4
"""Drafts of one text, the first included. A model that says its window needs two."""
_SAMPLE: Final = "a sample of words, long enough that another way to count them shows " * 8


async def fitted(model: LanguageModel, attempt: Callable[[], Awaitable[T]], smaller: Callable[[], None] = lambda: None) -> T:
    """What `attempt` gives. It is made again when its text was too long and the model has learned how much it takes: `attempt` drafts by
    the model's `context_window` and `count_tokens`. `smaller` is told before each further one. Raises `ModelError`."""
    for _ in range(_TRIES - 1):
        before = _measures(model)
        try:
            return await attempt()
        except ProviderError as error:
            if error.trouble != "too_long" or _measures(model) == before:
                raise
        smaller()
    return await attempt()


def shorter(task: Task, model: LanguageModel) -> ModelNote:
    """What to tell when a prompt is made smaller."""
    text = f"A prompt was too long for {model.name}; it is sent again, cut to fit {model.context_window:,} tokens."
    return ModelNote(task=task, model=model.name, text=text)


def _measures(model: LanguageModel) -> tuple[int, int]:
    return model.context_window, model.count_tokens(_SAMPLE)
