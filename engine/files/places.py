"""Places and the ways between them, as authored."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from engine.files.attributes import place_attributes
from engine.files.fields import Fields, scalar_of, shown, whole_number
from engine.files.items import Item
from engine.files.problems import Mark, Report, quoted
from engine.files.references import Known
from engine.files.yamltree import Sequence as ListNode
from engine.records.base import PlaceId, PortalId
from engine.records.world import Place, Portal, PortalState

_PLACE_KEYS = ("id", "name", "description", "exits", "attributes", "light", "position")
_EXIT_KEYS = ("to", "name", "id", "state", "vision", "sound", "one_way", "key", "when_open", "when_closed")
_STATES: tuple[PortalState, ...] = ("open", "closed", "locked")
_DETERMINED = re.compile(r"(?:the|a|an|some|one|no|my|your|his|her|its|our|their)\b|\w+['\u2019]s? ", re.IGNORECASE)
_MUFFLING = 5
"""By how much a shut portal dampens sound when its author says nothing."""
_MAX_POSITION = 1000


@dataclass(slots=True)
class _Exit:
    """One `exits` entry: what was stated about a way, and where."""

    origin: PlaceId
    to: PlaceId
    name: str
    one_way: bool
    mark: Mark
    path: str
    values: dict[str, tuple[object, Mark]] = field(default_factory=dict)


def read_places(items: Sequence[Item], known: Known) -> tuple[dict[PlaceId, Place], dict[PortalId, Portal]]:
    """All places and portals, in the order they were written."""
    report = known.report
    places: dict[PlaceId, Place] = {}
    exits: list[_Exit] = []
    for item in items:
        fields = Fields(item.node, item.path, report, _PLACE_KEYS, "a place")
        name, description = fields.scalar("name", required=True), fields.scalar("description")
        places[item.id] = Place(
            id=item.id,
            name=known.verbatim(name, fields.at("name")) if name else item.id,
            description=known.prose(description, fields.at("description")) if description else "",
            attributes=place_attributes(fields, known),
            position=_position(fields),
        )
        exits += _exits(item.id, fields, known)
    return places, _portals(exits, report)


def _position(fields: Fields) -> tuple[int, int] | None:
    node = fields.get("position")
    if node is None:
        return None
    numbers: list[int] = []
    if isinstance(node, ListNode):
        texts = [scalar_of(item, fields.at("position"), fields.report) for item in node.items]
        found = [whole_number(text.text) for text in texts if text]
        numbers = [number for number in found if number is not None and abs(number) <= _MAX_POSITION]
        if len(numbers) == 2 == len(node.items):
            return numbers[0], numbers[1]
    hint = f"column and row as whole numbers up to {_MAX_POSITION}: [2, 0]"
    fields.report.add(node.mark, fields.at("position"), f"not a position: {shown(node)}", hint)
    return None


def _exits(origin: PlaceId, place: Fields, known: Known) -> Iterator[_Exit]:
    for path, node in place.maps("exits"):
        fields = Fields(node, path, known.report, _EXIT_KEYS, "an exit")
        to, name = fields.scalar("to", required=True), fields.scalar("name", required=True)
        target = known.place(to, fields.at("to")) if to else None
        found = _Exit(
            origin=origin,
            to=target or "",
            name=_way_name(known.verbatim(name, fields.at("name"))) if name else "",
            one_way=fields.flag("one_way"),
            mark=node.mark,
            path=path,
        )
        for key, value in _stated(fields, known).items():
            if value is not None:
                found.values[key] = (value, fields.mark(key))
        if to and target == origin:
            known.report.add(to.mark, fields.at("to"), f"a way from {quoted(origin)} to itself", "name the place on the other side")
        elif target and found.name:
            yield found


def _way_name(name: str) -> str:
    """The name as it stands in a sentence: `trap door` is told as `the trap door`."""
    return name if not name[:1].islower() or _DETERMINED.match(name) else f"the {name}"


def _stated(fields: Fields, known: Known) -> dict[str, object]:
    """Values of the keys that an exit states, None for the others."""
    key, own = fields.scalar("key"), fields.scalar("id")
    values: dict[str, object] = {
        "state": fields.choice("state", _STATES, "") or None,
        "vision": fields.whole("vision", 0, 10),
        "sound": fields.whole("sound", 0, 10),
        "key": known.entity(key, fields.at("key")) if key else None,
        "id": known.verbatim(own, fields.at("id")) if own else None,
    }
    for when in ("when_open", "when_closed"):
        node = fields.mapping(when)
        if node:
            pair = Fields(node, fields.at(when), known.report, ("vision", "sound"), f"`{when}`")
            values[when] = (pair.whole("vision", 0, 10), pair.whole("sound", 0, 10))
    return values


def _portals(exits: Sequence[_Exit], report: Report) -> dict[PortalId, Portal]:
    ways: dict[tuple[PlaceId, PlaceId, str], _Exit] = {}
    portals: dict[PortalId, Portal] = {}
    for way in exits:
        same = ways.get((way.origin, way.to, way.name.casefold()))
        back = ways.get((way.to, way.origin, way.name.casefold()))
        if same:
            report.add(way.mark, way.path, f"the way {quoted(way.name)} stands twice", f"first in {_where(same)}")
        elif back and not (back.one_way and way.one_way):
            _merge(back, way, report)
        else:
            ways[way.origin, way.to, way.name.casefold()] = way
    authored = {str(way.values["id"][0]) for way in ways.values() if "id" in way.values}
    for way in ways.values():
        portal = _portal(way, _portal_id(way, portals, authored, report), report)
        portals[portal.id] = portal
    return portals


def _merge(first: _Exit, second: _Exit, report: Report) -> None:
    """The same way, seen from its other end: what both state must agree, what only the second states is added."""
    where = f"the other end is in {_where(first)}"
    if first.one_way != second.one_way:
        report.add(second.mark, second.path, f"the way {quoted(second.name)} is one-way from one side only", where)
    for key, (value, mark) in second.values.items():
        if key not in first.values:
            first.values[key] = (value, mark)
        elif first.values[key][0] != value:
            other, there = first.values[key]
            said = f"{quoted(key)} of the way {quoted(second.name)} is {_told(value)} here and {_told(other)} at its other end"
            report.add(mark, f"{second.path}.{key}", said, f"that is {there.file}, line {there.line}, column {there.column}")


def _portal(way: _Exit, portal_id: PortalId, report: Report) -> Portal:
    """The portal with its values as it stands and as it would be the other way round.

    Unstated, an open way carries all sight and sound, and a shut one no sight and its sound less `_MUFFLING`.
    """
    values: Mapping[str, object] = {key: value for key, (value, _) in way.values.items()}
    state = cast(PortalState, values.get("state", "open"))
    vision, sound = cast(int | None, values.get("vision")), cast(int | None, values.get("sound"))
    opened = cast(tuple[int | None, int | None], values.get("when_open", (None, None)))
    shut = cast(tuple[int | None, int | None], values.get("when_closed", (None, None)))
    here, where = (opened, "when_open") if state == "open" else (shut, "when_closed")
    for stated, pair, key in ((vision, here[0], "vision"), (sound, here[1], "sound")):
        if stated is not None and pair is not None and stated != pair:
            hint = f"it is {state} at the start, so that `{where}` is what holds: leave out one of the two"
            report.add(way.values[key][1], f"{way.path}.{key}", f"{quoted(key)} is {stated} here and {pair} in `{where}`", hint)
    now = (_first(vision, here[0]), _first(sound, here[1]))
    if state == "open":
        open_pair = (_first(now[0], 10), _first(now[1], 10))
        shut_pair = (_first(shut[0], 0), _first(shut[1], max(0, open_pair[1] - _MUFFLING)))
    else:
        open_pair = (_first(opened[0], 10), _first(opened[1], 10))
        shut_pair = (_first(now[0], 0), _first(now[1], max(0, open_pair[1] - _MUFFLING)))
    as_is, other = (open_pair, shut_pair) if state == "open" else (shut_pair, open_pair)
    return Portal(
        id=portal_id, name=way.name, a=way.origin, b=way.to, one_way=way.one_way, state=state, vision=as_is[0], sound=as_is[1],
        vision_other=other[0], sound_other=other[1], key=cast(str | None, values.get("key")),
    )  # fmt: skip


def _first(stated: int | None, default: int | None) -> int:
    found = stated if stated is not None else default
    return cast(int, found)


def _portal_id(way: _Exit, taken: Mapping[PortalId, Portal], authored: set[str], report: Report) -> PortalId:
    if "id" in way.values:
        own, mark = str(way.values["id"][0]), way.values["id"][1]
        if own in taken:
            report.add(mark, f"{way.path}.id", f"the id {quoted(own)} belongs to another way", "give each way its own, or none")
        return own
    base = number = f"way-{way.origin}-{way.to}"
    count = 1
    while number in taken or number in authored:
        count += 1
        number = f"{base}-{count}"
    return number


def _where(way: _Exit) -> str:
    return f"{way.mark.file}, line {way.mark.line}, column {way.mark.column}"


def _told(value: object) -> str:
    return " and ".join("unstated" if part is None else str(part) for part in value) if isinstance(value, tuple) else quoted(str(value))
