"""Word lists of remembering, read once."""

from collections.abc import Mapping
from functools import cache

from engine.llm.stems import stem
from engine.llm.storyteller.phrases import words


@cache
def word_set(name: str, heading: str) -> frozenset[str]:
    """The words under a heading of a file `remembering_<name>.txt`."""
    return words(f"remembering_{name}").get(heading, frozenset())


@cache
def _weights() -> Mapping[str, tuple[str, ...]]:
    by_stem: dict[str, set[str]] = {}
    for heading, members in sorted(words("remembering_words").items()):
        for word in members:
            by_stem.setdefault(stem(word), set()).add(heading)
    return {root: tuple(sorted(kinds)) for root, kinds in by_stem.items()}


def kinds_of(word: str) -> tuple[str, ...]:
    """What a word touches: `death`, `money`, `secret`, in no particular order of weight; mostly nothing."""
    return _weights().get(stem(word.lower().replace("\u2019", "'")), ())
