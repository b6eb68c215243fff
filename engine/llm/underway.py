"""The calls that are under way: each is told of from the moment it is asked for, and held for a person's word where one is wanted."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Final

from engine.errors import CallDeclinedError, OthermindsError
from engine.llm.metered import Metered
from engine.llm.observed import Wrapped
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.records.models import CallView

_DECLINED: Final = "You did not let this call go out."
_STOPPED: Final = "stopped"


@dataclass(eq=False)
class _UnderWay:
    """One attempt at a model."""

    model: Metered
    request: ModelRequest
    view: CallView
    word: "asyncio.Future[None] | None" = None
    """What a held call waits for."""


class CallsUnderWay:
    """All calls of one desk of models. `tell` hears of every change, on the event loop; it must be quick and must not raise.

    Held calls wait outside of all gates and reserve nothing: what else goes out is not held up by them.
    """

    def __init__(self, tell: Callable[[CallView], None]) -> None:
        self._tell = tell
        self._calls: dict[int, _UnderWay] = {}
        self._keys = count(1)
        self._asks = False

    @property
    def asks(self) -> bool:
        """Whether a person is asked before each call."""
        return self._asks

    @property
    def now(self) -> tuple[CallView, ...]:
        """The calls under way, oldest first."""
        return tuple(call.view for call in self._calls.values())

    @property
    def held(self) -> tuple[CallView, ...]:
        """Those that wait for a person's word, oldest first."""
        return tuple(view for view in self.now if view.state == "held")

    def ask_first(self, on: bool) -> None:
        """Hold each call from now on, or let all go out, those that are held too."""
        self._asks = on
        if not on:
            for view in self.held:
                self.let_go(view.key)

    def let_go(self, key: int) -> None:
        """Let a held call go out. Nothing happens when it is not held any more."""
        if (word := self._word(key)) is not None:
            word.set_result(None)
            self._change(self._calls[key], state="waiting")

    def decline(self) -> None:
        """Let none of the held calls go out: whoever asked gets a `CallDeclinedError`."""
        for view in self.held:
            if (word := self._word(view.key)) is not None:
                word.set_exception(CallDeclinedError(_DECLINED, "It is asked for again later."))

    def sent(self, request: ModelRequest) -> None:
        """A request goes out, if it is one of these."""
        for call in self._calls.values():
            if call.request is request:
                self._change(call, state="sent", **_going_out(call))
                break

    async def through(self, model: Metered, request: ModelRequest, heard: Heard | None) -> Completion:
        """The reply of a model, and all that is to be told on the way. Raises `ModelError`, `CapReachedError`, `CallDeclinedError`."""
        messages, shape = model.sends(request)
        view = CallView(
            key=next(self._keys), state="waiting", task=request.task, entity=request.entity, round=request.round, model=model.name,
            template=request.template, messages=messages, shape=shape,
        )
        call = self._calls[view.key] = _UnderWay(model, request, view)
        ended: dict[str, object] = {"state": "failed", "failed": _STOPPED}
        try:
            if self._asks:
                await self._hold(call)
            if model.queues and call.word is None:
                self._change(call, state="waiting")
            completion = await model.complete(request, heard)
            ended = {"state": "replied", "reply": completion.text}
            if model.queues:  # the reply's shape may have been asked for in another way than the first one tried
                ended |= _going_out(call)
        except OthermindsError as error:
            ended["failed"] = str(error)
            raise
        else:
            return completion
        finally:
            del self._calls[view.key]
            self._change(call, **ended)

    async def _hold(self, call: _UnderWay) -> None:
        foretold = await call.model.foretell(call.request)
        if not self._asks:
            return
        call.word = asyncio.get_running_loop().create_future()
        self._change(call, state="held", **_going_out(call), **foretold._asdict())
        await call.word

    def _word(self, key: int) -> "asyncio.Future[None] | None":
        """What a call waits for that is still held."""
        call = self._calls.get(key)
        if call is None or call.word is None or call.word.done():
            return None
        return call.word

    def _change(self, call: _UnderWay, **changes: object) -> None:
        call.view = call.view.model_copy(update=changes)
        self._tell(call.view)


def _going_out(call: _UnderWay) -> dict[str, object]:
    """What is known now of the text that goes out."""
    messages, shape = call.model.sends(call.request)
    return {"messages": messages, "shape": shape}


class Watched(Wrapped):
    """A model whose calls are told of while they are under way, each attempt by itself."""

    def __init__(self, inner: Metered, calls: CallsUnderWay) -> None:
        super().__init__(inner)
        self._metered, self._calls = inner, calls

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply. Raises `ModelError`; `CapReachedError` and `CallDeclinedError` when the call was not made."""
        return await self._calls.through(self._metered, request, heard)
