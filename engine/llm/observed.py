"""A model under observation: every finished call is shown to a sink."""

from collections.abc import AsyncIterator, Callable

from engine.llm.protocol import Completion, LanguageModel, ModelRequest, Usage

CallSink = Callable[[ModelRequest, Completion], None]
"""Told of each finished call, on the event loop. Must be quick and must not raise."""


class Observed:
    """Wraps a model; calls that fail or are abandoned half-way are not reported."""

    def __init__(self, inner: LanguageModel, sink: CallSink) -> None:
        self._inner = inner
        self._sink = sink

    @property
    def name(self) -> str:
        """Id of the model within."""
        return self._inner.name

    @property
    def context_window(self) -> int:
        """Window of the model within."""
        return self._inner.context_window

    def count_tokens(self, text: str) -> int:
        """As the model within counts."""
        return self._inner.count_tokens(text)

    async def complete(self, request: ModelRequest) -> Completion:
        """The whole reply, reported before it is returned. Raises `ModelError`."""
        completion = await self._inner.complete(request)
        self._sink(request, completion)
        return completion

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """The reply in pieces, reported after the last one with estimated usage. Raises `ModelError`."""
        pieces: list[str] = []
        async for piece in self._inner.stream(request):
            pieces.append(piece)
            yield piece
        text = "".join(pieces)
        usage = Usage(prompt_tokens=self.count_tokens(request.text), reply_tokens=self.count_tokens(text))
        self._sink(request, Completion(text=text, model=self.name, usage=usage))
