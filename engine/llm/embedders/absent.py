"""What stands in for a provider's model that cannot be reached: nothing is embedded, and everybody who asks is told why."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ProviderError


class Absent:
    """An embedder by name alone. A save can be opened and looked into with it: memories are found by words."""

    dim = 1
    """Never used: the save holds no vector of a model whose length of vectors it does not know."""

    def __init__(self, name: str, error: ProviderError, *, meaning: float = 0.6, same: float = 0.92, merge: float = 0.94) -> None:
        self._name, self._error = name, error
        self.meaning, self.same, self.merge = meaning, same, merge

    @property
    def name(self) -> str:
        """What litellm calls the model."""
        return self._name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raises `ProviderError`, always."""
        raise self._error
