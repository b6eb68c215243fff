"""What a world suggests about models: which would suit it, and how freely they should write. A player decides whether to follow."""

from collections.abc import Mapping
from typing import Literal

from engine.records.base import Record
from engine.records.prompts import Task

HintKey = Task | Literal["default"]
"""A task, or all that have no suggestion of their own."""


class ModelHints(Record):
    """Suggestions of a world, the key `models` in its `world.yaml`. There is never an address or a key of a provider among them."""

    models: Mapping[HintKey, str] = {}
    """litellm's names of models: `openai/gpt-5-mini`. They cost the player money, so they count only if settings say so."""
    temperatures: Mapping[HintKey, float] = {}
    """0 to 2."""

    def model(self, task: Task) -> str | None:
        """The model suggested for a task, by itself or for all."""
        return self.models.get(task, self.models.get("default"))

    def temperature(self, task: Task) -> float | None:
        """The temperature suggested for a task, by itself or for all."""
        return self.temperatures.get(task, self.temperatures.get("default"))
