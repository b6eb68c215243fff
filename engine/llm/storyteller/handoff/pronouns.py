"""`she` for somebody who is named again within a sentence, where nobody else can be meant."""

import re

from engine.llm.storyteller.handoff.cast import Cast, Person, gender_by_name, is_person
from engine.llm.storyteller.handoff.lexicon import word_set

_HANDLE = re.compile(r"(?<!\w)P\d+(?!\w)")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")
_WORD = re.compile(r"[A-Za-z][\w'\u2019-]*")
_LISTED = re.compile(r"(?: and P\d|, P\d)")
_SUBJECT_BEFORE = re.compile(
    r"(?:;|, and|, or|, that|\b(?:that|what|who|whom|whose \w+|where|when|why|how|whether|if|until|because|as|than|while|before|after)) $"
)
_OBJECT_BEFORE = re.compile(
    r"\b(?:asked|told|answered|promised|warned|gave|let|pressed|reminded|offered|threatened|ordered|thanked|accused|believed|mistrusted"
    r"|helped|followed|struck|led|showed|handed|paid|to|from|for|with|at|against|of|by|on|beside|behind|near|towards|about) $"
)


def softened(account: str, cast: Cast) -> str:
    """An account in which nobody is named twice in a sentence where a pronoun does."""
    return " ".join(_in_sentence(sentence, cast) for sentence in _SENTENCE.split(account))


def _in_sentence(sentence: str, cast: Cast) -> str:
    named = list(dict.fromkeys(_HANDLE.findall(sentence)))
    people = [cast.person(handle) for handle in named]
    for person in people:
        others = [one for one in people if one is not person and not one.owner]
        if person.owner or person.gender == "they" or any(_could_be(one, person) for one in others):
            continue
        sentence = _named_once(sentence, person)
    return sentence


def _could_be(other: Person, person: Person) -> bool:
    """Whether a pronoun for a person could as well mean another one."""
    return other.gender == person.gender or (other.gender == "they" and (not other.name or is_person(other.name)))


def _named_once(sentence: str, person: Person) -> str:
    """The sentence with a pronoun for all but the first mention, up to where it speaks of anybody else of that gender."""
    first = re.search(rf"(?<!\w){person.handle}(?!\w)", sentence)
    if first is None:
        return sentence
    out, at = sentence[: first.end()], first.end()
    for match in re.finditer(rf"(?<!\w){person.handle}(?P<own>'s)?(?!\w)", sentence[first.end() :]):
        start, end = first.end() + match.start(), first.end() + match.end()
        before, after = sentence[:start], sentence[end:]
        out += sentence[at:start]
        at = end
        free = not _speaks_of(before, person) and not _LISTED.match(after)
        out += (_pronoun(person, before, after, owned=bool(match["own"])) if free else "") or match.group()
    return out + sentence[at:]


def _pronoun(person: Person, before: str, after: str, *, owned: bool) -> str:
    """The form that fits; empty when that is not clear."""
    if owned:
        return person.form("possessive")
    if re.match(r" \w", after) and _SUBJECT_BEFORE.search(before):
        return person.form("subject")
    return person.form("object") if _OBJECT_BEFORE.search(before) else ""


def _speaks_of(text: str, person: Person) -> bool:
    """Whether a text names, in plain words, anybody whom the person's pronoun could mean."""
    nouns = word_set("people", "women" if person.gender == "she" else "men")
    for at, word in enumerate(_WORD.findall(text)):
        if word.lower() in nouns or (at and word[0].isupper() and not _HANDLE.fullmatch(word) and _may_be(word, person)):
            return True
    return False


def _may_be(name: str, person: Person) -> bool:
    return gender_by_name(name) in ("they", person.gender)
