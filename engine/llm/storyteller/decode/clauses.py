"""Sentences taken apart into what their teller does: one predicate for each finite verb with the teller as subject."""

import re
from dataclasses import dataclass
from typing import Literal

from engine.llm.storyteller.language.verbs import Form, Verb, from_past, from_third, reading, regular, verb

Person = Literal["first", "third"]

_ADVERB = r"(?:\w+ly|then|just|also|still|again|now|once|never|always|even|first|at last|in turn|half)"
_SUBJECT = {
    "first": re.compile(r"\b(?:I|i)(?P<short>['’](?:m|ve|ll|d))?\s+"),  # noqa: RUF001
    "third": re.compile(r"(?:^|(?<=, )|(?<=: ))(?:P1|She|He|They|she|he|they)(?P<short>['’](?:s|ve|re|ll|d))?\s+"),  # noqa: RUF001
}
_JOIN = re.compile(r"(?:\s*;\s*|,?\s+and then\s+|,\s+then\s+|,?\s+then\s+|,?\s+and\s+|,?\s+but\s+|,\s+)(?:(?:I|P1|she|he|they)\s+)?")
_LEAD = re.compile(rf"^(?:{_ADVERB},?\s+)+", re.IGNORECASE)
_FOLLOWS_VERB = re.compile(
    r"^(?:P\d+|the|a|an|my|his|her|their|its|your|our|it|him|them|me|us|this|that|these|those|one|each|every|no|both|all|some|what)\b",
    re.IGNORECASE,
)
_NOT_FOLLOWS = re.compile(r"^(?:of|is|are|was|were)\b")
_FOLLOWED_BY_OF = frozenset(("think", "dream", "speak", "talk", "know", "hear", "smell", "taste", "tell", "tire", "approve", "learn"))
_BE = r"(?:am|is|are|was|were|be|been|m|re)"
_TO_VERB = re.compile(
    r"^(?P<lead>tr(?:y|ies|ied)|attempt(?:s|ed)?|beg[iau]ns?|start(?:s|ed)?|manage[sd]?|decide[sd]?|prepare[sd]?|mov(?:e|es|ed)|"
    r"turn(?:s|ed)?|go(?:es)?|went|come[s]?|came|rise[s]?|rose|pause[sd]?|stoop(?:s|ed)?|bend[s]?|bent|crouch(?:es|ed)?|"
    r"reach(?:es|ed)?(?: out)?|stand[s]?(?: up)?|stood(?: up)?|lean[s]?(?: \w+)?|step[s]?(?: \w+)?|hurr(?:y|ies|ied)) to (?P<word>\w+)\b"
)
_GERUND_AFTER = re.compile(
    r"^(?P<lead>begins?|began|starts?|started|keeps?|kept|stops?|stopped|continues?|continued|goes on|go on) (?P<word>\w+ing)\b"
)
_KEEP_LEAD = ("try", "tries", "tried", "attempt", "attempts", "attempted", "stop", "stops", "stopped")
_NEGATION = re.compile(
    r"^(?:do|does|did|could|can|will|would|have|has|had|am|is|was)(?:n['’]t| not)\s+|^(?:cannot|never)\s+|^not\s+"  # noqa: RUF001
)
_MODAL = re.compile(r"^(?:would|should|must|may|might|ought)\b|^d\b")


@dataclass(frozen=True, slots=True)
class Predicate:
    """One thing the teller does."""

    verb: Verb
    rest: str
    """What follows the verb, with handles."""
    adverbs: str = ""
    """Adverbs before the verb."""
    lead: str = ""
    """`tried to`, when it is no more than an attempt; `stopped` before a gerund."""
    negated: bool = False
    modal: bool = False
    """Not done but wished, owed or possible."""
    source: str = ""
    """The words it stands for."""


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence with its predicates; none when its subject is somebody or something else."""

    text: str
    predicates: tuple[Predicate, ...]
    opening: str = ""
    """Phrase before the subject: `with a sigh`."""


def person_of(telling: str) -> Person:
    """Whether a text is told in the first person, or of the teller as another."""
    return "first" if re.search(r"\b(?:I|i)(?:['’](?:m|ve|ll|d))?\b", telling) else "third"  # noqa: RUF001


def told(sentence: str, person: Person, *, bare: bool = True) -> Told:
    """A sentence, names already replaced by handles, as predicates of P1. `bare` allows a sentence without subject."""
    text = sentence.strip().rstrip(".!?…,;: ").strip()
    match = _SUBJECT[person].search(text)
    opening, body, short = "", text, ""
    if match is not None:
        opening, body, short = text[: match.start()].strip(" ,"), text[match.end() :], (match["short"] or "")[1:]
        if _other_subject(opening):
            return Told(text, ())
    elif not bare or not _imperative(text):
        return Told(text, ())
    pieces = _split(f"{short} {body}" if short else body, person if match else None)
    found = [predicate for piece in pieces if (predicate := _predicate(piece, person)) is not None]
    return Told(text, tuple(found), opening)


def _other_subject(opening: str) -> bool:
    """Whether what stands before the subject is a clause of its own: `the door is open and`, `She looks up as`."""
    if not opening or re.match(r"(?:when|while|as|before|after|if|once|because|since|until)\b", opening, re.IGNORECASE):
        return False
    words = opening.split()
    plain = re.match(r"(?:with|without|after|in|at|from|for|under|and|but|so|then|still|yet|to|on|by)\b", opening, re.IGNORECASE)
    return not plain and not words[0].lower().endswith(("ing", "ly")) and len(words) > 2


def _imperative(text: str) -> bool:
    words = _LEAD.sub("", text).split(maxsplit=1)
    if not words or (words[0][:1] == "P" and words[0][1:].isdigit()):
        return False
    found = reading(words[0], "base", "third")
    rest = words[1] if len(words) > 1 else ""
    return found is not None and not (found.nounish and rest and not _FOLLOWS_VERB.match(rest) and not _preposition(rest))


def _preposition(rest: str) -> bool:
    return re.match(r"(?:to|at|in|on|for|with|through|into|out|up|down|over|back|away|around|about|from|towards?)\b", rest) is not None


def _split(body: str, person: Person | None) -> list[str]:
    forms = _expected(body, person)
    pieces: list[str] = []
    start = 0
    for match in _JOIN.finditer(body):
        if match.start() >= start and _starts_predicate(body[match.end() :], forms):
            pieces.append(body[start : match.start()])
            start = match.end()
    return [*pieces, body[start:]]


def _expected(body: str, person: Person | None) -> tuple[Form, ...]:
    words = _LEAD.sub("", body).split(maxsplit=1)
    first = words[0].strip(",") if words else ""
    if person == "third":
        return ("past",) if reading(first, "past") and not reading(first, "third") else ("third",)
    if person is None:
        return ("third",) if reading(first, "third") and not reading(first, "base") else ("base",)
    if reading(first, "base"):
        return ("base", "past") if reading(first, "past") else ("base",)
    return ("past",) if reading(first, "past") or from_past(first) else ("base",)


def _starts_predicate(rest: str, forms: tuple[Form, ...]) -> bool:
    rest = _LEAD.sub("", rest)
    words = rest.split(maxsplit=1)
    if not words:
        return False
    word, after = words[0].strip(",.;"), words[1] if len(words) > 1 else ""
    found = reading(word, *forms)
    of = after.startswith("of ") and found is not None and found.base in _FOLLOWED_BY_OF
    if found is None or (_NOT_FOLLOWS.match(after) and not of) or (word == "close" and after.startswith(("to ", "by "))):
        return False
    return not found.nounish or _FOLLOWS_VERB.match(after) is not None


def _predicate(piece: str, person: Person) -> Predicate | None:
    source = piece.strip(" ,;")
    text = source
    adverbs = _LEAD.match(text)
    lead_words = ""
    if adverbs:
        text = text[adverbs.end() :]
        lead_words = re.sub(r"\b(?:then|just|also|now|again|still)\b,?\s*", "", adverbs.group(), flags=re.IGNORECASE).strip(" ,")
    negated = modal = False
    if "never" in lead_words.split():
        negated, lead_words = True, ""
    negation = _NEGATION.match(text)
    if negation:
        modal = re.match(r"can|could|would", text) is not None
        negated, text = True, text[negation.end() :]
    elif _MODAL.match(text):
        modal, text = True, text.split(maxsplit=1)[-1]
    text = re.sub(r"^(?:will|shall|ll|can|could|do|does|did)\s+(?=\w)(?!not\b)", "", text)
    text = _intended(text)
    text = re.sub(rf"^{_BE} (?=\w+ing\b)", "", text)
    text = _perfect(text)
    lead = ""
    while match := _TO_VERB.match(text):
        if reading(match["word"], "base") is None:
            break
        lead = lead or ("tried to" if match["lead"].split()[0] in _KEEP_LEAD else "")
        text = text[match.start("word") :]
    match = _GERUND_AFTER.match(text)
    if match:
        lead = lead or ("stopped" if match["lead"] in _KEEP_LEAD else "")
        text = text[match.start("word") :]
    words = text.split(maxsplit=1)
    if not words:
        return None
    found = _verb(words[0].strip(",;"), person)
    if found is None:
        return None
    rest = (words[1] if len(words) > 1 else "").strip(" ,;")
    return Predicate(found, rest, lead_words, lead, negated, modal, source)


def _intended(text: str) -> str:
    """`am about to leave` as `leave`; `am going to the cellar` stays."""
    match = re.match(rf"^{_BE} (?:going|about) to (\w+)", text)
    return text[match.start(1) :] if match and reading(match[1], "base") else text


def _perfect(text: str) -> str:
    match = re.match(r"^(?:have|has|had|ve)\s+(\w+)", text)
    return text[match.start(1) :] if match and reading(match[1], "participle", "past") else text


def _verb(word: str, person: Person) -> Verb | None:
    if not re.fullmatch(r"[A-Za-z]+", word) or re.fullmatch(r"P\d+", word):
        return None
    if word.lower() in ("am", "is", "are", "was", "were", "m", "re", "s"):
        return verb("be")
    third: tuple[Form, ...] = ("third", "past", "gerund", "base")
    first: tuple[Form, ...] = ("base", "past", "third", "gerund", "participle")
    known = reading(word, *(third if person == "third" else first))
    if known is not None:
        return known
    if word.endswith("ing") and len(word) > 5:
        return regular(word[:-3])
    guess = from_past(word)
    return guess or (from_third(word) if person == "third" and word.endswith("s") else regular(word.lower()))
