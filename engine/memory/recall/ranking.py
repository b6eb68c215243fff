"""Phase 2 of recall: one score for each candidate, split into its parts (DESIGN 8, item 5). Pure numpy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.records.policies import RecallPolicy

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_FLAT = 1e-9
"""Spread below which values count as equal: then they say nothing about the order."""


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of each candidate, one value a candidate in each array."""

    hours: Floats
    """World hours since the event. Below zero counts as zero."""
    importance: Floats
    """1 to 10."""
    cosine: Floats
    """Similarity to the query; NaN where there is no vector or no query vector."""
    words: Floats
    """BM25, higher is better; 0 where no term matches."""
    involved: NDArray[np.bool_]
    """Whether somebody in focus is involved."""
    before: Rows
    """Index of the candidate that precedes it in time within the same scene, or -1."""
    after: Rows
    """Index of the candidate that follows it in time within the same scene, or -1."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores and the weighted parts that add up to them."""

    total: Floats
    recency: Floats
    importance: Floats
    cosine: Floats
    words: Floats
    involved: Floats
    smoothed: Floats
    """What an entry gains from its better neighbour."""

    def best_first(self) -> Rows:
        """Indices by falling score; equal scores keep the order of the candidates."""
        return np.argsort(-self.total, kind="stable").astype(np.int64)


def minmax(values: Floats) -> Floats:
    """Values stretched to 0 to 1. NaN gives 0; values that are all equal give 0, for they prefer none."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(len(values))
    low, high = float(values[known].min()), float(values[known].max())
    if high - low <= _FLAT:
        return np.zeros(len(values))
    return np.where(known, (values - low) / (high - low), 0.0)


def score(features: Features, policy: RecallPolicy, meaning: float) -> Scores:
    """`alpha*decay**hours + beta*importance/10 + gamma*relevance`, where relevance is
    `w*minmax(cosine) + (1-w)*minmax(bm25) + 0.2*involved` plus 0.2 times that of the better neighbour in the scene.

    `meaning` is the embedder's w; the policy's own wins. A candidate without a vector is judged by words alone.
    """
    share = meaning if policy.meaning is None else policy.meaning
    weight = np.where(np.isfinite(features.cosine), share, 0.0)
    cosine = weight * minmax(features.cosine)
    words = (1.0 - weight) * minmax(features.words)
    involved = policy.involved * features.involved.astype(np.float64)
    relevance = cosine + words + involved
    smoothed = policy.smoothing * np.maximum(_at(relevance, features.before), _at(relevance, features.after))
    recency = policy.alpha * policy.decay ** np.maximum(features.hours, 0.0)
    importance = policy.beta * features.importance / 10.0
    parts = [recency, importance, policy.gamma * cosine, policy.gamma * words, policy.gamma * involved, policy.gamma * smoothed]
    return Scores(sum(parts[1:], parts[0]), *parts)


def _at(relevance: Floats, index: Rows) -> Floats:
    """Relevance of the neighbours, 0 where there is none."""
    if not len(relevance):
        return relevance
    return np.where(index >= 0, relevance[np.maximum(index, 0)], 0.0)
