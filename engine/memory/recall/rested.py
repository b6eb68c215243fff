"""An embedder that a recall does not wait for time and again."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.llm.protocol import Embedder

_RESTS = 20
"""Questions that go without meaning after one that was not answered in time: a server that hangs costs one wait, not one each beat."""


class Rested:
    """Asks an embedder with patience, and lets it rest for a while when it did not answer in time."""

    def __init__(self, embedder: Embedder, patience: float) -> None:
        self._embedder, self._patience = embedder, patience
        self.dim, self.meaning, self.same, self.merge = embedder.dim, embedder.meaning, embedder.same, embedder.merge
        self._rests = 0

    @property
    def name(self) -> str:
        """Id of the embedder within."""
        return self._embedder.name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dim). Raises `ModelError`, after `patience` seconds or, while it rests, at once."""
        if self._rests:
            self._rests -= 1
            raise ModelError(f"{self.name} did not answer lately and is not asked again for a while.")
        try:
            async with asyncio.timeout(self._patience):
                return await self._embedder.embed(texts)
        except TimeoutError:
            self._rests = _RESTS
            raise ModelError(f"there was no answer within {self._patience:g} seconds.") from None
