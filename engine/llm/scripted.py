"""A model that replies what it was told to: for tests and for replaying."""

from collections.abc import Callable, Iterable, Mapping

from engine.errors import ModelError
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
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
        small: bool = False,
    ) -> None:
        self.requests: list[ModelRequest] = []
        self._name = name
        self.small = small
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

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The next reply, heard in pieces of a few characters. Raises `ModelError` when it is one or none is left."""
        text = self._next(request)
        if heard is not None:
            for start in range(0, len(text), 12):
                heard(text[start : start + 12])
        usage = Usage(prompt_tokens=estimate_tokens(request.text), reply_tokens=estimate_tokens(text), estimated=True)
        return Completion(text=text, model=self._name, usage=usage)

    def _next(self, request: ModelRequest) -> str:
        self.requests.append(request)
        queue = self._queues.get(request.task if self._by_task else "", [])
        if not queue:
            raise ModelError(f"The script has no reply left for task {request.task}.")
        reply = queue.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        return reply if isinstance(reply, str) else reply(request)
