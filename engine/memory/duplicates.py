"""Whether two memories tell the same (DESIGN 7). Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from engine.memory.text import bare
from engine.memory.wording import content, held_by, in_order, names, negations, numbers, opposed
from engine.records.base import EntityId
from engine.records.tokens import referred

BY_PEOPLE = ("world", "hand")
"""Origins of memories that a person wrote: no run touches their wording."""

_ENOUGH = 3
"""Content words from which an equal set of them is no coincidence."""
_SAID_ALREADY = 0.8
"""Share of a quote's content words in another from which it adds nothing."""


class Telling(Protocol):
    """What a chunk and a ledger entry have in common."""

    @property
    def content(self) -> str:
        """The account, with reference tokens."""
        ...

    @property
    def quotes(self) -> tuple[str, ...]:
        """What was said."""
        ...

    @property
    def involved_entity_ids(self) -> tuple[EntityId, ...]:
        """Whom it is about, beside the owner."""
        ...


def says_the_same(a: Telling, b: Telling) -> bool:
    """Whether two accounts whose vectors are near agree in numbers, negations and names too.

    Those they refer to and the words they share have to come in the same order: who gave and who took is told by nothing else.
    Quotes are compared only where both have some.
    """
    if _named(a, b) != _named(b, a) or not _agree(a.content, b.content) or not in_order(a.content, b.content):
        return False
    return not (a.quotes and b.quotes) or _agree(" ".join(a.quotes), " ".join(b.quotes))


def same_people(a: Telling, b: Telling) -> bool:
    """Whether all whom one involves are involved in the other too."""
    one, other = set(a.involved_entity_ids), set(b.involved_entity_ids)
    return one <= other or other <= one


def same_words(a: Telling, b: Telling) -> bool:
    """Whether two accounts are the same text, or the same content words in other forms."""
    if bare(a.content).casefold() == bare(b.content).casefold():
        return True
    stems = content(a.content)
    return len(stems) >= _ENOUGH and stems == content(b.content)


def at_odds(a: Telling, b: Telling) -> bool:
    """Whether each has content words that the other lacks: a horse here, a mule there. One that merely says more is not."""
    one, other = content(a.content), content(b.content)
    return not (one <= other or other <= one)


def adds_nothing(a: Telling, b: Telling) -> bool:
    """Whether `b` says all that `a` says: its content words, numbers and people, and nothing of it denied."""
    return (
        len(content(a.content)) >= _ENOUGH
        and content(a.content) <= content(b.content)
        and not Counter(numbers(a.content)) - Counter(numbers(b.content))
        and set(referred(a.content)) <= set(referred(b.content))
        and (negations(a.content) > 0) == (negations(b.content) > 0)
        and not opposed(a.content, b.content)
    )


def all_quotes(held: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """The quotes that a memory holds and those of `more` that they do not say already, in the same words or nearly."""
    found = list(dict.fromkeys(held))
    for quote in more:
        if quote not in found and not any(_said(quote, other) for other in found):
            found.append(quote)
    return tuple(found)


def _named(a: Telling, b: Telling) -> tuple[EntityId, ...]:
    """Whom `a` refers to, in order. What `b` leaves out and does not count among the others is its owner: it may go unsaid."""
    others = referred(b.content)
    return tuple(entity for entity in referred(a.content) if entity in others or entity in a.involved_entity_ids)


def _said(quote: str, other: str) -> bool:
    words = content(quote)
    if not words or held_by(words, content(other)) < _SAID_ALREADY or not in_order(quote, other):
        return False
    return not Counter(numbers(quote)) - Counter(numbers(other)) and negations(quote) == negations(other) and not opposed(quote, other)


def _agree(a: str, b: str) -> bool:
    return numbers(a) == numbers(b) and negations(a) == negations(b) and names(a) == names(b) and not opposed(a, b)
