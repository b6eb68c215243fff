"""A model that replies what it was told to: for tests and for replaying."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping

from engine.errors import ModelError
from engine.llm.protocol import Completion, ModelRequest, Usage
from engine.llm.tokens import estimate_tokens
from engine.records.prompts import Task

Reply = str | ModelError | Callable[[ModelRequest], str]
"""A text, an error to raise, or a function of the request."""


class Scripted:
    """Replies in order, by task when given a mapping. Keeps the requests it got in `requests`.

    The last reply of a list is used up like any other: running out raises `ModelError`, so that a call
    nobody expected is noticed.
    """

    def __init__(
        self,
        replies: Iterable[Reply] | Mapping[Task, Iterable[Reply]] = (),
        *,
        name: str = "scripted",
        context_window: int = 8192,
    ) -> None:
        self.requests: list[ModelRequest] = []
        self._name = name
        self._context_window = context_window
        self._by_task = isinstance(replies, Mapping)
        queues = replies.items() if isinstance(replies, Mapping) else [("", replies)]
        self._queues: dict[str, list[Reply]] = {task: list(queue) for task, queue in queues}

    @property
    def name(self) -> str:
        """Model id."""
        return self._name

    @property
    def context_window(self) -> int:
        """Tokens, as told."""
        return self._context_window

    def count_tokens(self, text: str) -> int:
        """Estimated."""
        return estimate_tokens(text)

    async def complete(self, request: ModelRequest) -> Completion:
        """The next reply. Raises `ModelError` when it is one or none is left."""
        text = self._next(request)
        usage = Usage(prompt_tokens=estimate_tokens(request.text), reply_tokens=estimate_tokens(text))
        return Completion(text=text, model=self._name, usage=usage)

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """The next reply in pieces of a few characters."""
        text = self._next(request)
        for start in range(0, len(text), 12):
            yield text[start : start + 12]

    def _next(self, request: ModelRequest) -> str:
        self.requests.append(request)
        queue = self._queues.get(request.task if self._by_task else "", [])
        if not queue:
            raise ModelError(f"The script has no reply left for task {request.task}.")
        reply = queue.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        return reply if isinstance(reply, str) else reply(request)
