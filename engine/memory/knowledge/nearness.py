"""From which cosine two pieces of knowledge are one, or are held against each other, for the embedder at hand. Pure."""

from typing import Final, NamedTuple, Protocol

import numpy as np

from engine.memory.embedding import Vectors
from engine.records.knowledge import PromotionPolicy

_MERGE: Final = 0.94
"""Cosine from which two texts are one to a sentence embedder: what the policy's `same` was measured with."""
_MEANING: Final = 0.6
"""Share that a sentence embedder's cosine deserves in relevance."""


class Measured(Protocol):
    """What is known of an embedder."""

    @property
    def meaning(self) -> float:
        """Share that its cosine deserves against words."""
        ...

    @property
    def merge(self) -> float:
        """Cosine from which two texts are one."""
        ...


class Thresholds(NamedTuple):
    """Cosines, 0 to 1."""

    same: float
    """From here on two are one, numbers, negation and names agreeing."""
    conflict: float
    """From here on they are held against each other."""


def thresholds(policy: PromotionPolicy, embedder: Measured) -> Thresholds:
    """The policy's numbers for this embedder.

    They are those of a sentence embedder. `same` goes with the cosine that was measured for merging: the policy's own at 0.94.
    `conflict` is about restatements in other words, which an embedder without weights finds at about half the cosine (of `owns a boat`
    and `sold the boat` 0.50 against 0.68, of `hates ale` and `likes ale` 0.50 against 0.82): it goes with the share that its cosine
    deserves. What is held against each other needlessly costs a look, what is not is missed.
    """
    return Thresholds(min(1.0, policy.same * embedder.merge / _MERGE), by_share(policy.conflict, embedder))


def by_share(value: float, embedder: Measured) -> float:
    """A cosine as a sentence embedder finds it, for this embedder: it goes with the share that its cosine deserves."""
    return value * min(1.0, embedder.meaning / _MEANING)


def cosine(a: Vectors | None, b: Vectors | None) -> float:
    """Of two unit vectors; 0 where one is missing or of another length."""
    return float(np.vecdot(a, b)) if a is not None and b is not None and a.shape == b.shape else 0.0
