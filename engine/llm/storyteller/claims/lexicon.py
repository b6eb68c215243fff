"""Words that claims are read and compared by."""

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple

from engine.llm.stems import stem
from engine.llm.storyteller.phrases import lines, words

Kind = Literal["+", "-", "begin", "end"]


class Relation(NamedTuple):
    """What a verb says: a relation, and whether it holds, begins or ends."""

    name: str
    kind: Kind


@cache
def relations() -> Mapping[str, Relation]:
    """Relations by verb, with `_` between a verb and what goes with it: `work_for`."""
    found: dict[str, Relation] = {}
    for line in lines("claims_relations"):
        name, kind, verbs = line.split(" :: ")
        for verb in verbs.split():
            found.setdefault(verb, Relation(name, _kind(kind)))
    return found


def _kind(text: str) -> Kind:
    return "+" if text == "+" else "-" if text == "-" else "begin" if text == "begin" else "end"


@cache
def word_set(heading: str) -> frozenset[str]:
    """The words under a heading of `claims.txt`."""
    return words("claims")[heading]


@cache
def stems_under(heading: str) -> frozenset[str]:
    """Their stems."""
    return frozenset(map(stem, word_set(heading)))


@cache
def numbers() -> Mapping[str, str]:
    """Words of numbers with their figures."""
    found: dict[str, str] = {}
    for line in lines("claims_numbers"):
        figure, *names = line.split()
        found.update(dict.fromkeys(names, figure))
    return found


@cache
def _groups(name: str) -> Mapping[str, tuple[frozenset[str], str]]:
    """Stems that go with a stem, and the word that their line begins with."""
    found: dict[str, tuple[frozenset[str], str]] = {}
    for line in lines(name):
        group = frozenset(map(stem, line.split()))
        for root in sorted(group):
            others, first = found.get(root, (frozenset(), line.split()[0]))
            found[root] = others | group, first
    return found


_NONE = (frozenset[str](), "")


def alike(one: str, other: str) -> bool:
    """Whether two stems are those of one word or of words that mean much the same."""
    return one == other or other in _groups("claims_alike").get(one, _NONE)[0]


def opposed(one: str, other: str) -> bool:
    """Whether two stems are those of words of which only one can hold at a time."""
    return one != other and not alike(one, other) and other in _groups("claims_opposites").get(one, _NONE)[0]


def matter(root: str) -> str:
    """One word for all of which only one can hold: `poor` and `wealthy` are a matter of `rich`. The stem itself for what has none."""
    return _groups("claims_opposites").get(root, _NONE)[1] or root
