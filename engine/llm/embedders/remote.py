"""Any embedding model that litellm reaches: a provider's, or one on a server of one's own."""

from collections.abc import Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from engine.llm.remote.bridge import LitellmBridge
from engine.llm.remote.faults import Origin, bad_output
from engine.llm.remote.keys import keys_for
from engine.llm.remote.library import Litellm

_AT_ONCE: Final = 64
"""Texts a call. Providers take up to 2,048; small servers take their time."""
_BLANK: Final = "."
"""Sent for a text without anything in it, which providers refuse."""
_FREE: Final = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
"""Nobody asks what vectors cost, and without a price litellm asks an Ollama server about the model each time."""


class RemoteEmbedder:
    """Its name, stored with the vectors, is litellm's name of the model.

    `meaning`, `same` and `merge` are the measured ones of MiniLM, which stand in for models nobody measured here.
    """

    def __init__(
        self, bridge: LitellmBridge, model: str, dim: int, *, api_base: str | None = None, limit: float = 60.0, meaning: float = 0.6,
        same: float = 0.92, merge: float = 0.94,
    ) -> None:
        self.name = model
        self.dim = dim
        self.meaning = meaning
        self.same = same
        self.merge = merge
        self._bridge = bridge
        self._origin = embedding_origin(model, api_base)
        self._limit = limit

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, one row a text, in calls of 64. Raises `ModelError`."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            made = await vectors_of(self._bridge, self._origin, self._limit, some)
            if made.shape[1] != self.dim:
                what = f"vectors of {made.shape[1]} numbers instead of {self.dim}"
                raise bad_output(self._origin, what, "Another model must be behind that name: bring the old one back, or set another name.")
            vectors[start : start + len(some)] = made
        return vectors


def embedding_origin(model: str, api_base: str | None) -> Origin:
    """Whom calls for vectors go to."""
    return Origin(model, api_base, 'set embed = "hash768"')


async def vectors_of(bridge: LitellmBridge, origin: Origin, limit: float, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors in one call, of whatever length the model gives. Raises `ModelError`."""

    async def asked(litellm: Litellm) -> NDArray[np.float32]:
        said: dict[str, object] = {"model": origin.model, "input": [text if text.strip() else _BLANK for text in texts]}
        said |= {"max_retries": 0, "timeout": limit + 1.0, **_FREE, **keys_for(litellm, origin)}
        if origin.api_base:
            said["api_base"] = origin.api_base
        return _read(await litellm.aembedding(**said), len(texts), origin)

    return await bridge.call(asked, origin, limit)


def _read(reply: object, count: int, origin: Origin) -> NDArray[np.float32]:
    data = getattr(reply, "data", None)
    if not isinstance(data, list) or len(data) != count:
        raise bad_output(origin, f"{len(data) if isinstance(data, list) else 'no'} vectors for {count} texts")
    rows: dict[object, object] = {}
    for place, row in enumerate(data):
        rows[_field(row, "index", place)] = _field(row, "embedding", None)
    if set(rows) != set(range(count)):
        raise bad_output(origin, "vectors that are not numbered as the texts are")
    try:
        made = np.array([rows[place] for place in range(count)], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise bad_output(origin, "vectors that are not rows of numbers of one length") from error
    if made.ndim != 2 or made.shape[1] == 0:
        raise bad_output(origin, "vectors that are not rows of numbers of one length")
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise bad_output(origin, "vectors without direction")
    return cast(NDArray[np.float32], (made / lengths).astype(np.float32))


def _field(row: object, name: str, default: object) -> object:
    """A field of a row, which litellm gives as a mapping or as an object by provider."""
    return row.get(name, default) if isinstance(row, dict) else getattr(row, name, default)
