"""What tests of calls have in common: requests, troubles, clocks that nobody waits for, and models that do as told."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from engine.errors import ModelError, ProviderError, Trouble
from engine.events import ModelNote
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.tokens import estimate_tokens
from engine.records.models import Call
from engine.records.prompts import Message, Task


def ask_for(
    task: Task = "actor", *, text: str = "What do you do?", max_tokens: int = 50, entity: str = "a", round_: int = 1
) -> ModelRequest:
    """A request of a few words."""
    return ModelRequest(
        task=task, entity=entity, round=round_, seed=1, messages=(Message(role="user", content=text),), max_tokens=max_tokens
    )


def a_call(
    task: Task = "actor", *, entity: str = "a", round_: int = 1, model: str = "openai/x", prompt: int = 100, reply: int = 10,
    cost: float | None = 0.5, seconds: float = 1.0, failed: str = "", estimated: bool = False,
) -> Call:
    """A call that has ended."""
    return Call(
        task=task, entity=entity, round=round_, model=model, prompt_tokens=prompt, reply_tokens=reply, cost=cost, seconds=seconds,
        failed=failed, estimated=estimated,
    )


def in_trouble(trouble: Trouble, retry_after: float | None = None) -> ProviderError:
    """A provider's error."""
    return ProviderError(f"It is {trouble}.", "Do something.", trouble=trouble, retry_after=retry_after)


@dataclass
class Clock:
    """Seconds that pass only by sleeping."""

    seconds: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        """Take no time."""
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


@dataclass
class Notes:
    """Notes as they were told."""

    texts: list[str] = field(default_factory=list)

    def __call__(self, note: ModelNote) -> None:
        self.texts.append(note.text)


def unheard(piece: str | None) -> None:
    """Listens and does nothing."""


Step = str | ModelError | tuple[str, ModelError]
"""A reply, an error, or an error after a beginning was heard."""


class Told:
    """A model behind a provider that does as told, step by step, and then replies `fine`. `usage` makes tokens out of a request and a
    reply; `price` is in dollars a token, whichever."""

    def __init__(
        self, *steps: Step, name: str = "openai/x", context_window: int = 8192, small: bool = False, thinking: int = 0,
        usage: Callable[[ModelRequest, str], Usage] | None = None, price: float | None = 0.001,
    ) -> None:
        self.name, self.context_window, self.small, self.thinking = name, context_window, small, thinking
        self.requests: list[ModelRequest] = []
        self.made_ready = 0
        self.price = price
        self.steps, self._usage = list(steps), usage or self._estimated

    def count_tokens(self, text: str) -> int:
        """Estimated."""
        return estimate_tokens(text)

    def cost_of(self, usage: Usage) -> float | None:
        """By the token."""
        return None if self.price is None else self.price * (usage.prompt_tokens + usage.reply_tokens)

    def sends(self, request: ModelRequest) -> tuple[tuple[Message, ...], str]:
        """The messages as they are, and the name of the reply's shape."""
        return request.messages, request.response.__name__ if request.response is not None else ""

    async def ready(self) -> None:
        """Counts how often it was asked."""
        self.made_ready += 1
        await asyncio.sleep(0)

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The next step."""
        self.requests.append(request)
        step = self.steps.pop(0) if self.steps else "fine"
        await asyncio.sleep(0)
        if isinstance(step, ModelError):
            raise step
        text, error = step if isinstance(step, tuple) else (step, None)
        for piece in pieces_of(text):
            if heard is not None:
                heard(piece)
        await asyncio.sleep(0)
        if error is not None:
            raise error
        return Completion(text=text, model=self.name, usage=self._usage(request, text))

    def _estimated(self, request: ModelRequest, text: str) -> Usage:
        return Usage(prompt_tokens=self.count_tokens(request.text), reply_tokens=self.count_tokens(text))


class Hanging(Told):
    """Begins to reply and never ends."""

    def __init__(self, *said: str, name: str = "openai/x", price: float | None = 0.001) -> None:
        super().__init__(name=name, price=price)
        self.began = asyncio.Event()
        self._said = said

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """Says what it has to say, and hangs."""
        self.requests.append(request)
        for piece in self._said:
            if heard is not None:
                heard(piece)
        self.began.set()
        await asyncio.Event().wait()
        raise AssertionError


def pieces_of(text: str) -> Iterable[str]:
    """A text in two halves."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]
