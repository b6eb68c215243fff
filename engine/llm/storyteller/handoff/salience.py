"""How much words weigh, and what they are about."""

import re
from collections.abc import Iterable

from engine.llm.stems import STOP_WORDS
from engine.llm.storyteller.handoff.lexicon import kinds_of, word_set
from engine.llm.storyteller.handoff.wordforms import reading

_WEIGHTS = {"death": 3, "violence": 2, "crime": 2, "secret": 2, "money": 2, "bond": 2, "danger": 1, "time": 1, "things": 1}
_WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019-]*")
_NOUNS = re.compile(
    r"\b(?P<det>the|a|an|my|your|his|her|their|our|that|this|no|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
    r"fifty)\s+(?P<rest>[a-z][\w'\u2019-]*(?:\s+[a-z][\w'\u2019-]{2,}){0,2})\b(?!\s+(?-i:[A-Z])\w)",
    re.IGNORECASE,
)
_DEADLINE = re.compile(
    r"\b(?:by|before|until|till|at|within|in) (?:(?:the|an|one|two|three) )?(?:dawn|morning|evening|noon|midnight|nightfall|night|tomorrow|"
    r"first light|sunset|sunrise|daybreak|hours?|days?|tide|week|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|\buntil the hour is out\b|\bwhile you (?:still )?can\b",
    re.IGNORECASE,
)


def deadline(text: str) -> bool:
    """Whether words set a term."""
    return _DEADLINE.search(text) is not None


def kinds(text: str) -> set[str]:
    """What a text touches: death, money, secrets."""
    return {kind for word in _WORD.findall(text) for kind in kinds_of(word)}


def bonus(text: str) -> int:
    """Weight that the words add to what is done with them, 0 to 4."""
    found = sorted((_WEIGHTS[kind] for kind in kinds(text)), reverse=True)[:2]
    return min(4, sum(found) + (1 if deadline(text) else 0))


def topics(text: str, *, most: int = 2) -> list[str]:
    """Noun phrases a text turns on, as it has them, the weightiest first."""
    found: dict[str, tuple[int, str]] = {}
    position = 0
    while match := _NOUNS.search(text, position):
        position = match.start("rest")
        words = _trimmed(match["rest"].split())
        if words and words[-1] not in STOP_WORDS and words[-1] not in word_set("grammar", "vague"):
            weight = max((_WEIGHTS[kind] for kind in kinds(" ".join(words))), default=0)
            found.setdefault(words[-1], (weight, f"{match['det'].lower()} {' '.join(words)}"))
    ranked = sorted(found.values(), key=lambda one: -one[0])[:most]
    return [phrase for phrase in (one[1] for one in found.values()) if any(phrase == kept for _, kept in ranked)]


def _trimmed(words: Iterable[str]) -> list[str]:
    """The words up to the first that is surely a verb, adverb or little word."""
    kept: list[str] = []
    for word in words:
        found = reading(word, "past", "third", "gerund") or reading(word, "base")
        verbal = found is not None and not found.nounish and found.base not in word_set("grammar", "noun_verbs")
        if kept and (word in STOP_WORDS or word.endswith("ly") or verbal):
            break
        kept.append(word)
    return kept if kept and kept[-1] not in STOP_WORDS else []
