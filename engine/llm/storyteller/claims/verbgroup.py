"""The verb of a clause in the third person: where it begins, what it is, and whether it is denied, past, to come or only possible."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from engine.llm.stems import STOP_WORDS
from engine.llm.storyteller.claims.lexicon import numbers, word_set
from engine.llm.storyteller.handoff.sentence import is_adverb
from engine.llm.storyteller.handoff.wordforms import from_third, reading, readings
from engine.llm.storyteller.language.verbs import from_past

Voice = Literal["active", "passive", "be"]

BE: Final = frozenset(("am", "is", "are", "was", "were", "be", "been", "being"))
HAVE: Final = frozenset(("has", "have", "had"))
DO: Final = frozenset(("do", "does", "did"))
_HANDLE = re.compile(r"p\d+")
_DETERMINERS = frozenset((
    "the", "a", "an", "this", "that", "these", "those", "my", "his", "her", "its", "their", "no", "every", "each", "some",
))  # fmt: skip
_RELATIVE = frozenset(("who", "which", "that", "whose", "whom"))
_PLURAL = frozenset(("they", "people", "we", "folk", "all", "both"))
_SEVERAL = frozenset(("men", "women", "children", "teeth", "feet", "folk", "people", "cattle", "sheep"))
_MEANT = frozenset(("going", "about", "planning", "meaning", "hoping", "bound", "determined"))
_REFUSING = frozenset(("refuse", "decline"))
_TRYING = frozenset(("try", "attempt"))
_STATES = frozenset(("married", "wed", "sworn", "scared", "frightened", "terrified", "born", "hidden", "gone", "known"))
"""Participles that say how somebody is rather than what was done."""
_NO_GERUNDS = frozenset(("missing", "living", "willing"))


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """What stands between a subject and what is said of it."""

    end: int
    """Index after its last word."""
    verb: str
    """Base form of the main verb; `be` when nothing else is there."""
    voice: Voice
    denied: bool
    ended: bool
    """`no longer`, `used to`, `stopped`."""
    past: bool
    mood: str
    """`will`, `can`, `would`; empty for what is plainly so."""


@dataclass(slots=True)
class _Found:
    """What has been read of a verb group so far."""

    denied: bool = False
    ended: bool = False
    past: bool = False
    perfect: bool = False
    mood: str = ""
    be: bool = False
    voice: Voice = field(default="active")

    def group(self, end: int, verb: str, voice: Voice, *, past: bool = False) -> VerbGroup:
        return VerbGroup(end, verb, voice, self.denied, self.ended, self.past or past, self.mood)


def verb_at(low: Sequence[str], start: int) -> int:
    """Index of the first word of the verb of the clause whose subject begins at `start`; -1 when there is none."""
    relative = False
    for index in range(start + 1, len(low)):
        word = low[index]
        if word in (",", ";", ":"):
            if relative and word == ",":
                continue
            return -1
        if word in _RELATIVE and not (word == "that" and low[index + 1 : index + 2] and low[index + 1] in word_set("times")):
            relative = True
        elif _finite(low, index, start):
            if not relative:
                return index
            relative = False
    return -1


def finite_alone(word: str) -> bool:
    """Whether a word is surely a finite verb, whatever stands before it: `and sold`, `but is`."""
    if word in BE or word in HAVE or word in DO or word in word_set("modals"):
        return True
    return any(form in ("third", "past") and not verb.nounish for verb, form in readings(word))


def finite_or_base(word: str) -> bool:
    """Whether a lower-case word is surely a verb in the present or the past: what a noun phrase ends before."""
    return finite_alone(word) or any(form == "base" and not verb.nounish for verb, form in readings(word))


def _finite(low: Sequence[str], index: int, start: int) -> bool:
    word, before = low[index], low[index - 1]
    if word in word_set("modals") or word in HAVE or word in DO or (word in BE and word not in ("be", "been", "being")):
        return before not in _DETERMINERS
    if before in _DETERMINERS or before.endswith("'s"):
        return False
    forms = readings(word)
    person = _HANDLE.fullmatch(before) is not None or before in ("he", "she", "it") or (index > start + 1 and is_adverb(before))
    if any(form in ("third", "past") and (person or not verb.nounish) for verb, form in forms):
        return True
    if forms:
        sure = any(form == "base" and not verb.nounish for verb, form in forms)
        several = before in _PLURAL or _joined(low, index, start) or (sure and _plural(before))
        return several and any(form == "base" for _, form in forms)
    unknown = word not in STOP_WORDS and word.isalpha() and not is_adverb(word)
    return unknown and len(word) > 3 and word.endswith(("s", "ed")) and not word.endswith("ss") and (person or _lone(low, index, start))


def _lone(low: Sequence[str], index: int, start: int) -> bool:
    """Whether the subject is one word that may well be a name."""
    word = low[start]
    return index - start == 1 and word.isalpha() and word not in numbers() and word not in STOP_WORDS and not word.endswith("s")


def _plural(word: str) -> bool:
    ends = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    return word in _SEVERAL or (ends and word not in STOP_WORDS)


def _joined(low: Sequence[str], index: int, start: int) -> bool:
    """Whether right before stands `p1 and p2`."""
    return index - start >= 3 and low[index - 2] == "and" and _HANDLE.fullmatch(low[index - 1]) is not None


def read_verb(low: Sequence[str], start: int) -> VerbGroup | None:
    """The verb group that begins at `start`; None when it has no verb after all."""
    found, index = _Found(), start
    while index < len(low):
        word, following = low[index], low[index + 1] if index + 1 < len(low) else ""
        if word == "no" and following == "longer":
            found.ended, index = True, index + 2
        elif word in ("not", "never"):
            found.denied, index = not found.denied, index + 1
        elif is_adverb(word):
            index += 1
        elif found.be:
            step = _after_be(found, low, index)
            if step < 0:
                return found.group(index, "be", "be")
            index = step
        elif (step := _helping(found, low, index)) > 0 or (step := _leading(found, low, index)) > 0:
            index = step
        else:
            past = found.voice != "passive" and not found.perfect and _is_past(word)
            return found.group(index + 1, base_of(word), found.voice, past=past)
    return found.group(index, "be", "be") if found.be else None


def _after_be(found: _Found, low: Sequence[str], index: int) -> int:
    """Takes note of what follows a form of `be`; the index of the verb to go on with, -1 when `be` itself is the verb."""
    word, following = low[index], low[index + 1] if index + 1 < len(low) else ""
    found.be = word in BE
    if found.be:
        return index + 1
    leads_on = following == "to" and index + 2 < len(low) and _infinitive(low[index + 2])
    if leads_on and (word in _MEANT or word == "able"):
        found.mood = "can" if word == "able" else found.mood or "will"
        return index + 2
    if word.endswith("ing") and reading(word, "gerund") is not None and word not in _NO_GERUNDS:
        return index
    forms = {form for _, form in readings(word)}
    if "participle" in forms and "base" not in forms and (following == "by" or (following in ("to", "from") and word not in _STATES)):
        found.voice = "passive"
        return index
    return -1


def _helping(found: _Found, low: Sequence[str], index: int) -> int:
    """Takes note of a word that only helps a verb; the index after it, 0 when it is none."""
    word, following = low[index], low[index + 1] if index + 1 < len(low) else ""
    if word in word_set("modals"):
        found.denied = found.denied != (word == "cannot")
        found.mood = "will" if word in word_set("wills") else "can" if word in ("can", "could", "cannot") else word
    elif word in BE:
        found.be, found.past = True, (found.past or word in ("was", "were")) and not found.perfect
    elif word in HAVE and following == "to":
        found.mood, found.past = (found.mood, True) if word == "had" else (found.mood or "must", found.past)
        return index + 2
    elif word in HAVE and _leads_on(low, index, "participle"):
        found.perfect = True
    elif word in DO and _leads_on(low, index, "base"):
        found.past = found.past or word == "did"
    elif word == "used" and following == "to":
        found.ended = True
        return index + 2
    else:
        return 0
    return index + 1


def _leading(found: _Found, low: Sequence[str], index: int) -> int:
    """Takes note of a verb that leads on to another, `means to sell`; the index of the other, 0 when it does not."""
    step, verb = _next_index(low, index), base_of(low[index])
    if verb in word_set("ends") and step < len(low) and reading(low[step], "gerund") is not None:
        found.ended = True
        return step
    if low[step : step + 1] != ["to"] or step + 1 >= len(low) or not _infinitive(low[step + 1]):
        return 0
    if verb in word_set("intents"):
        found.mood = found.mood or "will"
    elif verb in _REFUSING:
        found.denied, found.mood = not found.denied, found.mood or "will"
    elif verb in _TRYING:
        found.mood = found.mood or "try"
    elif verb == "need":
        found.mood = found.mood or "must"
    else:
        return 0
    return step + 1


def base_of(word: str) -> str:
    """The base form of a lower-case verb in any form, known or guessed."""
    if word in BE:
        return "be"
    if word in HAVE:
        return "have"
    if word in DO:
        return "do"
    found = reading(word, "third", "past", "base", "participle", "gerund")
    if found is not None:
        return found.base
    if word.endswith("ed"):
        guessed = from_past(word)
        return guessed.base if guessed is not None else word
    return from_third(word).base if word.endswith("s") and not word.endswith("ss") else word


def _is_past(word: str) -> bool:
    forms = readings(word)
    return word in ("had", "did") or any(form == "past" and verb.base != word for verb, form in forms) or (
        not forms and word.endswith("ed")
    )


def _infinitive(word: str) -> bool:
    return word == "be" or reading(word, "base") is not None or word not in STOP_WORDS


def _leads_on(low: Sequence[str], index: int, form: Literal["base", "participle"]) -> bool:
    """Whether the next word that is no adverb is a verb in this form, so that this one only helps it."""
    at = _next_index(low, index)
    if at >= len(low):
        return False
    word = low[at]
    if word in ("be", "have", "been", "had"):
        return (form == "base") == (word in ("be", "have"))
    forms = [one for _, one in readings(word)]
    if form == "base":
        return form in forms or (not forms and word not in STOP_WORDS)
    return form in forms or (not forms and word.endswith("ed"))


def _next_index(low: Sequence[str], index: int) -> int:
    at = index + 1
    while at < len(low) and is_adverb(low[at]):
        at += 1
    return at
