"""A sentence of speech laid bare: without contractions, forms of address and what only says how sure its speaker is; handles for names."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.collapse.talk import Talk
from engine.llm.storyteller.handoff.cast import is_person
from engine.llm.storyteller.handoff.salience import bonus
from engine.llm.storyteller.handoff.sentence import opened
from engine.llm.storyteller.phrases import lines

_WHO: Final = (
    r"(?P<who>P\d+|he|she|my [a-z]+|(?:the|a|an|some|old) [a-z]+(?: [a-z]+)?(?: (?:of|from|at|in) (?:the )?[A-Za-z]+)?"
    r"|(?-i:[A-Z][a-z'-]+(?: [A-Z][a-z'-]+)*))"
)
_KEEPS_COMMA = re.compile(
    r"^(?:yes|no|well|then|now|so|when|if|once|today|tomorrow|tonight|yesterday|perhaps|maybe|agreed|done|but|and)\b", re.IGNORECASE
)
_PRESENTS = re.compile(r"^(?:This|That|Here) (?:is|comes) ")
"""What may end with what somebody is, rather than with who is spoken to."""
_BETWEEN = ("between us", "between you and me", "in confidence")
_HERE = re.compile(r"(?<=\w) (?:in |around |about |right )?here$")
"""A place that is not told: what is said without it stands as well, or says too little to be kept."""
_SHORT: Final = (
    (re.compile(r"\b([Ll])et['\u2019]s\b"), r"\1et us"),
    (re.compile(r"\bname['\u2019]s (?=[A-Z])"), "name is "),
    (re.compile(r"\b(I|[Yy]ou|[Ww]e|[Tt]hey)(?:['\u2019]ve| have) got\b(?! to)"), r"\1 have"),
    (re.compile(r"\b([Hh]e|[Ss]he|[Ii]t)(?:['\u2019]s| has) got\b(?! to)"), r"\1 has"),
    (re.compile(r"\b(?:is not|isn['\u2019]t|are not|aren['\u2019]t) mine\b"), "does not belong to me"),
    (re.compile(r"\b(?:is|are) mine\b"), "belongs to me"),
    (re.compile(r"\bI(?: a|['\u2019])m in ((?:the |my )?[\w ]+?)['\u2019]s (?:service|employ|pay)\b"), r"I serve \1"),
    (re.compile(r"\bis in ((?:the |my )?[\w ]+?)['\u2019]s (?:service|employ|pay)\b"), r"serves \1"),
)
_CLEFT = re.compile(r"^It (?:is|was) (?P<who>me|I|[A-Z][\w'-]*(?: [A-Z][\w'-]*)?|the [a-z]+(?: [a-z]+)?) (?:who|that) (?P<rest>.+)$")
_MOST_PREFIXES = 3
PLAIN: Final = 0.9
"""Confidence in what somebody says plainly."""
_UNSURE_AT_MOST, _DOUBT_AT_MOST = 0.55, 0.55


@dataclass(frozen=True, slots=True)
class Wording:
    """What a sentence comes down to."""

    text: str
    """Without contractions, with handles for those who are named; its closing mark is gone."""
    confidence: float
    source: str = ""
    """From whom its speaker has it, as it calls that one."""
    hushed: bool = False
    """Whether it is told in confidence."""


@cache
def _hedges() -> tuple[tuple[float, bool, re.Pattern[str]], ...]:
    """How sure a sentence is that begins so, and whether it says so of somebody else."""
    split = [line.split(" :: ", 1) for line in lines("collapsing_hedges")]
    return tuple(
        (float(share), "{who}" in pattern, re.compile(rf"(?:{pattern})".replace("{who}", _WHO), re.IGNORECASE)) for share, pattern in split
    )


@lru_cache(maxsize=8192)
def weight_of_words(text: str) -> int:
    """Weight that words add to what is done with them, 0 to 4."""
    return bonus(text)


@lru_cache(maxsize=2048)
def plain(sentence: str) -> str:
    """A sentence without contractions, openers and its closing mark."""
    for short, words in _SHORT:
        sentence = short.sub(words, sentence)
    return opened(sentence)


def worded(sentence: str, talk: Talk) -> Wording:
    """A sentence as what it says, how sure its speaker is of it, and from whom it is."""
    text = talk.names.replaced(plain(sentence))
    text = unaddressed(text)
    cleft = _CLEFT.match(text)
    if cleft is not None and (not cleft["who"].startswith("the ") or is_person(cleft["who"])):
        text = f"{'I' if cleft['who'] == 'me' else cleft['who']} {cleft['rest']}"
    confidence, source, hushed = PLAIN, "", sentence.lower().startswith(_BETWEEN)
    for _ in range(_MOST_PREFIXES):
        hush = pattern("hush").match(text)
        if hush:
            hushed, text = True, text[hush.end() :]
            continue
        alone, reported = pattern("alone").match(text) is not None, pattern("reported").search(text) is not None
        for share, others, hedge in _hedges():
            match = hedge.match(text) if (reported if others else alone) else None
            if match is None:
                continue
            confidence = max(confidence, share) if share > PLAIN else min(confidence, share)
            source = source or (match.groupdict().get("who") or "")
            text = text[match.end() :]
            break
        else:
            break
    text = _HERE.sub("", text)
    doubt = pattern("doubt").search(text)
    if doubt:
        text, confidence = text[: doubt.start()], min(confidence, _DOUBT_AT_MOST)
    if pattern("unsure").search(text):
        confidence = min(confidence, _UNSURE_AT_MOST)
    return Wording(text[:1].upper() + text[1:], confidence, source, hushed)


def unaddressed(text: str) -> str:
    """A sentence without the name or title by which it addresses somebody."""
    if "," not in text:
        return text
    if not _KEEPS_COMMA.match(text):
        text = pattern("address_first").sub("", text)
    text = pattern("address_within").sub(" ", text)
    return text if _PRESENTS.match(text) else pattern("address_last").sub("", text)


def only_hushes(text: str) -> bool:
    """Whether a sentence does nothing but ask for silence."""
    match = pattern("hush").match(text)
    return match is not None and not text[match.end() :].strip(" .!,")
