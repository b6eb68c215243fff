"""Which memories are told as one: old neighbours of one place and one day. Pure."""

from collections.abc import Iterable
from datetime import timedelta

from engine.records.base import LedgerId, PlaceId
from engine.records.policies import CompressionPolicy
from engine.storage.old_memories import OldMemory

_LEAST = 3
"""Memories that are worth a call."""
DAY = timedelta(days=1)


def protected(policy: CompressionPolicy) -> int:
    """How many of the newest memories are left alone: at most half of what a ledger may hold, so that something is left to choose."""
    return min(policy.newest, policy.limit // 2)


def neighbours(memories: Iterable[OldMemory], policy: CompressionPolicy, excess: int, most: int) -> list[tuple[LedgerId, ...]]:
    """Groups of memories to be told as one, oldest first, at most `most` and no more than take `excess` memories away.

    `memories` come in order of time and are read no further than needed. A group is of one place and within one day. Those that can
    grow no further go first, then the largest, so that a day still to be completed is not told in small pieces. What is a compression
    already is told with others of its kind only: else each new neighbour would cost the old ones another retelling.
    """
    least = min(_LEAST, policy.group)
    growing: dict[tuple[PlaceId | None, bool], list[OldMemory]] = {}
    ready: list[list[OldMemory]] = []

    def enough() -> bool:
        return len(ready) >= most or sum(len(group) - 1 for group in ready) >= excess

    for memory in memories:
        kind = (memory.place, memory.told_before)
        group = growing.setdefault(kind, [])
        if group and memory.timestamp - group[0].timestamp > DAY:
            if len(group) >= least:
                ready.append(group)
                group = []
            group = growing[kind] = [each for each in group if memory.timestamp - each.timestamp <= DAY]
        group.append(memory)
        if len(group) == policy.group:
            ready.append(growing.pop(kind))
        if enough():
            break
    for group in sorted(growing.values(), key=lambda each: (-len(each), each[0].timestamp, each[0].seq)):
        if len(group) >= least and not enough():
            ready.append(group)
    ready.sort(key=lambda group: (group[0].timestamp, group[0].seq))
    return [tuple(memory.id for memory in group) for group in ready[:most]]
