"""Lines of RECENT EVENTS read back into who did what to whom."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from engine.llm.storyteller.language.speechacts import SpeechAct, classify, stems_of
from engine.llm.storyteller.language.verbs import reading

EventKind = Literal["said", "done", "thought", "faint", "hidden"]

_SAID = re.compile(
    r"^(?P<who>.+?) (?P<how>spoke|whispered|said|shouted)(?: to (?P<whom>.+?))?(?:, (?P<manner>[^:\"]+?))?: \"(?P<words>.*)\"$", re.DOTALL
)
_HIDDEN = re.compile(r"^(?P<who>.+?) whispered something(?: to (?P<whom>.+?))?\.?$")
_FAINT = re.compile(r"^Somebody was speaking(?: (?P<where>.+?))?, but the words did not carry\.$")
_THOUGHT = re.compile(r"^You thought: (?P<words>.+)$", re.DOTALL)
_OUTCOME = re.compile(r"\s*\(Outcome: (?P<how>succeeded|failed)(?:, (?P<why>.*))?\)$")
_WENT = re.compile(r"\bwent from (?P<from>.+?) to (?P<to>.+?)(?: through .+)?$")
_LABEL_STARTS = ("The", "A", "An", "Another", "Somebody", "Some", "One", "Your")
_BEFORE_NOUN = ("the", "a", "an", "his", "her", "its", "their", "in", "with", "of", "and", "another", "one")
_AUXILIARIES = ("was", "were", "did", "could", "had", "slowly", "quietly")
FRESH = ("just now", "moments ago", "a few minutes ago", "several minutes ago")


@dataclass(frozen=True)
class Event:
    """One thing that its reader perceived, in its reader's names. The reader is `you`."""

    when: str
    """Time words, lower case."""
    kind: EventKind
    who: str
    """Who did it: `you`, or a name with a small first letter if it is a label."""
    whom: tuple[str, ...] = ()
    """Whom speech was directed at."""
    text: str = ""
    """Speech: the words. Deeds: what was done, past tense, without subject. Thoughts: the thought."""
    failed: str = ""
    """Why it could not be done; `failed` when not told."""
    found: str = ""
    """What a look or search of the reader's own brought to light."""
    how: str = ""
    """`spoke`, `whispered`, `shouted`."""
    where: str = ""

    @property
    def mine(self) -> bool:
        """Whether the reader did it."""
        return self.who == "you"

    @property
    def to_me(self) -> bool:
        """Whether the reader was spoken to."""
        return "you" in self.whom

    @property
    def fresh(self) -> bool:
        """Whether it happened within the last half hour."""
        return self.when in FRESH

    @cached_property
    def act(self) -> SpeechAct:
        """What kind of speech it is."""
        return classify(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of the words that matter."""
        return stems_of(self.text)

    @property
    def went(self) -> tuple[str, str] | None:
        """From where to where, when it tells of going."""
        match = _WENT.search(self.text) if self.kind == "done" and not self.failed else None
        return (match["from"], match["to"]) if match else None


def read_events(section: str, names: Sequence[str] = ()) -> list[Event]:
    """The events of a section, oldest first. `names` are known names and labels, longest first."""
    found: list[Event] = []
    when = ""
    for line in section.splitlines():
        if line.startswith("  - "):
            found.append(read_event(line[4:], when, names))
        elif line and not line.startswith(" "):
            when = line.strip().lower()
    return found


def read_event(sentence: str, when: str = "", names: Sequence[str] = ()) -> Event:
    """One event from its sentence."""
    if match := _FAINT.match(sentence):
        return Event(when, "faint", "somebody", where=match["where"] or "")
    if match := _THOUGHT.match(sentence):
        return Event(when, "thought", "you", text=match["words"])
    if match := _HIDDEN.match(sentence):
        return Event(when, "hidden", uncapital(match["who"]), _people(match["whom"]), how="whispered")
    if match := _SAID.match(sentence):
        return Event(when, "said", uncapital(match["who"]), _people(match["whom"]), match["words"], how=match["how"])
    outcome = _OUTCOME.search(sentence)
    told = sentence[: outcome.start()] if outcome else sentence
    failed = (outcome["why"] or "failed") if outcome and outcome["how"] == "failed" else ""
    found = (outcome["why"] or "") if outcome and outcome["how"] == "succeeded" else ""
    who, what = _subject(told.strip().rstrip("."), names)
    return Event(when, "done", who, text=what, failed=failed, found=found)


def uncapital(name: str) -> str:
    """A name at the start of a sentence as it stands within one: `The innkeeper` gives `the innkeeper`, `Bryn` stays."""
    first = name.split(maxsplit=1)[0] if name else ""
    return name[:1].lower() + name[1:] if first in _LABEL_STARTS or first == "You" else name


def _people(text: str | None) -> tuple[str, ...]:
    return tuple(uncapital(one.strip()) for one in re.split(r", (?=\S)| and ", text) if one.strip()) if text else ()


def _subject(sentence: str, names: Sequence[str]) -> tuple[str, str]:
    """Split `The innkeeper wiped the counter` into who and what: by the names known, else before the likeliest verb."""
    words = sentence.split()
    if not words:
        return "", ""
    if words[0] == "You":
        return "you", " ".join(words[1:])
    for name in names:
        if sentence[: len(name)].casefold() == name.casefold() and sentence[len(name) : len(name) + 1] == " ":
            return name, sentence[len(name) + 1 :]
    at = _verb_index(words)
    return uncapital(" ".join(words[:at])), " ".join(words[at:])


def _verb_index(words: list[str]) -> int:
    start = 2 if words[0] in _LABEL_STARTS else 1
    for at in range(start, min(len(words), 12)):
        word = words[at].strip(",;")
        if word[:1].islower() and words[at - 1].lower() not in _BEFORE_NOUN and (reading(word, "past") or word in _AUXILIARIES):
            return at
    return min(start, len(words))
