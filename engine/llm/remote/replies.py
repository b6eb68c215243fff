"""A reply as litellm gives it, whole or in pieces, read into one value."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, Protocol, cast

from engine.llm.protocol import Heard
from engine.llm.remote.faults import Origin, broken_off, timed_out
from engine.llm.remote.veil import Veil
from engine.llm.thoughts import SpokenPart

_UNTOLD: Final = object()
"""In place of what litellm does not say at all."""


class Stream(Protocol):
    """What litellm gives for a call with `stream=True`."""

    def __aiter__(self) -> AsyncIterator[object]:
        """The parts as they come."""
        ...

    async def aclose(self) -> None:
        """Hang up. Leaving the iteration alone lets the model go on."""
        ...


class Reply:
    """What came of one call."""

    def __init__(self, prose: bool, keys: tuple[str, ...] = ()) -> None:
        """Thoughts within the text are taken out of prose; structured replies keep them, for whoever looks for JSON in it. `keys` are
        taken out of all of it."""
        self.finish = ""
        """Why it ended, in OpenAI's words: `stop`, `length`, `content_filter`."""
        self.refusal = ""
        self.thought = False
        """Whether the model thought before."""
        self.usage: object = None
        """As the provider counted; None when nobody did."""
        self.length = 0
        """Characters of all that came, thoughts and all, and one for each part that brought none."""
        self._veil = Veil(keys)
        self._keys = keys
        self._thoughts: list[str] = []
        self._spoken = SpokenPart() if prose else None
        self._text: list[str] = []
        self._arguments: list[str] = []

    @property
    def text(self) -> str:
        """The reply itself. The arguments of a tool call, where a structured one came so."""
        if self._spoken is not None:
            return self._spoken.text
        return "".join(self._text) or self._veiled("".join(self._arguments))

    @property
    def all_said(self) -> str:
        """Reply and thoughts, as far as they are told apart from it: what the provider counts."""
        return "".join((*self._thoughts, *self._text)) or self.text

    def add(self, message: object) -> list[str | None]:
        """Take a message, or what a part adds to it. What can be heard of it: None where all before is void."""
        thoughts, refusal, said = (_words(getattr(message, name, None)) for name in ("reasoning_content", "refusal", "content"))
        calls = [getattr(call, "function", None) for call in getattr(message, "tool_calls", None) or ()]
        called = [_words(getattr(call, "arguments", None)) for call in calls]
        self.thought = self.thought or bool(thoughts)
        self.refusal += refusal
        self._thoughts.append(thoughts)
        self._arguments += called
        self.length += max(1, sum(map(len, (thoughts, refusal, said, *called))))
        return self._told(self._veil.add(said))

    def end(self) -> list[str | None]:
        """What was held back until now."""
        said = self._told(self._veil.end())
        self.refusal = self._veiled(self.refusal)
        if self._spoken is not None:
            said += self._spoken.end()
            self.thought = self.thought or self._spoken.thought
        return said

    def cut(self, limit: int) -> None:
        """Keep the first `limit` characters of a reply that is far longer than it was allowed to be."""
        if self.length > limit and self._spoken is None:
            self._text, self._arguments = ["".join(self._text)[:limit]], ["".join(self._arguments)[:limit]]
            self.finish = "length"

    def _told(self, said: str) -> list[str | None]:
        if not said:
            return []
        self._text.append(said)
        return [said] if self._spoken is None else self._spoken.add(said)

    def _veiled(self, text: str) -> str:
        veil = Veil(self._keys)
        return veil.add(text) + veil.end()


async def streamed(
    open_: Callable[[], Awaitable[object]], say: Heard, reply: Reply, silence: float, origin: Origin, limit: int
) -> None:
    """Read a stream into a reply and say it on as it comes. `silence` is how many seconds may pass without another part, or until the
    first; after `limit` characters the reply is cut.

    Hangs up whatever happens. Raises `ProviderError` for silence and for a stream that ends without saying why, and what litellm raises.
    """
    began, cut = False, False
    clock = asyncio.get_running_loop().time
    try:
        async with asyncio.timeout(silence) as watch:
            stream = cast(Stream, await open_())
            try:
                async for part in stream:
                    watch.reschedule(clock() + silence)
                    began = True
                    _take(part, reply, say)
                    if reply.length > limit:
                        cut = True
                        break
            finally:
                await stream.aclose()
    except TimeoutError as error:
        raise timed_out(origin, silence, began) from error
    _say(reply.end(), say)
    if cut:
        reply.finish, reply.usage = "length", None
        return
    ends = [getattr(stream, name, _UNTOLD) for name in ("received_finish_reason", "intermittent_finish_reason")]
    if all(end is None for end in ends) and (reply.text or reply.thought):  # litellm makes up a `stop`
        raise broken_off(origin)
    if not any(getattr(part, "usage", None) for part in getattr(stream, "chunks", ())):  # and counts where nobody did
        reply.usage = None


async def whole(open_: Callable[[], Awaitable[object]], reply: Reply, limit: int) -> None:
    """Read the answer of a call that is answered at once into a reply, cut after `limit` characters. Raises what litellm raises."""
    response = await open_()
    for choice in list(getattr(response, "choices", None) or ())[:1]:
        reply.finish = getattr(choice, "finish_reason", None) or ""
        reply.add(getattr(choice, "message", None))
    reply.end()
    reply.cut(limit)
    reply.usage = getattr(response, "usage", None)


def _take(part: object, reply: Reply, say: Heard) -> None:
    for choice in list(getattr(part, "choices", None) or ())[:1]:
        reply.finish = getattr(choice, "finish_reason", None) or reply.finish
        _say(reply.add(getattr(choice, "delta", None)), say)
    reply.usage = getattr(part, "usage", None) or reply.usage


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""


def _say(pieces: list[str | None], say: Heard) -> None:
    for piece in pieces:
        say(piece)
