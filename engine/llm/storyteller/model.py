"""The storyteller as a model: one writer for each task behind the common protocol."""

import asyncio
import re
from collections.abc import Callable, Mapping

from engine.errors import ModelError
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.storyteller.actor.actor import act
from engine.llm.storyteller.alias.writer import label
from engine.llm.storyteller.collapse.writer import sum_up
from engine.llm.storyteller.decode.decoder import decode
from engine.llm.storyteller.handoff.writer import remember
from engine.llm.storyteller.referee import judge
from engine.llm.storyteller.validate.writer import weigh
from engine.llm.tokens import estimate_tokens
from engine.records.prompts import Task

_PIECE = re.compile(r"\S*\s*")
_WRITERS: Mapping[Task, Callable[[ModelRequest], str]] = {
    "actor": act,
    "decode": decode,
    "referee": judge,
    "handoff": remember,
    "collapse": sum_up,
    "validate": weigh,
    "alias": label,
}


class Storyteller:
    """Plays all characters from what their prompts say, and nothing else.

    The same request gives the same reply, in every process. Chance comes from the request's seed, round and entity.
    Writing runs in a thread: the first reply of a task reads its phrases, and the event loop is not to wait for that. One reply
    is written after the other, so that a log of calls is the same in every run.
    """

    def __init__(self) -> None:
        self._pen = asyncio.Lock()

    @property
    def name(self) -> str:
        """`storyteller`."""
        return "storyteller"

    @property
    def context_window(self) -> int:
        """8192, so that budgets work as with a small model."""
        return 8192

    def count_tokens(self, text: str) -> int:
        """Estimated: there is no tokenizer."""
        return estimate_tokens(text)

    @property
    def small(self) -> bool:
        """No: it does all of a task at once."""
        return False

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The whole reply, heard word by word; the event loop gets its turn between. Raises `ModelError` for a task it does not play."""
        text = await self._written(request)
        if heard is not None:
            for piece in _PIECE.findall(text):
                if piece:
                    heard(piece)
                    await asyncio.sleep(0)
        usage = Usage(prompt_tokens=estimate_tokens(request.text), reply_tokens=estimate_tokens(text), estimated=True)
        return Completion(text=text, model=self.name, usage=usage, cost=0.0)

    async def _written(self, request: ModelRequest) -> str:
        async with self._pen:
            return await asyncio.to_thread(self._write, request)

    def _write(self, request: ModelRequest) -> str:
        writer = _WRITERS.get(request.task)
        if writer is None:
            raise ModelError(f"The storyteller does not play the task {request.task}.", "Route it to another model.")
        return writer(request)
