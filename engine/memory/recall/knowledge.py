"""The knowledge tier of recall: what the world's author lets an entity know, as far as it bears on the moment (DESIGN 8, item 3)."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.llm.protocol import Embedder
from engine.memory.embedding import Vectors, embedded
from engine.memory.lore import Line, bearing_on
from engine.memory.recall.dispatch import within
from engine.memory.text import bare
from engine.mind.voice import events_section
from engine.prompts.scene import Scene, perceived
from engine.records.authored import LoreItem
from engine.records.base import EntityId
from engine.records.memory import BufferEntry
from engine.records.world import Entity, World
from engine.storage.store import Store

_HELD = 512
"""Lines whose vectors are kept."""
_UNREAD = "What is known of the world could not be read"
_UNLIKE = "Memories were not compared by meaning"


@dataclass(frozen=True, slots=True)
class Known:
    """The knowledge part of a recollection."""

    lines: tuple[Line, ...] = ()
    """Best first."""
    vectors: Vectors | None = None
    """A row a line, to find memories that tell the same; None when the embedder gave none."""


@dataclass(slots=True)
class KnowledgeTier:
    """Finds what is known. Reads authored lore once: it never changes in a save."""

    store: Store
    embedder: Embedder
    patience: float
    _lore: tuple[LoreItem, ...] | None = None
    _vectors: OrderedDict[str, Vectors] = field(default_factory=OrderedDict)

    def at_once(self, entity: Entity, scene: Callable[[], str]) -> Known | None:
        """What `bearing` would give, when nothing has to be waited for because nothing bears on the scene; else None."""
        return Known() if self._lore is not None and not bearing_on(self._lore, entity, scene) else None

    async def bearing(self, entity: Entity, scene: Callable[[], str]) -> tuple[Known, tuple[str, ...]]:
        """What `entity` knows that bears on `scene`, and what was missing."""
        if self._lore is None:
            self._lore, unread = await within(self.patience, self.store.db.read(self.store.worlds.lore), _UNREAD)
            if self._lore is None:
                return Known(), unread
        lines = bearing_on(self._lore, entity, scene) if self._lore else []
        if not lines:
            return Known(), ()
        vectors, unlike = await within(None, self._embedded([bare(line.text) for line in lines]), _UNLIKE)
        return Known(tuple(lines), vectors), unlike

    async def _embedded(self, texts: Sequence[str]) -> Vectors:
        found = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found.update(zip(new, await embedded(self.embedder, new), strict=True))
        self._vectors.update(found)
        for text in found:
            self._vectors.move_to_end(text)
        while len(self._vectors) > _HELD:
            self._vectors.popitem(last=False)
        return np.array([found[text] for text in texts])


def scene_words(world: World, owner: EntityId, entries: Sequence[BufferEntry]) -> str:
    """The recent events and the surroundings in the owner's words, for keys to be found in."""
    scene = Scene(world, owner)
    return "\n".join([perceived(scene).text, scene.place(), events_section(world, owner, entries, world.now)])
