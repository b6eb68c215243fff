"""What a text says, in pieces that can be compared: its content words, numbers, negations and names. Pure.

A cosine misses just these. Near an embedder's threshold they are what differs most often between texts that only look alike
(facts-recall 5), so that two memories count as one only when they agree.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from engine.llm.stems import STOP_WORDS, stem
from engine.memory.text import bare


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FRAME = _words(
    "say says said saying tell tells told telling speak speaks spoke spoken speaking talk talks talked talking repeat repeats repeated "
    "repeating remember remembers remembered remembering recall recalls recalled recalling mention mentions mentioned mentioning "
    "recount recounts recounted recounting think thinks thought thinking quote quotes again still once also back yet already now then "
    "just only really indeed would could might may must shall let lets upon"
)
"""Words of telling and of telling again: they say nothing of what is told."""

_NUMBER_WORDS: Mapping[str, str] = {
    word: str(value)
    for value, words in {
        0: "zero", 2: "two twice second", 3: "three thrice third", 4: "four fourth", 5: "five fifth", 6: "six sixth", 7: "seven seventh",
        8: "eight eighth", 9: "nine ninth", 10: "ten tenth", 11: "eleven eleventh", 12: "twelve dozen twelfth", 13: "thirteen",
        14: "fourteen", 15: "fifteen", 16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty", 30: "thirty",
        40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety", 100: "hundred hundreds",
        1000: "thousand thousands", 1_000_000: "million millions",
    }.items()
    for word in words.split()
}  # fmt: skip
"""`one` is left out: it stands for somebody more often than it counts."""

_IRREGULAR: Mapping[str, str] = {
    form: base
    for base, forms in {
        "arise": "arose arisen", "beat": "beaten", "become": "became", "begin": "began begun", "bend": "bent", "bind": "bound",
        "bite": "bit bitten", "blow": "blew blown", "break": "broke broken", "bring": "brought", "build": "built", "burn": "burnt",
        "buy": "bought", "catch": "caught", "choose": "chose chosen", "come": "came", "creep": "crept", "deal": "dealt", "dig": "dug",
        "draw": "drew drawn", "drink": "drank drunk", "drive": "drove driven", "eat": "ate eaten", "fall": "fell fallen", "feed": "fed",
        "feel": "felt", "fight": "fought", "find": "found", "flee": "fled", "fly": "flew flown", "forget": "forgot forgotten",
        "freeze": "froze frozen", "get": "got gotten", "give": "gave given", "go": "went gone goes", "grow": "grew grown",
        "hang": "hung", "hear": "heard", "hide": "hid hidden", "hold": "held", "keep": "kept", "kneel": "knelt", "know": "knew known",
        "lead": "led", "lean": "leant", "leave": "left", "lend": "lent", "lie": "lay lain", "lose": "lost", "make": "made",
        "mean": "meant", "meet": "met", "pay": "paid", "ride": "rode ridden", "ring": "rang rung", "rise": "rose risen", "run": "ran",
        "see": "saw seen", "seek": "sought", "sell": "sold", "send": "sent", "shake": "shook shaken", "shine": "shone",
        "shoot": "shot", "show": "shown", "sing": "sang sung", "sink": "sank sunk", "sit": "sat", "sleep": "slept", "slide": "slid",
        "spend": "spent", "spin": "spun", "stand": "stood", "steal": "stole stolen", "stick": "stuck", "strike": "struck stricken",
        "swear": "swore sworn", "sweep": "swept", "swim": "swam swum", "swing": "swung", "take": "took taken", "teach": "taught",
        "tear": "tore torn", "throw": "threw thrown", "wake": "woke woken", "wear": "wore worn", "weep": "wept", "win": "won",
        "wind": "wound", "write": "wrote written",
    }.items()
    for form in forms.split()
}  # fmt: skip
"""Forms that a stemmer cannot bring together."""

_CHANGED = frozenset(stem(base) for base in _IRREGULAR.values())
"""Stems of which some forms begin otherwise."""
_KEPT = 6
"""Letters from which a stem may differ from its words in the last two, and not only in the last."""

_EITHER_OR: tuple[Mapping[str, str], ...] = (
    {"up": "up", "upwards": "up", "down": "down", "downwards": "down"},
    {"in": "in", "into": "in", "inside": "in", "out": "out", "outside": "out"},
    {"on": "on", "onto": "on", "off": "off"},
    {"over": "over", "above": "over", "under": "under", "below": "under", "beneath": "under"},
    {"before": "before", "after": "after"},
    {"to": "to", "towards": "to", "from": "from"},
    {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she"},
    {"who": "who", "whom": "who", "what": "what", "when": "when", "where": "where", "why": "why", "how": "how", "which": "which"},
    {"all": "all", "every": "all", "each": "all", "some": "some", "few": "few", "most": "most", "any": "any", "both": "both"},
)
"""Common words that exclude each other, by kind: a stop word can turn a sentence round."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|nobody|nothing|nowhere|none|without|cannot|refus(?:e|es|ed|ing)|den(?:y|ies|ied|ying)|fail(?:s|ed|ing)?"
    r"|hardly|barely|scarcely|unable|untrue|false)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:]|\b(?:that|which|who|whom|but|and|though|although|because|if|when|while)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?\u2026])[\"'\u2019\u201d)\]]*\s+|\n+")
_NAME = re.compile(r"(?<=[\w,;:'\u2019] )[A-Z][^\W\d_]+")


@lru_cache(maxsize=4096)
def content(text: str) -> frozenset[str]:
    """Stems of the words that carry what a text says: no reference tokens, numbers, common words, words of telling."""
    return frozenset(_in_order(text))


def in_order(a: str, b: str) -> bool:
    """Whether the content words that two texts share come in the same order: from the loft to the landing is not the way back."""
    one, other = _in_order(a), _in_order(b)
    return [word for word in one if word in other] == [word for word in other if word in one]


def begins(text: str, start: str) -> bool:
    """Whether the content words of `start` are the first of a text, in their order."""
    words = _in_order(start)
    return _in_order(text)[: len(words)] == words


@lru_cache(maxsize=4096)
def _in_order(text: str) -> tuple[str, ...]:
    """The content words of a text, each where it stands first."""
    found: dict[str, None] = {}
    for word in _WORD.findall(bare(text).casefold().replace("\u2019", "'")):
        short = word.removesuffix("'s")
        if short in STOP_WORDS or short in _FRAME or short in _NUMBER_WORDS or short[0].isdigit() or word.endswith("n't"):
            continue
        if "'" in short and short.split("'")[0] in STOP_WORDS:  # he'd, you'll
            continue
        found[stem(_IRREGULAR.get(short, short))] = None
    return tuple(found)


@lru_cache(maxsize=4096)
def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a text in figures or words, sorted, each as often as it stands."""
    words = bare(text).casefold()
    spelt = (_NUMBER_WORDS[word] for word in _WORD.findall(words) if word in _NUMBER_WORDS)
    return tuple(sorted([*(found.rstrip(".,:") for found in _NUMBER.findall(words)), *spelt]))


@lru_cache(maxsize=4096)
def negations(text: str) -> int:
    """How often a text denies."""
    return len(_NEGATION.findall(bare(text)))


@lru_cache(maxsize=4096)
def before_denial(text: str) -> str:
    """The clauses of a text before the first that denies; all of it when none does."""
    plain = bare(text)
    found = _NEGATION.search(plain)
    if found is None:
        return plain
    clauses = list(_CLAUSE.finditer(plain, 0, found.start()))
    return plain[: clauses[-1].start()] if clauses else ""


@lru_cache(maxsize=4096)
def names(text: str) -> frozenset[str]:
    """Names that stand in a text as words: capitals within a sentence. Whom tokens refer to is not among them."""
    return frozenset(_NAME.findall(bare(text))) - {"I"}


@lru_cache(maxsize=4096)
def _either_or(text: str) -> tuple[frozenset[str], ...]:
    words = _WORD.findall(bare(text).casefold())
    return tuple(frozenset(kind[word] for word in words if word in kind) for kind in _EITHER_OR)


def opposed(a: str, b: str) -> bool:
    """Whether two texts use different ones of words that exclude each other: up and down, to and from, who and why."""
    return any(one and other and one.isdisjoint(other) for one, other in zip(_either_or(a), _either_or(b), strict=True))


@lru_cache(maxsize=1024)
def beginnings(stems: frozenset[str]) -> tuple[str, ...]:
    """For each of these stems letters that stand in every text with a word of it, case folded; none for a stem whose forms differ."""
    plain = (one for one in stems if one not in _CHANGED and "'" not in one)
    return tuple(one[: -2 if len(one) >= _KEPT else -1] for one in plain)


@lru_cache(maxsize=16_384)
def forms_of(one: str) -> tuple[str, ...]:
    """How all words begin that have this stem, case folded: of some, several beginnings."""
    root = one.split("'")[0]
    regular = root[: -2 if len(root) >= _KEPT else -1] or root
    return (regular, *(form for form, base in _IRREGULAR.items() if stem(base) == one)) if one in _CHANGED else (regular,)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without blank ones."""
    return [part for piece in _SENTENCE.split(text) if (part := piece.strip(" \t-\u2013\u2014*\u2022"))]


def held_by(stems: frozenset[str], others: Iterable[str]) -> float:
    """Share of `stems` that stand among `others`, 0 to 1; 1 for no stems."""
    return len(stems.intersection(others)) / len(stems) if stems else 1.0
