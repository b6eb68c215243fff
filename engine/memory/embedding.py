"""Vectors as they are made and kept: checked where they come from a model (DESIGN 12)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.llm.protocol import Embedder

Vectors = NDArray[np.float32]

_STORED = np.dtype("<f4")
"""Little-endian float32, whatever the machine."""


async def embedded(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """One unit vector a text, in rows. Raises `ModelError` when the embedder fails or gives anything else."""
    if not texts:
        return np.zeros((0, embedder.dim), dtype=_STORED)
    raw = np.asarray(await embedder.embed(texts))
    if raw.shape != (len(texts), embedder.dim):
        raise ModelError(f"The embedder {embedder.name} gave vectors of shape {raw.shape} instead of {(len(texts), embedder.dim)}.")
    if not np.issubdtype(raw.dtype, np.floating) or not np.isfinite(raw).all():
        raise ModelError(f"The embedder {embedder.name} gave vectors that are not numbers.")
    lengths = np.linalg.norm(raw.astype(np.float64), axis=1, keepdims=True)
    if (lengths <= 0).any():
        raise ModelError(f"The embedder {embedder.name} gave an empty vector.")
    return np.asarray(raw / lengths, dtype=_STORED)


class TextVectors:
    """Vectors of texts, each made once however often it is asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._made: dict[str, Vectors] = {}

    @property
    def model(self) -> str:
        """Id of the embedder."""
        return self._embedder.name

    @property
    def merge(self) -> float:
        """Cosine from which two memories are one, to this embedder."""
        return self._embedder.merge

    async def of(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in rows. Raises `ModelError` as `embedded` does."""
        new = [text for text in dict.fromkeys(texts) if text not in self._made]
        self._made.update(zip(new, await embedded(self._embedder, new), strict=True))
        rows = [self._made[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self._embedder.dim), dtype=_STORED)


def from_bytes(blob: bytes) -> Vectors:
    """A stored vector."""
    return np.frombuffer(blob, dtype=_STORED)
