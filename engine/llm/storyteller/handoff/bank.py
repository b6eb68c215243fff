"""The storyteller's own phrases, known again when somebody says or thinks them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from engine.llm.storyteller.language.text import capital
from engine.llm.storyteller.phrases import lines, lists

_SLOT = re.compile(r"\{(\w+)\}")
_LEAST_LETTERS = 9
"""Letters that a phrase must have besides its slots, to be told from chance."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a phrase does: act, weight and tellings, as `phrases/remembering_bank.txt` has them."""

    act: str
    weight: int
    tellings: tuple[str, ...]
    """Those that end in `*` say too little without the words themselves."""
    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A phrase with slots: literal text and slot names by turns, beginning and ending with literal text."""

    literals: tuple[str, ...]
    slots: tuple[str, ...]
    rule: tuple[str, int, tuple[str, ...]]

    def read(self, text: str) -> dict[str, str] | None:
        """What fills the slots when a text is this phrase."""
        first, last = self.literals[0], self.literals[-1]
        if not (text.startswith(first) and text.endswith(last)) or len(text) <= len(first) + len(last):
            return None
        inner = text[len(first) : len(text) - len(last)]
        found: dict[str, str] = {}
        for slot, literal in zip(self.slots, [*self.literals[1:-1], ""], strict=True):
            head, between, inner = inner.partition(literal) if literal else (inner, "", "")
            if (literal and not between) or not head.strip():
                return None
            found[slot.lower()] = head.strip()
        return found


def known(text: str, *, thought: bool = False) -> Known | None:
    """What a whole speech, or a whole `thought`, does, when it is one of the storyteller's phrases."""
    plain, slotted = _phrases(thought)
    text = " ".join(text.split())
    rule = plain.get(_key(text))
    if rule is not None:
        return Known(*rule, {})
    for phrase in slotted:
        slots = phrase.read(text)
        if slots is not None:
            return Known(*phrase.rule, slots)
    return None


@cache
def _phrases(thoughts: bool) -> tuple[Mapping[str, tuple[str, int, tuple[str, ...]]], tuple[_Phrase, ...]]:
    plain: dict[str, tuple[str, int, tuple[str, ...]]] = {}
    slotted: list[_Phrase] = []
    for line in lines("remembering_bank"):
        key, act, weight, tellings = line.split(" :: ")
        rule = act, int(weight), tuple(one for one in tellings.split(" | ") if one != "-")
        file, _, heading = key.partition(".")
        if (file == "thoughts") is not thoughts:
            continue
        for phrase in lists(file).get(heading, ()):
            for variant in dict.fromkeys((phrase, _by_day(phrase))):
                pieces = _SLOT.split(variant)
                if len(pieces) == 1:
                    plain.setdefault(_key(variant), rule)
                elif sum(map(str.isalpha, "".join(pieces[::2]))) >= _LEAST_LETTERS:
                    slotted.append(_Phrase(tuple(pieces[::2]), tuple(pieces[1::2]), rule))
    slotted.sort(key=lambda one: -sum(map(len, one.literals)))
    return plain, tuple(slotted)


def _by_day(phrase: str) -> str:
    """A phrase of the night as it is said by day."""
    for night, day in _nights():
        if night in phrase:
            phrase = re.sub(rf"\b{re.escape(night)}", day, phrase)
    return phrase


@cache
def _nights() -> tuple[tuple[str, str], ...]:
    split = [line.split(" :: ") for line in lines("daytime")]
    return tuple(pair for night, day in split for pair in ((night, day), (capital(night), capital(day))))


def _key(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()
