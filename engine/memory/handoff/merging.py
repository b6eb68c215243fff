"""New chunks that tell what the ledger tells already go into the memory that tells it (DESIGN 7; invariant 11).

Two ways lead to a second copy. Somebody repeats what its prompt recalled, and that is promoted once more, by itself and by all who
hear it: an echo. Or much the same happens, or is said, twice: a near-duplicate. A false merge is worse than a copy, so both are judged
by more than a cosine: what counts as one occasion, and when several are one memory, `engine.memory.occasions` says.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engine.memory.duplicates import BY_PEOPLE, all_quotes, at_odds, same_people, same_words, says_the_same
from engine.memory.embedding import TextVectors, Vectors, from_bytes
from engine.memory.handoff.echoes import Voice, echoed_by
from engine.memory.handoff.finding import Found, Newcomer
from engine.memory.handoff.selection import united
from engine.memory.occasions import one_occasion, recurs
from engine.memory.text import plain
from engine.memory.wording import content
from engine.records.base import BufferId, EntityId, LedgerId
from engine.records.memory import BufferEntry, Chunk, LedgerEntry
from engine.records.tokens import referred
from engine.records.world import World

_FEW = 20
"""Memories beside one chunk that are compared with it on the spot."""
_MANY = 24
"""Chunks that are compared with each other on the spot. More leaves the event loop alone (invariant 10)."""


class Merged(NamedTuple):
    """Chunks after merging, and what was done, for people."""

    chunks: list[Chunk]
    notes: list[str]


async def merged(
    world: World, owner: EntityId, chunks: Sequence[Chunk], events: Mapping[BufferId, BufferEntry], fresh: Sequence[Newcomer],
    found: Sequence[Found], vectors: TextVectors, taken: Collection[LedgerId] = (),
) -> Merged:
    """The chunks, those that tell what `owner` already holds told so: `updates` names the memory.

    `fresh` are the newcomers among them, `found` what the ledger holds that may tell the same as each. Memories in `taken` are
    rewritten by somebody else: a chunk may bring them sources and no more. Writes nothing. Raises `ModelError` when the embedder fails.
    """
    if not fresh:
        return Merged(list(chunks), [])
    if len(fresh) > 1 or found[0].near:
        rows = await vectors.of([plain(one.entry.content, one.entry.quotes) for one in fresh])
    else:
        rows = np.zeros((1, 1), dtype=np.float32)
    merging = _Merging(world, owner, chunks, events, vectors.merge, taken)

    def place() -> None:
        for one, held, row in zip(fresh, found, rows, strict=True):
            merging.place(one, held, row)

    if len(fresh) > _MANY or any(len(held.near) + len(held.recited or ()) > _FEW for held in found):
        await asyncio.to_thread(place)  # a dozen long speeches against what may tell them take tens of milliseconds
    else:
        place()
    return Merged([chunk for chunk in merging.slots if chunk is not None], merging.notes)


class _Merging:
    """Puts the new chunks of one reply into their places. `slots` are the chunks, None for those that went into another."""

    def __init__(
        self, world: World, owner: EntityId, chunks: Sequence[Chunk], events: Mapping[BufferId, BufferEntry], threshold: float,
        taken: Collection[LedgerId],
    ) -> None:
        self.slots: list[Chunk | None] = list(chunks)
        self.notes: list[str] = []
        self._world, self._owner, self._threshold, self._taken = world, owner, threshold, taken
        self._order = {key: at for at, key in enumerate(events)}
        self._rewriting = {chunk.updates: at for at, chunk in enumerate(chunks) if chunk.updates}
        self._new: dict[int, tuple[LedgerEntry, Vectors]] = {}
        self._voices: dict[int, Voice | None] = {}

    def place(self, one: Newcomer, found: Found, vector: Vectors) -> None:
        """Decide on one new chunk: words that are remembered already, a near-duplicate of a memory or of an earlier chunk, or news."""
        chunk = self._slot(one.at)
        if not (self._place_echo(one, chunk, found) or self._place_near(one.at, chunk, one.entry, found, vector)):
            self._new[one.at] = (one.entry, vector)
            self._voices[one.at] = one.voice

    def _place_echo(self, one: Newcomer, chunk: Chunk, found: Found) -> bool:
        at, voice, recited = one.at, one.voice, found.recited
        if voice is None or recited is None:
            return False
        earlier = {held.id: other for other, (held, _) in self._new.items() if self._voices[other] == voice}
        echo = echoed_by(self._world, voice, one.sources, [*recited, *(self._new[other][0] for other in earlier.values())])
        if echo is None or not _speaks_of(echo, one, found):
            return False
        if echo.id in earlier:
            self._fold(earlier[echo.id], chunk, words=False)
            self.slots[at] = None
        else:
            self._repeat(at, chunk, echo, lasting=voice.speaker != self._owner)
        self.notes.append(
            "a moment only repeats what was recalled: it goes into the memory it came from" if voice.speaker == self._owner
            else "a moment only repeats what was said before: it goes into the memory of that"
        )  # fmt: skip
        return True

    def _place_near(self, at: int, chunk: Chunk, entry: LedgerEntry, found: Found, vector: Vectors) -> bool:
        same = [
            (cosine, -held.seq, held)
            for held in found.near
            if (cosine := self._sameness(entry, held, vector, _row(found.vectors.get(held.id)))) is not None
        ]
        if same:
            self._join(at, chunk, max(same)[2])
            self.notes.append("a moment tells what an older memory tells: the two became one")
            return True
        for other, (held, row) in self._new.items():
            if self._sameness(entry, held, vector, row) is not None:
                self._fold(other, chunk)
                self.slots[at] = None
                self.notes.append("two moments of the reply tell the same: they became one")
                return True
        return False

    def _slot(self, at: int) -> Chunk:
        chunk = self.slots[at]
        assert chunk is not None
        return chunk

    def _sameness(self, a: LedgerEntry, b: LedgerEntry, vector: Vectors, other: Vectors | None) -> float | None:
        """How near two accounts are that count as one; None for two that do not. What most differ in is looked at first."""
        if at_odds(a, b) or not same_people(a, b) or not says_the_same(a, b):
            return None
        if not one_occasion(a, b):
            return 1.0 if recurs(a, b) else None
        cosine = float(np.vecdot(vector, other)) if other is not None and other.shape == vector.shape else None
        if same_words(a, b):
            return 1.0 if cosine is None else max(cosine, self._threshold)
        return cosine if cosine is not None and cosine >= self._threshold else None

    def _repeat(self, at: int, chunk: Chunk, entry: LedgerEntry, *, lasting: bool = False) -> None:
        """The chunk brings its sources to a memory and perhaps more weight, nothing else. `lasting`: they are part of its event."""
        importance = entry.importance if self._fixed(entry) else max(entry.importance, chunk.importance)
        rewriting = self._rewriting.get(entry.id)
        if rewriting is not None:
            held = self._slot(rewriting)
            self.slots[rewriting] = held.model_copy(update={"importance": max(held.importance, importance)})
            importance = entry.importance
        elif importance > entry.importance:
            self._rewriting[entry.id] = at
        self.slots[at] = chunk.model_copy(
            update={
                "updates": entry.id, "version": entry.version, "content": entry.content, "quotes": entry.quotes, "importance": importance,
                "involved_entity_ids": entry.involved_entity_ids, "retain": False,
                "repeats": not lasting or self._fixed(entry),
            }
        )

    def _join(self, at: int, chunk: Chunk, entry: LedgerEntry) -> None:
        """The chunk and a memory as one."""
        rewriting = self._rewriting.get(entry.id)
        if self._fixed(entry):
            self._repeat(at, chunk, entry)
        elif rewriting is not None:
            self._fold(rewriting, chunk)
            self.slots[at] = None
        else:
            self._rewriting[entry.id] = at
            self.slots[at] = chunk.model_copy(
                update=_both(entry, chunk) | {"updates": entry.id, "version": entry.version}
            )

    def _fixed(self, entry: LedgerEntry) -> bool:
        """Whether a merge must leave the words and weight of a memory alone."""
        return entry.origin in BY_PEOPLE or entry.id in self._taken

    def _fold(self, at: int, chunk: Chunk, *, words: bool = True) -> None:
        """Let another chunk of the reply stand for this one too, with its words or without."""
        held = self._slot(at)
        sources = sorted({*held.source_ids, *chunk.source_ids}, key=lambda source: self._order[source])
        update = _both(held, chunk) if words else {"importance": max(held.importance, chunk.importance)}
        self.slots[at] = held.model_copy(
            update=update | {"source_ids": tuple(sources), "retain": held.retain or (words and chunk.retain)}
        )


def _both(held: LedgerEntry | Chunk, chunk: Chunk) -> dict[str, object]:
    """What two accounts of the same say together. The held wording stays unless the other says more, not merely longer: a memory that
    is told sixty times is not rewritten sixty times."""
    return {
        "content": chunk.content if content(chunk.content) > content(held.content) else held.content,
        "quotes": all_quotes(held.quotes, chunk.quotes),
        "importance": max(held.importance, chunk.importance),
        "involved_entity_ids": united(held.involved_entity_ids, chunk.involved_entity_ids),
    }


def _speaks_of(echo: LedgerEntry, one: Newcomer, found: Found) -> bool:
    """Whether a chunk with questions around an echo is of nobody but whom the memory tells of, or of whom the questions were before."""
    return one.aside is None or one.aside.people <= found.asked_of.union(echo.involved_entity_ids, referred(echo.content))


def _row(blob: bytes | None) -> Vectors | None:
    return from_bytes(blob) if blob is not None else None
