"""A light English stemmer after Porter (1980), and the words that say little by themselves."""

import re
from functools import lru_cache

_COMMON = """
a about above after again all am an and any are as at be because been before being below between both but by can could did
do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its
itself just me more most my no nor not now of off on once only or other our out over own same she should so some such than that
the their them then there these they this those through to too under until up upon very was we were what when where which while
who whom why will with would you your yours i'm i've i'll it's that's don't didn't isn't wasn't
"""
STOP_WORDS = frozenset(_COMMON.split())
"""Words that embedders and queries pass over."""

_VOWEL = "aeiou"
_LONG_SUFFIXES = (
    ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"), ("ization", "ize"), ("tional", "tion"),
    ("biliti", "ble"), ("entli", "ent"), ("ousli", "ous"), ("aliti", "al"), ("iviti", "ive"), ("ation", "ate"), ("alism", "al"),
    ("alli", "al"), ("ator", "ate"), ("izer", "ize"), ("eli", "e"),
)  # fmt: skip
_LAST_SUFFIXES = ("ement", "ance", "ence", "able", "ible", "ment", "ness", "ful", "ant", "ent", "ism", "ous", "ive", "ize", "al")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a lower-case word: `quarrelled`, `quarrelling` and `quarrels` meet. Short words stay."""
    word = word.removesuffix("'s")
    if len(word) <= 2 or not word.isascii():
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for suffix, to in _LONG_SUFFIXES:
        if word.endswith(suffix) and _measure(word[: -len(suffix)]) > 0:
            word = word[: -len(suffix)] + to
            break
    for suffix in _LAST_SUFFIXES:
        if word.endswith(suffix) and _measure(word[: -len(suffix)]) > 1:
            word = word[: -len(suffix)]
            break
    if word.endswith("e") and (_measure(word[:-1]) > 1 or (_measure(word[:-1]) == 1 and not _short_end(word[:-1]))):
        word = word[:-1]
    return word


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "i"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        root = word[: -len(suffix)]
        if word.endswith(suffix) and _has_vowel(root):
            if root.endswith(("at", "bl", "iz")):
                return root + "e"
            if len(root) > 2 and root[-1] == root[-2] and (root[-1] not in "aeioulsz" or (root[-1] == "l" and len(root) > 5)):
                return root[:-1]
            return root + "e" if _measure(root) == 1 and _short_end(root) else root
    return word


def _has_vowel(root: str) -> bool:
    return any(letter in _VOWEL or letter == "y" for letter in root)


def _short_end(root: str) -> bool:
    """Porter's *o: ends consonant, vowel, consonant, and the last is not w, x or y."""
    return re.search(r"[^aeiou][aeiouy][^aeiouwxy]$", root) is not None


def _measure(root: str) -> int:
    """Porter's m: how often a vowel run is followed by a consonant run."""
    shape = re.sub(r"[aeiouy]+", "v", root)
    return len(re.findall(r"v[^v]", shape))
