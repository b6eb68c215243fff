"""The entries just before and after the best ones, for the thread of a story (DESIGN 8, item 6). Pure."""

from collections.abc import Callable, Sequence

from engine.records.policies import RecallPolicy

Neighbours = Callable[[int], tuple[int | None, int | None]]
"""Rows before and after a row in the owner's time."""

_MIN_BUDGET = 1000
"""Tokens below which chaining costs more than it gives."""


def room_for_chain(policy: RecallPolicy, budget: int | None) -> int:
    """How many places of the section neighbours may take: a quarter at most, none when room is short.

    Measured: the neighbours of every hit cost up to 7 points of recall at an equal budget, those of the best three none
    once about 1,000 tokens are there (facts-recall 5).
    """
    if policy.chained == 0 or (budget is not None and budget < _MIN_BUDGET):
        return 0
    return min(2 * policy.chained, policy.section_limit // 4)


def chain(ranked: Sequence[int], neighbours: Neighbours, policy: RecallPolicy) -> list[int]:
    """Rows next to the best `policy.chained` of `ranked`, best first, the preceding one before the succeeding one."""
    found: dict[int, None] = {}
    for row in ranked[: policy.chained]:
        found.update(dict.fromkeys(near for near in neighbours(row) if near is not None))
    return list(found)
