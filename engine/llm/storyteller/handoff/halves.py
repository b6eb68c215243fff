"""The replies to the two halves of a handoff by a small model, for which the storyteller may stand in half-way."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from engine.llm.storyteller.handoff.manner import Manner
from engine.records.prompts import heading, split_sections
from engine.records.wire import Choice, ChooseReply, HandoffChunk, Telling, TellReply

MOMENTS: Final = "MOMENTS"
"""Title of the section by which the first half is known."""
GROUPS: Final = "GROUPS"
"""And the second."""
_GROUP = re.compile(r"^G\d+$")
_MOST_QUOTES: Final = 2
_TRIFLE: Final = 2

Write = Callable[[str, Manner], list[HandoffChunk]]
"""The chunks of a whole handoff prompt."""


def first_half(prompt: str, manner: Manner, write: Write) -> str:
    """Which moments would be kept if all was asked at once."""
    chunks = write(_whole(prompt, split_sections(prompt).get(MOMENTS, "")), manner)
    groups = [
        Choice(
            reason="promise" if chunk.retainInBuffer else "trifle" if chunk.importance <= _TRIFLE else "news",
            sourceEntryIds=chunk.sourceEntryIds, importance=chunk.importance, retainInBuffer=chunk.retainInBuffer,
        )
        for chunk in chunks
    ]
    return ChooseReply(groups=groups).model_dump_json()


def second_half(prompt: str, manner: Manner, write: Write) -> str:
    """What each group tells: all that would be kept of its moments alone."""
    found = []
    for group, lines in _groups(split_sections(prompt).get(GROUPS, "")):
        chunks = write(_whole(prompt, "\n".join(f"M{number} {line}" for number, line in enumerate(lines, 1))), manner)
        people = dict.fromkeys(handle for chunk in chunks for handle in chunk.involvedEntityIds)
        quotes = dict.fromkeys(quote for chunk in chunks for quote in chunk.quotes)
        found.append(
            Telling(
                group=group, involvedEntityIds=list(people), quotes=list(quotes)[:_MOST_QUOTES],
                content=" ".join(chunk.content for chunk in chunks),
            )
        )
    return TellReply(told=found).model_dump_json()


def _whole(prompt: str, entries: str) -> str:
    """The prompt of a whole handoff over these entries."""
    sections = split_sections(prompt)
    kept = [f"{heading(title)}\n{sections[title]}" for title in ("WHOSE MEMORY", "PEOPLE") if title in sections]
    return "\n\n".join([*kept, f"{heading('Entries')}\n{entries}"])


def _groups(text: str) -> Iterator[tuple[str, list[str]]]:
    group, lines = "", list[str]()
    for line in text.splitlines():
        if _GROUP.match(line):
            if group:
                yield group, lines
            group, lines = line, []
        else:
            lines.append(line.strip())
    if group:
        yield group, lines
