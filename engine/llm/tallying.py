"""A model that keeps count of what one piece of work takes of it, replies that could not be used among it."""

from engine.llm.observed import Wrapped
from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest


class Tally(Wrapped):
    """Counts the tokens of prompts and replies in `tokens`. One object serves one piece of work; calls that fail count nothing."""

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self.tokens = 0

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply, counted. Raises `ModelError`, `CapReachedError`."""
        completion = await self._inner.complete(request, heard)
        self.tokens += completion.usage.prompt_tokens + completion.usage.reply_tokens
        return completion
