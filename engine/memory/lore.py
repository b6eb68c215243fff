"""Authored knowledge that bears on the moment: constant items, and those whose keys were mentioned."""

import re
from collections.abc import Sequence

from engine.records.authored import LoreItem
from engine.records.prompts import KnownThing
from engine.records.world import Entity


def holds(entity: Entity, item: LoreItem) -> bool:
    """Whether `entity` is among those who know `item`."""
    if item.scope == "world":
        return True
    return entity.id in item.holders if item.scope == "entity" else bool(set(entity.factions) & set(item.holders))


def fires(item: LoreItem, scene: str) -> bool:
    """Whether one of the item's keys stands in `scene` as whole words, without case; constant items always fire."""
    return item.constant or any(re.search(rf"(?<!\w){re.escape(key)}(?!\w)", scene, re.IGNORECASE) for key in item.keys)


def bearing_on(lore: Sequence[LoreItem], entity: Entity, scene: str) -> list[KnownThing]:
    """What `entity` knows that bears on `scene` (its recent events and surroundings in words), authored order, fired before constant."""
    known = [item for item in lore if holds(entity, item) and fires(item, scene)]
    return [KnownThing(source=item.id, text=item.text) for item in sorted(known, key=lambda item: item.constant)]
