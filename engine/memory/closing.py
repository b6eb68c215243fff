"""What a reply about memories may hold: handles of its prompt, and words that were said. Pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from engine.memory.handoff.quotes import verbatim
from engine.memory.handoff.spans import said_in, said_in_memories
from engine.memory.wording import sentences
from engine.mind.handles import Handles
from engine.prompts.halves import REASONS, group_handle, most_groups
from engine.records.limits import Bounds, Choices, Closed, closed
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.wire import ChooseReply, CompressReply, HandoffReply, TellReply

_LONGEST: Final = 300
"""Characters of a quote. Of longer speech its sentences can be quoted."""
_LONGEST_OLD: Final = 200
"""The same for old memories, which are told in few words."""
_ALL: Final = 6_000
"""Characters of all quotes to choose from."""
_MOST: Final = 40
_TOLD, _HANDLE = 280, 5
"""Characters that a small model tells of a group, and of the handle that it begins with."""


def handoff_reply(
    candidates: Sequence[BufferEntry], handles: Handles, count_tokens: Callable[[str], int], tokens: int
) -> Closed[HandoffReply]:
    """The reply to a handoff in `tokens`."""
    choices = entry_choices(candidates, handles)
    return closed(HandoffReply, choices, count_tokens, tokens, items="chunks", most=len(candidates))


def choose_reply(
    candidates: Sequence[BufferEntry], handles: Handles, count_tokens: Callable[[str], int], tokens: int
) -> Closed[ChooseReply]:
    """The reply to the first half of a split handoff in `tokens`."""
    choices: Choices = {"reason": REASONS, "sourceEntryIds": tuple(handles.entry(entry.id) for entry in candidates)}
    return closed(ChooseReply, choices, count_tokens, tokens, items="groups", most=most_groups(len(candidates)))


def tell_reply(
    groups: Sequence[Sequence[BufferEntry]], people: Iterable[str], count_tokens: Callable[[str], int], tokens: int
) -> Closed[TellReply]:
    """The reply to the second half in `tokens`, or in a few more: each group has to be told. `people` are the handles in its prompt.

    An account begins with one of them, so that a small model does not begin with somebody's own words.
    """
    handles = tuple(people)
    choices: Choices = {
        "group": tuple(group_handle(number) for number in range(1, len(groups) + 1)),
        "involvedEntityIds": handles,
        "quotes": quotable(said_in([entry for group in groups for entry in group]).speeches),
    }
    begun = rf'^({"|".join(handles)}) [^"\\\n]{{8,{_TOLD}}}$'
    limits: dict[str, Bounds] = {
        "told": {"minItems": len(groups), "maxItems": len(groups)}, "content": {"pattern": begun, "maxLength": _TOLD + _HANDLE},
    }  # fmt: skip
    return closed(TellReply, choices, count_tokens, tokens, limits=limits)


def compress_reply(
    memories: Sequence[LedgerEntry], handles: Handles, count_tokens: Callable[[str], int], tokens: int
) -> Closed[CompressReply]:
    """The reply to a compression in `tokens`, or in a few more."""
    choices: Choices = {
        "sourceEntryIds": tuple(handles.entry(memory.id) for memory in memories),
        "involvedEntityIds": handles.given("P"),
        "quotes": quotable(said_in_memories(memories).speeches, _LONGEST_OLD),
    }
    return closed(CompressReply, choices, count_tokens, tokens, limits={"sourceEntryIds": {"maxItems": len(memories)}})


def entry_choices(entries: Sequence[BufferEntry], handles: Handles) -> Choices:
    """What may be said of moments: their handles, everybody in the prompt, and what was spoken in them."""
    return {
        "sourceEntryIds": tuple(handles.entry(entry.id) for entry in entries),
        "involvedEntityIds": handles.given("P"),
        "quotes": quotable(said_in(entries).speeches),
    }


def quotable(speeches: Iterable[str], longest: int = _LONGEST) -> tuple[str, ...]:
    """What may be quoted of some speeches, on one line each, in order: whole ones, and the sentences of those that are longer than
    `longest` characters."""
    found: dict[str, None] = {}
    left = _ALL
    for speech in speeches:
        line = " ".join(speech.split())
        for part in [line] if len(line) <= longest else sentences(line):
            if len(part) <= min(longest, left) and part not in found and verbatim(part, [speech]) is not None:
                found[part] = None
                left -= len(part)
    return tuple(found)[:_MOST]
