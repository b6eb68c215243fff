"""What a speech turns on: the noun phrase one would take up."""

import re
from collections.abc import Sequence
from functools import cache

from engine.llm.stems import STOP_WORDS
from engine.llm.storyteller.actor.dice import is_stock, phrases
from engine.llm.storyteller.language.speechacts import stems_of
from engine.llm.storyteller.language.verbs import reading
from engine.llm.storyteller.phrases import lines

_PHRASE = re.compile(
    r"\b(the|a|an|my|your|his|her|their|our|that|this)\s+(?!(?:the|a|an|my|your|his|her|their|our|that|this|it|he|she|they|you|we)\b)((?:[a-z][\w'\u2019-]*\s+){0,2}[a-z][\w'\u2019-]{2,})\b"
)
_CONFESSION = re.compile(
    r"(?<!if )(?<!think )(?<!say )(?<!never )\b(?:[Ii]t was (?:me|I)\b|I (?:did it|confess|killed|murdered|stole|put out"
    r"|poisoned|betrayed|sold|wrecked|doused|snuffed|burned|burnt|drowned|am (?:the|a) (?:murderer|thief|traitor|killer))\b)"
)
_MINE = {"my": "your", "your": "my", "our": "your", "a": "the", "an": "the", "this": "the", "that": "the"}
_VAGUE = frozenset(lines("vague_nouns"))


def topic_of(text: str, people: Sequence[str], *, not_in: str = "") -> str:
    """A noun phrase of a speech as its hearer would repeat it (`the rope`); empty when nothing stands out.

    People are no topics, and nor is what stands in `not_in`.
    """
    if is_stock(text):
        return ""
    known = stems_of(not_in) | stems_of(" ".join(people)) | _frame_stems()
    for match in _PHRASE.finditer(text):
        words = _trimmed(match[2].split())
        if not words or words[0] in STOP_WORDS or words[-1] in _VAGUE or words[-1] in STOP_WORDS or not stems_of(" ".join(words)) - known:
            continue
        return " ".join([_MINE.get(match[1].lower(), match[1].lower()), *words])
    return ""


def confesses(text: str) -> bool:
    """Whether a speech, in anybody's words, owns up to a deed: `It was I who put out the lantern.`"""
    return owns_up(text) or (_CONFESSION.search(text) is not None and not text.rstrip().endswith("?"))


def owns_up(text: str) -> bool:
    """Whether a speech is a confession in the storyteller's own manner."""
    openings = (phrase.partition("{fact}")[0].strip() for phrase in phrases("answering.crack"))
    return text.startswith(tuple(opening for opening in openings if opening))


@cache
def _frame_stems() -> frozenset[str]:
    """Stems of the phrases that answers are put into: no matter of their own."""
    return stems_of(" ".join(phrase.replace("{fact}", "") for phrase in (*phrases("answering.answer"), *phrases("pressing.tell"))))


def _trimmed(words: list[str]) -> list[str]:
    """The words up to the first that is surely a verb, adverb or little word."""
    kept: list[str] = []
    for word in words:
        found = reading(word, "past", "third", "gerund")
        acts = len(kept) > 1 and (base := reading(word, "base")) is not None and not base.nounish
        if kept and (word in STOP_WORDS or word.endswith("ly") or acts or (found and not found.nounish)):
            break
        kept.append(word)
    return kept if kept and kept[-1] not in STOP_WORDS else []
