"""Speech as it is reported later: `I forget most things` becomes `she forgot most things`. What cannot be done safely is not done."""

import re
from collections.abc import Mapping
from typing import Final

from engine.llm.stems import STOP_WORDS
from engine.llm.storyteller.handoff.cast import Case, Person
from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.handoff.sentence import Grounds, is_adverb, is_imperative, lowered, opened, shortened
from engine.llm.storyteller.handoff.wordforms import from_third, reading, readings

_TOKEN = re.compile(r"P\d+|[A-Za-z0-9][\w'\u2019-]*|\s+|[^\w\s]")
_HANDLE = re.compile(r"P\d+")
_BREAKS = frozenset(",;:.!?()")
_BE = frozenset(("am", "is", "are", "was", "were"))
MODALS: Final = frozenset(("will", "would", "can", "could", "may", "might", "shall", "should", "must"))
_LATER: Final[Mapping[str, str]] = {"will": "would", "can": "could", "may": "might", "shall": "would", "has": "had", "does": "did"}
_BARE_AFTER = MODALS | {"to", "do", "does", "did", "cannot", "let", "lets", "make", "makes", "made", "help", "helps", "dare", "need"}
_PLURAL_SUBJECTS = frozenset(("i", "you", "we", "they", "people", "folk", "most", "those", "these", "many", "both", "others", "some"))
_SINGULAR_SUBJECTS = frozenset((
    "he", "she", "it", "who", "which", "that", "this", "what", "there", "nobody", "somebody", "everybody", "anybody", "everyone",
    "someone", "anyone", "nothing", "something", "everything", "anything", "whoever", "whatever", "one", "all", "here",
))  # fmt: skip
_SUBJECTS = _PLURAL_SUBJECTS | _SINGULAR_SUBJECTS
_DETERMINERS = frozenset((
    "the", "a", "an", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "no", "every", "each", "any",
    "some", "whose", "another", "what", "which",
))  # fmt: skip
_REJECTED = frozenset(("we", "us", "our", "ours", "ourselves", "mine", "lets", "thee", "thou", "thy", "ye", "ain't", "let's"))
_DEIXIS: Final[Mapping[str, str]] = {
    "tonight": "that night", "today": "that day", "tomorrow": "the next day", "yesterday": "the day before", "ago": "before",
}  # fmt: skip
_FIRST: Final[Mapping[str, Case]] = {"i": "subject", "me": "object", "my": "possessive", "myself": "reflexive"}
_OTHERS = frozenset(("they", "them", "their"))
_AND = frozenset(("and", "or", "but", "then"))
_UNFINISHED = re.compile(r"\b(?:could|would|did|should|might|must)(?: not)?$")


class Recast:
    """One text on its way into the third person and the past."""

    def __init__(self, text: str, grounds: Grounds, *, future: bool = False, before: str = "") -> None:
        """`before` is the word that stands before the text; `future` puts its first present verb into what `would` be."""
        self._tokens: list[str] = _TOKEN.findall(text)
        self._lower = [token.lower().replace("\u2019", "'") for token in self._tokens]
        self._grounds = grounds
        self._future = future
        self._before = before
        self._name_hearer = self._both_named()
        self._name_speaker = grounds.speaker.gender == "they" and not grounds.speaker.owner and bool(_OTHERS & set(self._lower))
        self._last_shift = ""
        self.finite = False
        """Whether a finite verb was found."""
        self.safe = True
        """Whether nothing was met that cannot be recast."""

    def text(self) -> str:
        """The recast text; empty when it could not be done safely."""
        out: list[str] = []
        for index, token in enumerate(self._tokens):
            out.append(self._recast(index, token) if token[0].isalpha() else token)
        if not self.safe:
            return ""
        return " ".join("".join(out).split()).strip(" ,;:-")

    def _both_named(self) -> bool:
        """Whether pronouns for both speaker and hearer could be mixed up."""
        grounds, hearer = self._grounds, self._grounds.hearer
        if hearer is None or hearer.owner or grounds.speaker.owner or not hearer.handle:
            return False
        first = {"i", "me", "my", "myself"} & set(self._lower)
        second = {"you", "your", "yourself"} & set(self._lower)
        return bool(first and second) and (grounds.speaker.gender == hearer.gender or "they" in (grounds.speaker.gender, hearer.gender))

    def _recast(self, index: int, token: str) -> str:
        word = self._lower[index]
        if word in _REJECTED:
            self.safe = False
            return token
        pronoun = self._pronoun(index, word)
        if pronoun is not None:
            return pronoun
        if word in _DEIXIS:
            return _DEIXIS[word]
        if _HANDLE.fullmatch(token) or (token[0].isupper() and self._previous(index) and self._previous(index) not in _SUBJECTS):
            return token
        return self._verb(index, word, token)

    def _pronoun(self, index: int, word: str) -> str | None:
        speaker, hearer = self._grounds.speaker, self._grounds.hearer
        case = _FIRST.get(word)
        if case is not None:
            if case == "reflexive" and self._stressed(index) and not speaker.form("reflexive"):
                return ""
            return self._form(speaker, case, named=self._name_speaker and case != "reflexive")
        if word not in ("you", "your", "yours", "yourself", "yourselves"):
            return None
        if hearer is None or word == "yours":
            self.safe = False
            return word
        if word == "you" and self._previous(index) in _BE and self._next(index) in ("that", "who"):
            return self._form(hearer, "subject", named=self._name_hearer)  # `it was she that climbed the ladder`
        if word == "you":
            return self._form(hearer, "subject" if self._is_subject(index) else "object", named=self._name_hearer)
        return self._form(hearer, "possessive" if word == "your" else "reflexive", named=self._name_hearer)

    def _form(self, person: Person, case: Case, *, named: bool) -> str:
        found = person.form(case, named=named)
        if not found:
            self.safe = False
        return found

    def _stressed(self, index: int) -> bool:
        """Whether a `myself` only stresses who it was, `I saw it myself`, so that the clause says the same without it."""
        previous, following = self._previous(index), self._next(index)
        if previous == "i":
            return True
        verb = reading(previous, "past", "base", "third", "gerund")
        object_here = (verb is not None and not verb.nounish) or previous in word_set("grammar", "prepositions")
        return not object_here and (not following or following in _BREAKS or following in _AND)

    def _is_subject(self, index: int) -> bool:
        following = self._next(index)
        if following in _BE or following in MODALS or following in ("have", "had", "do", "did", "cannot"):
            return True
        if reading(following, "past", "base") is None and not following.endswith("ed"):
            return False
        previous = self._previous(index)
        return previous in ("", *_BREAKS, *_AND) or previous in STOP_WORDS or reading(previous, "past", "base", "third") is not None

    def _verb(self, index: int, word: str, token: str) -> str:
        previous = self._previous(index)
        if word in _BE:
            return self._be(index, word, previous)
        bare = previous in _BARE_AFTER
        if (word in MODALS or word in ("cannot", "ought")) and previous not in _DETERMINERS - _SINGULAR_SUBJECTS:
            self._found(index, previous)
            return "could not" if word == "cannot" else _LATER.get(word, word)
        if word in ("have", "do", "has", "does", "had", "did"):
            if bare or previous in ("having", "not to"):
                return token
            self._found(index, previous)
            number = "plural" if word in ("have", "do") else "singular"
            past = {"have": "had", "do": "did"}.get(word, _LATER.get(word, word))
            return self._shifted(past, number, f"would {word}" if number == "plural" else "")
        if bare:
            return token
        return self._main_verb(index, word, token, previous)

    def _found(self, index: int, previous: str) -> None:
        """Take note of a finite verb, unless it is that of a relative clause."""
        relative = previous in ("who", "which", "that") and self._at_previous(index) is not None
        antecedent = self._at_previous(self._at_previous(index) or 0) if relative else None
        self.finite = self.finite or antecedent is None

    def _be(self, index: int, word: str, previous: str) -> str:
        self._found(index, previous)
        subject: Person | None = None
        if previous == "i":
            subject = self._grounds.speaker
        elif previous == "you":
            subject = self._grounds.hearer
        if self._future and not self._last_shift and word in ("am", "is", "are"):
            self._last_shift = "singular"
            return "would be"
        self._last_shift = "singular" if word in ("is", "was", "am") else "plural"
        if subject is not None:
            named = subject.owner or (self._name_hearer if subject is self._grounds.hearer else self._name_speaker)
            return "were" if subject.plural_verb and not named else "was"
        return "were" if word in ("are", "were") else "was"

    def _shifted(self, past: str, number: str, future: str) -> str:
        shifted = future if self._future and future and not self._last_shift else past
        self._last_shift = number
        return shifted

    def _main_verb(self, index: int, word: str, token: str, previous: str) -> str:
        forms = {form for _, form in readings(word)}
        third, base = reading(word, "third"), reading(word, "base")
        subject = previous in _SUBJECTS or re.fullmatch(r"p\d+", previous) is not None
        plural = self._plural_before(index, previous)
        if "past" in forms and (subject or plural or self._noun_before(index, previous) or (previous in _AND and self._last_shift)):
            self._found(index, previous)
            self._last_shift = self._last_shift or "past"
            return token
        nounish = third is not None and (third.nounish or third.base in word_set("grammar", "noun_verbs"))
        if third is not None and "past" not in forms and self._takes_third(index, previous, nounish=nounish):
            self._found(index, previous)
            return self._shifted(third.past, "singular", f"would {third.base}")
        if base is not None and self._takes_base(previous, plural=plural, nounish=base.nounish):
            self._found(index, previous)
            return self._shifted(base.past, "plural", f"would {base.base}")
        unknown = not forms and word not in STOP_WORDS and not is_adverb(word)
        if unknown and previous in ("he", "she", "it", "who") and word.endswith("s") and len(word) > 3:
            self._found(index, previous)
            return self._shifted(from_third(word).past, "singular", f"would {from_third(word).base}")
        if not forms and subject and word.endswith("ed") and len(word) > 3:
            self._found(index, previous)
        elif unknown and previous in ("i", "you", "they") and not self._object_before(index):
            self.safe = self.safe and (word in word_set("grammar", "after_pronouns") or word.endswith(("ing", "self")))
        return token

    def _object_before(self, index: int) -> bool:
        """Whether the pronoun before is an object: `the captain wants you dead`."""
        at = self._at_previous(index)
        verb = self._previous(at) if at is not None and self._lower[at] == "you" else ""
        return reading(verb, "base", "third", "past") is not None

    def _takes_third(self, index: int, previous: str, *, nounish: bool) -> bool:
        if previous in _DETERMINERS - _SINGULAR_SUBJECTS:
            return False
        if re.fullmatch(r"p\d+|them", previous):
            return True
        if previous in _SINGULAR_SUBJECTS:
            return previous not in ("this", "that", "what", "all", "here", "there") or not nounish
        if nounish:
            return False
        return self._noun_before(index, previous) or (previous in _AND and self._last_shift == "singular")

    def _takes_base(self, previous: str, *, plural: bool, nounish: bool) -> bool:
        if previous in ("i", "you", "we", "they", "people", "folk"):
            return True
        if nounish:
            return False
        return plural or (previous in _AND and self._last_shift == "plural")

    def _plural_before(self, index: int, previous: str) -> bool:
        """Whether the word before is a plural noun, or `who` after one."""
        if previous in ("who", "that", "which"):
            at = self._at_previous(index)
            previous = self._previous(at) if at is not None else ""
        if len(previous) < 4 or not previous.endswith("s") or previous.endswith(("ss", "us", "'s")) or previous in STOP_WORDS:
            return False
        verbs = readings(previous)
        return not verbs or any(verb.nounish for verb, _ in verbs) or previous in word_set("grammar", "plurals")

    def _noun_before(self, index: int, previous: str) -> bool:
        """Whether a noun phrase seems to end right before."""
        if len(previous) < 3 or previous in STOP_WORDS or previous in word_set("grammar", "no_nouns"):
            return False
        at: int | None = self._at_previous(index)
        for _ in range(5):
            if at is None:
                return False
            word = self._lower[at]
            if word in _DETERMINERS or word in ("of", "and", "between", "in") or self._tokens[at][0].isupper() or word.isdecimal():
                return True
            if word in STOP_WORDS and word != "own":
                return False
            at = self._at_previous(at)
        return False

    def _at_previous(self, index: int) -> int | None:
        """Index of the word before, adverbs passed over; None at the start or after a mark."""
        for at in range(index - 1, -1, -1):
            token = self._lower[at]
            if token.isspace():
                continue
            if not token[0].isalnum():
                return None if token in _BREAKS else at
            if not is_adverb(token):
                return at
        return None

    def _previous(self, index: int) -> str:
        at = self._at_previous(index)
        if at is not None:
            return self._lower[at]
        return self._before if not any(token[0].isalnum() and not is_adverb(token) for token in self._lower[:index]) else ","

    def _next(self, index: int) -> str:
        for at in range(index + 1, len(self._lower)):
            token = self._lower[at]
            if token.isspace() or (token[0].isalnum() and is_adverb(token)):
                continue
            return token
        return ""


def clause(text: str, grounds: Grounds, *, future: bool = False, before: str = "", longest: int = 30) -> str:
    """A sentence as a clause in reported speech, without its closing mark; empty when it is none or cannot be recast safely."""
    recast = Recast(opened(text), grounds, future=future, before=before)
    told = recast.text()
    if not told or not recast.finite or is_imperative(opened(text)) or _UNFINISHED.search(told):
        return ""
    told = re.sub(r"^(?:that|this) (?=was\b)", "it ", lowered(told, text, grounds).partition(";")[0])
    return shortened(told, longest)


def phrase(text: str, grounds: Grounds, *, before: str = "to", longest: int = 24) -> str:
    """A part of a sentence, say a noun phrase or an infinitive, in reported speech; empty when it cannot be recast safely."""
    told = Recast(opened(text), grounds, before=before).text()
    return shortened(lowered(told, text, grounds), longest) if told else ""
