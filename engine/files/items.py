"""The items of a world's sections, wherever they were written, and their ids."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from engine.files.fields import empty, mapping_of, scalar_of, shown
from engine.files.problems import Mark, quoted
from engine.files.references import Known
from engine.files.yamltree import Mapping, Node, Scalar, Sequence

MAX_ID = 64
_ID = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*")
_LOOSE_KEY = re.compile(r"^[ \t]*+(?:-[ \t]++)?([\w-]{1,64})[ \t]*+:", re.MULTILINE)
_LOOSE_ID = re.compile(r"^[ \t]*+(?:-[ \t]++)?(?:\{[ \t]*+)?id[ \t]*+:[ \t]*+[\"']?([\w-]{1,64})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Item:
    """One place, entity or piece of lore as written."""

    id: str
    node: Mapping
    path: str
    """`entities.bob`."""
    mark: Mark
    """Where its id stands."""


def items_of(section: str, node: Node, known: Known) -> Iterator[Item]:
    """The items under a key of `world.yaml`: a list of maps, or a map from id to item.

    Items that are no maps or have no usable id are reported and left out.
    """
    if isinstance(node, Sequence):
        for number, entry in enumerate(node.items, 1):
            path = f"{section}[{number}]"
            found = mapping_of(entry, path, known.report)
            if found:
                yield from _item(section, found, path, known)
            else:
                known.partial = True
    elif isinstance(node, Mapping):
        for key, (scalar, entry) in node.entries.items():
            found = mapping_of(entry, f"{section}.{key}", known.report)
            if found:
                yield from _item(section, found, f"{section}.{key}", known, named=scalar)
            else:
                known.unread.add(key)
    elif not (empty(node) or node.broken):
        known.partial = True
        known.report.add(node.mark, section, f"should be a list of items, this is {shown(node)}", "begin each item with `- id: `")


def items_in_file(section: str, node: Node, name: str, known: Known) -> Iterator[Item]:
    """The items of a file in a section's folder: one item, whose id may be left out for the file's name, or a list of them."""
    if not isinstance(node, Mapping):
        yield from items_of(section, node, known)
    elif list(node.entries) == [section]:
        yield from items_of(section, node.entries[section][1], known)
    else:
        yield from _item(section, node, f"{section}.{stem(name)}", known, default=stem(name))


def harvest(text: str, name: str) -> set[str]:
    """Ids that a file which cannot be read seems to declare."""
    return {*_LOOSE_ID.findall(text), *_LOOSE_KEY.findall(text), stem(name)}


def stem(name: str) -> str:
    """The id that a file gives its one item when that states none."""
    return PurePath(name).stem


def _item(
    section: str, node: Mapping, path: str, known: Known, *, named: Scalar | None = None, default: str = ""
) -> Iterator[Item]:
    report, written = known.report, node.entries.get("id")
    stated = scalar_of(written[1], f"{path}.id", report) if written else None
    if written and stated is None:
        known.partial = True
        return
    if named and stated and named.text != stated.text:
        hint = "leave out one of the two"
        report.add(stated.mark, f"{path}.id", f"the id {quoted(stated.text)} differs from its key {quoted(named.text)}", hint)
    own = named or stated
    text, mark = (own.text, own.mark) if own else (default, node.mark)
    if not text:
        known.partial = True
        report.add(mark, path, "`id` is missing", "each item needs an id of its own")
    elif len(text) > MAX_ID or not _ID.fullmatch(text):
        hint = f"letters, digits, single - and _, at most {MAX_ID}, a letter first: `salt_lantern`"
        known.unread.add(text)
        report.add(mark, path, f"{quoted(text)} cannot be an id", hint)
    else:
        yield Item(text, node, f"{section}.{text}", mark)
