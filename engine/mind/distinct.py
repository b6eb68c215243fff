"""Telling apart those whom a viewer would call the same."""

from collections.abc import Sequence

from engine.mind.labels import is_name
from engine.records.base import EntityId

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
_INDEFINITE = ("a ", "an ", "some ")


def distinct(wanted: Sequence[tuple[EntityId, str, str | None]]) -> dict[EntityId, str]:
    """Names for entities given as (id, name, other name or None) in fixed order; no two are alike, upper and lower case aside.

    Those who share a name take their other name when that tells them apart (`the tall guard`), else a number (`the second
    guard`, `another guard`, `the other Bryn`).
    """
    shared: dict[str, list[tuple[EntityId, str, str | None]]] = {}
    for one in wanted:
        shared.setdefault(one[1].casefold(), []).append(one)
    if len(shared) == len(wanted):
        return {id_: name for id_, name, _ in wanted}
    names = {group[0][0]: group[0][1] for group in shared.values() if len(group) == 1}
    taken = set(shared)
    for group in shared.values():
        if len(group) > 1:
            names.update(_apart(group, taken))
    return {id_: names[id_] for id_, _, _ in wanted}


def _apart(group: Sequence[tuple[EntityId, str, str | None]], taken: set[str]) -> dict[EntityId, str]:
    others = [(other or "").casefold() for _, _, other in group]
    names: dict[EntityId, str] = {}
    left: list[tuple[EntityId, str]] = []
    for (id_, name, other), key in zip(group, others, strict=True):
        if other and key not in taken and others.count(key) == 1:
            names[id_] = other
            taken.add(key)
        else:
            left.append((id_, name))
    number = 1
    for id_, name in left:
        while (numbered := _numbered(name, number, alone=len(left) == 1)).casefold() in taken and not _is_base(name, number, left):
            number += 1
        names[id_] = numbered
        taken.add(numbered.casefold())
        number += 1
    return names


def _is_base(name: str, number: int, left: Sequence[tuple[EntityId, str]]) -> bool:
    """Whether the first of several may keep the shared name itself: `Bryn` beside `the other Bryn`."""
    return number == 1 and len(left) > 1 and _numbered(name, 1, alone=False) == name


def _numbered(name: str, number: int, *, alone: bool) -> str:
    """The shared name with a number in it. `alone`: all others of the group have names of their own."""
    ordinal = _ordinal(number)
    if is_name(name):
        return name if number == 1 and not alone else f"the other {name}" if number <= 2 else f"the {ordinal} {name}"
    article, _, rest = name.partition(" ")
    if not rest:
        return f"the {ordinal} {name}"
    if name.casefold().startswith(_INDEFINITE):
        return name if number == 1 and not alone else f"another {rest}" if number <= 2 else f"a {ordinal} {rest}"
    return f"{article} other {rest}" if alone and number == 1 else f"{article} {ordinal} {rest}"


def _ordinal(number: int) -> str:
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
