"""What a ledger holds that may tell the same as new chunks: all that is read before it is judged (DESIGN 7).

Candidates come from the word index, so that the cost does not grow with the ledger. Most chunks tell news: what cannot tell the same is
left out by its stems alone, before it is read whole, and of what was said no more is looked up than shows that it is news.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from engine.memory.handoff.asides import Aside, emptied, moment_of
from engine.memory.handoff.commit import event_mode, event_place, event_span
from engine.memory.handoff.echoes import (
    Sentence,
    Voice,
    beyond_telling,
    called,
    can_tell,
    has_to_be_told,
    sentence_of,
    tale,
    tells,
    voice_of,
)
from engine.memory.handoff.retold import retold
from engine.memory.occasions import one_occasion
from engine.memory.recall.query import plain_query
from engine.memory.text import bare, plain
from engine.memory.wording import content
from engine.records.base import BufferId, EntityId, LedgerId
from engine.records.memory import BufferEntry, Chunk, LedgerEntry
from engine.records.tokens import referred
from engine.records.world import World
from engine.storage.ledger import Wording
from engine.storage.store import Store

_NEAREST = 20
"""Memories that are compared with one chunk."""
_RECITED = 8
"""Memories that it may find for one sentence that was said."""
_WIDE = 64
"""Memories that the word index may find and that are looked through, by their stems and people, for one that tells a chunk or a sentence:
the nearest may be of others, as the index knows nobody, or of long ago."""
_SENTENCES = 24
"""Sentences of what was said that are looked up; more is no retelling."""
_AFTER_ALL = 1 << 40
"""Place in the order of writing of what is not written yet."""


class Newcomer(NamedTuple):
    """A chunk that goes on with no memory."""

    at: int
    """Its place among the chunks."""
    entry: LedgerEntry
    """What it would become."""
    sources: Sequence[BufferEntry]
    """Its events; of those that are words of several, only the owner's when it has a voice: no others bring news."""
    voice: Voice | None
    """Whose words its sources are, when they are the words of one, or the owner's and questions."""
    aside: Aside | None = None
    """What the account has of such questions."""


class Found(NamedTuple):
    """What the ledger holds that may tell the same as a newcomer."""

    near: Sequence[LedgerEntry]
    """Nearest first by words."""
    vectors: Mapping[LedgerId, bytes]
    """Of those."""
    recited: Sequence[LedgerEntry] | None
    """What may say what was said. None when that is news, whatever the ledger and the chunks before this one hold."""
    asked_of: frozenset[EntityId] = frozenset()
    """Of whom memories tell that hold what was asked around it."""


def newcomers(owner: EntityId, chunks: Sequence[Chunk], events: Mapping[BufferId, BufferEntry]) -> list[Newcomer]:
    """The chunks of a proposal that go on with no memory. `events` are what it decides on. Pure."""
    found: list[Newcomer] = []
    for at, chunk in enumerate(chunks):
        if chunk.updates is None:
            sources = [events[source] for source in chunk.source_ids]
            found.append(_newcomer(at, _entry(at, owner, chunk, sources), chunk, sources))
    return found


def _newcomer(at: int, entry: LedgerEntry, chunk: Chunk, sources: Sequence[BufferEntry]) -> Newcomer:
    voice = voice_of(sources, entry.owner_id)
    moment = moment_of(sources, entry.owner_id) if voice is None else None
    aside = emptied(chunk, moment) if moment is not None else None
    if moment is None or aside is None:
        return Newcomer(at, entry, sources, voice)
    return Newcomer(at, entry, moment.told, Voice(entry.owner_id, entry.owner_id), aside)


def find(conn: sqlite3.Connection, store: Store, world: World, fresh: Sequence[Newcomer], model: str) -> list[Found]:
    """What may tell the same as each of some newcomers, with vectors of embedder `model`. Only reads."""
    found: list[Found] = []
    for number, one in enumerate(fresh):
        entry, terms = one.entry, plain_query(plain(one.entry.content, one.entry.quotes)).terms
        scored = store.ledger.by_words(conn, entry.owner_id, terms, _WIDE)
        held = store.ledger.wordings(conn, [key for key, _ in scored])
        recited: list[LedgerEntry] | None = None
        asked_of: frozenset[EntityId] | None = None
        if one.voice is not None:
            earlier = [other.entry for other in fresh[:number] if other.voice == one.voice]
            recited = _Recited(conn, store, world, one, one.voice, earlier).find(held, terms)
            if recited is not None and one.aside is not None:
                asked_of = _asked_of(conn, store, entry.owner_id, one.aside)
                recited = recited if asked_of is not None else None
        near = [key for key, wording in held.items() if _comparable(entry, wording)][:_NEAREST]
        vectors = store.embeddings.of_entries(conn, near, model)
        found.append(Found(store.ledger.get(conn, near), vectors, recited, asked_of or frozenset()))
    return found


def _comparable(entry: LedgerEntry, wording: Wording) -> bool:
    """Whether a memory can tell what a chunk tells: it is of the same people and not at odds with it."""
    people, others = set(entry.involved_entity_ids), set(wording.involved)
    if not (people <= others or others <= people):
        return False
    stems, words = content(entry.content), content(wording.content)
    return stems <= words or words <= stems


def _asked_of(conn: sqlite3.Connection, store: Store, owner: EntityId, aside: Aside) -> frozenset[EntityId] | None:
    """Whom the memories involve that hold what was asked about, one for each topic; None when it may be news."""
    people: set[EntityId] = set()
    for topic in aside.topics:
        scored = store.ledger.by_words(conn, owner, topic.words, _WIDE)
        held = store.ledger.wordings(conn, [key for key, _ in scored])
        holding = [one for one in held.values() if topic.stems <= content(one.plain)]
        if not holding:
            return None
        people.update(who for one in holding for who in (*one.involved, *referred(one.content)))
    return frozenset(people)


def _entry(at: int, owner: EntityId, chunk: Chunk, sources: Sequence[BufferEntry]) -> LedgerEntry:
    first, last = event_span(sources)
    return LedgerEntry(
        id=f"new-{at}", seq=_AFTER_ALL + at, owner_id=owner, timestamp=first.timestamp, ended=last.timestamp,
        location_id=event_place(sources), involved_entity_ids=chunk.involved_entity_ids, content=chunk.content, quotes=chunk.quotes,
        importance=chunk.importance, mode=event_mode(sources),
    )


class _Recited(NamedTuple):
    """The search for what may tell what one said. `earlier` are the chunks before this one with words of the same."""

    conn: sqlite3.Connection
    store: Store
    world: World
    one: Newcomer
    voice: Voice
    earlier: Sequence[LedgerEntry]

    def find(self, near: Mapping[LedgerId, Wording], asked: Collection[str]) -> list[LedgerEntry] | None:
        """The memories that may tell it. Sentences are looked up until one has to be told and nothing tells it: then all is news,
        whatever became of the others, and there is None.

        `near` are the memories nearest to the chunk, found by the words `asked`: what it quotes needs no search of its own for that.
        The longest sentence says most, and is looked up first.
        """
        lines = [(line, entry.intent.targets) for entry in self.one.sources for line in retold(entry.intent.text)]
        if len(lines) > _SENTENCES:
            return []
        known, words = self._known(near), set(asked)
        terms = {line: plain_query(bare(line)).terms for line, _ in lines}
        for line, targets in lines:
            covered = len(words) <= 2 * len(terms[line]) and words.issuperset(terms[line])
            if covered and self._is_news(sentence_of(line, targets, known), near, known):
                return None
        said = [(line, sentence_of(line, targets, known)) for line, targets in lines]
        if any(beyond_telling(sentence) for _, sentence in said):
            return None
        stems = {line: len(sentence.stems) for line, sentence in said}
        found: dict[LedgerId, Wording] = {}
        for text in sorted(stems, key=lambda line: -stems[line]):
            scored = self.store.ledger.by_words(self.conn, self.voice.owner, terms[text], _WIDE)
            held = self.store.ledger.wordings(self.conn, [key for key, _ in scored])
            known = self._known(held)
            if any(self._is_news(sentence_of(line, targets, known), held, known) for line, targets in lines if line == text):
                return None
            found |= dict(list(held.items())[:_RECITED])
        known = self._known(found)
        return self._able(found, [sentence_of(line, targets, known) for line, targets in lines])

    def _known(self, held: Mapping[LedgerId, Wording]) -> dict[str, EntityId]:
        """The owner's names for all who are told of."""
        others = {who for one in held.values() for who in (*one.involved, *referred(one.content))}
        others |= {who for entry in self.earlier for who in (*entry.involved_entity_ids, *referred(entry.content))}
        return called(self.world, self.voice, self.one.sources, others)

    def _is_news(self, sentence: Sentence, held: Mapping[LedgerId, Wording], known: Mapping[str, EntityId]) -> bool:
        """Whether a sentence has to be told and neither a memory nor an earlier chunk tells it."""
        if not has_to_be_told(sentence):
            return False
        earlier = [entry for entry in self.earlier if can_tell(plain(entry.content, entry.quotes), sentence)]
        return not any(tells(tale(entry, known), sentence, self.voice) for entry in (*self._able(held, [sentence]), *earlier))

    def _able(self, held: Mapping[LedgerId, Wording], said: Sequence[Sentence]) -> list[LedgerEntry]:
        """Of some memories those that can tell any of the sentences. Of others only what they said themselves, lately, counts."""
        able = [key for key, wording in held.items() if any(can_tell(wording.plain, sentence) for sentence in said)]
        entries = self.store.ledger.get(self.conn, able)
        if self.voice.speaker == self.voice.owner:
            return entries
        return [
            entry for entry in entries
            if entry.mode == "said" and self.voice.speaker in entry.involved_entity_ids and one_occasion(self.one.entry, entry)
        ]
