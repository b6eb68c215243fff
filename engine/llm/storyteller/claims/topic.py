"""Keys that say what a statement is about: of two facts of one subject with one key the later one counts."""

import re
from typing import Final

from engine.llm.stems import STOP_WORDS
from engine.llm.storyteller.claims.complement import DETERMINERS, HANDLE, root
from engine.llm.storyteller.claims.lexicon import matter, stems_under
from engine.llm.storyteller.claims.reading import Claim, read_claims
from engine.llm.storyteller.handoff.cast import is_person

_WORD = re.compile(r"[a-z]+")
_MOST_WORDS, _LONGEST = 3, 40
_ALONE: Final = {
    "live": "home", "origin": "origin", "birth": "birthplace", "name": "name", "age": "age", "spouse": "marriage", "serve": "service",
    "alive": "life",
}  # fmt: skip
"""Relations that need no more to say what they are about."""
_MOODS: Final = {"was": "former", "will": "plan", "would": "plan", "try": "plan"}
"""What a key has for what was, and for what is not so yet."""
_OF_ITSELF = frozenset(("own", "be", "exist"))
"""Relations that say less than what they are about."""


def topic_key(text: str, subject: str = "") -> str:
    """The key of a statement in the third person, without handles and names: a key goes where nobody may know whom it is about.

    `subject` is the handle that the statement is filed under. Empty when the statement cannot be read, or when only a handle or a name
    would tell it from others: `P2 knows P3`, `Tom serves the Duke`.
    """
    claims = read_claims(text)
    key = _key(claims[0], text, subject.lower()) if claims else ""
    return "" if key and not _names(text).isdisjoint(key.split("_")) else key


def _names(text: str) -> frozenset[str]:
    """Words of a text, in lower case, that must be taken for names: with a capital, and no article before."""
    words = text.replace("'s", "").split()
    pairs = zip(["the", *words], words, strict=False)
    return frozenset(word.lower().strip(".,;") for before, word in pairs if word[0].isupper() and before.lower() not in DETERMINERS)


def _key(claim: Claim, text: str, filed: str) -> str:
    if _called(claim.subject, text):
        return ""
    mood, _, relation = claim.relation.rpartition(":")
    owner, _, thing = claim.subject.rpartition(":")
    whose = [] if filed in (claim.subject, *claim.subject.split(" and ")) else [_plain(owner, text), _plain(thing, text)]
    if mood and (relation in _ALONE or relation in _OF_ITSELF or relation == "at"):
        # what somebody means to sell is no news of what it has
        whose.append(_MOODS.get(mood, ""))
    if relation in _ALONE:
        return _joined([*whose, _ALONE[relation]])
    if relation == "at":
        return _joined([*whose, "place"])
    if relation == "know" and not claim.head:
        return ""
    if relation == "be" and whose and not _noun(claim) and not is_person(_plain(thing, text)):
        return _joined(whose)  # a thing is one matter in whatever state it is: `door`
    if claim.proper or (relation != "own" and any(map(HANDLE.fullmatch, claim.names))):
        return ""
    about = matter(claim.head) if relation == "be" and not _noun(claim) else _plain(claim.head, text)
    return _joined([*whose, *([] if relation in _OF_ITSELF else [relation.removeprefix("be ")]), about])


def _called(subject: str, text: str) -> bool:
    """Whether a subject is told by what must be taken for a name: a capital word without an article."""
    first = text.split(maxsplit=1)[0].removesuffix("'s")
    if not first[0].isupper() or HANDLE.fullmatch(first) or first.lower() in DETERMINERS or first.lower() in STOP_WORDS:
        return False
    return subject.startswith(root(first.lower()))


def _noun(claim: Claim) -> bool:
    if claim.subject.rpartition(":")[2] in stems_under("single") | stems_under("kin"):
        return False
    return claim.definite or claim.proper or claim.head in stems_under("trades")


def _plain(stemmed: str, text: str) -> str:
    """The word behind a stem, as the text has it, without a plural; nothing for handles."""
    parts = [part for part in stemmed.split() if part != "and"]
    words = [word for word in _WORD.findall(text.lower()) if root(word) in parts]
    found = " ".join(dict.fromkeys(words)) or ("" if any(map(HANDLE.fullmatch, parts)) else stemmed)
    return found[:-1] if found.endswith("s") and not found.endswith(("ss", "us", "is")) and len(found) > 3 else found


def _joined(words: list[str]) -> str:
    """Up to three words joined by `_`, each once."""
    plain = [part for word in words for part in _WORD.findall(word)]
    return "_".join(list(dict.fromkeys(plain))[:_MOST_WORDS])[:_LONGEST].strip("_")
