"""Which kinds of knowledge a session may hold, by the turns of phrase that carry them; what is mere small talk (DESIGN 9). Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, Literal, NamedTuple

from engine.llm.stems import STOP_WORDS, stem
from engine.records.sessions import Turn

KindOfTurn = Literal["facts", "decisions", "strategies", "nextSteps"]

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_LEAST_WORDS: Final = 2
"""Words beyond those of small talk that a turn needs to tell something."""
_PHRASES: Final[Mapping[KindOfTurn, str]] = {
    "facts": (
        r"\b(?:i|we|he|she|they|it|who|that|there|this|[^\W\d_]+)(?:'m|'re|'s|\s+(?:am|is|are|was|were|has|have|had|owns?|serves?|keeps?|"
        r"kept|lives?|works?|fears?|hates?|loves?|likes?|knows?|knew|came|comes|sells?|sold|bought|buys|lost|found|hid|hides|owes?|killed|"
        r"stole|married|died|saw|seen|heard|told|said|says|took|gave|left|went|sailed|built|broke|wants?|needs?|never|cannot|can't))\b"
        r"|\bmy\s+(?:name|[^\W\d_]+\s+(?:is|was|are|were))\b|\d|\b(?:named|called)\b"
    ),
    "decisions": (
        r"\b(?:let\s+us|let's|we\s+(?:shall|will|should|must|agreed?|decided?)|we'll|i\s+(?:will|shall|won't|promise|swear|agreed?|decided?|choose|"
        r"chose)|i'll|agreed|settled|decided|promised?|swore|a\s+deal|instead|rather\s+than|no\s+longer|not\s+any\s*more|from\s+now\s+on)\b"
    ),
    "strategies": (
        r"\b(?:when(?:ever)?|if|unless|once|before|after)\b[^.!?]{3,80}\b(?:you|one|we|i|he|she|they|best|never|always|take|go|use|keep|wait|knock|ask)\b"
        r"|\b(?:the\s+(?:best|only|surest|safest)\s+way|it\s+is\s+(?:best|safest|wiser)\s+to|the\s+trick\s+is|never\s+[^.!?]{2,40}\s+without)\b"
    ),
    "nextSteps": (
        r"\b(?:tomorrow|tonight|at\s+(?:dawn|dusk|noon|midnight|first\s+light)|by\s+(?:morning|nightfall|noon)|next\s+(?:week|time|day)|"
        r"bring|fetch|meet\s+me|come\s+back|go\s+to|ask\s+[^\W\d_]+|look\s+for|find\s+out|remember\s+to|don't\s+forget|do\s+not\s+forget|"
        r"i\s+(?:must|need\s+to|have\s+to)|you\s+(?:must|need\s+to|should))\b"
    ),
}
_MUCH: Final = 3
"""Such words from which a sentence tells a fact where somebody does something in it, whatever that is."""
_DOES: Final = re.compile(
    r"(?:\b(?:the|an?|this|that|his|her|their|our|my|your|every|no)\s+|\b[A-Z][^\W\d_]+(?:'s|\u2019s)?\s+)(?:[^\W\d_]+\s+){0,2}?"
    r"[a-z]{2,}(?<!s)(?:s|ed)\b"
)
"""`The packet lands`, `Rusk watered`, `the old miller hides`."""
_CUES: Final = {kind: re.compile(phrases, re.IGNORECASE) for kind, phrases in _PHRASES.items()}


class Telling(NamedTuple):
    """A turn that tells something, with the kinds of knowledge it may hold."""

    turn: Turn
    kinds: frozenset[KindOfTurn]


def telling(turns: Iterable[Turn]) -> list[Telling]:
    """The turns that tell something: a turn of phrase that carries knowledge, and words that are not those of small talk. What is said
    in the very same words again tells nothing more."""
    found: dict[str, Telling] = {}
    for turn in turns:
        if turn.content not in found and (kinds := kinds_of(turn.content)):
            found[turn.content] = Telling(turn, kinds)
    return list(found.values())


def kinds_of(text: str) -> frozenset[KindOfTurn]:
    """The kinds of knowledge that words may hold; none for small talk and for questions alone."""
    found: set[KindOfTurn] = set()
    for sentence in re.split(r"(?<=[.!?\u2026])\s+|\n", text):
        words = 0 if sentence.rstrip('"\u201d\u2019 ').endswith("?") else len(matter(sentence))
        if words >= _LEAST_WORDS:
            found.update(kind for kind, cue in _CUES.items() if cue.search(sentence))
        if words >= _MUCH and _DOES.search(sentence):
            found.add("facts")
    return frozenset(found)


def matter(text: str) -> frozenset[str]:
    """Stems of a text that are neither common nor those of small talk; names and figures among them."""
    words = (re.split("['\u2019]", found.group().lower(), maxsplit=1)[0] for found in _WORD.finditer(text))
    return frozenset(root for word in words if word not in STOP_WORDS and (root := stem(word)) not in _small_talk())


def present(found: Sequence[Telling]) -> frozenset[KindOfTurn]:
    """The kinds that any of the turns may hold."""
    return frozenset(kind for one in found for kind in one.kinds)


@cache
def _small_talk() -> frozenset[str]:
    """Stems of greetings, thanks, weather, health, food and drink: `small_talk.txt`, words with spaces between."""
    text = resources.files("engine.memory.sessions").joinpath("small_talk.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(stem(word) for line in lines for word in line.split())
