"""Counts of model calls and tokens."""

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field

from engine.llm.protocol import Completion, ModelRequest
from engine.records.base import Record
from engine.records.prompts import Task


class Spent(Record):
    """What calls have taken so far."""

    calls: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=0, ge=0)
    reply_tokens: int = Field(default=0, ge=0)

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            reply_tokens=self.reply_tokens + other.reply_tokens,
        )


class Meter:
    """Adds up calls by task. An instance is a sink for `Observed`."""

    def __init__(self) -> None:
        self._spent: dict[Task, Spent] = {}

    def __call__(self, request: ModelRequest, completion: Completion) -> None:
        """Count one finished call."""
        usage = completion.usage
        one = Spent(calls=1, prompt_tokens=usage.prompt_tokens, reply_tokens=usage.reply_tokens)
        self._spent[request.task] = self._spent.get(request.task, Spent()) + one

    @property
    def by_task(self) -> Mapping[Task, Spent]:
        """What each task has taken; tasks never called are missing."""
        return MappingProxyType(self._spent)

    @property
    def total(self) -> Spent:
        """All tasks together."""
        return sum(self._spent.values(), Spent())
