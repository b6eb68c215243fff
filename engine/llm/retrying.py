"""A model that is asked once more when its provider had trouble that may pass."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count

from engine.errors import ProviderError
from engine.events import ModelNote
from engine.llm.hearing import Hearing
from engine.llm.observed import Wrapped
from engine.llm.policy import COURSES, wait_before
from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest


class Retrying(Wrapped):
    """Waits and asks again as the policy says, and tells of it. Cancelling ends the wait at once."""

    def __init__(
        self, inner: LanguageModel, tell: Callable[[ModelNote], None], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        called: str = "",
    ) -> None:
        """`called` is what people call it, where that is not its name."""
        super().__init__(inner)
        self._tell, self._sleep, self._called = tell, sleep, called

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply of the first attempt that gives one. Raises the last attempt's `ModelError`, and `CapReachedError`."""
        hearing = Hearing(heard)
        for again in count():
            try:
                return await self._inner.complete(request, hearing.ear)
            except ProviderError as error:
                wait = wait_before(error, again)
                if wait is None:
                    raise
                self._tell(self._note(request, error, wait))
            hearing.begin_anew()
            await self._sleep(wait)
        raise AssertionError("unreachable")

    def _note(self, request: ModelRequest, error: ProviderError, wait: float) -> ModelNote:
        what = f"{request.task}: {self._called or self.name} {COURSES[error.trouble].says}"
        return ModelNote(task=request.task, model=self.name, text=f"{what}; it is asked again in {wait:.3g} s.")
