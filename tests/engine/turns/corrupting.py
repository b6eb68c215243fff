"""A model whose replies are spoilt at random, and which knows what may never be kept of them."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import get_args

from engine.errors import BadOutputError, ModelError, ProviderError, Trouble
from engine.llm.observed import Wrapped
from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest
from engine.records.prompts import Task
from tests.engine.turns.spoiling import FREE, STRUCTURED, Corruption

TROUBLES = (*get_args(Trouble), "model", "reply")
"""Errors that are raised: each trouble of a provider, a plain model error, a reply that did not fit."""
HANG = "hangs"


@dataclass
class Record:
    """What was done to replies, and what of it is forbidden."""

    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    marks: list[tuple[str, str, str]] = field(default_factory=list)
    """Task, kind and mark of all that may be found in no row."""
    prose: set[str] = field(default_factory=set)
    """Every prose that may be used."""


class Corrupting(Wrapped):
    """Spoils a share of the replies of the model within, each task's in all ways in turn, in an order that the seed decides."""

    def __init__(self, inner: LanguageModel, seed: int, shares: Mapping[Task, float]) -> None:
        """`shares` says how many of a task's replies are spoilt, 0 to 1."""
        super().__init__(inner)
        self.record, self.hangs = Record(), asyncio.Event()
        self._chance, self._shares = Random(seed), shares
        self._ways: dict[str, list[Corruption]] = {}
        self._troubles: list[str] = []

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply, or what became of it. Raises `ModelError`; waits for ever when it hangs."""
        chance = Random(self._chance.random())
        mark, lot = f"zq{chance.randrange(16**12):012x}qz", chance.random() / self._shares[request.task]
        if lot < 0.02:
            await self._hang(heard, mark)
        if lot < 0.14:
            self._raise(request, heard, mark, chance.choice([None, 0.0, 1e9]))
        good = await self._inner.complete(request)
        if lot >= 1:
            return self._spoken(good, request, heard)
        way, text = self._spoilt(chance, request, good.text, mark)
        self.record.done[request.task, way.name] += 1
        if way.use != "perhaps":
            self.record.marks.append((request.task, way.name, mark))
        spoilt = good.model_copy(update={"text": text, "cut": way.cut})
        return self._spoken(spoilt, request, heard, usable=way.use != "never")

    def _spoilt(self, chance: Random, request: ModelRequest, text: str, mark: str) -> tuple[Corruption, str]:
        """The next way to spoil a reply that fits this one, and the spoilt reply."""
        ways = self._ways.setdefault(request.task, [])
        while True:
            if not ways:
                ways += FREE if request.response is None else STRUCTURED
                chance.shuffle(ways)
            way = ways.pop()
            if (spoilt := way.spoil(chance, request, text, mark)) is not None:
                return way, spoilt

    def _spoken(self, completion: Completion, request: ModelRequest, heard: Heard | None, usable: bool = True) -> Completion:
        if request.task == "actor" and usable:
            self.record.prose.add(completion.text)
        if heard is not None:
            _say(heard, completion.text)
        return completion

    async def _hang(self, heard: Heard | None, mark: str) -> None:
        self.record.raised[HANG] += 1
        self.record.marks.append(("any", HANG, mark))
        if heard is not None:
            _say(heard, f"I turn to {mark} and ")
        self.hangs.set()
        await asyncio.Event().wait()

    def _raise(self, request: ModelRequest, heard: Heard | None, mark: str, retry_after: float | None) -> None:
        if not self._troubles:
            self._troubles = self._chance.sample(TROUBLES, len(TROUBLES))
        trouble = self._troubles.pop()
        self.record.raised[trouble] += 1
        self.record.marks.append((request.task, trouble, mark))
        if heard is not None:
            _say(heard, f"I turn to {mark} and ")
        if trouble == "model":
            raise ModelError(f"The model is away: {mark}.")
        if trouble == "reply":
            raise BadOutputError("That is no reply.", reply=mark)
        raise ProviderError(f"The provider says {mark}.", "Wait.", trouble=_trouble(trouble), retry_after=retry_after)


@cache
def _trouble(name: str) -> Trouble:
    found: Sequence[Trouble] = get_args(Trouble)
    return next(trouble for trouble in found if trouble == name)


def _say(heard: Heard, text: str) -> None:
    for start in range(0, min(len(text), 2000), 17):
        heard(text[start : start + 17])
