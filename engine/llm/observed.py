"""A model under observation: every reply is shown to a sink."""

from collections.abc import Callable

from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest

CallSink = Callable[[ModelRequest, Completion], None]
"""Told of each reply, on the event loop. Must be quick and must not raise."""


class Wrapped:
    """A model around another: it says of itself what the one within says."""

    def __init__(self, inner: LanguageModel) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """Id of the model within."""
        return self._inner.name

    @property
    def context_window(self) -> int:
        """Window of the model within."""
        return self._inner.context_window

    @property
    def small(self) -> bool:
        """As the model within."""
        return self._inner.small

    def count_tokens(self, text: str) -> int:
        """As the model within counts."""
        return self._inner.count_tokens(text)

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """As the model within replies. Raises `ModelError`, `CapReachedError`."""
        return await self._inner.complete(request, heard)


class Observed(Wrapped):
    """Shows replies to a sink; calls that fail or are abandoned half-way are not reported."""

    def __init__(self, inner: LanguageModel, sink: CallSink) -> None:
        super().__init__(inner)
        self._sink = sink

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply, reported before it is returned. Raises `ModelError`, `CapReachedError`."""
        completion = await self._inner.complete(request, heard)
        self._sink(request, completion)
        return completion
