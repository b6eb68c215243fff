"""Whether a piece of knowledge still is what something was made of: where it lies and how often it was used do not count. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final

from engine.records.knowledge import Knowledge, KnowledgeId

_BESIDE: Final = (
    "version", "tier", "updated", "updated_round", "retrieval_count", "last_retrieved_at", "activation", "strength",
)  # fmt: skip


def unchanged(was: Knowledge, now: Knowledge | None) -> bool:
    """Whether a row says, and is, what it was when it was read."""
    return now is not None and (was == now or was.model_copy(update={name: getattr(now, name) for name in _BESIDE}) == now)


def all_unchanged(seen: Iterable[Knowledge], now: Mapping[KnowledgeId, Knowledge]) -> bool:
    """Whether all of some rows are so."""
    return all(unchanged(row, now.get(row.id)) for row in seen)
