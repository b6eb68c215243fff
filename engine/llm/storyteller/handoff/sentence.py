"""Sentences of speech made ready for the third person: whom they are between, what they are without names and contractions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from engine.llm.stems import STOP_WORDS
from engine.llm.storyteller.handoff.cast import Cast, Person
from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.handoff.wordforms import reading, readings
from engine.llm.storyteller.phrases import lines

_HANDLE = re.compile(r"P\d+")
_FINITE = frozenset((
    "am", "is", "are", "was", "were", "has", "had", "did", "does", "will", "would", "can", "could", "may", "might", "must",
))  # fmt: skip
_OPENERS = re.compile(
    r"^(?:(?:well|oh|ah|aye|yes|no|nay|look|listen|now|so|and|but|then|or|please|indeed|see|right|good|hush|why|come|forgive me|"
    r"listen to me|look at me|since you ask(?: me)?(?: straight)?|if you ask me|to tell the truth|the truth is|in truth|between us)"
    r"(?:,? then)?,\s+|(?:and|but|so|then|or)\s+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Grounds:
    """Who speaks to whom: what `I` and `you` mean."""

    cast: Cast
    speaker: Person
    hearers: tuple[Person, ...] = ()
    proper: frozenset[str] = field(default_factory=frozenset)
    """Words that keep their capital at the start of a sentence."""

    @property
    def hearer(self) -> Person | None:
        """Whom `you` means, as one person or as `they`; None when nobody was spoken to."""
        if len(self.hearers) == 1:
            return self.hearers[0]
        return Person("", gender="they") if self.hearers else None


def opened(text: str) -> str:
    """A sentence with straight apostrophes and without contractions, openers and its closing mark."""
    text = text.replace("\u2019", "'").replace("\u2018", "'").strip(" \"\u201c\u201d.!?\u2026-\u2013\u2014")
    text = re.sub(r"\s*[\u2013\u2014]\s*|\s+--?\s+", ", ", text)
    for pattern, words in _contractions():
        text = pattern.sub(words, text)
    shorter = _OPENERS.sub("", text).strip(" ,;")
    return shorter or text


@cache
def _contractions() -> tuple[tuple[re.Pattern[str], str], ...]:
    split = [line.split(" :: ") for line in lines("remembering_contractions")]
    return tuple((re.compile(pattern), words) for pattern, words in split)


def unaddressed(text: str, cast: Cast) -> str:
    """A speech without the names and titles by which it addresses somebody."""
    names = sorted({part for person in cast.people.values() for part in _name_parts(person.name)}, key=lambda part: (-len(part), part))
    titles = sorted(word_set("people", "women_addressed") | word_set("people", "men_addressed") | word_set("grammar", "addressed"))
    name, titled = r"[A-Z][a-z'\u2019-]+(?: [A-Z][a-z'\u2019-]+)?", [rf"(?:my )?{title}" for title in titles]
    ends = "|".join([*map(re.escape, names), name, *titled])
    text = re.sub(rf"(?<=\w), (?:{ends})(?=[.!?\u2026]|$)", "", text)
    text = re.sub(rf"(?<=\w), (?:{ends}), (?=or\b|and\b|but\b|[a-z])", ", ", text)
    start = "|".join([*map(re.escape, names), *(rf"(?:[Mm]y )?(?:{title}|{title.capitalize()})" for title in titles)])
    return re.sub(rf"(?:^|(?<=[.!?\u2026] ))(?:{start})[,.] (?=\w)", "", text)


def _name_parts(name: str) -> list[str]:
    return [name, *(word for word in name.split() if word[0].isupper() and len(word) > 2)] if name and name[0].isupper() else []


def is_imperative(text: str) -> bool:
    """Whether an opened sentence tells somebody to do something."""
    words = re.findall(r"[\w'\u2019-]+", text)
    while words and words[0].lower() in ("please", "just", "only", "always", "never", "do", "not", "also", "now", "kindly"):
        words = words[1:]
    if not words:
        return False
    first, second = words[0].lower(), words[1].lower() if len(words) > 1 else ""
    if first in word_set("grammar", "no_imperatives") or (words[0][0].isupper() and second[:1].isupper()):
        return False
    verb = reading(first, "base")
    if first == "be":
        return True
    if verb is None or second in _FINITE:
        return False
    return not (verb.nounish and (reading(second, "third", "past") is not None or not second))


def lowered(told: str, source: str, grounds: Grounds) -> str:
    """A recast text without the capital of its first word, unless that is a name."""
    words = told.split(" ")
    first = words[0]
    if not first or not first[0].isupper() or _HANDLE.match(first) or first in grounds.proper:
        return told
    second = words[1] if len(words) > 1 else ""
    if is_name(first, second):
        return told
    if second[:1].isupper() and not _HANDLE.match(second) and first.lower() not in STOP_WORDS and source.lstrip().startswith(first):
        return told
    return first[0].lower() + told[1:]


def finite(word: str) -> bool:
    """Whether a lower-case word is a form of `be`, `have`, `do` or a modal that takes a subject."""
    return word in _FINITE


def is_name(first: str, second: str) -> bool:
    """Whether the capital word that begins a sentence is surely a name: it is no word that is known, and a verb of one follows."""
    word = first.lower()
    if word in word_set("people", "women_called") | word_set("people", "men_called"):
        return True
    known = word in STOP_WORDS or word in word_set("grammar", "question_subjects") or is_adverb(word) or readings(word)
    plain = not known and word.isalpha() and not word.endswith("s") and word not in word_set("grammar", "no_names")
    return plain and (second in _FINITE or any(form in ("third", "past") for _, form in readings(second)))


def shortened(text: str, longest: int) -> str:
    """A text cut where a clause ends, when it is longer than so many words; empty when it cannot be cut."""
    words = text.split()
    if len(words) <= longest:
        return text
    cuts = [match.start() for match in re.finditer(r"[,;:] |, | because | before (?=\w+ had)| and (?=P?\w+ (?:was|had|would))", text)]
    fitting = [cut for cut in cuts if 5 <= len(text[:cut].split()) <= longest]
    return text[: fitting[-1]].rstrip(" ,;:") if fitting else ""


def proper_words(texts: Sequence[str], cast: Cast) -> frozenset[str]:
    """Words that are names: parts of people's names, and what is written with a capital in the middle of sentences."""
    inside = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
    return cast.names() | {word for text in texts for word in inside.findall(text) if word.lower() not in STOP_WORDS}


def is_adverb(word: str) -> bool:
    """Whether a lower-case word may stand between a subject and its verb."""
    if word in word_set("grammar", "adverbs"):
        return True
    return word.endswith("ly") and len(word) > 4 and word not in word_set("grammar", "no_adverbs")
