"""Phase 1 of recall: which entries are looked at closely (DESIGN 8, item 4). Pure."""

from collections.abc import Iterable, Sequence


def thirds(structural: Sequence[int], words: Sequence[int], meaning: Sequence[int], newest: Iterable[int], pool: int) -> list[int]:
    """At most `pool` rows, each once: the lists give their best in turn, so that each has at least a third.

    What a short list leaves over goes to the others, and only then to the newest rows: no busy place hides an old, fitting
    memory, and a question without any cue still finds something.
    """
    queues = [iter(structural), iter(words), iter(meaning)]
    chosen: dict[int, None] = {}
    while len(chosen) < pool:
        before = len(chosen)
        for queue in queues:
            for row in queue:
                if row not in chosen:
                    chosen[row] = None
                    break
            if len(chosen) == pool:
                break
        if len(chosen) == before:
            break
    for row in newest:
        if len(chosen) >= pool:
            break
        chosen[row] = None
    return list(chosen)

