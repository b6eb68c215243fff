"""Where working memory is cut: the protected tail, and the older entries a handoff may judge (DESIGN 7)."""

from collections.abc import Sequence
from datetime import datetime

from engine.mind.timewords import FRESH, naturalize_time
from engine.records.memory import BufferEntry, Partition, Trigger
from engine.records.policies import HandoffPolicy

_DEFAULT = HandoffPolicy()


def partition(
    entries: Sequence[BufferEntry], now: datetime, policy: HandoffPolicy = _DEFAULT, trigger: Trigger = "none"
) -> Partition:
    """Split a buffer, in whatever order it comes, at the watermark. Pure.

    The tail is the larger of the newest `policy.floor` entries and the run of fresh ones. When a hard trigger calls and
    freshness would leave nothing to judge, or more entries than the buffer may hold, freshness yields and the floor stays:
    talk alone cannot outgrow the bound.
    """
    ordered = sorted(entries, key=lambda entry: (entry.timestamp, entry.seq))
    floor = min(policy.floor, len(ordered))
    size = max(floor, _fresh_run(ordered, now))
    if trigger == "involuntary" and size > floor and _stuck(ordered, size, policy):
        size = floor
    cut = len(ordered) - size
    older = ordered[:cut]
    return Partition(
        tail=tuple(ordered[cut:]),
        candidates=tuple(entry for entry in older if entry.pinned != "hand"),
        held=tuple(entry for entry in older if entry.pinned == "hand"),
    )


def is_new(entry: BufferEntry) -> bool:
    """Whether a candidate has not been judged yet: what a committed handoff leaves behind is pinned."""
    return entry.pinned == "none"


def _fresh_run(ordered: Sequence[BufferEntry], now: datetime) -> int:
    count = 0
    for entry in reversed(ordered):
        if naturalize_time(now, entry.timestamp) not in FRESH:
            break
        count += 1
    return count


def _stuck(ordered: Sequence[BufferEntry], size: int, policy: HandoffPolicy) -> bool:
    cut = len(ordered) - size
    nothing_to_judge = not any(is_new(entry) for entry in ordered[:cut])
    return nothing_to_judge or sum(is_new(entry) for entry in ordered[cut:]) > policy.max_entries
