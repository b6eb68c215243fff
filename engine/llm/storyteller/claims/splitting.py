"""Sentences that state several things, cut into one statement each."""

from engine.llm.storyteller.claims.complement import STOPS
from engine.llm.storyteller.claims.reading import PRONOUNS, TOKEN, opens_clause, read_claims
from engine.llm.storyteller.claims.verbgroup import finite_alone, verb_at
from engine.llm.storyteller.handoff.sentence import is_adverb
from engine.llm.storyteller.language.text import squeezed

_CUTS = frozenset(("and", "but", ";", ","))
_POINTING = frozenset(("it", "its", "them", "their", "they", "itself", "themselves"))
_LEAST = 3
"""Words of a statement."""


def statements(text: str) -> tuple[str, ...]:
    """A sentence in the third person as statements that stand alone: `P2 serves the Duke`, `P2 owns a boat`. The sentence itself when it
    is one, or cannot be cut safely."""
    raw = TOKEN.findall(text)
    low = [token.lower() for token in raw]
    at = verb_at(low, 0)
    if at < 0 or not _CUTS & set(low[at:]):
        return (text,)
    subject, parts, start = raw[:at], list[list[str]](), 0
    for index in range(at + 1, len(low)):
        if low[index] in STOPS and low[index] not in (";", "but"):
            break  # what follows belongs to a clause within this one
        if low[index] in _CUTS and index > start and opens_clause(low, index + 1):
            parts.append(raw[start:index])
            start = index + 1
    parts.append(raw[start:])
    if any(not _POINTING.isdisjoint(map(str.lower, part)) for part in parts[1:]):
        return (text,)  # what it points back to would be lost
    told = tuple(squeezed(" ".join(_whole(part, subject))) for part in parts)
    return told if len(told) > 1 and all(len(one.split()) >= _LEAST and read_claims(one) for one in told) else (text,)


def _whole(part: list[str], subject: list[str]) -> list[str]:
    """A part with the subject that it shares with the one before."""
    while part and part[0].lower() in _CUTS:
        part = part[1:]
    first = next((word.lower() for word in part if not is_adverb(word.lower())), "")
    if first in PRONOUNS:
        return [*subject, *part[1:]]
    return [*subject, *part] if finite_alone(first) else part
