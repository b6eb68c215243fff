"""One character's chance in one round, and its way through the lists of phrases without saying anything twice."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from math import gcd
from typing import TypeVar

from engine.llm.storyteller.chance import number, pick, share
from engine.llm.storyteller.language.text import capital
from engine.llm.storyteller.phrases import lines, lists

T = TypeVar("T")

FILES = ("names", "asking", "answering", "pressing", "chatting", "thoughts", "stage", "reacting")
_RESERVED_FROM = 22
"""Lists of at least this length have a second half for when a line of the first was heard lately."""


@cache
def phrases(key: str) -> tuple[str, ...]:
    """The phrases of a list: `asking.press`."""
    file, _, name = key.partition(".")
    return lists(file)[name]


class Dice:
    """Chance of one character in one round. Equal names give equal answers."""

    def __init__(self, seed: int, round_: int, entity: str, *, heard: Iterable[str] = (), by_day: bool = False) -> None:
        self._seed, self._round, self._entity = seed, round_, entity
        self._heard = "|".join(_key(text) for text in heard)
        self._by_day = by_day

    @property
    def round(self) -> int:
        """The round it is."""
        return self._round

    def share(self, name: str) -> float:
        """From 0 up to 1; another number each round."""
        return share(self._seed, self._entity, name, self._round)

    def lasting(self, name: str, rounds: int = 1_000_000) -> float:
        """From 0 up to 1; the same for so many rounds."""
        shift = number(self._seed, self._entity, name, "shift") % rounds
        return share(self._seed, self._entity, name, (self._round + shift) // rounds)

    def pick(self, choices: Sequence[T], name: str) -> T:
        """One of the choices, another each round."""
        return pick(choices, self._seed, self._entity, name, self._round)

    def turn(self, length: int, name: str, slow: int = 1) -> int:
        """An index that moves on by one each `slow` rounds, from a start of the character's own."""
        return (number(self._seed, self._entity, name) + self._round // slow) % length

    def _stride(self, length: int, name: str) -> int:
        """An index that goes through all before one comes again, in steps of the character's own.

        Two characters that happen to say the same once do not go on doing so.
        """
        steps = [step for step in range(1, length + 1) if gcd(step, length) == 1]
        step = steps[number(self._seed, self._entity, name, "step") % len(steps)]
        return (number(self._seed, self._entity, name) + step * self._round) % length

    def due(self, name: str, every: int) -> bool:
        """True once in so many rounds."""
        return self.turn(every, name) == 0

    def line(self, key: str, **slots: str) -> str:
        """The phrase whose turn it is, with its slots filled; `{Slot}` is `{slot}` with a capital.

        A phrase comes again only after as many rounds as its list has lines, or half of them for long lists: those keep
        a second half for phrases that somebody else was heard to say lately.
        """
        choices = phrases(key)
        half = len(choices) // 2 if len(choices) >= _RESERVED_FROM else len(choices)
        at = self._stride(half, key)
        worn = half < len(choices) and _gist(choices[at]) in self._heard
        return self._filled(choices[half + at if worn else at], slots)

    def _filled(self, phrase: str, slots: dict[str, str]) -> str:
        upper = {name.capitalize(): capital(text) for name, text in slots.items()}
        if self._by_day:
            phrase = in_daylight(phrase)
        return phrase.format(**slots, **upper)


def in_daylight(phrase: str) -> str:
    """A phrase of the night as it is said by day."""
    for line in lines("daytime"):
        night, day = line.split(" :: ")
        phrase = re.sub(rf"\b{re.escape(night)}", day, phrase)
        phrase = re.sub(rf"\b{re.escape(capital(night))}", capital(day), phrase)
    return phrase


def is_stock(text: str) -> bool:
    """Whether a text is a phrase of the lists, with nothing in it that somebody knew or wanted to know."""
    said = _key(text)
    return any(gist in said for gist in _stock())


@cache
def _stock() -> tuple[str, ...]:
    """Gists of the phrases of talk that carry no matter of their own."""
    files = ("names", "answering", "pressing", "chatting", "reacting")
    told = [phrase for file in files for items in lists(file).values() for phrase in items]
    idle = [phrase for phrase in told if not re.search(r"\{(?:fact|clause|topic|quote)", phrase)]
    return tuple(gist for phrase in idle if len(gist := _gist(phrase)) > 12)


@cache
def _gist(phrase: str) -> str:
    """The longest part of a phrase between its slots, to know it by again."""
    return max((_key(part) for part in re.split(r"\{\w+\}", phrase)), key=len)


def _key(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()
