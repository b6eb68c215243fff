"""The built-in embedder."""

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.hashing import Hash768
from engine.llm.stems import stem

_DIGEST = """
import asyncio, hashlib
from engine.llm.hashing import Hash768
vectors = asyncio.run(Hash768().embed(["The tall sailor owes forty crowns.", "", "Fire on the quay"]))
print(hashlib.sha256(vectors.tobytes()).hexdigest())
"""


async def cosine(a: str, b: str) -> float:
    one, two = await Hash768().embed([a, b])
    return float(one @ two)


async def test_inflections_and_order_hardly_matter_and_matters_do() -> None:
    near = await cosine("The sailor owes the harbour master forty crowns.", "Forty crowns are owed to the harbour master by a sailor.")
    far = await cosine("The sailor owes the harbour master forty crowns.", "It rained on the hills all morning.")
    assert near > 0.75 > 0.3 > far
    assert await cosine("Bryn wiped the counter", "Bryn wipes the counters") > 0.85


async def test_a_misspelling_still_meets_its_word() -> None:
    assert await cosine("lighthouse", "lighthuose") > 0.1 > await cosine("lighthouse", "breakfast")


@given(st.lists(st.text(max_size=60), max_size=5))
def test_vectors_are_units_of_the_stated_size(texts: list[str]) -> None:
    import asyncio

    embedder = Hash768()
    vectors = asyncio.run(embedder.embed(texts))
    assert vectors.shape == (len(texts), embedder.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_vectors_are_the_same_in_every_process() -> None:
    digests = {
        subprocess.run([sys.executable, "-c", _DIGEST], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("0", "1", "random")
    }  # fmt: skip
    assert len(digests) == 1


def test_stems_meet() -> None:
    families = ("quarrel quarrels quarrelled quarrelling", "owe owes owed owing", "make makes making", "carry carries", "hop hopping")
    for words in families:
        assert len({stem(word) for word in words.split()}) == 1, words
    assert stem("hope") != stem("hop")
