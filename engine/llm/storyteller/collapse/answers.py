"""Answers that say nothing without what was asked: `Do you own a boat?`, `Yes.` is `I own a boat` in the mouth of who answers."""

import re
from functools import cache
from typing import Final

from engine.llm.storyteller.claims.lexicon import numbers
from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.handoff.wordforms import reading, verb
from engine.llm.storyteller.phrases import lines

_FINITE = re.compile(
    r"\b(?:i|he|she|we|they|it|P\d+) \w|\b(?:is|are|was|were|am|have|has|had|do|does|did|will|would|can|could)\b", re.IGNORECASE
)
_LOWERED = frozenset((
    "in", "at", "on", "by", "near", "from", "under", "behind", "the", "a", "an", "my", "to", "with", "for", "about", "only", "just",
))  # fmt: skip
"""Words with which an answer may begin that lose their capital within a sentence."""
_LONGEST_FRAGMENT = 9
_TURNED: Final = {"my": "your", "your": "my"}
"""What is mine to who asks is yours to who answers."""
_FIRST: Final = {"are": "am", "were": "was"}


@cache
def _questions() -> tuple[tuple[re.Pattern[str], str], ...]:
    split = [line.split(" :: ") for line in lines("collapsing_answers")]
    return tuple((re.compile(rf"(?:and |so |but |then )?(?:{pattern})$", re.IGNORECASE), statement) for pattern, statement in split)


def answered(question: str, answer: str) -> str:
    """What an answer states in the mouth of who answers; empty when it stands by itself or does not answer.

    Both are without contractions and closing marks, the answer with its `yes` or `no`.
    """
    plain = answer.strip(" .!")
    asked = pattern("asked").match(question) or pattern("thing_asked").match(question)
    if asked is not None and " or " not in f" {asked['rest']} ":
        if (yes := pattern("yes").match(plain)) is not None and _alone(plain[yes.end() :]):
            return _stated(asked, denied=False)
        if (no := pattern("no").match(plain)) is not None and _alone(plain[no.end() :]):
            return _stated(asked, denied=True)
        return ""
    if len(plain.split()) > _LONGEST_FRAGMENT or _FINITE.search(plain) or pattern("unknown").match(plain):
        return ""
    for form, statement in _questions():
        match = form.match(question)
        if match is not None:
            slots = {name: value or "" for name, value in match.groupdict().items()}
            return statement.format(answer=_within(plain), **slots)
    return ""


def _within(plain: str) -> str:
    """An answer as it stands within a sentence."""
    first = plain.split()[0].lower()
    return plain[:1].lower() + plain[1:] if first in _LOWERED or first in numbers() else plain


def _alone(rest: str) -> bool:
    """Whether nothing follows that states anything itself: `I am Ines Calder` is no yes, `I am, Ines` is one."""
    words = rest.strip(" ,.!;").split()
    return len(words) <= 2 and not (words and words[0][:1].isupper() and not rest.lstrip().startswith((",", ".", "!", ";")))


def _stated(asked: re.Match[str], *, denied: bool) -> str:
    """A question as a statement of who answers it, or its denial; empty when that is not safe."""
    auxiliary, rest = asked["aux"].lower(), asked["rest"]
    if asked.re is pattern("thing_asked"):
        what = _TURNED.get(asked["what"].split()[0].lower(), asked["what"].split()[0])
        return " ".join([what, *asked["what"].split()[1:], auxiliary, *(["not"] if denied else []), rest])
    who = asked["who"]
    if asked["not"] or (auxiliary == "have" and reading(rest.split()[0], "participle") is None and rest.split()[0] not in _LOWERED):
        return ""
    subject = "I" if who.lower() == "you" else who
    if auxiliary in ("do", "did"):
        first, _, more = rest.partition(" ")
        if denied:
            return f"{subject} {auxiliary} not {rest}"
        found = reading(first, "base")
        past = (found or verb(first)).past
        return f"{subject} {past if auxiliary == 'did' else first} {more}".rstrip()
    form = _FIRST.get(auxiliary, auxiliary) if subject == "I" else auxiliary
    return f"{subject} {form} {'not ' if denied else ''}{rest}"
