"""What of all that a holder knows can say the same as something new, or contradict it: by topic, by words, by meaning.

Comparing word by word takes longer than all else in settling. So only what shares a word with the new piece, or has one that excludes
one of its own, is compared by rules, and what is nearest by its vector; of the rest rules and vectors would say nothing.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.memory.embedding import Vectors
from engine.memory.knowledge.conflict import core
from engine.memory.knowledge.contraries import ATTITUDES, HOURS, PREDICATES
from engine.memory.wording import forms_of
from engine.records.knowledge import KnowledgeId, NewKnowledge, Scope
from engine.storage.knowledge_bearing import Outline

_NEAREST: Final = 64
"""Pieces above the threshold that are looked at for their vectors."""
Holder = tuple[Scope, str]
_KEPT: Final = 4
"""Holders whose vectors stay in memory: those settled with last."""
_MANY: Final = 256
"""Rows from which they do."""
_HAS: Final = ("own", "ha", "possess")
"""How words begin that say what somebody owns."""


def comparable(row: Outline, new: NewKnowledge) -> bool:
    """Whether a row can say the same as a new piece, or contradict it, at all."""
    return row.kind == new.kind and (row.subject_id is None or new.subject_id is None or row.subject_id == new.subject_id)


def by_words(rows: Iterable[Outline], new: NewKnowledge) -> list[KnowledgeId]:
    """The rows that are named or of the same topic, and those that share a word with a new piece or have one that excludes one of its
    own."""
    beginnings = _beginnings(new)
    words = re.compile(r"(?<![^\W_])(?:" + "|".join(map(re.escape, beginnings)) + ")")
    found = []
    for row in rows:
        named = row.id == new.supersedes or (row.kind == new.kind and row.topic_key == new.topic_key != "")
        if named or (comparable(row, new) and _has(row.plain.casefold(), beginnings, words)):
            found.append(row.id)
    return found


def _has(text: str, beginnings: Sequence[str], words: re.Pattern[str]) -> bool:
    """Whether a word begins so. A look for the letters anywhere comes first: it is ten times as quick."""
    for one in beginnings:
        if one in text:
            return words.search(text) is not None
    return False


def _beginnings(new: NewKnowledge) -> tuple[str, ...]:
    """How a word begins that a row must have; anything when the new piece has none but common words."""
    stems = core(new.content)
    against = (other for groups in (PREDICATES, ATTITUDES, HOURS) for one in stems for other in groups.get(one, ()))
    found = {beginning for one in (*stems, *against) for beginning in forms_of(one)}
    return tuple(sorted(found | set(_HAS) if "own" in stems else found)) or ("",)


@dataclass(frozen=True, slots=True)
class Nearness:
    """The vectors of a holder's rows, one below the other, to find what is nearest to something new."""

    rows: Sequence[Outline]
    matrix: Vectors

    def nearest(self, new: NewKnowledge, vector: Vectors, least: float) -> list[KnowledgeId]:
        """The rows that a new piece can be compared with, from a cosine on, nearest first."""
        if not self.rows or self.matrix.shape[1:] != vector.shape:
            return []
        cosines = np.vecdot(self.matrix, vector)
        near = np.flatnonzero(cosines >= least)
        near = near[np.argsort(-cosines[near], kind="stable")]
        found = (row for at in near.tolist() if comparable(row := self.rows[at], new))
        return [row.id for _, row in zip(range(_NEAREST), found, strict=False)]

    def vectors(self, keys: Iterable[KnowledgeId]) -> dict[KnowledgeId, Vectors]:
        """Those of some rows, as far as there are any."""
        wanted = set(keys)
        return {row.id: self.matrix[at] for at, row in enumerate(self.rows) if row.id in wanted}


class Kept:
    """Vectors of the holders that were settled with last. Those of rows whose words differ are not at hand."""

    def __init__(self) -> None:
        self._holders: OrderedDict[Holder, Nearness] = OrderedDict()

    def missing(self, holder: Holder, rows: Sequence[Outline]) -> list[Outline]:
        """The rows whose vectors are not at hand."""
        known = self._words(holder)
        return [row for row in rows if known.get(row.id) != row.plain]

    def renewed(self, holder: Holder, rows: Sequence[Outline], more: Mapping[KnowledgeId, Vectors]) -> Nearness:
        """The vectors of these rows, from what is at hand and `more`; kept for a holder that has many."""
        before = self._holders.pop(holder, None)
        known = self._at(before)
        held = [row for row in rows if row.id in more or known.get(row.id, ("", 0))[0] == row.plain]
        if before is not None and not more and len(held) == len(before.rows):
            now = before  # ids are never given twice: the same rows, worded the same
        else:
            parts = [more[row.id] if row.id in more else before.matrix[known[row.id][1]] for row in held]  # type: ignore[union-attr]
            now = Nearness(held, np.stack(parts) if parts else np.zeros((0, 0), np.float32))
        if len(rows) >= _MANY:
            self._holders[holder] = now
            while len(self._holders) > _KEPT:
                self._holders.popitem(last=False)
        return now

    def _words(self, holder: Holder) -> dict[KnowledgeId, str]:
        before = self._holders.get(holder)
        return {row.id: row.plain for row in before.rows} if before is not None else {}

    @staticmethod
    def _at(before: Nearness | None) -> dict[KnowledgeId, tuple[str, int]]:
        return {row.id: (row.plain, at) for at, row in enumerate(before.rows)} if before is not None else {}
