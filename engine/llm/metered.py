"""A model whose calls are held against the caps before they are made, timed, and counted when they have ended."""

import asyncio
import json
import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Final, Literal, NamedTuple, Protocol

from pydantic import BaseModel

from engine.errors import OthermindsError, ProviderError
from engine.events import ModelNote
from engine.llm.caps import Caps
from engine.llm.gates import Gate
from engine.llm.meter import Meter
from engine.llm.observed import Wrapped
from engine.llm.policy import COURSES
from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest, Usage
from engine.llm.usage_log import UsageLog
from engine.records.models import Call
from engine.records.prompts import Message

_MARGIN: Final = 1.25
"""A count of tokens may be a fifth too low."""
_AROUND_A_MESSAGE: Final = 16
"""Tokens that a chat template puts around one."""
_FASTEST: Final = 250
"""Tokens that a model writes in a second, at most: few do more."""


class Outside(Protocol):
    """What is asked of a model behind a provider or a server besides replies."""

    @property
    def thinking(self) -> int:
        """Tokens it may take beyond the reply's own."""
        ...

    def cost_of(self, usage: Usage) -> float | None:
        """US dollars; None when the price is unknown."""
        ...

    async def ready(self) -> None:
        """Find out what can be known before the first call. Never fails."""
        ...

    def sends(self, request: ModelRequest) -> tuple[tuple[Message, ...], str]:
        """What would go out for a request now: the messages to the letter, and the shape of the reply as JSON where it stands beside
        them."""
        ...


class Foretold(NamedTuple):
    """What one call takes, before it is made."""

    prompt_tokens: int
    most_tokens: int
    """Of prompt and reply together, at most."""
    most_cost: float | None
    """US dollars, at most; None when the price is unknown."""


class Metered(Wrapped):
    """Counts every call that reached the model, whatever became of it: one that failed or was stopped by what had been sent and heard.

    A call waits its turn at the gate, reserves the most it may take, and is made only then. What is reckoned beforehand is corrected
    by what the provider counted in earlier calls.
    """

    def __init__(
        self, inner: LanguageModel, meter: Meter, caps: Caps, *, outside: Outside | None = None, gate: Gate | None = None,
        usage_log: UsageLog | None = None, tell: Callable[[ModelNote], None] = lambda note: None,
        clock: Callable[[], float] = time.perf_counter, sent: Callable[[ModelRequest], None] = lambda request: None,
    ) -> None:
        """`outside` is the model itself when it is behind a provider or a server: then its calls are logged and count by day. None is for
        one that runs in this process and costs nothing. `clock` counts seconds; `sent` hears of each request when it goes out."""
        super().__init__(inner)
        self._meter, self._caps, self._log = meter, caps, usage_log if outside is not None else None
        self._outside, self._gate, self._tell, self._clock, self._going_out = outside, gate, tell, clock, sent
        self._preparing, self._prepared = asyncio.Lock(), outside is None
        self._shapes: dict[type[BaseModel], int] = {}
        self._heavier, self._beyond = 1.0, 0

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply, counted before it is returned. Raises `ModelError`; `CapReachedError` when the call was not made."""
        async with self._gate or nullcontext():
            await self._prepare()
            most = self._most(request)
            reservation = self._caps.reserve(
                request.task, most.prompt_tokens + most.reply_tokens, self._cost_of(most), model=self.name,
                by_day=self._outside is not None,
            )
            pieces: list[str] = []

            def hear(piece: str | None) -> None:
                pieces.append(piece or "")
                if heard is not None:
                    heard(piece)

            began = self._clock()
            self._going_out(request)
            try:
                completion = await self._inner.complete(request, hear if self._outside is not None or heard is not None else None)
            except (OthermindsError, asyncio.CancelledError) as error:
                self._count_failed(request, error, "".join(pieces), self._clock() - began)
                raise
            finally:
                reservation.release()
            self._learn(request, completion.usage)
            self._count(request, completion.usage, completion.cost, self._clock() - began)
            return completion

    @property
    def queues(self) -> bool:
        """Whether calls may have to wait for a place."""
        return self._gate is not None

    async def foretell(self, request: ModelRequest) -> Foretold:
        """What a call takes, with nothing sent of it. A provider may be asked for what it charges."""
        await self._prepare()
        most = self._most(request)
        return Foretold(self._sent(request), most.prompt_tokens + most.reply_tokens, self._cost_of(most))

    def sends(self, request: ModelRequest) -> tuple[tuple[Message, ...], str]:
        """What would go out for a request now."""
        return self._outside.sends(request) if self._outside is not None else (request.messages, "")

    async def _prepare(self) -> None:
        async with self._preparing:
            if self._outside is not None and not self._prepared:
                await self._outside.ready()
                self._prepared = True

    def _most(self, request: ModelRequest) -> Usage:
        """What a call may take at most."""
        prompt = math.ceil(self._heavier * self._prompt(request))
        return Usage(prompt_tokens=prompt, reply_tokens=self._reply(request) + self._beyond, estimated=True)

    def _prompt(self, request: ModelRequest) -> int:
        """Tokens that a prompt takes at most, as far as can be known before any call."""
        sent = self._sent(request)
        return sent if self._outside is None else math.ceil(_MARGIN * sent) + _AROUND_A_MESSAGE * len(request.messages)

    def _reply(self, request: ModelRequest) -> int:
        """Tokens that a reply should take at most, thoughts included."""
        return request.max_tokens + (self._outside.thinking if self._outside is not None else 0)

    def _sent(self, request: ModelRequest) -> int:
        """Tokens of the prompt. Providers count a schema as part of it, wherever it is sent."""
        shape = 0
        if self._outside is not None and request.response is not None:
            shape = self._shapes.get(request.response, 0) or self.count_tokens(json.dumps(request.response.model_json_schema()))
            self._shapes[request.response] = shape
        return self.count_tokens(request.text) + shape

    def _learn(self, request: ModelRequest, usage: Usage) -> None:
        """What was counted beyond what was sure is reckoned with from now on."""
        self._beyond = max(self._beyond, usage.reply_tokens - self._reply(request))
        if self._outside is not None:  # by what it counts now: it may have learned too
            self._heavier = max(self._heavier, usage.prompt_tokens / max(1, self._prompt(request)))

    def _cost_of(self, usage: Usage) -> float | None:
        return self._outside.cost_of(usage) if self._outside is not None else 0.0

    def _count_failed(self, request: ModelRequest, error: BaseException, heard: str, seconds: float) -> None:
        """Count a call that ended so, if it may have cost anything."""
        counted, spent = error.counted if isinstance(error, ProviderError) else None, _spent(error)
        if counted is not None:
            usage = Usage(prompt_tokens=counted[0], reply_tokens=counted[1])
            self._learn(request, usage)
        elif spent != "nothing" or heard:
            usage = self._guessed(request, heard, seconds if spent == "reply" else 0.0)
        else:
            return
        self._count(request, usage, None, seconds, _why(error))

    def _guessed(self, request: ModelRequest, heard: str, seconds: float) -> Usage:
        """What a call took that gave no reply, with what may have been written in so many seconds without being heard: thoughts, and
        replies that come all at once."""
        unheard = 0
        if self._outside is not None:
            whole = request.response is not None and not heard
            unheard = min(int(seconds * _FASTEST), self._outside.thinking + (request.max_tokens if whole else 0))
        return Usage(prompt_tokens=self._sent(request), reply_tokens=self.count_tokens(heard) + unheard, estimated=True)

    def _count(self, request: ModelRequest, usage: Usage, cost: float | None, seconds: float, failed: str = "") -> None:
        cost = cost if cost is not None else self._cost_of(usage)
        call = Call(
            task=request.task, entity=request.entity, round=request.round, model=self.name, prompt_tokens=usage.prompt_tokens,
            reply_tokens=usage.reply_tokens, estimated=usage.estimated, cost=cost, seconds=max(0.0, seconds), failed=failed,
        )
        self._meter.add(call)
        if self._log is not None and (note := self._log.add(call)):
            self._tell(ModelNote(task=request.task, model=self.name, text=note))


def _spent(error: BaseException) -> Literal["nothing", "prompt", "reply"]:
    """What a call may have cost that ended so."""
    if isinstance(error, ProviderError):
        return COURSES[error.trouble].spent
    return "reply" if isinstance(error, asyncio.CancelledError) else "nothing"


def _why(error: BaseException) -> str:
    return str(error.args[0]) if isinstance(error, OthermindsError) else "stopped"
