"""New chunks that tell what the ledger tells already go into the memory that tells it (DESIGN 7; invariant 11).

Two ways lead to a second copy. Somebody repeats what its prompt recalled, and that is promoted once more, by itself and by all who
hear it: an echo. Or much the same happens, or is said, twice: a near-duplicate. A false merge is worse than a copy, so both are judged
by more than a cosine.
"""

import asyncio
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

import numpy as np

from engine.memory.duplicates import BY_PEOPLE, Telling, all_quotes, at_odds, same_people, same_words, says_the_same
from engine.memory.embedding import TextVectors, Vectors, from_bytes
from engine.memory.handoff.commit import event_mode, event_place, event_span
from engine.memory.handoff.echoes import echoed_by, voice_of
from engine.memory.handoff.selection import united
from engine.memory.recall.query import plain_query
from engine.memory.text import bare, plain
from engine.memory.wording import content, sentences
from engine.records.base import BufferId, EntityId, LedgerId
from engine.records.memory import BufferEntry, Chunk, LedgerEntry
from engine.records.world import World
from engine.storage.store import Store
from engine.world.clock import day_number

_NEAREST = 20
"""Memories that the word index may find for one chunk: what tells the same stands in front."""
_RECITED = 8
"""Memories that it may find for one sentence that was said."""
_SENTENCES = 24
"""Sentences of what was said that are looked up; more is no retelling."""
_STILL_SAID = timedelta(hours=24)
"""Words said again within this time are not said anew."""
_AFTER_ALL = 1 << 40
"""Place in the order of writing of what is not written yet."""


class Merged(NamedTuple):
    """Chunks after merging, and what was done, for people."""

    chunks: list[Chunk]
    notes: list[str]


class _Found(NamedTuple):
    """What the ledger holds that may tell the same as a chunk."""

    near: list[LedgerEntry]
    vectors: Mapping[LedgerId, bytes]
    """Of those."""
    recited: list[LedgerEntry]
    """What may say what was said, when its sources are the words of one."""


async def merged(
    store: Store, world: World, owner: EntityId, chunks: Sequence[Chunk], decided: Sequence[BufferEntry], vectors: TextVectors,
    taken: Collection[LedgerId] = (),
) -> Merged:
    """The chunks, those that tell what `owner` already holds told so: `updates` names the memory.

    Memories in `taken` are rewritten by somebody else: a chunk may bring them sources and no more. Candidates come from the word
    index, so that the cost does not grow with the ledger. Writes nothing. Raises `ModelError` when the embedder fails, `SaveError`.
    """
    events = {entry.id: entry for entry in decided}
    fresh = [at for at, chunk in enumerate(chunks) if chunk.updates is None]
    if not fresh:
        return Merged(list(chunks), [])

    def read(conn: sqlite3.Connection) -> list[_Found]:
        return [_look(conn, store, owner, chunks[at], events, vectors.model) for at in fresh]

    found = await store.db.read(read)
    if len(fresh) > 1 or any(one.near for one in found):
        rows = await vectors.of([plain(chunks[at].content, chunks[at].quotes) for at in fresh])
    else:
        rows = np.zeros((len(fresh), 1), dtype=np.float32)
    merging = _Merging(world, owner, chunks, events, vectors.merge, taken)

    def place() -> None:
        for at, one, row in zip(fresh, found, rows, strict=True):
            merging.place(at, one, row)

    await asyncio.to_thread(place)  # a dozen long speeches against what may tell them take tens of milliseconds
    return Merged([chunk for chunk in merging.slots if chunk is not None], merging.notes)


def one_occasion(a: LedgerEntry, b: LedgerEntry) -> bool:
    """Whether two accounts in the same words can be of one occasion.

    A deed is done again on another day or in another place: paying Tom three coins on two days is two events. Words said or thought
    again within a day, by the same to the same, are no second saying of them, wherever that was.
    """
    if a.mode != b.mode:
        return False
    if a.mode == "done":
        together = a.location_id == b.location_id or None in (a.location_id, b.location_id)
        return together and day_number(a.timestamp) <= day_number(b.ended) and day_number(b.timestamp) <= day_number(a.ended)
    return a.timestamp - b.ended < _STILL_SAID and b.timestamp - a.ended < _STILL_SAID


class _Merging:
    """Puts the new chunks of one reply into their places. `slots` are the chunks, None for those that went into another."""

    def __init__(
        self, world: World, owner: EntityId, chunks: Sequence[Chunk], events: Mapping[BufferId, BufferEntry], threshold: float,
        taken: Collection[LedgerId],
    ) -> None:
        self.slots: list[Chunk | None] = list(chunks)
        self.notes: list[str] = []
        self._world, self._owner, self._events, self._threshold, self._taken = world, owner, events, threshold, taken
        self._order = {key: at for at, key in enumerate(events)}
        self._rewriting = {chunk.updates: at for at, chunk in enumerate(chunks) if chunk.updates}
        self._new: dict[int, tuple[LedgerEntry, Vectors]] = {}

    def place(self, at: int, found: _Found, vector: Vectors) -> None:
        """Decide on one new chunk: words that are remembered already, a near-duplicate of a memory or of an earlier chunk, or news."""
        chunk = self._slot(at)
        sources = [self._events[source] for source in chunk.source_ids]
        entry = self._like(at, chunk, sources)
        if not (self._place_echo(at, chunk, entry, sources, found.recited) or self._place_near(at, chunk, entry, found, vector)):
            self._new[at] = (entry, vector)

    def _place_echo(
        self, at: int, chunk: Chunk, entry: LedgerEntry, sources: Sequence[BufferEntry], recited: Sequence[LedgerEntry]
    ) -> bool:
        voice = voice_of(sources, self._owner)
        if voice is None:
            return False
        own = voice.speaker == self._owner
        if not own:  # of others only what they said themselves, lately
            recited = [held for held in recited if held.mode == "said" and voice.speaker in held.involved_entity_ids]
            recited = [held for held in recited if one_occasion(entry, held)]
        earlier = {
            held.id: other for other, (held, _) in self._new.items()
            if voice_of([self._events[source] for source in self._slot(other).source_ids], self._owner) == voice
        }  # fmt: skip
        echo = echoed_by(self._world, voice, sources, [*recited, *(self._new[other][0] for other in earlier.values())])
        if echo is None:
            return False
        if echo.id in earlier:
            self._fold(earlier[echo.id], chunk, words=False)
            self.slots[at] = None
        else:
            self._repeat(at, chunk, echo, lasting=not own)
        self.notes.append(
            "a moment only repeats what was recalled: it goes into the memory it came from" if own
            else "a moment only repeats what was said before: it goes into the memory of that"
        )  # fmt: skip
        return True

    def _place_near(self, at: int, chunk: Chunk, entry: LedgerEntry, found: _Found, vector: Vectors) -> bool:
        same = [
            (cosine, -held.seq, held)
            for held in found.near
            if one_occasion(entry, held)
            and (cosine := self._sameness(chunk, held, _cosine(vector, found.vectors.get(held.id)))) is not None
        ]
        if same:
            self._join(at, chunk, max(same)[2])
            self.notes.append("a moment tells what an older memory tells: the two became one")
            return True
        for other, (held, row) in self._new.items():
            if one_occasion(entry, held) and self._sameness(chunk, held, float(np.vecdot(vector, row))) is not None:
                self._fold(other, chunk)
                self.slots[at] = None
                self.notes.append("two moments of the reply tell the same: they became one")
                return True
        return False

    def _slot(self, at: int) -> Chunk:
        chunk = self.slots[at]
        assert chunk is not None
        return chunk

    def _like(self, at: int, chunk: Chunk, sources: Sequence[BufferEntry]) -> LedgerEntry:
        """A chunk as the entry that it would become."""
        first, last = event_span(sources)
        return LedgerEntry(
            id=f"new-{at}", seq=_AFTER_ALL + at, owner_id=self._owner, timestamp=first.timestamp, ended=last.timestamp,
            location_id=event_place(sources), involved_entity_ids=chunk.involved_entity_ids, content=chunk.content, quotes=chunk.quotes,
            importance=chunk.importance, mode=event_mode(sources),
        )

    def _sameness(self, a: Telling, b: Telling, cosine: float | None) -> float | None:
        """How near two accounts are that count as one; None for two that do not."""
        if not same_people(a, b) or not says_the_same(a, b):
            return None
        if same_words(a, b):
            return 1.0 if cosine is None else max(cosine, self._threshold)
        return cosine if cosine is not None and cosine >= self._threshold and not at_odds(a, b) else None

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


def _look(
    conn: sqlite3.Connection, store: Store, owner: EntityId, chunk: Chunk, events: Mapping[BufferId, BufferEntry], model: str
) -> _Found:
    near = _by_words(conn, store, owner, plain(chunk.content, chunk.quotes), _NEAREST)
    sources = [events[source] for source in chunk.source_ids]
    lines = [line for entry in sources for line in sentences(entry.intent.text)] if voice_of(sources, owner) else []
    recited: dict[LedgerId, None] = {}
    for line in dict.fromkeys(lines) if len(lines) <= _SENTENCES else ():
        recited |= dict.fromkeys(_by_words(conn, store, owner, bare(line), _RECITED))
    return _Found(store.ledger.get(conn, near), store.embeddings.of_entries(conn, near, model), store.ledger.get(conn, recited))


def _by_words(conn: sqlite3.Connection, store: Store, owner: EntityId, text: str, most: int) -> list[LedgerId]:
    return [key for key, _ in store.ledger.by_words(conn, owner, plain_query(text).terms, most)]


def _cosine(vector: Vectors, blob: bytes | None) -> float | None:
    """None when the memory has no vector that could be compared."""
    held = from_bytes(blob) if blob is not None else None
    return float(np.vecdot(vector, held)) if held is not None and held.shape == vector.shape else None
