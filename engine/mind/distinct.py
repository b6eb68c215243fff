"""Telling apart those whom a viewer would call the same."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count

from engine.mind.labels import is_name
from engine.records.base import EntityId

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
_INDEFINITE = ("a ", "an ", "some ")

Named = tuple[EntityId, str]


def distinct(wanted: Sequence[Named], other: Callable[[EntityId], str | None]) -> dict[EntityId, str]:
    """Names for entities given as (id, name) in fixed order; no two are alike, upper and lower case aside.

    Those who share a label take their `other` name when that tells them apart (`the tall guard`), else a number (`the second
    guard`, `another guard`, `the other Bryn`).
    """
    shared: dict[str, list[Named]] = {}
    for one in wanted:
        shared.setdefault(one[1].casefold(), []).append(one)
    if len(shared) == len(wanted):
        return dict(wanted)
    names = dict(group[0] for group in shared.values() if len(group) == 1)
    taken = set(shared)
    for group in shared.values():
        if len(group) > 1:
            names.update(_apart(group, other, taken))
    return {id_: names[id_] for id_, _ in wanted}


def _apart(group: Sequence[Named], other: Callable[[EntityId], str | None], taken: set[str]) -> dict[EntityId, str]:
    variants = ["" if is_name(name) else other(id_) or "" for id_, name in group]
    keys = [variant.casefold() for variant in variants]
    names: dict[EntityId, str] = {}
    left: list[Named] = []
    for (id_, name), variant, key in zip(group, variants, keys, strict=True):
        if key and key not in taken and keys.count(key) == 1:
            names[id_] = variant
            taken.add(key)
        else:
            left.append((id_, name))
    if left:
        numbered = _numbered(left[0][1], alone=len(left) == 1)
        for id_, name in left:
            names[id_] = next(each for each in numbered if each.casefold() not in taken or each == name)
            taken.add(names[id_].casefold())
    return names


def _numbered(name: str, *, alone: bool) -> Iterator[str]:
    """Endless names made of a shared one. It comes first itself where that reads well: `Bryn`, `the other Bryn`, `the third Bryn`.

    `alone`: all others who share it have taken names of their own.
    """
    article, _, rest = name.partition(" ")
    if is_name(name) or not rest:
        yield name
        yield f"the other {name}"
        yield from (f"the {_ordinal(number)} {name}" for number in count(3))
    elif name.casefold().startswith(_INDEFINITE):
        yield name
        yield f"another {rest}"
        yield from (f"a {_ordinal(number)} {rest}" for number in count(3))
    else:
        if alone:
            yield f"{article} other {rest}"
        yield from (f"{article} {_ordinal(number)} {rest}" for number in count(1))


def _ordinal(number: int) -> str:
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
