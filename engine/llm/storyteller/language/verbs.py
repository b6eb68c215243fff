"""Verb forms, from a list of known verbs and the spelling rules for the rest."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from engine.llm.storyteller.phrases import lines

Form = Literal["base", "third", "past", "participle", "gerund"]

_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_SHORT = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")
"""One syllable, one vowel, one consonant at the end: `nod` doubles it, `wait` does not."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with all its forms, lower case."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str
    nounish: bool = False
    """Oftener a noun than a verb."""


def regular(base: str) -> Verb:
    """The forms of a verb by the spelling rules alone."""
    if base.endswith("e"):
        past, gerund = base + "d", base[:-1] + "ing"
    elif _CONSONANT_Y.search(base):
        past, gerund = base[:-1] + "ied", base + "ing"
    elif _SHORT.match(base):
        past, gerund = base + base[-1] + "ed", base + base[-1] + "ing"
    else:
        past, gerund = base + "ed", base + "ing"
    if _CONSONANT_Y.search(base):
        third = base[:-1] + "ies"
    elif base.endswith(("s", "x", "z", "ch", "sh", "o")):
        third = base + "es"
    else:
        third = base + "s"
    return Verb(base, third, past, past, gerund)


@cache
def _known() -> Mapping[str, Verb]:
    verbs: dict[str, Verb] = {}
    for line in lines("verbs"):
        base, *forms = line.lstrip("~").split()
        rule = regular(base)
        given = [*forms, "-", "-", "-"][:3]
        past = rule.past if given[0] == "-" else given[0]
        participle = (past if given[0] != "-" else rule.participle) if given[1] == "-" else given[1]
        gerund = rule.gerund if given[2] == "-" else given[2]
        third = {"be": "is", "have": "has"}.get(base, rule.third)
        verbs[base] = Verb(base, third, past, participle, gerund, line.startswith("~"))
    return verbs


@cache
def _by_form() -> Mapping[str, tuple[tuple[Verb, Form], ...]]:
    index: dict[str, list[tuple[Verb, Form]]] = {}
    for verb in _known().values():
        forms: tuple[tuple[str, Form], ...] = (
            (verb.base, "base"), (verb.third, "third"), (verb.past, "past"), (verb.participle, "participle"), (verb.gerund, "gerund"),
        )  # fmt: skip
        for word, form in forms:
            index.setdefault(word, []).append((verb, form))
    return {word: tuple(found) for word, found in index.items()}


def readings(word: str) -> tuple[tuple[Verb, Form], ...]:
    """What known verbs a word can be a form of: `set` is base, past and participle of one verb."""
    return _by_form().get(word.lower(), ())


def reading(word: str, *forms: Form) -> Verb | None:
    """The known verb that a word is one of these forms of; forms named first win."""
    found = readings(word)
    for form in forms:
        for verb, is_form in found:
            if is_form == form:
                return verb
    return None


def verb(base: str) -> Verb:
    """A verb by its base form, known or not."""
    return _known().get(base.lower()) or regular(base.lower())


def from_third(word: str) -> Verb:
    """The verb of a third-person present form, known or guessed: `wipes` gives wipe, `carries` carry."""
    known = reading(word, "third")
    if known is not None:
        return known
    word = word.lower()
    if word.endswith("ies") and len(word) > 4:
        return regular(word[:-3] + "y")
    if word.endswith(("sses", "xes", "zes", "ches", "shes", "oes")):
        return regular(word[:-2])
    return regular(word[:-1] if word.endswith("s") and not word.endswith("ss") else word)


def from_past(word: str) -> Verb | None:
    """A verb that is not in the list, by its regular past form; None when the word does not look like one. The base is a guess."""
    word = word.lower()
    if not word.endswith("ed") or len(word) < 5:
        return None
    guess = regular(word[:-2])
    return Verb(guess.base, guess.third, word, word, guess.gerund)
