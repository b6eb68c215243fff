"""An embedder that is asked once for what several tiers of one recall ask, and for what the same scene asked before."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.llm.protocol import Embedder

_KEPT = 16
"""Questions whose vectors are kept: a scene is asked about again when a prompt is looked at and then sent."""


class Once:
    """Asks the embedder within for single texts one at a time, and keeps the last few answers."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.dim, self.meaning, self.same, self.merge = embedder.dim, embedder.meaning, embedder.same, embedder.merge
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._asking = asyncio.Lock()

    @property
    def name(self) -> str:
        """Id of the embedder within."""
        return self._embedder.name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the embedder within. What fails is asked anew the next time."""
        if len(texts) != 1:
            return await self._embedder.embed(texts)
        [text] = texts
        async with self._asking:
            if text not in self._kept:
                self._kept[text] = await self._embedder.embed(texts)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(text)
            return self._kept[text]
