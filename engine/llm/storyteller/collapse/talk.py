"""A collapse prompt as a talk: who spoke, who is who, what was known before, what is wanted."""

import re
from dataclasses import dataclass
from typing import Final

from engine.llm.storyteller.handoff.cast import Cast, read_cast
from engine.llm.storyteller.language.names import Names
from engine.records.prompts import split_sections

SOMEBODY: Final = "somebody"
_TURN = re.compile(
    r"^\[?(?P<handle>M\d+)\]?:? \[(?P<kind>said|note)(?P<pinned>, pinned)?\] (?P<when>[a-z][^:]*): "
    r"(?:(?P<who>P\d+|somebody): \"(?P<words>.*)\"|(?P<text>.+?))(?: \(Note: (?P<hint>.*)\))?$"
)
_KNOWN = re.compile(r"^\[?(?P<handle>K\d+)\]?:? \[(?P<kind>fact|decision|strategy), (?P<key>[^\]]*)\] (?P<text>.+)$")
_DEALT = re.compile(r"^(P\d+) dealt with (P\d+)\b")
_HANDLE = re.compile(r"\bP\d+\b")
_ASIDE = re.compile(r"\bto (?:another|others|somebody else|a third)\b", re.IGNORECASE)
_HUSHED = re.compile(r"\b(?:whisper\w*|secret\w*|confidence|confidential\w*|murmur\w*|private\w*)\b", re.IGNORECASE)
_EVERYTHING: Final = frozenset(("facts", "decisions", "strategies", "nextSteps"))


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the talk."""

    handle: str
    index: int
    who: str
    """Handle of who spoke; empty for a note, and when nobody knows."""
    to: str
    """Handle of whom `you` means; empty when that is not known."""
    words: str
    """The speech without quotation marks, or a note."""
    note: bool = False
    pinned: bool = False
    hint: str = ""

    @property
    def hushed(self) -> bool:
        """Whether a hint says that it was told in confidence."""
        return bool(self.hint) and _HUSHED.search(self.hint) is not None


@dataclass(frozen=True, slots=True)
class Known:
    """Something that was known before."""

    handle: str
    kind: str
    key: str
    text: str


@dataclass(frozen=True)
class Talk:
    """Everything a collapse prompt tells."""

    cast: Cast
    agent: str
    other: str
    names: Names
    turns: tuple[Turn, ...]
    known: tuple[Known, ...]
    wanted: frozenset[str]
    """The lists that are asked for, by their names on the wire."""

    @property
    def handles(self) -> frozenset[str]:
        """Everybody and everything with a handle."""
        return frozenset((self.agent, self.other, *self.cast.people))


def read_talk(prompt: str) -> Talk:
    """The talk of a prompt's user message. Lines that cannot be read are passed over."""
    sections = split_sections(prompt)
    dealt = _DEALT.match(sections.get("SESSION", ""))
    agent, other = (dealt[1], dealt[2]) if dealt else ("P1", "P2")
    turns: list[Turn] = []
    for line in sections.get("TURNS", "").splitlines():
        match = _TURN.match(line.strip())
        if match:
            turns.append(_turn(match, len(turns), agent, other))
    known = (match for line in sections.get("KNOWN BEFORE", "").splitlines() if (match := _KNOWN.match(line.strip())))
    evidence = [("said", turn.words, (turn.to,)) for turn in turns if turn.to] + [_deed(turn) for turn in turns if turn.note]
    cast = read_cast(sections.get("WHOSE MEMORY", ""), sections.get("PEOPLE", ""), evidence)
    asked = frozenset(word.strip() for word in sections["WANTED"].split(",")) & _EVERYTHING if "WANTED" in sections else _EVERYTHING
    return Talk(
        cast, agent, other, Names({handle: [person.name] for handle, person in cast.people.items()}), tuple(turns),
        tuple(Known(one["handle"], one["kind"], one["key"] if one["key"] != "-" else "", one["text"]) for one in known), asked,
    )  # fmt: skip


def _turn(match: re.Match[str], index: int, agent: str, other: str) -> Turn:
    note = match["words"] is None
    who = "" if note or match["who"] == SOMEBODY else match["who"]
    hint = match["hint"] or ""
    to = {agent: other, other: agent}.get(who, "")
    words = (match["text"] if note else match["words"]).strip()
    return Turn(match["handle"], index, who, "" if _ASIDE.search(hint) else to, words, note, bool(match["pinned"]), hint)


def _deed(turn: Turn) -> tuple[str, str, tuple[str, ...]]:
    """A note as evidence of whether its first one is a man or a woman: mode, words, whom it tells of."""
    first, _, rest = turn.words.partition(" ")
    return "done", rest, ((first,) if _HANDLE.fullmatch(first) else ())
