"""From a pool of rows to their order: features gathered from an owner's matrix, scored, with the parts of each score. Pure."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property

import numpy as np

from engine.memory.embedding import Vectors
from engine.memory.recall.ranking import Features, Scores, score
from engine.memory.recall.vectors import OwnerVectors
from engine.records.base import EntityId
from engine.records.policies import RecallPolicy

PARTS = ("recency", "importance", "cosine", "words", "involved", "smoothed")
"""What a score is the sum of."""


class Ranked:
    """Scored candidates of one recall: rows best first, and each row's scores."""

    def __init__(self, rows: Sequence[int], scores: Scores) -> None:
        self._scores, self._best = scores, scores.best_first()
        self.rows = [rows[index] for index in self._best.tolist()]
        self._index = {row: index for index, row in enumerate(self.rows)}

    @cached_property
    def _parts(self) -> list[list[float]]:
        return [getattr(self._scores, name)[self._best].tolist() for name in ("total", *PARTS)]

    def place(self, row: int) -> int:
        """Place of a row in the ranking from 1; 0 for a row that was no candidate."""
        return self._index.get(row, -1) + 1

    def columns(self) -> dict[str, list[float]]:
        """Scores and their parts, best first."""
        return dict(zip(("score", *PARTS), self._parts, strict=True))

    def parts(self, row: int) -> dict[str, float]:
        """The score of a row and the parts that add up to it; zeros for a row that was no candidate."""
        at = self._index.get(row)
        return {name: 0.0 if at is None else values[at] for name, values in zip(("score", *PARTS), self._parts, strict=True)}


def rank(
    vectors: OwnerVectors,
    rows: Sequence[int],
    words: dict[int, float],
    dense: Vectors | None,
    attention: Sequence[EntityId],
    now: datetime,
    meaning: float,
    policy: RecallPolicy,
) -> Ranked:
    """Score the rows of a pool. A neighbour outside of it lifts nothing: counted, it costs 0.01 of evidence recall on single turns."""
    index = np.array(rows, dtype=np.int64)
    at = {row: position for position, row in enumerate(rows)}
    sought = set(attention)
    before, after = vectors.scenes(index)
    features = Features(
        hours=vectors.hours_before(index, now),
        importance=vectors.importance(index),
        cosine=vectors.cosines(index, dense),
        words=np.array([words.get(row, 0.0) for row in rows]),
        involved=np.array([not sought.isdisjoint(vectors.people[row]) for row in rows], dtype=bool),
        before=np.array([at.get(row, -1) for row in before.tolist()], dtype=np.int64),
        after=np.array([at.get(row, -1) for row in after.tolist()], dtype=np.int64),
    )
    return Ranked(rows, score(features, policy, meaning))
