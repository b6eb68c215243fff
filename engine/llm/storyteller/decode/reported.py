"""Speech that is only reported, as players type it: `ask the innkeeper about the ship`, `tell her that I know`."""

import re
from functools import cache

from engine.llm.storyteller.decode.clauses import Predicate
from engine.llm.storyteller.language.roster import Roster
from engine.llm.storyteller.language.text import capital
from engine.llm.storyteller.phrases import lines

_WHOM = r"(?:(?:to |with )?(?:P\d+(?:(?:,| and) P\d+)*|her|him|them|everyone|everybody|it)\b)?"


@cache
def _rules() -> tuple[tuple[frozenset[str], re.Pattern[str], str], ...]:
    split = [line.split(" :: ") for line in lines("reported")]
    return tuple(
        (frozenset(verbs.split()), re.compile(pattern.replace("{whom}", _WHOM), re.IGNORECASE), words) for verbs, pattern, words in split
    )


def reported_words(predicate: Predicate, roster: Roster) -> str:
    """Words for a predicate that reports speech, with handles; empty when it reports none that can be put into words."""
    if predicate.negated or predicate.lead:
        return ""
    me = roster.me
    for verbs, pattern, template in _rules():
        match = pattern.fullmatch(predicate.rest) if predicate.verb.base in verbs else None
        if match and not ("{me}" in template and (me is None or me.name == "you")):
            what = re.sub(r"\b(?:myself|herself|himself)\b", "me", match["what"] or "")
            return capital(template.format(what=what.strip(" ,"), me=me.name if me else ""))
    return ""
