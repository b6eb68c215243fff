"""What follows a verb: its object, and phrases that begin with a preposition, taken apart into heads, numbers, names and times."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.llm.stems import STOP_WORDS, stem
from engine.llm.storyteller.claims.lexicon import numbers, stems_under, word_set
from engine.llm.storyteller.handoff.lexicon import word_set as grammar
from engine.llm.storyteller.handoff.sentence import is_adverb

HANDLE: Final = re.compile(r"[pP][1-9]\d*")
DETERMINERS: Final = frozenset((
    "the", "a", "an", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "some", "any", "every", "each",
    "all", "both", "own",
))  # fmt: skip
PREPOSITIONS: Final = frozenset((
    "of", "in", "on", "at", "to", "for", "with", "by", "from", "under", "over", "behind", "beneath", "beside", "before", "after", "about",
    "near", "against", "among", "between", "through", "inside", "outside", "within", "without", "into", "onto", "upon", "above", "below",
    "across", "along", "aboard", "towards", "toward", "until", "till", "since", "during", "beyond", "off", "as", "than", "like",
))  # fmt: skip
STOPS: Final = frozenset((
    "because", "but", "which", "who", "whom", "whose", "if", "unless", "although", "though", "while", "when", "where", "whether", "why",
    "how", ";", ":", "that", "so", "or",
))  # fmt: skip
_MEASURES = frozenset(("pair", "couple", "lot", "kind", "sort", "number", "piece", "dozen", "bag", "bit", "sack", "barrel", "cask"))
_TIMED = frozenset(("at", "by", "on", "before", "after", "until", "till", "in", "since", "during", "for", "within"))
_WHICH = frozenset(("last", "next", "same", "other", "past", "instead"))
PARTICLES: Final = frozenset(("away", "off", "up", "out", "down", "back"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase, after a preposition or none."""

    preposition: str
    head: str
    """Stem of its noun; a handle as it is."""
    modifiers: frozenset[str] = frozenset()
    """Stems of what stands before the noun and says more of it."""
    numbers: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    """Names and handles in it, in lower case."""
    times: frozenset[str] = frozenset()
    denied: bool = False
    """`no boat`."""
    definite: bool = False
    owner: str = ""
    """Whose it is: the stem before `'s`."""


@dataclass(frozen=True, slots=True)
class Complement:
    """All phrases that follow a verb."""

    objects: tuple[Phrase, ...]
    """Without a preposition: at the most two, as in `gave P2 the key`."""
    phrases: tuple[Phrase, ...]
    particle: str = ""

    @property
    def everything(self) -> tuple[Phrase, ...]:
        """Objects and phrases."""
        return self.objects + self.phrases


@lru_cache(maxsize=8192)
def root(word: str) -> str:
    """The stem of a lower-case word without its possessive; handles as they are."""
    return word if HANDLE.fullmatch(word) else stem(word.removesuffix("'s").removesuffix("'"))


def read_complement(raw: Sequence[str], low: Sequence[str], start: int, end: int) -> Complement:
    """The phrases among the words from `start` to `end`."""
    objects: list[Phrase] = []
    phrases: list[Phrase] = []
    particle = ""
    index = start
    while index < end:
        word = low[index]
        if word == "," or (word == "and" and index + 1 < end):
            index += 1
            continue
        if word in PREPOSITIONS and index + 1 < end:
            at = _phrase_end(low, index + 1, end)
            found = _phrase(raw, low, index + 1, at, word)
            if found is not None and word == "of" and (into := _measured(objects, phrases, found)):
                into.append(found)
            elif found is not None:
                phrases.append(found)
            index = max(at, index + 1)
            continue
        at = _phrase_end(low, index, end)
        if at == index:
            index += 1
            continue
        if low[at - 1] in PARTICLES and at - index > 1:
            particle = low[at - 1]
        elif word in PARTICLES:
            particle = word
            index += 1
            continue
        for first, last in _two(low, index, at):
            found = _phrase(raw, low, first, last, "")
            if found is not None:
                objects.append(found)
        index = at
    return Complement(tuple(objects), tuple(phrases), particle)


def _measured(objects: list[Phrase], phrases: list[Phrase], found: Phrase) -> list[Phrase] | None:
    """For `two barrels of salt`: takes away the measure, so that the salt stands in its place."""
    rows = phrases if phrases else objects
    if rows and rows[-1].head in _MEASURES and found.head:
        rows.pop()
        return rows
    return None


def _two(low: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    """Where one phrase ends and another begins: `P2 | the key`."""
    for index in range(start + 1, end):
        before = low[index - 1]
        if low[index] in DETERMINERS and before not in DETERMINERS and before not in PREPOSITIONS:
            return [(start, index), (index, end)]
    return [(start, end)]


def _phrase_end(low: Sequence[str], start: int, end: int) -> int:
    index = start
    while index < end and low[index] not in PREPOSITIONS and low[index] not in (",", "and"):
        index += 1
    return index


def _phrase(raw: Sequence[str], low: Sequence[str], start: int, end: int, preposition: str) -> Phrase | None:
    """The phrase of the words from `start` to `end`; None when they say nothing."""
    content: list[str] = []
    figures: list[str] = []
    names: set[str] = set()
    times: set[str] = set()
    denied = definite = False
    owner = ""
    for index in range(start, end):
        word = low[index]
        if word == "no":
            denied = True
        elif word in DETERMINERS:
            definite = definite or word not in ("a", "an", "some", "any", "every", "each")
        elif (figure := figure_of(word)) is not None:
            figures.append(figure)
        elif word in word_set("times") or (word == "light" and low[index - 1] == "first"):
            times.add(word)
        elif word not in PARTICLES and word not in _WHICH and not (is_adverb(word) or word in STOP_WORDS):
            stemmed = root(word)
            if word.endswith(("'s", "s'")) and index + 1 < end:
                owner = stemmed
            else:
                content.append(stemmed)
            if raw[index][0].isupper():  # handles too
                names.add(stemmed)
    timed = preposition in _TIMED
    if (times and (timed or not content)) or (figures and not content and timed):
        # `at six`, `on the first Monday of March`: when, and nothing besides
        return Phrase(preposition, "", times=frozenset(times) | frozenset(figures) | frozenset(content))
    if not content and not figures and not denied and not owner:
        return None
    head = content[-1] if content else owner
    return Phrase(
        preposition, head, frozenset(content[:-1]), tuple(figures), frozenset(names), frozenset(times), denied,
        definite or bool(names), owner,
    )  # fmt: skip


def figure_of(word: str) -> str | None:
    """A number in figures: `three` and `3` give `3`; None for what is no number."""
    if word[0].isdigit():
        return word.replace(",", "").rstrip(".")
    tens, _, ones = word.partition("-")
    if ones in numbers() and tens in numbers():
        return str(int(numbers()[tens]) + int(numbers()[ones]))
    return numbers().get(word)


def is_place(phrase: Phrase) -> bool:
    """Whether a phrase says where."""
    nowhere = phrase.head in grammar("grammar", "vague") or phrase.head in stems_under("no_places")
    return bool(phrase.head) and phrase.preposition in word_set("place_prepositions") and not nowhere
