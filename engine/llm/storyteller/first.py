"""The simplest writer for each task."""

import re

from engine.llm.protocol import ModelRequest
from engine.records.prompts import split_sections
from engine.records.wire import HandoffChunk, HandoffReply


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
