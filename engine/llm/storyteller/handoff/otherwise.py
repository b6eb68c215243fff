"""The same telling in other words: `wanted to know from P2 who sang` for `asked P2 who sang`."""

import re
from functools import cache

from engine.llm.storyteller.handoff.questions import WH
from engine.llm.storyteller.phrases import lines

_WHO = r"(?P<who>P\d+(?:(?:, | and )P\d+)*|the others)"
_SUBJECT = re.compile(r"P\d+ ")


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    split = [line.split(" :: ") for line in lines("remembering_anew")]
    return tuple(
        (re.compile(pattern.replace("{who}", _WHO).replace("{wh}", WH) + r"(?!\w)"), words.replace("{who}", r"\g<who>"))
        for pattern, words in split
    )


def otherwise(predicate: str) -> str:
    """A predicate with another beginning, when there is one that says the same."""
    for pattern, words in _rules():
        match = pattern.match(predicate)
        if match:
            return match.expand(words) + predicate[match.end() :]
    return predicate


def clause_otherwise(clause: str) -> str:
    """A clause that begins with who did it, told in other words."""
    subject = _SUBJECT.match(clause)
    return subject[0] + otherwise(clause[subject.end() :]) if subject else clause
