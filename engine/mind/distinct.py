"""Telling apart those whom a viewer would call the same."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import count

from engine.mind.labels import is_name, key_of
from engine.records.base import EntityId

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
_INDEFINITE = ("a ", "an ", "some ")

Named = tuple[EntityId, str]


def distinct(
    wanted: Sequence[Named], other: Callable[[EntityId], str | None], reserved: frozenset[str] = frozenset()
) -> dict[EntityId, str]:
    """Names for entities given as (id, name) in fixed order; no two are alike, case and article aside.

    Those who share a label take their `other` name when that tells them apart (`the tall guard`), else a number (`the second
    guard`, `another guard`, `the other Bryn`). Nobody gets a `reserved` one.
    """
    shared: dict[str, list[Named]] = {}
    for one in wanted:
        shared.setdefault(key_of(one[1]), []).append(one)
    alike = [key for key, group in shared.items() if len(group) > 1 or key in reserved]
    if not alike:
        return dict(wanted)
    names = dict(group[0] for key, group in shared.items() if key not in alike)
    taken = reserved | shared.keys()
    for key in alike:
        names |= _apart(shared[key], other, taken, keeps=key not in reserved)
        taken |= {key_of(names[id_]) for id_, _ in shared[key]}
    return {id_: names[id_] for id_, _ in wanted}


def _apart(group: Sequence[Named], other: Callable[[EntityId], str | None], taken: Set[str], *, keeps: bool) -> dict[EntityId, str]:
    """Names that are not `taken` for those who share one. With `keeps` the first may keep it where that reads well."""
    variants = {id_: "" if is_name(name) else other(id_) or "" for id_, name in group}
    keys = Counter(key_of(variant) for variant in variants.values())
    names = {id_: variant for id_, variant in variants.items() if variant and keys[key_of(variant)] == 1 and key_of(variant) not in taken}
    left = [(id_, name) for id_, name in group if id_ not in names]
    if left:
        shared = left[0][1]
        barred = taken | {key_of(name) for name in names.values()}
        free = (each for each in _numbered(shared, alone=len(left) == 1) if key_of(each) not in barred or (keeps and each == shared))
        names |= {id_: next(free) for id_, _ in left}
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
