"""What of a model's reply can be believed: checks of meaning that no schema can make (DESIGN 7)."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from engine.errors import HandoffError
from engine.memory.duplicates import adds_nothing, all_quotes
from engine.memory.handoff.content import Ground, checked
from engine.memory.handoff.quotes import verbatim
from engine.memory.handoff.spans import Said, said_in
from engine.mind.handles import Handles
from engine.records.base import BufferId, EntityId
from engine.records.memory import BufferEntry, Chunk
from engine.records.tokens import referred
from engine.records.wire import HandoffChunk, HandoffReply
from engine.records.world import World

_SENTENCE_ENDS = (".", "!", "?", "\u2026", '"', "\u2019", "\u201d")


class Brief(NamedTuple):
    """What the reply is checked against: everything the prompt was made of."""

    owner: EntityId
    candidates: Sequence[BufferEntry]
    handles: Handles
    names: Mapping[str, EntityId]
    """The owner's names for those in the prompt and for all whom it knows: speech names others than those who are there."""
    known: Collection[EntityId]
    """Whom the prompt spoke of."""
    world: World
    template: str
    """The prompt's fixed text."""
    heard: str = ""
    """The rest of the prompt."""

    @property
    def ground(self) -> Ground:
        """What accounts are held against."""
        return Ground(self.world, self.owner, self.handles, self.names, self.known, self.template, self.heard)


class Selection(NamedTuple):
    """A checked reply."""

    chunks: tuple[Chunk, ...]
    undecided: frozenset[BufferId]
    """Sources of rejected chunks: the model wanted them kept, so they are neither promoted nor forgotten."""
    notes: tuple[str, ...]
    """What was dropped and why, for people."""


def select(reply: HandoffReply, brief: Brief) -> Selection:
    """The chunks of `reply` that stand up, as they would be kept. Pure.

    Raises `HandoffError` when nothing is left: an empty reply to a pool of candidates is a mistake of the model, and
    taking it at its word would forget the whole pool.
    """
    notes: list[str] = []
    kept: list[Chunk] = []
    rejected: set[BufferId] = set()
    for number, chunk in enumerate(reply.chunks, 1):
        sources = _sources(chunk, brief, number, notes)
        if not sources:
            notes.append(f"chunk {number} rejected: none of its sources is a candidate")
            continue
        said = said_in(sources)
        account = checked(chunk.content, brief.ground, said)
        notes += [f"chunk {number}: {note}" for note in account.notes if not account.fault]
        if account.fault:
            notes.append(f"chunk {number} rejected: {account.fault}")
            rejected.update(entry.id for entry in sources)
            continue
        kept.append(
            Chunk(
                source_ids=tuple(entry.id for entry in sources),
                content=account.text,
                quotes=_quotes(chunk, said, number, notes),
                importance=_importance(chunk, number, notes),
                involved_entity_ids=_involved(chunk, account.text, sources, brief, number, notes),
                retain=chunk.retainInBuffer,
            )
        )
    if not kept:
        reason = "; ".join(notes) or "it kept nothing"
        raise HandoffError(f"No part of the reply can be used: {reason}.", "The memories stay where they are; the next round tries again.")
    chunks = _disjoint(kept, brief.candidates, notes)
    used = {source for chunk in chunks for source in chunk.source_ids}
    return Selection(tuple(chunks), frozenset(rejected - used), tuple(notes))


def source_of(handle: str, handles: Handles) -> str | None:
    """The id behind a cited handle: `M2`, or `2` alone."""
    bare = handle.strip()
    return handles.id(f"M{bare}" if bare.isdecimal() else bare)


def joined(first: str, second: str) -> str:
    """Two accounts as one; what one of them already says is not said twice."""
    a, b = first.strip(), second.strip()
    if b.casefold() in a.casefold():
        return a
    if a.casefold() in b.casefold():
        return b
    return f"{a} {b}" if a.endswith(_SENTENCE_ENDS) else f"{a}. {b}"


def united(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """All of both, each once, in order."""
    return tuple(dict.fromkeys([*first, *second]))


def merge(into: Chunk, other: Chunk, order: Mapping[BufferId, int]) -> Chunk:
    """Two chunks as one: sources in their order in the buffer, accounts and quotes of both, the higher importance."""
    sources = sorted({*into.source_ids, *other.source_ids}, key=lambda source: order[source])
    return into.model_copy(
        update={
            "source_ids": tuple(sources),
            "content": into.content if adds_nothing(other, into) else joined(into.content, other.content),
            "quotes": all_quotes(into.quotes, other.quotes),
            "importance": max(into.importance, other.importance),
            "involved_entity_ids": united(into.involved_entity_ids, other.involved_entity_ids),
            "retain": into.retain or other.retain,
        }
    )


def _sources(chunk: HandoffChunk, brief: Brief, number: int, notes: list[str]) -> list[BufferEntry]:
    """The candidates a chunk cites, in the order of the buffer."""
    cited: set[BufferId] = set()
    candidates = {entry.id for entry in brief.candidates}
    for handle in chunk.sourceEntryIds:
        found = source_of(handle, brief.handles)
        if found is not None and found in candidates:
            cited.add(found)
        else:
            notes.append(f"chunk {number}: source {_shown(handle)} is not a candidate")
    return [entry for entry in brief.candidates if entry.id in cited]


def _quotes(chunk: HandoffChunk, said: Said, number: int, notes: list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for quote in chunk.quotes:
        spoken = verbatim(quote, said.speeches)
        if spoken is None:
            notes.append(f"chunk {number}: nobody said {_shown(quote)} in its sources")
        else:
            found[spoken] = None
    return tuple(found)


def _importance(chunk: HandoffChunk, number: int, notes: list[str]) -> int:
    bounded = min(10, max(1, chunk.importance))
    if bounded != chunk.importance:
        notes.append(f"chunk {number}: importance {chunk.importance} taken as {bounded}")
    return bounded


def _involved(
    chunk: HandoffChunk, content: str, sources: Sequence[BufferEntry], brief: Brief, number: int, notes: list[str]
) -> tuple[EntityId, ...]:
    """Actors and targets of the sources, then whom the model and the account name. The owner is not among the others,
    nor is a voice whose words did not carry: the owner does not know whose it was."""
    found: dict[EntityId, None] = {}
    for entry in sources:
        if entry.grasp != "faint":
            found.update(dict.fromkeys((entry.intent.actor, *entry.intent.targets)))
    for said in chunk.involvedEntityIds:
        person = _person(said, brief)
        if person is None:
            notes.append(f"chunk {number}: {_shown(said)} is nobody in the prompt")
        else:
            found[person] = None
    found.update(dict.fromkeys(referred(content)))
    return tuple(entity for entity in found if entity != brief.owner and entity in brief.world.entities)


def _person(said: str, brief: Brief) -> EntityId | None:
    found = brief.handles.id(said.strip())
    if found is None:
        by_name = {name.casefold(): entity for name, entity in brief.names.items()}
        found = by_name.get(said.strip().casefold())
    return found if found in brief.known else None


def _disjoint(chunks: Sequence[Chunk], candidates: Sequence[BufferEntry], notes: list[str]) -> list[Chunk]:
    """Chunks that share no source: an event has one place in the ledger, the first that asks for it."""
    order = {entry.id: index for index, entry in enumerate(candidates)}
    home: dict[BufferId, int] = {}
    kept: list[Chunk] = []
    for chunk in chunks:
        free = tuple(source for source in chunk.source_ids if source not in home)
        if free:
            if len(free) < len(chunk.source_ids):
                notes.append("two chunks share sources: each event goes to the first")
            home.update(dict.fromkeys(free, len(kept)))
            kept.append(chunk.model_copy(update={"source_ids": free}))
        else:
            first = home[chunk.source_ids[0]]
            shared = tuple(source for source in chunk.source_ids if home[source] == first)
            kept[first] = merge(kept[first], chunk.model_copy(update={"source_ids": shared}), order)
            notes.append("two chunks over the same sources were joined")
    return kept


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:59] + "\u2026")
