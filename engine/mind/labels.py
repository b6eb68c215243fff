"""Labels: what somebody is called by their looks, taken from what anybody can see."""

import re
from functools import lru_cache

from engine.mind.wordlists import ADJECTIVES, COMMON, DETERMINERS, NOT_PARTICIPLES, PARTICIPLES, STOPS
from engine.records.tokens import substitute
from engine.records.world import Entity

UNFAMILIAR = "an unfamiliar figure"
"""What a viewer calls somebody of whom nothing can be seen."""

_COPULA = re.compile(
    r"^(?:he|she|it|they|this|that|there)(?: is| was| are|['\u2019]s|['\u2019]re| appears to be| seems to be| looks like)\s+", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_](?:[\w'\u2019-]*\w)?|[,;:.!?()\u2014\u2013]|\s-\s")
_FIRST = re.compile(r"\W*([\w'\u2019-]+)")
_ARTICLES = frozenset({"a", "an", "the", "some", "one", "another", "this", "that"})
_POSSESSIVE = re.compile(r"['\u2019]s$")
_AROUND = " .,;:!?\"'\u201c\u201d\u2018\u2019()[]"
_LONGEST = 9
"""Words of a noun phrase. A longer one is a sentence that the rules misread."""


def first_word(text: str) -> str:
    """The first word in lower case, without punctuation before it."""
    found = _FIRST.match(text)
    return found.group(1).casefold() if found else ""


def starts_as_label(text: str) -> bool:
    """Whether a text begins as a label does, with an article or a possessive: `the tall guard`, `one of the twins`."""
    return first_word(text) in DETERMINERS or text.casefold().startswith("one of ")


@lru_cache(maxsize=4096)
def is_name(alias: str) -> bool:
    """Whether an alias is a name, not a label of somebody's looks: `Gareth`, not `the hooded figure`."""
    return alias[:1].isupper() and not starts_as_label(alias)


@lru_cache(maxsize=4096)
def key_of(phrase: str) -> str:
    """A phrase as it is compared with others: no case, no article, no possessive, no punctuation around it."""
    plain = _POSSESSIVE.sub("", " ".join(phrase.split()).strip(_AROUND)).casefold()
    article, _, rest = plain.partition(" ")
    return rest if rest and article in ("a", "an", "the", "this", "that") else plain


def label_of(target: Entity) -> str:
    """What anybody who sees `target` would call it: its public label, else its public name, else a noun phrase of its public looks."""
    return _label(_public(target, "label"), _public(target, "name"), _public(target, "appearance"))


def looks_of(target: Entity) -> str | None:
    """The noun phrase of the target's public appearance, if it has one."""
    return noun_phrase(_public(target, "appearance"))


def _public(target: Entity, name: str) -> str:
    attribute = target.attributes.get(name)
    return attribute.value if attribute is not None and attribute.public else ""


@lru_cache(maxsize=4096)
def _label(label: str, name: str, appearance: str) -> str:
    return _as_label(_plain(label)) or _as_thing(_plain(name)) or noun_phrase(appearance) or UNFAMILIAR


def _plain(text: str) -> str:
    """One line without punctuation at its ends; whoever it mentions stays unnamed."""
    return " ".join(substitute(text, lambda _: "someone").split()).strip(" .,;:")


def _as_label(text: str) -> str:
    """`Wet stranger` becomes `the wet stranger`; `Old Tom` stays."""
    first, *rest = text.split() or [""]
    if not any(word[0].isupper() for word in rest) and (rest or first.casefold() in COMMON):
        text = text[:1].lower() + text[1:]
    return _as_thing(text)


def _as_thing(text: str) -> str:
    """A name that anybody may know, inside a sentence: `Excalibur`, `the brass lantern`."""
    if starts_as_label(text):
        return text[0].lower() + text[1:]
    stands_alone = not text or not text[0].islower() or first_word(text) in ("someone", "somebody", "something")
    return text if stands_alone else f"the {text}"


@lru_cache(maxsize=4096)
def noun_phrase(appearance: str) -> str | None:
    """`A tall, bald man in an apron, with a scar` gives `the tall bald man`; None when no noun phrase begins the text."""
    first, *words = _WORD.findall(_COPULA.sub("", _plain(appearance))) or [""]
    definite = first.casefold() in _ARTICLES
    kept, halted = _phrase(words if definite else [first.casefold(), *words])
    while len(kept) > 1 and halted and _is_participle(kept[-1]):
        kept.pop()
    while kept and kept[-1] == "and":
        kept.pop()
    if not kept or len(kept) > _LONGEST or kept[0] == "of" or (not definite and _describes(kept[-1])):
        return None
    return "the " + " ".join(kept)


def _phrase(words: list[str]) -> tuple[list[str], bool]:
    """Words up to the end of the noun phrase, and whether a preposition or the like ended it."""
    kept: list[str] = []
    for at, word in enumerate(words):
        low = word.casefold()
        after = words[at + 1].casefold() if at + 1 < len(words) else ""
        linked = after in STOPS or after in DETERMINERS
        if word == ",":
            if not kept or linked or not _describes(kept[-1]):
                return kept, False
        elif not word[:1].isalnum():
            return kept, False
        elif low == "of":
            article = [after] if after in _ARTICLES else []
            rest, halted = _phrase(words[at + 1 + len(article) :])
            return ([*kept, "of", *article, *rest] if rest else kept), halted
        elif low in STOPS or low in DETERMINERS or (low == "and" and (linked or not kept)) or (kept and linked and low.endswith("ing")):
            return kept, True
        else:
            kept.append(word)
    return kept, False


def _describes(word: str) -> bool:
    """Whether a word is rather an adjective than a noun."""
    return word.casefold() in ADJECTIVES or _is_participle(word)


def _is_participle(word: str) -> bool:
    return word in PARTICIPLES or (word.endswith("ed") and word not in NOT_PARTICIPLES)
