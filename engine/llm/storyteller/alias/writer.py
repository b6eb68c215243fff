"""A label from what anybody can see: `a tall bald man in an apron` is `the tall bald man`."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.handoff.sentence import is_adverb
from engine.llm.storyteller.handoff.wordforms import readings
from engine.llm.storyteller.language.text import bare
from engine.llm.storyteller.phrases import lists, words
from engine.records.prompts import split_sections
from engine.records.wire import AliasReply

_TOKEN = re.compile(r"[^\W\d_][\w'-]*|[,;.:()]")
_IS = re.compile(
    r"^(?:(?:he|she|it|they|this|there)(?: is| was| are|'s|'re| looks like| seems to be| appears to be| wears| has) )", re.IGNORECASE
)
_ARTICLES = frozenset(("a", "an", "the", "some", "one", "this", "that", "his", "her", "its", "their"))
_BREAKS = frozenset((
    "with", "in", "of", "at", "on", "by", "from", "under", "who", "whose", "which", "that", "wearing", "carrying", "holding", "to", "for",
    "near", "behind", "beside", "like", "as", "but", "than", ";", ".", ":", "(", ")", "dressed", "wrapped", "about", "is", "was", "has",
    "over", "round", "around", "without", "into",
))  # fmt: skip
_PEOPLES = ("ish", "ese", "ian", "ch", "ean")
_LONGEST: Final = 48


def label(request: ModelRequest) -> str:
    """The reply to task `alias` as JSON: the first label that nobody else goes by, another one for another attempt."""
    sections = split_sections(request.messages[-1].content)
    found = labels(sections.get("LOOKS", ""), sections.get("OTHERS", ""))
    return AliasReply(label=found[max(0, request.attempt) % len(found)]).model_dump_json()


def labels(looks: str, others: str) -> list[str]:
    """All labels for these looks that none of the others has, the likeliest first; at least one."""
    lines = [line.partition(": ")[::2] for line in looks.splitlines() if ": " in line]
    person = ("kind", "a thing") not in lines
    seen = [text for name, text in lines if name != "kind"]
    taken = [bare(line).casefold() for line in others.splitlines()]
    found = [one for text in seen for one in _from(text, person=person)]
    plain = list(lists("labels")["people" if person else "things"])
    free = [one for one in dict.fromkeys([*found, *plain]) if not _goes_by(one, taken) and len(one) <= _LONGEST]
    if found and _goes_by(found[0], taken):
        free = [one for one in free if one not in plain] or [f"the other {bare(found[0])}"[:_LONGEST], *free]
    return free or [f"the other {bare(plain[0])}"]


def _goes_by(one: str, taken: Sequence[str]) -> bool:
    """Whether anybody else is called so, perhaps with a word more: `the first wet stranger`."""
    name = bare(one).casefold()
    return any(other == name or other.endswith(f" {name}") for other in taken)


def _from(text: str, *, person: bool) -> list[str]:
    """Labels that a description gives: its noun with the first words that describe it, with others of them, with what is seen on it."""
    tokens = _TOKEN.findall(_IS.sub("", text.replace("\u2019", "'")))
    low = [token.lower() for token in tokens]
    end = next((at for at, word in enumerate(low) if word in _BREAKS), len(low))
    nouns = [at for at, word in enumerate(low[:end]) if word in _people()] if person else []
    head = nouns[0] if nouns else _last(low, end)
    if head < 0:
        return []
    noun = low[head]
    described = _describing(tokens, low, 0, head)
    if (person and not nouns and not _someone(noun)) or (not person and _describes(noun)):
        described, noun = _standing_for(noun, described), "stranger" if person else "thing"
    made = [f"the {' '.join([*chosen, noun])}" for chosen in _chosen(described)]
    seen = _seen(tokens, low, end)
    return [*made, *([f"the {noun} with the {seen}" if low[end] == "with" else f"the {noun} in the {seen}"] if seen else [])]


@cache
def _people() -> frozenset[str]:
    return word_set("people", "people") | word_set("people", "women") | word_set("people", "men") | words("labels")["persons"]


def _someone(noun: str) -> bool:
    """Whether a noun is one for people by its end."""
    return noun.endswith(("er", "or", "ist", "man", "woman", "ant", "ess")) and noun not in word_set("people", "things_that_end_so")


def _last(low: Sequence[str], end: int) -> int:
    """The last word before the description goes on to say with what, and where."""
    return next((at for at in range(end - 1, -1, -1) if low[at].isalpha() and low[at] not in _ARTICLES and low[at] != "and"), -1)


def _describing(tokens: Sequence[str], low: Sequence[str], start: int, end: int) -> list[str]:
    found: list[str] = []
    for at in range(start, end):
        word = low[at]
        if word in _ARTICLES:
            found.clear()  # what stands before the article is of something else
            continue
        name = tokens[at][0].isupper() and at and not word.endswith(_PEOPLES)
        if word[0].isalpha() and word != "and" and not is_adverb(word) and not name:
            found.append(word)
    return found


def _describes(word: str) -> bool:
    verbal = any(form in ("participle", "gerund") for _, form in readings(word))
    return verbal or word in words("labels")["describing"] or word.endswith("ed")


def _standing_for(noun: str, described: Sequence[str]) -> list[str]:
    """Words that describe somebody of whom only a part is told: `a grey beard` gives `bearded`, `grey hair` gives `grey-haired`."""
    seen = _seen_as().get(noun, "")
    if seen.startswith("-"):
        return [f"{described[-1]}{seen}"] if described else []
    return [seen] if seen else [*described, noun] if _describes(noun) else list(described)


@cache
def _seen_as() -> Mapping[str, str]:
    split = [line.split(" :: ") for line in lists("labels")["seen"]]
    return {seen: word for seen, word in split}  # noqa: C416 - a list of two is no pair


def _chosen(described: Sequence[str]) -> list[tuple[str, ...]]:
    """Up to two of the words that describe, the first choice first."""
    if len(described) < 2:
        return [tuple(described)]
    pairs = [(described[0], described[1]), (described[0], described[-1]), (described[0],), (described[-1],)]
    return list(dict.fromkeys(pairs))


def _seen(tokens: Sequence[str], low: Sequence[str], end: int) -> str:
    """What somebody is seen with or in, when it is plainly said: `an apron`."""
    if end >= len(low) or low[end] not in ("with", "in", "wearing", "carrying"):
        return ""
    words_after: list[str] = []
    for at in range(end + 1, len(low)):
        if low[at] in _BREAKS or low[at] in (",", "and"):
            break
        if tokens[at][0].isupper():
            return ""
        words_after.append(low[at])
    if words_after[:1] and words_after[0] in ("a", "an", "the"):
        words_after = words_after[1:]
    return " ".join(words_after) if 0 < len(words_after) <= 2 else ""
