"""Authored knowledge that bears on the moment: constant items, those whose keys were mentioned, those that mean the same. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, NamedTuple

from engine.records.authored import LoreItem
from engine.records.prompts import Leg
from engine.records.world import Entity


class Line(NamedTuple):
    """A piece of knowledge that bears on the moment. Its score is the sum of its parts, which are those of a receipt."""

    source: str
    text: str
    """With reference tokens."""
    key: str = ""
    """What called up a piece of lore, as it was mentioned; empty for what is always in mind."""
    constant: bool = False
    """Whether its author wants it in every prompt of its holders."""
    stays: bool = False
    """Whether it is in mind because it came there before."""
    confidence: float = 1.0
    """How sure its holder is, 0 to 1. What the author wrote is certain."""
    why: str = ""
    """Why it bears on the moment, for people."""
    found_by: tuple[Leg, ...] = ()
    words: float = 0.0
    cosine: float = 0.0
    involved: float = 0.0
    importance: float = 0.0
    """Confidence counts here, too."""
    recency: float = 0.0
    """How present it is by its uses."""

    @property
    def first(self) -> bool:
        """Whether it goes before all that only means or tells something near."""
        return bool(self.key or self.constant or self.stays)

    @property
    def score(self) -> float:
        """How much it bears on the moment."""
        return self.words + self.cosine + self.involved + self.importance + self.recency


Time = Literal["stays", "rests"]
"""What timed lore does in a mind that it came to: it stays, whatever is talked of, or it rests, and nothing calls it up."""


def times(lore: Sequence[LoreItem], called: Mapping[str, datetime], now: datetime) -> dict[str, Time]:
    """What each piece of timed lore does now in a mind that it last came to at `called`, by id. What does neither is left out."""
    found: dict[str, Time] = {}
    for item in lore:
        since = now - called[item.id] if item.id in called else None
        if since is not None and since < item.stays + item.rests:
            found[item.id] = "stays" if since < item.stays else "rests"
    return found


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


def bearing_on(
    lore: Sequence[LoreItem], entity: Entity, scene: Callable[[], str], near: Mapping[str, float] | None = None,
    timed: Mapping[str, Time] | None = None,
) -> list[Line]:
    """What `entity` knows that bears on `scene`, best first: called up by key before constant, what only means the same last.

    Within each in authored order, by meaning the nearer first: `near` gives the cosines to the scene, by id, of the items that are near
    enough. `scene` is put into words only when something could be called up. Who may know an item is looked at before anything else.
    `timed` says what stays in mind, which then counts as called up, and what rests, which is left out.
    """
    timed = timed or {}
    held = [item for item in lore if holds(entity, item) and timed.get(item.id) != "rests"]
    keyed = any(item.keys for item in held)
    words = scene() if keyed else ""
    folded = words.lower()
    found = [_line(item, mention(item, words, folded), (near or {}).get(item.id, 0.0), item.id in timed) for item in held]
    bearing = [line for line in found if line.first or line.cosine]
    return sorted(bearing, key=lambda line: (not line.key, not line.stays, not line.constant, -line.cosine))


def _line(item: LoreItem, key: str, cosine: float, stays: bool) -> Line:
    """An item that was called up scores its holder's confidence; what is always in mind scores nothing."""
    if key:
        return Line(item.id, item.text, key, item.constant, why=f"called up by {key}", found_by=("words",), words=1.0)
    if stays:
        return Line(item.id, item.text, constant=item.constant, stays=True, why="still in mind", words=1.0)
    if item.constant:
        return Line(item.id, item.text, constant=True, why="always in mind")
    return Line(item.id, item.text, why="means what the scene is about", found_by=("meaning",), cosine=cosine)


@lru_cache(maxsize=4096)
def _whole(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(key)}(?!\w)", re.IGNORECASE)
