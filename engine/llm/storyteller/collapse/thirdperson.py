"""Speech told in the third person with handles, in its own tense: `I serve the Duke` said by P2 becomes `P2 serves the Duke`.

What cannot be told safely is not told: no word of it is made up, and nobody is guessed at.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from engine.llm.stems import STOP_WORDS
from engine.llm.storyteller.claims.complement import DETERMINERS, HANDLE, PREPOSITIONS, STOPS
from engine.llm.storyteller.claims.lexicon import word_set as claim_words
from engine.llm.storyteller.claims.verbgroup import finite_or_base
from engine.llm.storyteller.collapse.focus import TOKEN, Focus, Referent
from engine.llm.storyteller.handoff.cast import Person
from engine.llm.storyteller.handoff.sentence import is_adverb
from engine.llm.storyteller.handoff.wordforms import readings
from engine.llm.storyteller.language.verbs import regular, verb

_OTHER_HANDLE = re.compile(r"(?<![\w'-])[PMKTLGpmktlg]\d+(?!\w)")
_DEIXIS: Final[Mapping[str, str]] = {
    "tonight": "that night", "today": "that day", "tomorrow": "the next day", "yesterday": "the day before", "ago": "before",
}  # fmt: skip
_ENDS_OBJECT = PREPOSITIONS | STOPS | frozenset((
    "and", "or", "to", "the", "a", "an", "that", ",", "", "back", "up", "out", "away", "again", "too", "then", "yourself", "myself",
    *_DEIXIS,
))  # fmt: skip
"""What cannot be somebody's: before it `her` is an object."""
_PRESENT: Final[Mapping[str, str]] = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does"}
_DETERMINING = DETERMINERS | frozenset(("your", "my", "our"))
_BEFORE_SUBJECT = frozenset((",", ";", ":", "and", "but", "that", "if", "when", "because", "what", "where", "who", "as"))
_PERSONAL = frozenset(("he", "she", "him", "her", "his", "hers", "himself", "herself"))
_SEVERAL = frozenset(("they", "them", "their", "theirs", "themselves"))
_POSSESSIVES = frozenset(("my", "your", "our"))
_WE = frozenset(("we", "us", "our", "ours", "ourselves"))
_YOU = frozenset(("you", "your", "yours", "yourself", "yourselves"))
_HERE = frozenset(("here", "hither"))
_POINTED = frozenset(("this", "that"))
_POINTING = frozenset(("this", "these", "those"))
_BOTH_FORMS = frozenset((
    "put", "cut", "hit", "let", "set", "shut", "cost", "hurt", "quit", "spread", "read", "bet", "burst", "split", "beat", "cast", "rid",
))  # fmt: skip
"""Verbs whose base is their past as well: taken for the past."""
_NOT_THIRD = re.compile(
    r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]urs?|[Oo]urselves|[Yy]ou|[Yy]ours?|[Yy]ourself|[Yy]ourselves)\b"
)
_MOVED = (
    _YOU | _WE | _PERSONAL | _SEVERAL | _HERE | _POINTING | _POINTED | frozenset(_DEIXIS)
    | frozenset(("i", "me", "my", "mine", "myself", "it", "its", "itself", "there"))
)
"""Words that do not stay as they are."""
_STRANGE = frozenset("\"\u201c\u201d{}[]<>|\\`*#_=")
QUOTED: Final = re.compile(r"(?<!\w)'")
"""Where words of somebody else's begin."""
_MOST_TOKENS = 48


@dataclass(frozen=True, slots=True)
class Sides:
    """Who speaks to whom."""

    speaker: Person | None
    hearer: Person | None
    we: str
    """What `we` means: `P1 and P2` where something is settled between them, `P2's people` elsewhere; empty when it cannot be told."""
    our: str = ""


def in_third_person(text: str, sides: Sides, focus: Focus) -> str:
    """A sentence without contractions, told in the third person; empty when that is not safe."""
    if not _STRANGE.isdisjoint(text) or QUOTED.search(text) is not None:
        return ""
    tokens = TOKEN.findall(text)
    if not tokens or len(tokens) > _MOST_TOKENS:
        return ""
    told = _Retelling(tokens, sides, focus).text()
    return told if sayable(told, focus.cast.people) else ""


def sayable(text: str, handles: Collection[str]) -> bool:
    """Whether a text is told in the third person, with none but these handles, and with no mark that speech or data begin with."""
    if _STRANGE & set(text) or _NOT_THIRD.search(text) is not None:
        return False
    return all(handle in handles for handle in _OTHER_HANDLE.findall(text))


class _Retelling:
    """One sentence on its way."""

    def __init__(self, tokens: list[str], sides: Sides, focus: Focus) -> None:
        self._tokens = tokens
        self._low = [token.lower() for token in tokens]
        self._sides = sides
        self._focus = focus
        self._present = {one.handle for one in (sides.speaker, sides.hearer) if one is not None}
        self._agreeing = False
        """Whether the next verb has a new subject in the third person."""
        self._shifted = False
        """Whether the last verb was put into the third person, so that one joined by `and` is too."""
        self._safe = True

    def text(self) -> str:
        out: list[str] = []
        for index, token in enumerate(self._tokens):
            if not self._agreeing and not self._shifted and self._low[index] not in _MOVED:
                out.append(token)
                continue
            word = self._retold(index)
            if not self._safe:
                return ""
            if word:
                out.append(word)
        return joined(out)

    def _retold(self, index: int) -> str:
        word, token = self._low[index], self._tokens[index]
        if word in _YOU or word in ("i", "me", "my", "mine", "myself"):
            return self._first_or_second(index, word)
        if word in _WE:
            return self._we(word)
        if word in _PERSONAL or word in _SEVERAL or word in ("it", "its", "itself"):
            return self._third(index, word)
        if word in _DEIXIS:
            return _DEIXIS[word]
        if word in _POINTED and self._next(index) not in _ENDS_OBJECT and (index == 0 or self._low[index - 1] in PREPOSITIONS):
            return self._pointed(index)
        pointing = word in _HERE or (word in _POINTING and self._next(index) in _ENDS_OBJECT)
        if pointing or (word == "there" and index > 0 and self._bare_there(index)):
            return self._fail()
        return self._verb(index, word, token)

    def _bare_there(self, index: int) -> bool:
        """Whether `there` tells a place, and is not `that there is a way`."""
        if self._low[index - 1] in ("over", "up", "down", "in", "out", "from"):
            return True
        return self._next(index) not in ("is", "are", "was", "were", "will", "has", "have", "must", "may")

    def _pointed(self, index: int) -> str:
        """`This house` is the house to who remembers it; `this is` stays."""
        following = self._next(index)
        return self._tokens[index] if finite_or_base(following) or following in _PRESENT else "The" if index == 0 else "the"

    def _fail(self) -> str:
        self._safe = False
        return ""

    def _first_or_second(self, index: int, word: str) -> str:
        person = self._sides.hearer if word in _YOU else self._sides.speaker
        if person is None:
            return self._fail()
        if word == "i" or (word == "you" and self._subject_here(index)):
            self._agreeing, self._shifted = True, False
            return person.handle
        if word in ("me", "you"):
            return person.handle
        if word in ("my", "your", "mine", "yours"):
            return f"{person.handle}'s"
        reflexive = person.form("reflexive") if not person.owner else ""
        before = self._low[index - 1] if index else ""
        if not reflexive and before in PREPOSITIONS:
            return self._fail()
        return reflexive

    def _subject_here(self, index: int) -> bool:
        following = self._next(index)
        if index == 0 or self._low[index - 1] in _BEFORE_SUBJECT:
            return True
        forms = {form for _, form in readings(following)}
        verbal = following in _PRESENT or following in claim_words("modals") or following in ("had", "did", "was") or "past" in forms
        return verbal and self._low[index - 1] not in PREPOSITIONS

    def _we(self, word: str) -> str:
        if word in ("we", "us") and self._sides.we:
            self._shifted = False
            return self._sides.we
        if word == "our" and self._sides.our:
            return self._sides.our
        return self._fail()

    def _third(self, index: int, word: str) -> str:
        if word.endswith(("self", "selves")):
            return self._tokens[index]
        if self._within(index, word):
            return self._tokens[index].lower()
        if word == "it" and self._expletive(index):
            return self._fail()
        meant = self._focus.meant(word, self._present, " ".join(self._tokens))
        if meant is None:
            return self._fail()
        if word in ("his", "its", "their", "hers") or (word == "her" and self._next(index) not in _ENDS_OBJECT):
            return _possessive(meant)
        return meant.label

    def _within(self, index: int, word: str) -> bool:
        """Whether the sentence has named whom a pronoun means before it: then it stays."""
        gender = "he" if word in ("he", "him", "his") else "she" if word in ("she", "her", "hers") else ""
        for at in range(index):
            token = self._tokens[at]
            plain = token.removesuffix("'s")
            if gender:  # somebody named before
                named = HANDLE.fullmatch(plain) is not None or (token[0].isupper() if at else self._name_first())
                if plain in self._present or not named:
                    continue
                if self._focus.referent(plain).gender in (gender, "they"):
                    return True
            elif word in _SEVERAL:
                if token.endswith("s") and len(token) > 3 and token.lower() not in STOP_WORDS:
                    return True
            elif word not in _SEVERAL and at + 2 < index and (self._low[at] in DETERMINERS or self._low[at] in _POSSESSIVES):
                return True
        return False

    def _name_first(self) -> bool:
        word = self._low[0]
        return self._tokens[0][0].isupper() and word not in STOP_WORDS and not readings(word) and not is_adverb(word)

    def _expletive(self, index: int) -> bool:
        """Whether `it` means nothing, or what comes only after it: `it rains`, `it is true that`, `it is the letter`."""
        rest = self._low[index + 1 :]
        if rest[:1] not in (["is"], ["was"]):
            return rest[:1] in (["rains"], ["snows"], ["seems"])
        pointing = len(rest) > 1 and (rest[1] in _DETERMINING or HANDLE.fullmatch(rest[1]) is not None)
        return pointing or not {"that", "to"}.isdisjoint(rest)

    def _verb(self, index: int, word: str, token: str) -> str:
        if not self._agreeing:
            coordinated = self._shifted and self._joined_to_verb(index) and not is_adverb(word)
            surely = any(form == "base" and not known.nounish for known, form in readings(word))
            if not (coordinated and surely and _is_base(word)) or word in _BOTH_FORMS:
                if word == "to":
                    self._shifted = False
                return token
            return _third_form(word)
        if not token[0].isalpha() or word in ("no", "longer") or (is_adverb(word) and word not in ("best", "better")):
            self._agreeing = self._agreeing and token[0].isalpha()
            return token
        self._agreeing = False
        if word in _PRESENT:
            self._shifted = word not in ("were",)
            return _PRESENT[word]
        if word in claim_words("modals") or word in ("was", "had", "did"):
            return token
        if word in _BOTH_FORMS:
            return token
        if _is_base(word):
            self._shifted = True
            return _third_form(word)
        return token

    def _joined_to_verb(self, index: int) -> bool:
        at = index - 1
        while at > 0 and is_adverb(self._low[at]):
            at -= 1
        return at > 0 and self._low[at] in ("and", "but", "or")

    def _next(self, index: int) -> str:
        at = index + 1
        while at < len(self._low) and is_adverb(self._low[at]):
            at += 1
        return self._low[at] if at < len(self._low) else ""


def _possessive(one: Referent) -> str:
    return f"{one.label}'" if one.label.endswith("s") and one.kind == "several" else f"{one.label}'s"


def _is_base(word: str) -> bool:
    forms = {form for _, form in readings(word)}
    if forms:
        return "base" in forms and "past" not in forms  # `saw` and `put` are taken for the past
    return word.isalpha() and word not in STOP_WORDS and not word.endswith(("ed", "ing", "s"))


def _third_form(word: str) -> str:
    known = next((one for one, form in readings(word) if form == "base"), None)
    return known.third if known is not None else (verb(word) if word.isalpha() else regular(word)).third


def joined(tokens: list[str]) -> str:
    """Words as running text."""
    text = " ".join(tokens)
    return re.sub(r" ([,;:.)!?])|(?<=\() ", r"\1", text).strip(" ,;:-")
