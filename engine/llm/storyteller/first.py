"""The simplest writer for each task."""

import re

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.chance import in_turn
from engine.records.prompts import split_sections
from engine.records.wire import HandoffChunk, HandoffReply

_LINES = ("I did not expect that.", "Say it plainly.", "There is weather coming.", "We shall see.", "Not tonight.", "So I have heard.",
          "Somebody will pay for it.", "I keep my own counsel.", "Ask me tomorrow.", "It was never so quiet here.", "You look tired.",
          "I have work to do.")  # fmt: skip


def act(request: ModelRequest) -> str:
    """A deed from a habit, and a line."""
    sections = split_sections(request.messages[-1].content)
    parts: list[str] = []
    habits = re.search(r"Habits:\n\s+- (\w+?)s (.+)", sections.get("WHAT YOU MEAN TO DO", ""))
    if habits:
        parts.append(f"I {habits[1]} {habits[2].split(' when ')[0]}.")
    others = re.findall(r"  - (.+?)(?::|$)", sections.get("WHAT YOU PERCEIVE", "").partition("Things here")[0], re.MULTILINE)
    if others and request.round % 2:
        parts.append(f'I say to {others[0]}, "{in_turn(_LINES, request.round, request.seed, request.entity)}"')
    ways = re.findall(r"  - (.+), open, to (.+)", sections.get("WHAT YOU PERCEIVE", ""))
    if ways and request.round % 6 == 5:
        parts.append(f"I go to {in_turn(ways, request.round, request.entity)[1]}.")
    return " ".join(parts) or "I wait."


def remember(request: ModelRequest) -> str:
    """All entries in one chunk."""
    sections = split_sections(request.messages[-1].content)
    entries = re.findall(r"^(M\d+) \[(\w+).*?\] .*?: (.+)$", sections.get("ENTRIES", ""), re.MULTILINE)
    quotes = [quote for _, kind, text in entries if kind == "said" for quote in re.findall(r'"(.+)"', text)]
    content = re.sub(r': ".*"', "", next((text for _, kind, text in entries if kind != "thought"), "P1 thought."))
    people = sorted(set(re.findall(r"\bP\d+\b", " ".join(text for *_, text in entries))))
    chunk = HandoffChunk(
        sourceEntryIds=[handle for handle, *_ in entries], content=content, quotes=quotes[:2], importance=5,
        involvedEntityIds=people, retainInBuffer=False,
    )  # fmt: skip
    return HandoffReply(chunks=[chunk] if entries else []).model_dump_json()
