"""The knowledge tier of recall: what a mind has come to know, and what the world's author lets it know, as far as it bears on the moment
(DESIGN 8)."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np

from engine.llm.protocol import Embedder
from engine.memory.embedding import Vectors, embedded
from engine.memory.knowledge.nearness import by_share
from engine.memory.lore import Line, Time, bearing_on, holds, times
from engine.memory.recall.bearing import Asked, bearing
from engine.memory.recall.dispatch import within
from engine.memory.recall.holdings import NEAR, SOUGHT, Holding, Holdings
from engine.memory.recall.query import Query
from engine.memory.text import bare
from engine.mind.voice import events_section
from engine.prompts.scene import Scene, perceived
from engine.records.authored import LoreItem
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge
from engine.records.memory import BufferEntry
from engine.records.world import Entity, World
from engine.storage.store import Store

_HELD: Final = 2048
"""Lines of lore whose vectors are kept."""
_AT_ONCE: Final = 64
"""Lines that the embedder is given in one call."""
_NEAR: Final = 0.54
"""Cosine of a scene to a line from which that bears on it, to a sentence embedder."""
_UNREAD = "What is known of the world could not be read"
_UNKNOWN = "Knowledge could not be read"
_UNLIKE = "Memories were not compared by meaning"


class Moment(NamedTuple):
    """What the knowledge of a mind is asked by."""

    entity: Entity
    scene: Callable[[], str]
    """In words, for keys to be found in."""
    query: Query
    now: datetime
    focus: Collection[EntityId] = ()
    present: Collection[EntityId] = ()
    by_person: bool = False
    """Whether a person asks: that reaches what has sunk, and nothing comes to mind by itself."""


@dataclass(frozen=True, slots=True)
class Known:
    """The knowledge part of a recollection."""

    lines: tuple[Line, ...] = ()
    """Best first."""
    vectors: Vectors | None = None
    """A row a line, zeros where there is none, to find memories that tell the same; None when there are none at all."""
    missed: tuple[Line, ...] = ()
    """What just missed, for receipts."""


@dataclass(slots=True)
class KnowledgeTier:
    """Finds what is known. Reads authored lore once, for it never changes in a save; what minds have come to know when it has changed."""

    store: Store
    embedder: Embedder
    patience: float
    _lore: tuple[LoreItem, ...] | None = None
    _vectors: OrderedDict[str, Vectors] = field(default_factory=OrderedDict)
    _holdings: Holdings = field(init=False)

    def __post_init__(self) -> None:
        self._holdings = Holdings(self.store, self.embedder)

    def forget(self) -> None:
        """Knowledge has changed, or who may know it."""
        self._holdings.forget()

    def renew(self, rows: Iterable[Knowledge]) -> None:
        """Rows have been used."""
        self._holdings.renew(rows)

    def at_once(self, moment: Moment) -> Known | None:
        """What `bearing` would give, when nothing has to be waited for because there is nothing that could bear on it; else None."""
        if self._lore is None or moment.by_person:
            return None
        held = self._holdings.held(moment.entity)
        nothing = held is not None and not held.rows and not any(holds(moment.entity, item) for item in self._lore)
        return Known() if nothing else None

    async def bearing(self, moment: Moment) -> tuple[Known, tuple[str, ...]]:
        """What a mind knows that bears on a moment, and what was missing."""
        missing: list[str] = []
        if self._lore is None:
            self._lore, unread = await within(self.patience, self.store.db.read(self.store.lore.all), _UNREAD)
            missing += unread
        reading = self._holdings.of(moment.entity, SOUGHT if moment.by_person else NEAR)
        found, unknown = await within(self.patience, reading, _UNKNOWN)
        missing += unknown
        holding = found or Holding()
        items = [item for item in self._lore or () if holds(moment.entity, item) and item.in_force(moment.now)]
        if not items and not holding.rows:
            return Known(), tuple(missing)
        timed, unread = await self._timed(moment, [item for item in items if item.timed])
        missing += unread
        authored, unlike = await within(None, self._embedded([bare(item.text) for item in items]), _UNLIKE)
        missing += unlike
        dense: Vectors | None = None
        if moment.query.dense.strip() and (holding.vectors is not None or (authored is not None and len(items))):
            one, unlike = await within(None, embedded(self.embedder, [moment.query.dense]), _UNLIKE)
            dense, missing = None if one is None else one[0], [*missing, *unlike]
        return self._known(moment, items, timed, authored, holding, dense), tuple(dict.fromkeys(missing))

    async def _timed(self, moment: Moment, items: Sequence[LoreItem]) -> tuple[Mapping[str, Time], tuple[str, ...]]:
        """What timed lore does in this mind. A person who asks for something gets it also while it rests."""
        if not items or moment.by_person:
            return {}, ()
        reading = self.store.db.read(lambda conn: self.store.lore.called(conn, moment.entity.id))
        called, unread = await within(self.patience, reading, _UNREAD)
        return times(items, called or {}, moment.now), unread

    def _known(
        self, moment: Moment, items: Sequence[LoreItem], timed: Mapping[str, Time], authored: Vectors | None, holding: Holding,
        dense: Vectors | None,
    ) -> Known:
        near, by_source = by_share(_NEAR, self.embedder), dict[str, Vectors]()
        if authored is not None:
            by_source.update(zip((item.id for item in items), authored, strict=True))
        cosines = {} if dense is None else {source: float(np.vecdot(vector, dense)) for source, vector in by_source.items()}
        bears = {source: value for source, value in cosines.items() if value >= near}
        lore = bearing_on(items, moment.entity, moment.scene, bears, timed)
        asked = Asked(
            moment.entity.id, moment.focus, moment.present, moment.query.terms, dense, moment.now, self.embedder.meaning, near,
            moment.by_person,
        )
        chosen, missed = bearing(holding, asked)
        if holding.vectors is not None:
            by_source.update(zip((row.id for row in holding.rows), holding.vectors, strict=True))
        first = [line for line in lore if line.first]
        after = sorted([*chosen, *(line for line in lore if not line.first)], key=lambda line: -line.score)
        lines = (*first, *after)
        return Known(lines, _stacked(lines, by_source), tuple(missed))

    async def _embedded(self, texts: Sequence[str]) -> Vectors:
        """A row a text. Each is embedded once in the life of an open save."""
        found = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            made = dict(zip(some, await embedded(self.embedder, some), strict=True))
            found.update(made)
            self._vectors.update(made)
        for text in found:
            self._vectors.move_to_end(text)
        while len(self._vectors) > _HELD:
            self._vectors.popitem(last=False)
        return np.array([found[text] for text in texts])


def _stacked(lines: Sequence[Line], vectors: Mapping[str, Vectors]) -> Vectors | None:
    """A row a line, zeros where there is none."""
    known = [vectors[line.source] for line in lines if line.source in vectors]
    if not known:
        return None
    blank = np.zeros_like(known[0])
    return np.array([vectors.get(line.source, blank) for line in lines])


def scene_words(world: World, owner: EntityId, entries: Sequence[BufferEntry]) -> str:
    """The recent events and the surroundings in the owner's words, for keys to be found in."""
    scene = Scene(world, owner)
    return "\n".join([perceived(scene).text, scene.place(), events_section(world, owner, entries, world.now)])
