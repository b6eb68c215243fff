"""The entries of a handoff prompt read back into moments."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from engine.llm.storyteller.keeping.salience import weight_of
from engine.llm.storyteller.language.speechacts import SpeechAct, classify, stems_of

Mode = Literal["said", "done", "thought"]

_ENTRY = re.compile(r"^\[?(?P<handle>M\d+)\]? \[(?P<mode>said|done|thought)(?P<pinned>, pinned)?\] (?P<head>.*)$")
_SPOKEN = re.compile(
    r"^(?P<who>\S+) (?P<how>spoke|whispered|said|shouted)(?: to (?P<whom>[^:\"]+?))?(?:, (?P<manner>[^:\"]+?))?: \"(?P<words>.*)\"$",
    re.DOTALL,
)
_HIDDEN = re.compile(r"^(P\d+) whispered something(?: to (.+?))?\.?$")
_OUTCOME = re.compile(r"\s*\(Outcome: (?P<how>succeeded|failed)(?:, (?P<why>.*))?\)$")
_OLD = re.compile(
    r"^(?:yesterday|last night|around midnight|late last night|the (?:day|night) before|.* (?:day|week|month|year)s? ago|years ago)"
)
_RECENT = re.compile(r"^(?:just now|moments ago|a few minutes|several minutes|about half an hour|about an hour)")


@dataclass(frozen=True)
class Moment:
    """One buffer entry as the prompt shows it, people by handles."""

    handle: str
    mode: Mode
    pinned: bool
    when: str
    place: str
    who: str
    whom: tuple[str, ...] = ()
    words: str = ""
    """What was said or thought."""
    deed: str = ""
    """What was done: past tense, without subject."""
    failed: str = ""
    how: str = ""

    @property
    def text(self) -> str:
        """Words or deed."""
        return self.words or self.deed

    @cached_property
    def act(self) -> SpeechAct | None:
        """The kind of speech, for what was said."""
        return classify(self.words) if self.mode == "said" and self.words else None

    @cached_property
    def people(self) -> frozenset[str]:
        """Handles of everybody and everything it names, the doer included."""
        return frozenset((self.who, *self.whom, *re.findall(r"\bP\d+\b", self.deed))) - {""}

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of what it is about."""
        return stems_of(re.sub(r"\bP\d+\b", " ", self.text))

    @property
    def old(self) -> bool:
        """Whether it is a day old or more."""
        return bool(_OLD.match(self.when))

    @property
    def recent(self) -> bool:
        """Whether it is about an hour old at the most."""
        return bool(_RECENT.match(self.when))

    @cached_property
    def weight(self) -> int:
        """How much it matters, 0 for stage business."""
        return weight_of(self.mode, self.act, self.text, failed=bool(self.failed))


def read_moments(section: str) -> list[Moment]:
    """All moments of the section, in its order."""
    found: list[Moment] = []
    for line in section.splitlines():
        match = _ENTRY.match(line.strip())
        if match:
            found.append(_moment(match["handle"], match["mode"], bool(match["pinned"]), match["head"]))
    return found


def _moment(handle: str, mode: str, pinned: bool, line: str) -> Moment:
    head, _, text = line.partition(": ")
    when, _, place = head.partition(", ")
    while place and not re.match(r"(?:in|on|at|aboard|by|near|under|inside|outside)\b", place):
        more, _, place = place.partition(", ")  # time words may have a comma of their own: `earlier today, in the morning`
        when = f"{when}, {more}"
    if re.match(r"in the (?:morning|afternoon|evening|night)\b", place):
        period, _, place = place.partition(", ")
        when = f"{when}, {period}"
    if mode == "said":
        return _said(handle, pinned, when, place, text)
    if mode == "thought":
        who, _, words = text.partition(" thought: ")
        return Moment(handle, "thought", pinned, when, place, who, words=words)
    outcome = _OUTCOME.search(text)
    told = text[: outcome.start()] if outcome else text
    failed = (outcome["why"] or "it could not be done") if outcome and outcome["how"] == "failed" else ""
    who, _, deed = told.strip().rstrip(".").partition(" ")
    return Moment(handle, "done", pinned, when, place, who, deed=deed, failed=failed)


def _said(handle: str, pinned: bool, when: str, place: str, text: str) -> Moment:
    spoken = _SPOKEN.match(text)
    if spoken is None:
        hidden = _HIDDEN.match(text)
        who = hidden[1] if hidden else ""
        whom = tuple(re.findall(r"P\d+", hidden[2] or "")) if hidden else ()
        return Moment(handle, "said", pinned, when, place, who, whom, how="hidden")
    whom = tuple(re.findall(r"\bP\d+\b", spoken["whom"] or ""))
    return Moment(handle, "said", pinned, when, place, spoken["who"], whom, spoken["words"], how=spoken["how"])
