"""Phase 1 of recall: which entries are looked at closely (DESIGN 8, item 4). Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice


def thirds(structural: Sequence[int], words: Sequence[int], meaning: Sequence[int], newest: Iterable[int], pool: int) -> list[int]:
    """At most `pool` rows: a third of each list, best first, each row once. The order of the pool says nothing.

    What a short list leaves over goes to the others in turn, and only then to the newest rows, so that no busy place hides
    an old, fitting memory and a question without any cue still finds something.
    """
    share = pool // 3
    queues = [iter(structural), iter(words), iter(meaning)]
    chosen: dict[int, None] = {}
    for queue in queues:
        _take(queue, share, chosen)
    while len(chosen) < pool:
        before = len(chosen)
        for queue in queues:
            _take(queue, min(1, pool - len(chosen)), chosen)
        if len(chosen) == before:
            break
    for row in newest:
        if len(chosen) >= pool:
            break
        chosen[row] = None
    return list(chosen)


def _take(queue: Iterator[int], count: int, chosen: dict[int, None]) -> None:
    """Move up to `count` rows that are not yet chosen from the queue to the chosen."""
    fresh = (row for row in queue if row not in chosen)
    chosen.update(dict.fromkeys(islice(fresh, count)))
