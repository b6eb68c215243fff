"""Adds up the calls of a run, and reckons from them what the next round may take."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from engine.llm.forecasting import NOTHING, Forecasting
from engine.llm.sums import Sum
from engine.records.base import EntityId
from engine.records.models import Call, CapState, Forecast, Spent
from engine.records.prompts import Task

K = TypeVar("K")

_KEPT_ROUNDS: Final = 500
"""Rounds that are told apart; what came before them is one sum."""


class Meter:
    """Adds up calls, in all and by what they were for. Its memory is bounded however long a run lasts.

    A call is counted when it has ended, also when it failed or was stopped on the way.
    """

    def __init__(self) -> None:
        self._total, self._earlier = Sum(), Sum()
        self._by_task: dict[Task, Sum] = {}
        self._by_entity: dict[EntityId, Sum] = {}
        self._by_round: dict[int, Sum] = {}
        self._by_model: dict[str, Sum] = {}
        self._forecasting = Forecasting()
        self._sinks: list[Callable[[Call], None]] = []

    def listen(self, sink: Callable[[Call], None]) -> None:
        """Tell `sink` of every call from now on, after it was counted. It must be quick and must not raise."""
        self._sinks.append(sink)

    def add(self, call: Call) -> None:
        """Count a call that has ended."""
        self._by_round[call.round] = self._by_round.pop(call.round, Sum())  # the one played last stands last
        for part in (
            self._total, self._by_task.setdefault(call.task, Sum()), self._by_entity.setdefault(call.entity, Sum()),
            self._by_model.setdefault(call.model, Sum()), self._by_round[call.round],
        ):
            part.add(call)
        while len(self._by_round) > _KEPT_ROUNDS:
            self._earlier.take_in(self._by_round.pop(next(iter(self._by_round))))
        self._forecasting.add(call)
        for sink in self._sinks:
            sink(call)

    @property
    def total(self) -> Spent:
        """All calls together."""
        return self._total.spent

    @property
    def by_task(self) -> Mapping[Task, Spent]:
        """What each task has taken; tasks never called are missing."""
        return _spent(self._by_task)

    @property
    def by_entity(self) -> Mapping[EntityId, Spent]:
        """What was taken on behalf of each entity."""
        return _spent(self._by_entity)

    @property
    def by_model(self) -> Mapping[str, Spent]:
        """What each model has taken, by litellm's name of it or `storyteller`."""
        return _spent(self._by_model)

    @property
    def by_round(self) -> Mapping[int, Spent]:
        """What each of the 500 rounds called in last has taken, by its number."""
        return _spent(self._by_round)

    @property
    def earlier(self) -> Spent:
        """What the rounds have taken that `by_round` no longer tells apart."""
        return self._earlier.spent

    def models_changed(self) -> None:
        """Other models answer from now on: forecasts begin anew."""
        self._forecasting.clear()

    def forecast(
        self, beats: int, handoffs: int, *, beat: Spent = NOTHING, handoff: Spent = NOTHING, guess: str = "",
        outside: bool = True, caps: Iterable[CapState] = (),
    ) -> Forecast:
        """What the next round may take, with so many beats and handoffs due, going by the last five rounds that had any.

        `beat` and `handoff` are what one of each is guessed to take, where none was seen yet with the present models, and `guess`
        says in words from what (`3 prompts of now`); `outside` is whether providers and servers answer in it, whose tokens count by
        day. `caps` are looked at for the one that would be passed.
        """
        return self._forecasting.next_round(beats, handoffs, beat=beat, handoff=handoff, guess=guess, outside=outside, caps=caps)


def _spent(sums: Mapping[K, Sum]) -> Mapping[K, Spent]:
    return {key: part.spent for key, part in sums.items()}
