"""Authored knowledge that bears on the moment: constant items, and those whose keys were mentioned. Pure."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from engine.records.authored import LoreItem
from engine.records.world import Entity


class Line(NamedTuple):
    """A piece of knowledge that bears on the moment."""

    source: str
    text: str
    """With reference tokens."""
    key: str = ""
    """What called it up, as it was mentioned; empty for what is always in mind."""
    constant: bool = False
    """Whether its author wants it in every prompt of its holders."""
    confidence: float = 1.0
    """How sure its holder is, 0 to 1. What the author wrote is certain."""


def holds(entity: Entity, item: LoreItem) -> bool:
    """Whether `entity` is among those who know `item`."""
    if item.scope == "world":
        return True
    return entity.id in item.holders if item.scope == "entity" else bool(set(entity.factions) & set(item.holders))


def mention(item: LoreItem, scene: str, folded: str) -> str:
    """The first of the item's keys that stands in `scene` as whole words, without case, as it stands there; else nothing.

    `folded` is the scene in small letters: most keys are not in it, and that is told at once.
    """
    for key in item.keys:
        if key.lower() in folded and (found := _whole(key).search(scene)):
            return found.group(0)
    return ""


def bearing_on(lore: Sequence[LoreItem], entity: Entity, scene: Callable[[], str]) -> list[Line]:
    """What `entity` knows that bears on `scene`, best first: called up before constant, then the surer, then in authored order.

    `scene` is put into words only when something could be called up. Who may know an item is looked at before anything else.
    """
    held = [item for item in lore if holds(entity, item)]
    keyed = any(item.keys for item in held)
    words = scene() if keyed else ""
    folded = words.lower()
    found = [Line(item.id, item.text, mention(item, words, folded), item.constant) for item in held]
    bearing = [line for line in found if line.constant or line.key]
    return sorted(bearing, key=lambda line: (line.constant, -line.confidence))


@lru_cache(maxsize=4096)
def _whole(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(key)}(?!\w)", re.IGNORECASE)
