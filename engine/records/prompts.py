"""Prompts as values: sections with sources, and a report of what went in."""

from typing import Literal

from pydantic import Field

from engine.records.base import EntityId, Record
from engine.records.memory import LedgerEntry

Task = Literal["actor", "decode", "referee", "alias", "handoff", "collapse", "validate", "narrate", "embed"]
Role = Literal["system", "user", "assistant"]


class Message(Record):
    """One message of a model call."""

    role: Role
    content: str


class Section(Record):
    """One titled part of a prompt."""

    key: str
    """Stable key: `self`, `manner`, `moment`, `senses`, `intentions`, `knowledge`, `memories`, `events`."""
    title: str
    text: str
    """The body without its heading. Empty when there is nothing to say."""
    tokens: int = Field(default=0, ge=0)
    sources: tuple[str, ...] = ()
    """Ids of the buffer, ledger or lore rows it was made of. Never part of the text."""
    why_empty: str = ""


class Cut(Record):
    """Something that was left out of a prompt."""

    section: str
    source: str
    """Id of the row."""
    reason: str


Leg = Literal["place", "people", "grave", "words", "meaning", "newest", "chain"]
"""How an entry became a candidate: it happened here, involves somebody in focus, has importance 8 or more, holds the words, means the
same, is among the newest, or stands next to one of the best."""


class Receipt(Record):
    """How one memory was chosen or missed: its score split into parts (DESIGN 8)."""

    source: str
    text: str
    """First words, for people, as the prompt's owner would read them."""
    score: float
    recency: float
    importance: float
    cosine: float
    words: float
    involved: float
    smoothed: float
    chosen: bool
    reason: str
    """`ranked 3`, `next to the best`, `ranked 14, limit 12`, `ranked 10: 9 by rank and 3 next to the best fill the 12 places`."""
    tokens: int = 0
    rank: int = 0
    """Place in the ranking from 1; 0 for an entry that is only next to one of the best."""
    found_by: tuple[Leg, ...] = ()
    tier: Literal["ledger", "knowledge"] = "ledger"


class Candidate(Record):
    """One entry that was looked at closely, without its text: the whole pool in the order of the ranking."""

    source: str
    rank: int
    score: float
    recency: float
    importance: float
    cosine: float
    words: float
    involved: float
    smoothed: float
    found_by: tuple[Leg, ...] = ()
    chosen: bool = False


class PromptReport(Record):
    """What went into a prompt, what was cut and why, and how memories were ranked."""

    context_window: int
    reserved: int
    """Tokens kept for the answer."""
    tokens: int
    cuts: tuple[Cut, ...] = ()
    query: str = ""
    """The scene as memory was asked for it."""
    focus: tuple[EntityId, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    """Of what went in and of what just missed."""
    candidates: tuple[Candidate, ...] = ()
    """The whole pool."""
    problems: tuple[str, ...] = ()
    """Tiers that failed and were left out."""


class Prompt(Record):
    """Everything a model call for `entity` sends. The preview shows `text`; `messages` is what is sent."""

    task: Task
    entity: EntityId
    template: str
    """Name and version of the template: `actor.1`."""
    sections: tuple[Section, ...]
    messages: tuple[Message, ...]
    report: PromptReport

    @property
    def text(self) -> str:
        """The whole text as sent, messages joined by a blank line."""
        return "\n\n".join(message.content for message in self.messages)


def heading(title: str) -> str:
    """The line that opens a section: `=== YOUR MEMORIES ===`."""
    return f"=== {title.upper()} ==="


def is_heading(line: str) -> bool:
    """Whether a line opens a section."""
    return line.startswith("=== ") and line.endswith(" ===") and len(line) > 8


def split_sections(text: str) -> dict[str, str]:
    """Bodies of a rendered prompt by upper-case title; text before the first heading is under the empty key."""
    found: dict[str, list[str]] = {"": []}
    title = ""
    for line in text.splitlines():
        if is_heading(line):
            title = line[4:-4]
            found.setdefault(title, [])
        else:
            found[title].append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items()}


class KnownThing(Record):
    """One line of what an entity knows."""

    source: str
    text: str
    """With reference tokens."""


class Recollection(Record):
    """What recall found for a prompt."""

    query: str
    """The scene in words, as it was searched for."""
    focus: tuple[EntityId, ...] = ()
    entries: tuple[LedgerEntry, ...] = ()
    """Chosen, best first."""
    known: tuple[KnownThing, ...] = ()
    """Knowledge that bears on the moment, best first."""
    receipts: tuple[Receipt, ...] = ()
    """Of the chosen, of the five that just missed, and of what is known."""
    candidates: tuple[Candidate, ...] = ()
    """The whole pool, best first."""
    problems: tuple[str, ...] = ()
