"""Whom `he`, `she`, `it` and `they` mean at a point of a talk: the last one that was introduced or named, never who speaks or listens."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from engine.llm.storyteller.claims.complement import DETERMINERS, HANDLE, PARTICLES, PREPOSITIONS, STOPS
from engine.llm.storyteller.claims.verbgroup import BE, finite_alone, finite_or_base, verb_at
from engine.llm.storyteller.handoff.cast import Cast, Gender, gender_by_name, is_person
from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.handoff.sentence import is_adverb

TOKEN: Final = re.compile(r"[^\W_][\w'-]*|[,;:()-]|[^\w\s]")
"""Words, and every mark by itself."""
Kind = Literal["person", "thing", "several"]

_LEAST: Final = 2
"""Letters of a label."""
_FAR: Final = 12
"""How many others may have been spoken of since."""
_LONGEST_LABEL: Final = 4
_NOBODY: Final = frozenset(("I", "me", "you", "You", "we", "We", "us", "he", "she", "it", "they", "who"))
_POINTING: Final = frozenset(("this", "that", "these", "those"))
_GENDERS: Final = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she"}
_POSSESSED = re.compile(r"^(P\d+)'s (.+)$")


@dataclass(frozen=True, slots=True)
class Referent:
    """Somebody or something that a pronoun may stand for."""

    label: str
    """A handle, a name, or a noun phrase in the third person: `P2's sister`, `the ferry`."""
    kind: Kind
    gender: Gender = "they"


@dataclass(frozen=True)
class _Mention:
    """A sentence that names somebody, and what was said before it."""

    text: str
    whole: bool
    there: tuple[str, ...]
    before: "_Mention | None"
    label: str = ""
    """Whom it names, when that is known already."""
    named: frozenset[str] = frozenset()
    """Who of those that are there is named in it as others are: not by `I` or `you`."""

    @cached_property
    def labels(self) -> list[str]:
        """Who and what it names. Looked for only when a pronoun comes after it."""
        if self.label:
            return [self.label]
        away = set(self.there) - self.named
        return [label for label in labels_of(self.text, whole=self.whole) if label not in away and len(label) >= _LEAST]


@dataclass(slots=True)
class Focus:
    """Who and what was spoken of last, most likely first."""

    cast: Cast
    last: _Mention | None = field(default=None)

    def copy(self) -> "Focus":
        """The same, as it is now."""
        return Focus(self.cast, self.last)

    def meant(self, pronoun: str, present: Collection[str], beside: str = "") -> Referent | None:
        """Whom a pronoun means, when `present` speak and listen and the rest of its sentence is `beside` it; None when nobody fits.

        Whom its own sentence names is not meant. Who listens, and was spoken of by name as others are, may be: when it was the subject it
        is, else nobody can tell. Nor can anybody when two others were spoken of since and only one of them is left out.
        """
        wanted = _GENDERS.get(pronoun)
        for one, mention in self._recent():
            fits = (
                (one.kind == "person" and one.gender in (wanted, "they")) if wanted is not None
                else one.kind == ("thing" if pronoun in ("it", "its") else "several")
            )  # fmt: skip
            if not fits or (one.label in present and one.label not in mention.named):
                continue
            if wanted is not None and (_stands_in(one.label, beside) or _is_where(one.label, mention.text)):
                continue
            if one.label in present or not mention.named:
                return one if one.label not in present or one.label == mention.labels[0] else None
            others = (self.referent(label) for label in mention.named)
            return None if wanted is not None and any(each.gender in (wanted, "they") for each in others) else one
        return None

    def _recent(self) -> Iterator[tuple[Referent, _Mention]]:
        seen, mention = 0, self.last
        while mention is not None and seen < _FAR:
            for label in mention.labels:
                seen += 1
                yield self.referent(label), mention
            mention = mention.before

    def heard(self, text: str, *, whole: bool, there: Sequence[str] = (), named: Collection[str] = ()) -> None:
        """Takes note of who and what a sentence names; `whole` when it is a statement in the third person. Those who are `there` to talk
        are no news, unless they were `named` in it as others are."""
        self.last = _Mention(text, whole, tuple(there), self.last, named=frozenset(named))

    def named(self, label: str) -> None:
        """Takes note of one, by its label."""
        if label:
            self.last = _Mention("", False, (), self.last, label)

    def referent(self, label: str) -> Referent:
        """What a label stands for."""
        if HANDLE.fullmatch(label):
            one = self.cast.person(label)
            person = one.owner or not one.name or one.gender != "they" or is_person(one.name)
            return Referent(label, "person" if person else "thing", one.gender)
        noun = label.split()[-1] if label else ""
        if noun[:1].isupper():
            title = label.split()[0] in ("the", "The")
            gender = gender_by_name(label)
            return Referent(label, "person" if not title or gender != "they" or is_person(noun.lower()) else "thing", gender)
        owned = _POSSESSED.sub(r"\2", label).removeprefix("the ")
        if plural(noun):
            return Referent(label, "several")
        return Referent(label, "person", gender_by_name(owned)) if is_person(owned) else Referent(label, "thing")


def _stands_in(label: str, text: str) -> bool:
    """Whether a sentence names somebody itself, whole or by the first words of the label: `the Duke` for `the Duke of Marrow`."""
    short = re.split(r" (?:of|from|at|in) ", label)[0]
    return bool(text) and re.search(rf"(?<![\w'-]){re.escape(short)}(?![\w-])(?!'s\b)", text, re.IGNORECASE) is not None


def _is_where(label: str, text: str) -> bool:
    """Whether a name without a handle tells where something is, or of what it is: `the Duke of Marrow`."""
    if HANDLE.fullmatch(label) or not label[:1].isupper():
        return False
    return re.search(rf"\b(?:of|in|at|from|near|into|towards?) {re.escape(label)}\b", text) is not None


def plural(noun: str) -> bool:
    """Whether a noun tells of several."""
    if noun in ("men", "women", "children", "people", "folk"):
        return True
    ends = noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))
    return ends and len(noun) > 3 and noun not in word_set("grammar", "no_nouns")


def labels_of(text: str, *, whole: bool = True) -> list[str]:
    """Who and what a text names: its subject, when it is a `whole` statement in the third person, then the others. What somebody is said to
    be is nobody else."""
    raw = TOKEN.findall(text)
    low = [token.lower() for token in raw]
    at = verb_at(low, 0) if whole else -1
    found = [_label(raw, 0, at)] if at > 0 and low[0] not in ("this", "that", "there") else []
    start = max(at, 0)
    if found and low[at] in BE and HANDLE.fullmatch(found[0]):
        start = next((index for index in range(at, len(raw)) if low[index] in PREPOSITIONS or low[index] in STOPS), len(raw))
    for index in range(start, len(raw) + 1):
        if index == len(raw) or low[index] in PREPOSITIONS or low[index] in STOPS or low[index] in (",", "and", ";"):
            found.append(_label(raw, _noun_from(raw, low, start, index), index))
            start = index + 1
    return list(dict.fromkeys(label for label in found if label))


def _noun_from(raw: Sequence[str], low: Sequence[str], start: int, end: int) -> int:
    """Where a noun phrase begins between two words: at an article, somebody's, or a name."""
    for index in range(start, end):
        if low[index] in _POINTING and index + 1 < end and finite_alone(low[index + 1]):
            continue
        name = raw[index][0].isupper() and (index > 0 or HANDLE.fullmatch(raw[index]) is not None)
        if (low[index] in DETERMINERS and low[index] != "own") or name or low[index].endswith("'s"):
            return index
    return end


def _ends_before(word: str, before: str) -> bool:
    """Whether a noun phrase that goes on to `before` ends there, because a verb follows."""
    return finite_alone(word) or (plural(before) and finite_or_base(word))


def _label(raw: Sequence[str], start: int, end: int) -> str:
    words = [raw[index] for index in range(start, end) if raw[index][0].isalnum()]
    if not _NOBODY.isdisjoint(words):
        return ""
    verb = next((at for at in range(2, len(words)) if _ends_before(words[at], words[at - 1])), len(words))
    words = words[:verb]
    while words and (is_adverb(words[-1].lower()) or words[-1] in PARTICLES):
        words.pop()
    if not words or len(words) > _LONGEST_LABEL:
        return next((word for word in reversed(words) if HANDLE.fullmatch(word)), "")
    bare = next((word for word in words if HANDLE.fullmatch(word)), "")
    if bare:
        return bare
    if words[0].lower() in ("a", "an", "this", "that", "the", "some"):
        words[0] = "the"
    return " ".join(words) if len(words) > 1 or words[0][0].isupper() else ""
