"""A handoff prompt as moments: who said, did or thought what, where, and how long ago."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from engine.llm.storyteller.handoff.cast import Cast, read_cast
from engine.llm.storyteller.phrases import lines
from engine.records.prompts import split_sections

Mode = Literal["said", "done", "thought"]

_ENTRY = re.compile(r"^\[?(?P<handle>M\d+)\]?:? \[(?P<mode>said|done|thought)(?P<pinned>, pinned)?\] (?P<rest>.+)$")
_SPEECH = re.compile(
    r"^(?P<who>P\d+) (?P<verb>spoke|said|whispered|shouted)(?: to (?P<to>P\d+(?:(?:, | and )P\d+)*))?"
    r"(?:, (?P<how>[^:\"]+))?: (?P<words>.+)$"
)
_WHISPER = re.compile(r"^(?P<who>P\d+) whispered something(?: to (?P<to>P\d+(?:(?:, | and )P\d+)*))?\.$")
_THOUGHT = re.compile(r"^(?P<who>P\d+) thought: (?P<words>.+)$")
_DEED = re.compile(r"^(?P<who>P\d+) (?P<words>.+?)(?: \(Outcome: (?P<outcome>succeeded|failed)(?:, (?P<reason>.+))?\))?$")
_HANDLE = re.compile(r"\bP\d+\b")
_BROAD = 60
"""Minutes from which two moments with the same time words may still be far apart."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One entry of the prompt."""

    handle: str
    index: int
    mode: Mode
    pinned: bool
    when: str
    place: str
    who: str
    """Handle of who spoke, acted or thought; empty for a voice whose words did not carry."""
    to: tuple[str, ...] = ()
    """Handles of those spoken to."""
    words: str = ""
    """The speech without quotation marks, the thought, or the deed without its subject."""
    how: str = ""
    whispered: bool = False
    failed: bool = False
    reason: str = ""
    """Why a deed failed, as far as it is known."""

    @property
    def people(self) -> frozenset[str]:
        """Handles of everybody and everything that has part in it. Speech has none of its own."""
        inside = _HANDLE.findall(self.words) if self.mode != "said" else []
        return frozenset(filter(None, (self.who, *self.to, *inside)))

    @property
    def minutes(self) -> int:
        """About how long ago, by the time words."""
        return times().get(self.when, 0)

    @property
    def old(self) -> bool:
        """Whether it is a day or more ago, as far as time words tell."""
        return self.minutes >= times()["yesterday evening"]


def near(one: Moment, other: Moment) -> bool:
    """Whether two moments are close enough in time to belong together, as far as time words tell."""
    if one.when == other.when:
        return True
    ordered = list(dict.fromkeys(times().values()))
    between = abs(ordered.index(one.minutes) - ordered.index(other.minutes)) if {one.minutes, other.minutes} <= set(ordered) else 9
    return between <= 1 and max(one.minutes, other.minutes) <= _BROAD


@dataclass(frozen=True)
class Story:
    """Everything a handoff prompt tells."""

    cast: Cast
    moments: tuple[Moment, ...]


def read_story(prompt: str) -> Story:
    """The story of a prompt's user message. Lines that are no entries are passed over."""
    sections = split_sections(prompt)
    found: list[Moment] = []
    for line in sections.get("ENTRIES", "").splitlines():
        match = _ENTRY.match(line.strip())
        if match:
            found.append(_moment(match, len(found)))
    cast = read_cast(sections.get("WHOSE MEMORY", ""), sections.get("PEOPLE", ""), _evidence(found))
    return Story(cast, tuple(found))


@cache
def times() -> dict[str, int]:
    """Time words, nearest first, with about as many minutes as they mean."""
    split = (line.split(" :: ") for line in lines("remembering_times"))
    return {words: int(minutes) for words, minutes in split}


@cache
def _heads() -> re.Pattern[str]:
    known = "|".join(re.escape(words) for words in sorted(times(), key=lambda words: (-len(words), words)))
    return re.compile(rf"^(?P<when>{known}|[a-z][^:]*?)(?:, (?P<place>.+?))?: (?P<text>(?:P\d+|Somebody|Someone)\b.*)$")


def _moment(match: re.Match[str], index: int) -> Moment:
    mode = _mode(match["mode"])
    head = _heads().match(match["rest"])
    when, place, text = (head["when"], head["place"] or "", head["text"]) if head else ("", "", match["rest"])
    pinned = bool(match["pinned"])
    if mode == "said" and (seen := _WHISPER.match(text)):
        return Moment(match["handle"], index, mode, pinned, when, place, seen["who"], _handles(seen["to"]), whispered=True)
    pattern = {"said": _SPEECH, "thought": _THOUGHT, "done": _DEED}[mode]
    told = pattern.match(text)
    if told is None:
        return Moment(match["handle"], index, mode, pinned, when, place, "")
    parts = told.groupdict()
    words = parts["words"].strip()
    if mode == "said":
        words = words.removeprefix('"').removesuffix('"').strip()
    return Moment(
        match["handle"], index, mode, pinned, when, place, parts["who"], _handles(parts.get("to")), words, parts.get("how") or "",
        parts.get("verb") == "whispered", parts.get("outcome") == "failed", parts.get("reason") or "",
    )  # fmt: skip


def _mode(text: str) -> Mode:
    return "said" if text == "said" else "thought" if text == "thought" else "done"


def _handles(text: str | None) -> tuple[str, ...]:
    return tuple(_HANDLE.findall(text or ""))


def _evidence(moments: list[Moment]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Texts that may tell whether somebody is a man or a woman: mode, words, whom they tell of."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for moment in moments:
        if moment.mode == "done" and moment.who:
            found.append(("done", moment.words, (moment.who,)))
        elif moment.mode == "said" and len(moment.to) == 1:
            found.append(("said", moment.words, moment.to))
    return found
