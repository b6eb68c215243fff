"""Which model answers which task."""

from collections.abc import Mapping

from engine.llm.protocol import LanguageModel
from engine.records.prompts import Task


class Router:
    """Maps a task to its model; tasks without a route of their own go to the default. One router a game, asked for each call anew."""

    def __init__(self, default: LanguageModel, routes: Mapping[Task, LanguageModel] | None = None) -> None:
        self._default = default
        self._routes = dict(routes or {})

    @property
    def default(self) -> LanguageModel:
        """The model that answers where nothing else is set."""
        return self._default

    def model(self, task: Task) -> LanguageModel:
        """The model for a task."""
        return self._routes.get(task, self._default)

    def reroute(self, default: LanguageModel, routes: Mapping[Task, LanguageModel] | None = None) -> None:
        """Other models from the next call on. Calls under way end with theirs."""
        self._default, self._routes = default, dict(routes or {})
