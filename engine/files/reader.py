"""World files in: the one way from a folder of YAML to an `AuthoredWorld`."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.errors import WorldFileError
from engine.files.entities import factions_of, read_entities
from engine.files.fields import Fields, mapping_of
from engine.files.header import KEYS, Header, read_header
from engine.files.items import Item, harvest, items_in_file, items_of
from engine.files.lore import read_lore
from engine.files.places import read_places
from engine.files.problems import Mark, Problem, Report, quoted
from engine.files.references import Known
from engine.files.sources import SECTIONS, Files, gather
from engine.files.templates import read_templates
from engine.files.yamltree import compose
from engine.records.authored import AuthoredWorld
from engine.records.world import World

_SHOWN = 5
"""Problems that the message of the error itself lists."""


def read_world(path: Path) -> AuthoredWorld:
    """The world at `path`: a folder with `world.yaml`, that file, or one file that holds a whole world.

    Raises `WorldFileError` whose `problems` are all that is wrong, in the order of files and lines.
    """
    world, problems = _read(path)
    if world is None:
        lines = [str(problem) for problem in problems[:_SHOWN]]
        more = [f"... and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise WorldFileError("\n".join([f"{path}: {count} in this world", *lines, *more]), tuple(problems))
    return world


def check_world(path: Path) -> list[Problem]:
    """Everything that is wrong with the world at `path`; empty when it can be played."""
    return _read(path)[1]


def _read(path: Path) -> tuple[AuthoredWorld | None, list[Problem]]:
    report = Report()
    files = gather(path, report)
    items: dict[str, list[Item]] = {section: [] for section in SECTIONS}
    known = Known(report, partial=files.lost)
    head = _head(files, items, known)
    for section, source in files.items:
        node = compose(source, report)
        if node is None:
            known.unread |= harvest(source.text, source.name)
        else:
            items[section] += items_in_file(section, node, source.name, known)
    places, entities, lore = (_unique(section, items[section], report) for section in SECTIONS)
    known.places = {item.id: item.mark for item in places}
    known.entities = {item.id: item.mark for item in entities}
    known.factions = factions_of(entities)
    world = _build(files, head, places, entities, lore, known)
    return (None if len(report) else world), report.sorted(files.names)


def _head(files: Files, items: dict[str, list[Item]], known: Known) -> Fields | None:
    """The fields of `world.yaml`; the items that stand in it go to `items`."""
    node = compose(files.head, known.report) if files.head else None
    if files.head and node is None:
        known.unread |= harvest(files.head.text, files.head.name)
    found = mapping_of(node, "", known.report) if node is not None else None
    if found is None:
        return None
    for section in SECTIONS:
        if section in found.entries:
            items[section] += items_of(section, found.entries[section][1], known)
    fields = Fields(found, "", known.report, KEYS, "a world")
    known.partial = known.partial or any(fields.misspelt(section) for section in SECTIONS)
    return fields


def _build(
    files: Files, head: Fields | None, places: Sequence[Item], entities: Sequence[Item], lore: Sequence[Item], known: Known
) -> AuthoredWorld:
    """The world as far as it could be read."""
    report = known.report
    header = read_header(head, known) if head else Header.unknown()
    _shared_ids(known)
    found_places, portals = read_places(places, known)
    people = read_entities(entities, header.start, known)
    found_lore = read_lore(lore, header.start, known)
    templates = read_templates(head, files.templates, known)
    sound = not len(report)  # what is missing may be what could not be read
    if sound and not places:
        report.add(_top(files), "places", "a world needs at least one place", "write them under `places`, or in the folder places/")
    if sound and not any(entity.agent for entity in people.entities.values()):
        report.add(_top(files), "entities", "nobody acts in this world", "at least one entity needs `agent: true`")
    world = World(
        slug=files.slug, name=header.name, description=header.description, seed=header.seed, now=header.start, places=found_places,
        portals=portals, entities=people.entities, templates=templates,
    )  # fmt: skip
    return AuthoredWorld(
        world=world,
        policies=header.policies,
        hints=header.hints,
        lore=found_lore,
        buffer=tuple(sorted(people.buffer, key=lambda entry: entry.timestamp)),
        ledger=tuple(sorted(people.ledger, key=lambda entry: entry.timestamp)),
    )


def _unique(section: str, items: Iterable[Item], report: Report) -> list[Item]:
    """The items with each id once; doubles are reported at the second place."""
    found: dict[str, Item] = {}
    for item in items:
        first = found.setdefault(item.id, item)
        if first is not item:
            where = f"first in {first.mark.file}, line {first.mark.line}, column {first.mark.column}"
            report.add(item.mark, item.path, f"the id {quoted(item.id)} stands twice in {section}", where)
    return list(found.values())


def _shared_ids(known: Known) -> None:
    """Report ids that a place and an entity share: `at` and `who` could mean either."""
    for shared in known.entities.keys() & known.places.keys():
        mark, other = known.entities[shared], known.places[shared]
        where = f"{other.file}, line {other.line}, column {other.column}"
        known.report.add(mark, f"entities.{shared}", f"{quoted(shared)} is also the id of a place", f"that is {where}")


def _top(files: Files) -> Mark:
    return Mark(file=files.names[0], line=1, column=1)
