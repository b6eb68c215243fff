"""The people of a handoff prompt, and how each is spoken of in the third person."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.language.text import listed

Gender = Literal["she", "he", "they"]
Case = Literal["subject", "object", "possessive", "reflexive"]

_LINE = re.compile(r"^\[?(P\d+)\]?: (.+)$")
_PRONOUNS: Mapping[Gender, Mapping[Case, str]] = {
    "she": {"subject": "she", "object": "her", "possessive": "her", "reflexive": "herself"},
    "he": {"subject": "he", "object": "him", "possessive": "his", "reflexive": "himself"},
    "they": {"subject": "they", "object": "them", "possessive": "their", "reflexive": "themselves"},
}
_OF_ITSELF = re.compile(r"\b(?:(?P<she>her|herself|she)|(?P<he>his|him|himself|he))\b")
_OF_NO_ONE = ("", "somebody")
"""Handles of whom nothing is known, so that `they` can mean no one else."""
_ARTICLES = ("The", "A", "An", "My", "Old", "Some", "One")
_WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019]*")
_VOCATIVE = re.compile(r"(?:^|, )(?P<word>(?:my )?[a-z'\u2019]+)(?=[,.!?])|^(?P<first>[A-Z][a-z'\u2019]+),")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a handle."""

    handle: str
    name: str = ""
    gender: Gender = "they"
    """`they` when nothing tells: then it is named by its handle, since `they` would read like several."""
    owner: bool = False
    """Whose memory it is: always named by handle, since it reads `you` later."""

    def form(self, case: Case, *, named: bool = False) -> str:
        """The pronoun for this person, or its handle for the owner and when it must be `named`. Empty when there is no such form."""
        unknown = self.gender == "they" and self.handle not in _OF_NO_ONE
        if not self.owner and not named and not unknown:
            return _PRONOUNS[self.gender][case]
        return {"subject": self.handle, "object": self.handle, "possessive": f"{self.handle}'s", "reflexive": ""}[case]

    @property
    def plural_verb(self) -> bool:
        """Whether its subject pronoun takes `were`."""
        return self.gender == "they" and self.handle in _OF_NO_ONE


@dataclass(frozen=True)
class Cast:
    """All people and things of one prompt."""

    owner: str
    people: Mapping[str, Person] = field(default_factory=dict)

    def person(self, handle: str) -> Person:
        """The person of a handle, listed or not."""
        return self.people.get(handle) or Person(handle, owner=handle == self.owner)

    def called_by(self, name: str) -> Person:
        """The person whom somebody calls by a name, or one who has the name for its handle when nobody listed has it."""
        plain = name.strip()
        for person in self.people.values():
            if plain and (person.name.casefold() == plain.casefold() or (plain[:1].isupper() and plain in person.name.split())):
                return person
        shown = plain[:1].lower() + plain[1:] if plain.startswith(tuple(f"{article} " for article in _ARTICLES)) else plain
        return Person(shown, plain, gender_by_name(plain))

    def names(self) -> frozenset[str]:
        """Words of all names, as written; the article of `The Ghost` is none."""
        written = (word for person in self.people.values() for word in _WORD.findall(person.name) if word[0].isupper())
        return frozenset(word for word in written if word not in _ARTICLES)

    def called(self, handles: Sequence[str]) -> str:
        """`P1`, `P1 and P2`."""
        return listed(list(handles))


def read_cast(whose: str, people: str, evidence: Sequence[tuple[str, str, tuple[str, ...]]]) -> Cast:
    """The cast from the prompt's first two sections. `evidence` are texts (mode, words, handles) that may tell a gender."""
    rows = [(match[1], match[2].strip()) for line in f"{whose}\n{people}".splitlines() if (match := _LINE.match(line.strip()))]
    first = _LINE.match(whose.strip().splitlines()[0].strip()) if whose.strip() else None
    owner = first[1] if first else "P1"
    found: dict[str, Person] = {}
    for handle, name in rows:
        gender = _by_name(name) or _by_address(handle, evidence) or _by_deeds(handle, evidence) or _by_given_name(name) or "they"
        found.setdefault(handle, Person(handle, name, gender, handle == owner))
    return Cast(owner, found)


def gender_by_name(name: str) -> Gender:
    """What a name or label tells; `they` for nothing."""
    return _by_name(name) or _by_given_name(name) or "they"


def is_person(name: str) -> bool:
    """Whether a name or label is surely that of a person: it has a capital, tells a gender, or ends in a noun for people."""
    noun = (_WORD.findall(re.split(r" (?:with|of|in|on|at|from|by|under|who)\b", name)[0]) or [""])[-1].lower()
    if name[:1].isupper() and not name.startswith(_ARTICLES[:3]):
        return True
    if noun in word_set("people", "things_that_end_so"):
        return False
    ends = tuple(word_set("people", "person_endings"))
    return gender_by_name(name) != "they" or noun in word_set("people", "people") or noun.endswith(ends)


def _by_name(name: str) -> Gender | None:
    """By a title or by the noun of a label."""
    return _told((word.lower() for word in _WORD.findall(name)), "women", "men")


def _by_given_name(name: str) -> Gender | None:
    return _told((word.lower() for word in _WORD.findall(name)[:1]), "women_called", "men_called")


def _told(words: Iterable[str], women: str, men: str) -> Gender | None:
    she, he = word_set("people", women), word_set("people", men)
    for word in words:
        if word in she:
            return "she"
        if word in he:
            return "he"
    return None


def _by_address(handle: str, evidence: Sequence[tuple[str, str, tuple[str, ...]]]) -> Gender | None:
    """By what others call it to its face: `ma'am`, `father`."""
    for mode, words, about in evidence:
        if mode == "said" and about == (handle,):
            for match in _VOCATIVE.finditer(words):
                called = (match["word"] or match["first"]).lower().replace("\u2019", "'").removeprefix("my ")
                gender = _told([called], "women_addressed", "men_addressed")
                if gender:
                    return gender
    return None


def _by_deeds(handle: str, evidence: Sequence[tuple[str, str, tuple[str, ...]]]) -> Gender | None:
    """By its own deeds, up to where they name somebody else: `wiped her hands`."""
    for mode, words, about in evidence:
        if mode == "done" and about == (handle,):
            alone = re.split(r"\bP\d+\b", words, maxsplit=1)[0]
            match = _OF_ITSELF.search(alone)
            before = alone[: match.start()].lower() if match else ""
            if match and _told(_WORD.findall(before), "women", "men") is None:
                return "she" if match["she"] else "he"
    return None
