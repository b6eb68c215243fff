"""Labels: what somebody is called by their looks, taken from what anybody can see."""

import re
from functools import lru_cache

from engine.mind.wordlists import ADJECTIVES, DETERMINERS, NOT_PARTICIPLES, PARTICIPLES, STOPS
from engine.records.tokens import substitute
from engine.records.world import Entity

UNFAMILIAR = "an unfamiliar figure"
"""What a viewer calls somebody of whom nothing can be seen."""

_OPENING = re.compile(
    r"^(?:(?:he|she|it|they|this|that|there)\s*(?:is|was|are|'s|\u2019s|'re|\u2019re)\s+|appears to be\s+|looks like\s+)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_](?:[\w'\u2019-]*\w)?|[,;:.!?()\u2014\u2013]|\s-\s")


def first_word(text: str) -> str:
    """The first word in lower case, without punctuation around it."""
    found = re.match(r"\W*([\w'\u2019-]+)", text)
    return found.group(1).casefold() if found else ""


def starts_as_label(text: str) -> bool:
    """Whether a text begins as a label does, with an article or a possessive: `the tall guard`, `one of the twins`."""
    return first_word(text) in DETERMINERS or text.casefold().startswith("one of ")


def is_name(alias: str) -> bool:
    """Whether an alias is a name, not a label of somebody's looks: `Gareth`, not `the hooded figure`."""
    return bool(alias) and alias[0].isupper() and not starts_as_label(alias)


def label_of(target: Entity) -> str:
    """What anybody who sees `target` would call it: its public label, else its public name, else a noun phrase of its public looks."""
    return _public_label(*(_public(target, name) for name in ("label", "name", "appearance")))


def looks_of(target: Entity) -> str | None:
    """The noun phrase of the target's public appearance, if it has one."""
    return noun_phrase(_public(target, "appearance"))


def _public(target: Entity, name: str) -> str:
    """A public value as one plain line; whoever it mentions stays unnamed."""
    attribute = target.attributes.get(name)
    if attribute is None or not attribute.public:
        return ""
    return " ".join(substitute(attribute.value, lambda _: "someone").split())


@lru_cache(maxsize=4096)
def _public_label(label: str, name: str, appearance: str) -> str:
    plain = label.strip(" .,;:") or name.strip(" .,;:")
    if plain:
        if starts_as_label(plain):
            return plain[0].lower() + plain[1:]
        return plain if plain[0].isupper() or plain[0].isdigit() else f"the {plain}"
    return noun_phrase(appearance) or UNFAMILIAR


@lru_cache(maxsize=4096)
def noun_phrase(appearance: str) -> str | None:
    """`A tall, bald man in an apron, with a scar` gives `the tall bald man`; None when there is no noun phrase at the start."""
    words = _WORD.findall(_OPENING.sub("", appearance.strip()))
    definite = bool(words) and words[0].casefold() in DETERMINERS
    kept, halted = _phrase(words[1:] if definite else words)
    while len(kept) > 1 and halted and _is_participle(kept[-1]):
        kept.pop()
    while kept and kept[-1] == "and":
        kept.pop()
    if not kept or kept[0] == "of" or (not definite and kept[-1] in ADJECTIVES):
        return None
    return "the " + " ".join(kept)


def _phrase(words: list[str]) -> tuple[list[str], bool]:
    """Words up to the end of the noun phrase, and whether a preposition or the like ended it."""
    kept: list[str] = []
    for at, word in enumerate(words):
        low = word.casefold()
        after = words[at + 1].casefold() if at + 1 < len(words) else ""
        if word == ",":
            if not kept or (kept[-1] not in ADJECTIVES and not _goes_on(words[at + 1 :])):
                return kept, False
            if after in STOPS or after in DETERMINERS or kept[-1] not in ADJECTIVES:
                return kept, False
            continue
        if not word[0].isalnum():
            return kept, False
        if low in STOPS:
            return kept, True
        if kept and low.endswith("ing") and (after in STOPS or after in DETERMINERS):
            return kept, True
        if low == "and" and (after in DETERMINERS or after in STOPS or not kept):
            return kept, True
        if low == "of":
            article = [after] if after in DETERMINERS else []
            rest, halted = _phrase(words[at + 1 + len(article) :])
            return ([*kept, "of", *article, *rest] if rest else kept), halted
        if low in DETERMINERS:
            return kept, True
        kept.append(word if word[0].isupper() and at > 0 else low)
    return kept, False


def _goes_on(rest: list[str]) -> bool:
    """Whether the words after a comma still describe the same noun."""
    return bool(rest) and rest[0].casefold() in ADJECTIVES


def _is_participle(word: str) -> bool:
    return word in PARTICIPLES or (word.endswith("ed") and word not in NOT_PARTICIPLES)
