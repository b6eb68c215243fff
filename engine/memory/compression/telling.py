"""What of a model's account of old memories can be believed, as the memory it becomes. Pure."""

from collections import Counter
from collections.abc import Sequence

from engine.errors import HandoffError
from engine.memory.handoff.content import Ground, checked
from engine.memory.handoff.quotes import verbatim
from engine.memory.handoff.selection import united
from engine.memory.handoff.spans import Said, said_in_memories
from engine.mind.aliases import own_words, vocabulary
from engine.mind.handles import Handles
from engine.prompts.compression import people_of
from engine.records.base import EntityId, LedgerId
from engine.records.memory import Chunk, LedgerEntry, Mode
from engine.records.prompts import Prompt
from engine.records.tokens import referred
from engine.records.wire import CompressReply
from engine.records.world import World

_FEWEST = 2
"""Memories that one can stand for."""


def select(
    reply: CompressReply, world: World, memories: Sequence[LedgerEntry], prompt: Prompt, handles: Handles
) -> tuple[Chunk, tuple[str, ...]]:
    """The one memory that stands for those the reply cites, and what was dropped, for people.

    What it does not cite stays in the ledger as it is. Importance is that of the most important, people are those of all: a model
    has no say in them. Raises `HandoffError` when the account cannot be kept or stands for fewer than two.
    """
    notes: list[str] = []
    told = _sources(reply, memories, handles, notes)
    if len(told) < _FEWEST:
        raise HandoffError(_unusable([*notes, f"it stands for {len(told)} of the memories"]))
    owner = prompt.entity
    known = people_of(owner, memories)
    names = own_words(world, owner) | vocabulary(world, owner, {*known, *world.entities[owner].aliases})
    said = said_in_memories(told)
    ground = Ground(world, owner, handles, names, known, prompt.messages[0].content, prompt.messages[-1].content)
    account = checked(reply.content, ground, said)
    notes += account.notes
    if account.fault:
        raise HandoffError(_unusable([*notes, account.fault]))
    involved = [*_involved(told), *_named(reply, handles, known, notes), *referred(account.text)]
    chunk = Chunk(
        source_ids=tuple(memory.id for memory in told), content=account.text, quotes=_quotes(reply, said, notes),
        importance=max(memory.importance for memory in told),
        involved_entity_ids=tuple(entity for entity in dict.fromkeys(involved) if entity != owner and entity in world.entities),
    )
    return chunk, tuple(notes)


def mode_of(memories: Sequence[LedgerEntry]) -> Mode:
    """Thought only if nothing else; else said or done, whichever there is more of, and done when there is as much of both."""
    counted = Counter(memory.mode for memory in memories)
    if counted["done"] == counted["said"] == 0:
        return "thought"
    return "said" if counted["said"] > counted["done"] else "done"


def _sources(reply: CompressReply, memories: Sequence[LedgerEntry], handles: Handles, notes: list[str]) -> list[LedgerEntry]:
    ids = {memory.id for memory in memories}
    cited: set[LedgerId] = set()
    for handle in reply.sourceEntryIds:
        bare = handle.strip()
        found = handles.id(f"M{bare}" if bare.isdecimal() else bare, "M")
        if found in ids:
            cited.add(str(found))
        else:
            notes.append(f"{_shown(handle)} is none of the memories")
    return [memory for memory in memories if memory.id in cited]


def _quotes(reply: CompressReply, said: Said, notes: list[str]) -> tuple[str, ...]:
    """Quotes that the memories hold, as they hold them."""
    found: dict[str, None] = {}
    for quote in reply.quotes:
        words = verbatim(quote, said.speeches)
        if words is None:
            notes.append(f"none of the memories holds the words {_shown(quote)}")
        else:
            found[words] = None
    return tuple(found)


def _involved(told: Sequence[LedgerEntry]) -> tuple[EntityId, ...]:
    people: tuple[EntityId, ...] = ()
    for memory in told:
        people = united(people, memory.involved_entity_ids)
    return people


def _named(reply: CompressReply, handles: Handles, known: Sequence[EntityId], notes: list[str]) -> list[EntityId]:
    named = []
    for said in reply.involvedEntityIds:
        found = handles.id(said.strip(), "P")
        if found in known:
            named.append(str(found))
        else:
            notes.append(f"{_shown(said)} is nobody in the prompt")
    return named


def _unusable(faults: Sequence[str]) -> str:
    return f"The account cannot be used: {'; '.join(faults)}. The memories stay as they are."


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:59] + "\u2026")
