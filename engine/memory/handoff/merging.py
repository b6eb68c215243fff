"""New chunks that tell what the ledger tells already go into the memory that tells it (DESIGN 7; invariant 11).

Two ways lead to a second copy. The owner repeats what its prompt recalled, and that is promoted: an echo. Or much the same happens,
or is said, twice: a near-duplicate. A false merge is worse than a copy, so both are judged by more than a cosine.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from engine.memory.duplicates import BY_PEOPLE, Telling, at_odds, same_people, same_words, says_the_same
from engine.memory.embedding import TextVectors, Vectors, from_bytes
from engine.memory.handoff.commit import event_mode, event_place, event_span
from engine.memory.handoff.echoes import Sentence, echoed, is_own_voice, spoken, tale
from engine.memory.handoff.selection import united
from engine.memory.recall.query import plain_query
from engine.memory.text import bare, plain
from engine.memory.wording import content, held_by, negations, numbers
from engine.mind.aliases import vocabulary
from engine.prompts.handoff import own_name
from engine.records.base import BufferId, EntityId, LedgerId, PlaceId
from engine.records.memory import BufferEntry, Chunk, LedgerEntry, Mode
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
_SAID_ALREADY = 0.8
"""Share of a quote's content words in another from which it adds nothing."""


class Merged(NamedTuple):
    """Chunks after merging, and what was done, for people."""

    chunks: list[Chunk]
    notes: list[str]


class Event(NamedTuple):
    """When, where and how the sources of a chunk happened."""

    first: datetime
    last: datetime
    place: PlaceId | None
    mode: Mode


class _Found(NamedTuple):
    """What the ledger holds that may tell the same as a chunk."""

    near: list[LedgerEntry]
    recited: list[LedgerEntry]
    said: list[Sentence]
    vectors: Mapping[LedgerId, bytes]


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
    names = _names(world, owner, decided)

    def read(conn: sqlite3.Connection) -> list[_Found]:
        return [_look(conn, store, owner, chunks[at], events, names, vectors.model) for at in fresh]

    found = await store.db.read(read)
    if len(fresh) > 1 or any(one.near for one in found):
        rows = await vectors.of([plain(chunks[at].content, chunks[at].quotes) for at in fresh])
    else:
        rows = np.zeros((len(fresh), 1), dtype=np.float32)
    merging = _Merging(owner, chunks, events, vectors.merge, taken)
    for at, one, row in zip(fresh, found, rows, strict=True):
        merging.place(at, one, row, names)
    return Merged([chunk for chunk in merging.slots if chunk is not None], merging.notes)


def one_occasion(event: Event, entry: LedgerEntry) -> bool:
    """Whether two accounts in the same words can be of one occasion.

    A deed is done again on another day or in another place: paying Tom three coins on two days is two events. Words said or thought
    again within a day, by the same to the same, are no second saying of them, wherever that was.
    """
    if event.mode != entry.mode:
        return False
    if event.mode == "done":
        days = range(day_number(entry.timestamp), day_number(entry.ended) + 1)
        together = event.place == entry.location_id or None in (event.place, entry.location_id)
        return together and (day_number(event.first) in days or day_number(event.last) in days)
    return event.first - entry.ended < _STILL_SAID and entry.timestamp - event.last < _STILL_SAID


def event_of(sources: Sequence[BufferEntry]) -> Event:
    """What happened in these entries, taken together. Raises ValueError for none."""
    first, last = event_span(sources)
    return Event(first.timestamp, last.timestamp, event_place(sources), event_mode(sources))


class _Merging:
    """Puts the new chunks of one reply into their places. `slots` are the chunks, None for those that went into another."""

    def __init__(
        self, owner: EntityId, chunks: Sequence[Chunk], events: Mapping[BufferId, BufferEntry], threshold: float,
        taken: Collection[LedgerId],
    ) -> None:
        self.slots: list[Chunk | None] = list(chunks)
        self.notes: list[str] = []
        self._owner, self._events, self._threshold, self._taken = owner, events, threshold, taken
        self._order = {key: at for at, key in enumerate(events)}
        self._rewriting = {chunk.updates: at for at, chunk in enumerate(chunks) if chunk.updates}
        self._new: dict[int, Vectors] = {}

    def place(self, at: int, found: _Found, vector: Vectors, names: Mapping[str, EntityId]) -> None:
        """Decide on one new chunk: an echo, a near-duplicate of a memory or of an earlier chunk, or news."""
        chunk = self.slots[at]
        assert chunk is not None
        echo = echoed(found.said, [tale(entry, names) for entry in found.recited], self._owner)
        if echo is not None:
            self._repeat(at, chunk, echo)
            self.notes.append("a moment only repeats what was recalled: it goes into the memory it came from")
            return
        event = event_of([self._events[source] for source in chunk.source_ids])
        same = [
            (cosine, -entry.seq, entry)
            for entry in found.near
            if one_occasion(event, entry)
            and (cosine := self._sameness(chunk, entry, _cosine(vector, found.vectors.get(entry.id)))) is not None
        ]
        if same:
            self._join(at, chunk, max(same)[2])
            self.notes.append("a moment tells what an older memory tells: the two became one")
            return
        for other, row in self._new.items():
            held = self.slots[other]
            if held is not None and self._as_one(chunk, event, held, float(np.vecdot(vector, row))):
                self._fold(other, chunk)
                self.slots[at] = None
                self.notes.append("two moments of the reply tell the same: they became one")
                return
        self._new[at] = vector

    def _sameness(self, a: Telling, b: Telling, cosine: float | None) -> float | None:
        """How near two accounts are that count as one; None for two that do not."""
        if not same_people(a, b) or not says_the_same(a, b):
            return None
        if same_words(a, b):
            return 1.0 if cosine is None else max(cosine, self._threshold)
        return cosine if cosine is not None and cosine >= self._threshold and not at_odds(a, b) else None

    def _as_one(self, chunk: Chunk, event: Event, held: Chunk, cosine: float) -> bool:
        other = event_of([self._events[source] for source in held.source_ids])
        like = LedgerEntry(
            id="new", seq=1, owner_id=self._owner, timestamp=other.first, ended=other.last, location_id=other.place, content=held.content,
            importance=held.importance, mode=other.mode,
        )
        return one_occasion(event, like) and self._sameness(chunk, held, cosine) is not None

    def _repeat(self, at: int, chunk: Chunk, entry: LedgerEntry) -> None:
        """The chunk brings its sources to a memory and perhaps more weight, nothing else."""
        importance = entry.importance if self._fixed(entry) else max(entry.importance, chunk.importance)
        rewriting = self._rewriting.get(entry.id)
        if rewriting is not None:
            held = self.slots[rewriting]
            assert held is not None
            self.slots[rewriting] = held.model_copy(update={"importance": max(held.importance, importance)})
            importance = entry.importance
        elif importance > entry.importance:
            self._rewriting[entry.id] = at
        self.slots[at] = chunk.model_copy(
            update={
                "updates": entry.id, "version": entry.version, "content": entry.content, "quotes": entry.quotes, "importance": importance,
                "involved_entity_ids": entry.involved_entity_ids, "retain": False, "repeats": True,
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

    def _fold(self, at: int, chunk: Chunk) -> None:
        """Let an earlier chunk of the reply tell this one too."""
        held = self.slots[at]
        assert held is not None
        sources = sorted({*held.source_ids, *chunk.source_ids}, key=lambda source: self._order[source])
        self.slots[at] = held.model_copy(
            update=_both(held, chunk) | {"source_ids": tuple(sources), "retain": held.retain or chunk.retain}
        )


def _both(held: LedgerEntry | Chunk, chunk: Chunk) -> dict[str, object]:
    """What two accounts of the same say together. The held wording stays unless the other says more, not merely longer: a memory that
    is told sixty times is not rewritten sixty times."""
    return {
        "content": chunk.content if content(chunk.content) > content(held.content) else held.content,
        "quotes": united(held.quotes, [quote for quote in chunk.quotes if not _quoted(quote, held.quotes)]),
        "importance": max(held.importance, chunk.importance),
        "involved_entity_ids": united(held.involved_entity_ids, chunk.involved_entity_ids),
    }


def _quoted(quote: str, held: Sequence[str]) -> bool:
    """Whether the quotes of a memory say the same already."""
    return any(
        held_by(content(quote), content(other)) >= _SAID_ALREADY
        and numbers(quote) == numbers(other)
        and negations(quote) == negations(other)
        for other in held
    )


def _names(world: World, owner: EntityId, decided: Sequence[BufferEntry]) -> dict[str, EntityId]:
    """By which names the owner may have spoken of itself and of others."""
    me = world.entities[owner]
    met = {*me.aliases, *(entity for entry in decided for entity in (entry.intent.actor, *entry.intent.targets))}
    return vocabulary(world, owner, met & world.entities.keys()) | {own_name(me): owner}


def _look(
    conn: sqlite3.Connection, store: Store, owner: EntityId, chunk: Chunk, events: Mapping[BufferId, BufferEntry],
    names: Mapping[str, EntityId], model: str,
) -> _Found:
    near = _by_words(conn, store, owner, plain(chunk.content, chunk.quotes), _NEAREST)
    sources = [events[source] for source in chunk.source_ids]
    said = spoken(sources, names) if is_own_voice(sources, owner) else []
    recited: list[LedgerId] = []
    if len(said) <= _SENTENCES:
        for sentence in said:
            recited += _by_words(conn, store, owner, bare(sentence.text), _RECITED) if sentence.stems else ()
    return _Found(
        store.ledger.get(conn, near), store.ledger.get(conn, dict.fromkeys(recited)), said, store.embeddings.of_entries(conn, near, model)
    )


def _by_words(conn: sqlite3.Connection, store: Store, owner: EntityId, text: str, most: int) -> list[LedgerId]:
    return [key for key, _ in store.ledger.by_words(conn, owner, plain_query(text).terms, most)]


def _cosine(vector: Vectors, blob: bytes | None) -> float | None:
    """None when the memory has no vector that could be compared."""
    held = from_bytes(blob) if blob is not None else None
    return float(np.vecdot(vector, held)) if held is not None and held.shape == vector.shape else None
