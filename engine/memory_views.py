"""What screens draw of memory's past: the archive, what a memory was made of, what a proposal would make. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from engine.memory.history import Events, Past
from engine.mind.render import capital, render
from engine.mind.timewords import naturalize_time
from engine.mind.voice import names_of, remembered, tell
from engine.records.base import BufferId, LedgerId, Record, RunId
from engine.records.memory import ArchivedEntry, ArchivedMemory, BufferEntry, Fate, HandoffRun, LedgerEntry, Origin, Use
from engine.records.review import PendingProposal, Verdict
from engine.records.tokens import referred
from engine.records.world import World
from engine.views import LedgerLine, ledger_line

Where = Literal["buffer", "promoted", "forgotten"]


class ArchiveLine(Record):
    """An event that left working memory."""

    entry: BufferEntry
    text: str
    """As its owner would tell it now."""
    when: str
    place: str
    fate: Fate
    run: RunId
    """The handoff that decided on it."""
    round: int
    """Round of that handoff."""
    reason: str
    """Why that handoff ran."""
    ledger_id: LedgerId | None
    """The memory that tells it now; None when forgotten. Itself in the archive when it was removed."""
    became: str
    """Text of that memory; empty when forgotten."""


class ArchivedMemoryLine(Record):
    """A memory that left the ledger."""

    memory: ArchivedMemory
    text: str
    when: str
    became: str
    """Text of the memory that tells it now; empty when removed."""


class SourceLine(Record):
    """An event that a memory was made of."""

    entry: BufferEntry
    text: str
    when: str
    place: str
    where: Where
    """Where it is now."""


class Provenance(Record):
    """Where a memory comes from."""

    entry: LedgerEntry
    text: str
    when: str
    origin: Origin
    sources: tuple[SourceLine, ...]
    told: tuple[ArchivedMemoryLine, ...]
    """Memories that went into it."""
    versions: tuple[str, ...]
    """Earlier wordings, oldest first, as the owner reads them now."""
    run: HandoffRun | None
    use: Use | None


class ChunkLine(Record):
    """One chunk of a proposal that waits."""

    index: int
    verdict: Verdict
    text: str
    """Content as the owner reads it now."""
    quotes: tuple[str, ...]
    importance: int
    retain: bool
    updates_text: str
    """The memory that it rewrites; empty for a new one."""
    sources: tuple[SourceLine, ...]
    memories: tuple[LedgerLine, ...] = ()
    """The memories that a compression would tell as this one."""
    news: bool = True
    """Whether the ledger would say anything then that it does not say now."""


def memory_text(world: World, entry: LedgerEntry) -> str:
    """A memory as its owner reads it now."""
    return capital(render(entry.content, names_of(world, entry.owner_id, remembered(entry))))


def archive_lines(
    world: World, archived: Iterable[ArchivedEntry], tellers: Mapping[LedgerId, LedgerEntry], runs: Mapping[RunId, tuple[int, str]]
) -> list[ArchiveLine]:
    """The archive of a buffer, newest first. `tellers` has for each memory the one that tells it now, `runs` round and reason."""
    became = {key: memory_text(world, entry) for key, entry in tellers.items()}
    lines = []
    for gone in sorted(archived, key=lambda each: (each.entry.timestamp, each.entry.seq), reverse=True):
        round_, reason = runs.get(gone.run_id, (0, ""))
        teller = tellers.get(gone.ledger_id or "")
        lines.append(
            ArchiveLine(
                entry=gone.entry, text=tell(world, gone.entry.owner_id, gone.entry), when=naturalize_time(world.now, gone.entry.timestamp),
                place=_place(world, gone.entry), fate=gone.fate, run=gone.run_id, round=round_, reason=reason,
                ledger_id=teller.id if teller else gone.ledger_id, became=became.get(gone.ledger_id or "", ""),
            )
        )
    return lines


def archived_memory_lines(
    world: World, memories: Iterable[ArchivedMemory], tellers: Mapping[LedgerId, LedgerEntry]
) -> list[ArchivedMemoryLine]:
    """Memories that left the ledger, in the order given."""
    return [
        ArchivedMemoryLine(
            memory=memory, text=memory_text(world, memory.entry), when=naturalize_time(world.now, memory.entry.timestamp),
            became=_text_of(world, memory.into_id, tellers),
        )
        for memory in memories
    ]


def source_lines(world: World, keys: Iterable[BufferId], found: Events) -> tuple[SourceLine, ...]:
    """Events in order of time, with where they are now."""
    entries = sorted((found.entries[key] for key in keys if key in found.entries), key=lambda entry: (entry.timestamp, entry.seq))
    return tuple(
        SourceLine(
            entry=entry, text=tell(world, entry.owner_id, entry), when=naturalize_time(world.now, entry.timestamp),
            place=_place(world, entry), where=found.gone[entry.id].fate if entry.id in found.gone else "buffer",
        )
        for entry in entries
    )


def provenance(world: World, past: Past) -> Provenance:
    """How a memory came to be, as its owner reads it now."""
    return Provenance(
        entry=past.entry, text=memory_text(world, past.entry), when=naturalize_time(world.now, past.entry.timestamp),
        origin=past.entry.origin, sources=source_lines(world, past.source_ids, past.events),
        told=tuple(archived_memory_lines(world, past.told, past.tellers)),
        versions=tuple(memory_text(world, earlier) for earlier in past.versions), run=past.run, use=past.use,
    )


def chunk_lines(
    world: World, pending: PendingProposal, found: Events, rewritten: Mapping[LedgerId, LedgerEntry],
    sources: Mapping[LedgerId, Sequence[BufferId]],
) -> list[ChunkLine]:
    """What a proposal would write. `rewritten` are memories that its chunks rewrite, `sources` the events of those that it consolidates."""
    proposal = pending.proposal
    memories = {entry.id: entry for entry in proposal.memories}
    lines = []
    for index, chunk in enumerate(proposal.chunks):
        told = [memories[key] for key in chunk.source_ids if key in memories]
        events = [key for entry in told for key in sources.get(entry.id, ())] if told else chunk.source_ids
        names = names_of(world, proposal.owner_id, referred(" ".join((chunk.content, *chunk.quotes))))
        lines.append(
            ChunkLine(
                index=index, verdict=pending.verdicts[index], text=capital(render(chunk.content, names)), quotes=chunk.quotes,
                importance=chunk.importance, retain=chunk.retain,
                updates_text=_text_of(world, chunk.updates, rewritten),
                sources=source_lines(world, dict.fromkeys(events), found), memories=tuple(ledger_line(world, entry) for entry in told),
            )
        )
    return lines


def _text_of(world: World, key: LedgerId | None, entries: Mapping[LedgerId, LedgerEntry]) -> str:
    entry = entries.get(key or "")
    return memory_text(world, entry) if entry else ""


def _place(world: World, entry: BufferEntry) -> str:
    place = world.places.get(entry.intent.place or entry.location_id or "")
    return place.name if place else ""
