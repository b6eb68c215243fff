"""Which chunks go on with a thread that the ledger already holds, instead of telling it twice (DESIGN 7, pins). Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence

from engine.memory.duplicates import BY_PEOPLE, adds_nothing, all_quotes
from engine.memory.handoff.selection import joined, merge, united
from engine.records.base import BufferId, LedgerId
from engine.records.memory import Chunk, LedgerEntry

_LONGEST = 1200
"""Characters up to which an account is added to an older one."""


def with_updates(
    chunks: Sequence[Chunk],
    holding: Mapping[BufferId, LedgerId],
    entries: Mapping[LedgerId, LedgerEntry],
    sources: Mapping[LedgerId, Sequence[BufferId]],
    order: Mapping[BufferId, int],
) -> list[Chunk]:
    """The chunks, each told which ledger entry it rewrites, if any.

    `holding` says which ledger entry has a candidate among its `sources`: pinned ones were promoted before. The entry
    that most of a chunk's sources belong to is rewritten. When the model no longer saw all of that entry's sources the old
    account stays and the new one is added to it, so that nothing told once gets lost; when that would grow too long the
    chunk becomes an entry of its own. A second chunk over the same entry becomes part of the first if it brings no source
    of its own, else an entry of its own.
    """
    taken: dict[LedgerId, int] = {}
    result: list[Chunk] = []
    for chunk in chunks:
        held = Counter(holding[source] for source in chunk.source_ids if source in holding)
        free = [ledger for ledger in held if ledger not in taken]
        if free:
            target = max(free, key=lambda ledger: (held[ledger], -entries[ledger].seq))
            going_on = _going_on(chunk, entries[target], sources[target])
            if len(going_on.content) <= max(_LONGEST, len(chunk.content)):
                taken[target] = len(result)
            result.append(going_on if target in taken else chunk)
        elif held and all(source in holding for source in chunk.source_ids):
            first = taken[max(held, key=lambda ledger: (held[ledger], -entries[ledger].seq))]
            result[first] = merge(result[first], chunk, order)
        else:
            result.append(chunk)
    return result


def _going_on(chunk: Chunk, entry: LedgerEntry, sources: Sequence[BufferId]) -> Chunk:
    return chunk.model_copy(
        update={
            "updates": entry.id,
            "version": entry.version,
            "content": _account(chunk, entry, sources),
            "quotes": all_quotes(entry.quotes, chunk.quotes),
            "involved_entity_ids": united(entry.involved_entity_ids, chunk.involved_entity_ids),
        }
    )


def _account(chunk: Chunk, entry: LedgerEntry, sources: Sequence[BufferId]) -> str:
    """The words of both. What a person wrote stays as it is, and is only added to for events it did not know."""
    by_person = entry.origin in BY_PEOPLE
    if (by_person and set(chunk.source_ids) <= set(sources)) or adds_nothing(chunk, entry):
        return entry.content
    if not by_person and set(sources) <= set(chunk.source_ids):
        return chunk.content
    return joined(entry.content, chunk.content)


def let_go(chunks: Sequence[Chunk], limit: int) -> tuple[list[Chunk], list[str]]:
    """The chunks with at most `limit` sources retained, and what was let go of, for people.

    A model that pins everything would fill the buffer for good. The most important threads stay, the later of two equals
    first; the others are kept in the ledger like any memory.
    """
    ranked = sorted(
        (index for index, chunk in enumerate(chunks) if chunk.retain), key=lambda index: (chunks[index].importance, index), reverse=True
    )
    result, notes, used = list(chunks), [], 0
    for index in ranked:
        used += len(chunks[index].source_ids)
        if used > limit:
            used -= len(chunks[index].source_ids)
            result[index] = chunks[index].model_copy(update={"retain": False})
            notes.append(f"a thread of {len(chunks[index].source_ids)} entries was let go: at most {limit} may stay pinned")
    return result, notes
