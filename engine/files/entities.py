"""Entities as authored: who is where, carries what, wants what and remembers what."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine.files.attributes import entity_attributes
from engine.files.fields import Fields, scalar_of
from engine.files.items import Item
from engine.files.memories import Remembering
from engine.files.problems import quoted
from engine.files.references import Known
from engine.records.base import EntityId, PlaceId
from engine.records.clean import one_line
from engine.records.memory import NewBufferEntry, NewLedgerEntry
from engine.records.world import Entity

_KEYS = ("id", "at", "holder", "agent", "factions", "goals", "habits", "voice", "attributes", "aliases", "buffer", "ledger")
_ATTRIBUTES = dict.fromkeys(("name", "label", "appearance", "status", "description", "secret"), "it goes under `attributes`")
_MAX_ALIAS = 100


@dataclass(slots=True)
class People:
    """All entities of a world with their memories, in the order of acting."""

    entities: dict[EntityId, Entity] = field(default_factory=dict)
    buffer: list[NewBufferEntry] = field(default_factory=list)
    ledger: list[NewLedgerEntry] = field(default_factory=list)


def factions_of(items: Sequence[Item]) -> set[str]:
    """The names of all factions that entities belong to. Reports nothing: reading the entities does."""
    found: set[str] = set()
    for item in items:
        node = item.node.entries.get("factions")
        members = [] if node is None else getattr(node[1], "items", [node[1]])
        found |= {one_line(member.text) for member in members if hasattr(member, "text")}
    return found - {""}


def read_entities(items: Sequence[Item], start: datetime, known: Known) -> People:
    """All entities. A carried one stands where its holder does."""
    people = People()
    fields = {item.id: Fields(item.node, item.path, known.report, _KEYS, "an entity", _ATTRIBUTES) for item in items}
    holders = {owner: _holder(owner, found, known) for owner, found in fields.items()}
    stated = {owner: _stated_place(found, known) for owner, found in fields.items()}
    _break_circles(holders, fields, known)
    settled = _settle(holders, stated)
    for order, (owner, found) in enumerate(fields.items()):
        place = settled[owner]
        if holders[owner] and stated[owner] and place != stated[owner]:
            hint = f"its holder is at {quoted(place)}" if place else "its holder is nowhere"
            known.report.add(found.mark("at"), found.at("at"), f"{quoted(owner)} cannot be at {quoted(str(stated[owner]))}", hint)
        people.entities[owner] = _entity(owner, order, place, holders[owner], found, known)
        _memories(people, people.entities[owner], Remembering(owner, place, start, known), found)
    return people


def _entity(
    owner: EntityId, order: int, place: PlaceId | None, holder: EntityId | None, fields: Fields, known: Known
) -> Entity:
    def lines(key: str) -> tuple[str, ...]:
        return tuple(known.prose(scalar, path, line=True) for path, scalar in fields.texts(key))

    return Entity(
        id=owner,
        agent=fields.flag("agent"),
        place=place,
        holder=holder,
        order=order,
        factions=tuple(dict.fromkeys(known.verbatim(scalar, path) for path, scalar in fields.texts("factions"))),
        goals=lines("goals"),
        habits=lines("habits"),
        voice=tuple(known.verbatim(scalar, path) for path, scalar in fields.texts("voice")),
        attributes=entity_attributes(owner, fields, known),
        aliases=_aliases(owner, fields, known),
    )


def _aliases(owner: EntityId, fields: Fields, known: Known) -> dict[EntityId, str]:
    found: dict[EntityId, str] = {}
    node = fields.mapping("aliases")
    for key, (scalar, value) in (node.entries if node else {}).items():
        path = f"{fields.at('aliases')}.{key}"
        target = known.entity(scalar, path)
        text = scalar_of(value, path, known.report)
        if target == owner:
            known.report.add(scalar.mark, path, "an alias for itself", "aliases are what it calls others")
        elif text and not one_line(text.text):
            known.report.add(text.mark, path, "an alias is empty")
        elif text and len(one_line(text.text)) > _MAX_ALIAS:
            known.report.add(text.mark, path, f"an alias is longer than {_MAX_ALIAS} characters")
        elif text and target:
            found[target] = known.verbatim(text, path)
    return found


def _memories(people: People, owner: Entity, reader: Remembering, fields: Fields) -> None:
    for key in ("buffer", "ledger"):
        if fields.get(key) is not None and not owner.agent:
            fields.report.add(fields.mark(key), fields.at(key), "only an agent remembers", "set `agent: true`, or leave this out")
    for path, node in fields.maps("buffer"):
        entry = reader.buffer(node, path)
        if entry:
            people.buffer.append(entry)
    for path, node in fields.maps("ledger"):
        memory = reader.ledger(node, path)
        if memory:
            people.ledger.append(memory)


def _holder(owner: EntityId, fields: Fields, known: Known) -> EntityId | None:
    scalar = fields.scalar("holder")
    found = known.entity(scalar, fields.at("holder")) if scalar else None
    if scalar and found and fields.flag("agent"):
        known.report.add(scalar.mark, fields.at("holder"), "an agent cannot be carried", "say where it is with `at`")
        return None
    return found


def _stated_place(fields: Fields, known: Known) -> PlaceId | None:
    scalar = fields.scalar("at")
    if scalar is None:
        if fields.get("holder") is None and not fields.misspelt("holder"):
            fields.missing("at", "say where it is, or with `holder` who carries it")
        return None
    return known.place(scalar, fields.at("at"))


def _settle(holders: dict[EntityId, EntityId | None], stated: dict[EntityId, PlaceId | None]) -> dict[EntityId, PlaceId | None]:
    """The place of each entity: that of its outermost holder. Long chains are walked once."""
    found: dict[EntityId, PlaceId | None] = {}
    for start in stated:
        chain = [start]
        while (holder := holders.get(chain[-1])) and holder not in found:
            chain.append(holder)
        place = found[holder] if holder else stated.get(chain[-1])
        found.update(dict.fromkeys(chain, place))
    return found


def _break_circles(holders: dict[EntityId, EntityId | None], fields: dict[EntityId, Fields], known: Known) -> None:
    """Report each circle of holding once, where it was written last, and take it out of `holders`."""
    done: set[EntityId] = set()
    ranks = {owner: number for number, owner in enumerate(fields)}
    for start in holders:
        chain: dict[EntityId, None] = {}
        at: EntityId | None = start
        while at and at not in done and at not in chain:
            chain[at] = None
            at = holders.get(at)
        if at in chain:
            walked = list(chain)
            circle = sorted(walked[walked.index(at) :], key=ranks.__getitem__)
            message = "holds itself" if len(circle) == 1 else f"a circle of holders: {', '.join(quoted(one) for one in circle[:5])}"
            last = fields[circle[-1]]
            known.report.add(last.mark("holder"), last.at("holder"), message, "one of them must be at a place")
            for one in circle:
                holders[one] = None
        done.update(chain)
