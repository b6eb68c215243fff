"""The built-in embedder `hash768`: signed feature hashing, no weights, the same vectors in every process."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.llm.stems import STOP_WORDS, stem

_DIM = 768
_GRAM = 4
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_STOP_WEIGHT = 0.15
_GRAM_WEIGHT = 0.6


class Features(NamedTuple):
    """What a word adds to a vector: a signed weight to each of some columns."""

    columns: tuple[int, ...]
    weights: tuple[float, ...]


class Hash768:
    """Hashes stems and the character 4-grams of words into 768 signed columns (Weinberger et al. 2009).

    Words weigh `1 + ln(count)`, common words little; the 4-grams of a word share 0.6 of its weight, so that
    inflections and misspellings still meet.

    The thresholds are those measured for it on public conversations and pairs of sentences: `meaning` 0.3 is the best share
    against words for an embedder without weights, 0.94 the cosine at which restatements are told from mere likeness.
    """

    def __init__(self, *, meaning: float = 0.3, same: float = 0.94, merge: float = 0.94) -> None:
        self.meaning = meaning
        self.same = same
        self.merge = merge

    @property
    def name(self) -> str:
        """`hash768`."""
        return "hash768"

    @property
    def dim(self) -> int:
        """768."""
        return _DIM

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, one row a text. A text without words gets the first axis."""
        vectors = np.zeros((len(texts), _DIM), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            _fill(row, text)
        return vectors


def _fill(row: NDArray[np.float32], text: str) -> None:
    columns: list[int] = []
    weights: list[float] = []
    for word, count in Counter(_WORD.findall(text.lower().replace("\u2019", "'"))).items():
        features = _features(word)
        columns += features.columns
        weights += features.weights if count == 1 else [weight * (1.0 + math.log(count)) for weight in features.weights]
    np.add.at(row, columns, np.array(weights, dtype=np.float32))  # one after another, as a loop would, in half the time
    length = float(np.linalg.norm(row))
    if length < 1e-6:
        row[:] = 0.0
        row[0] = 1.0
    else:
        row /= length


@lru_cache(maxsize=50_000)
def _features(word: str) -> Features:
    weight = _STOP_WEIGHT if word in STOP_WORDS else 1.0
    padded = f"<{word}>"
    grams = [padded[at : at + _GRAM] for at in range(len(padded) - _GRAM + 1)]
    found = [_hashed("s:" + stem(word), weight)]
    if weight == 1.0 and grams:
        each = _GRAM_WEIGHT * weight / math.sqrt(len(grams))
        found += [_hashed("g:" + gram, each) for gram in grams]
    return Features(tuple(column for column, _ in found), tuple(signed for _, signed in found))


def _hashed(feature: str, weight: float) -> tuple[int, float]:
    """The column of a feature, and its weight with its sign."""
    number = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return (number >> 1) % _DIM, weight if number & 1 else -weight
