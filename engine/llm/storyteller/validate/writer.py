"""A statement held against what is known, by what each claims. The reason comes first."""

import re
from dataclasses import dataclass
from typing import Final

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.claims.comparing import Finding, compared
from engine.llm.storyteller.claims.lexicon import word_set
from engine.llm.storyteller.claims.reading import read_claims
from engine.llm.storyteller.language.speechacts import stems_of
from engine.records.prompts import split_sections
from engine.records.wire import ValidateReply

_LINE = re.compile(
    r"^(?:\[?(?P<handle>K\d+)\]?:? )?\[(?P<kind>fact|decision|strategy)\] since (?P<since>[^:]+?)(?P<until>, until [^:]+)?: (?P<text>.+)$"
)
_BECAUSE = re.compile(r" \([^()]*\)$")
_WORD = re.compile(r"[a-z']+|\d+")
_MOST_AGAINST: Final = 4
_NOTHING: Final = "Nothing that is known bears on it."


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of the prompt."""

    handle: str
    kind: str
    text: str
    ended: bool
    """Whether it no longer holds."""


def weigh(request: ModelRequest) -> str:
    """The reply to task `validate` as JSON. It depends on the prompt alone: two statements stand to each other as they do."""
    sections = split_sections(request.messages[-1].content)
    stated = next(filter(None, map(_statement, sections.get("STATEMENT", "").splitlines())), None)
    known = [one for line in sections.get("KNOWN", "").splitlines() if (one := _statement(line)) is not None and one.handle]
    return verdict(stated, known).model_dump_json()


def verdict(stated: Statement | None, known: list[Statement]) -> ValidateReply:
    """How a statement stands to what is known: one contradiction weighs more than all that agrees."""
    found = [(one.handle, finding) for one in known if stated is not None and (finding := _finding(stated, one)) is not None]
    against = [(handle, finding) for handle, finding in found if finding.standing == "contradicted"]
    deciding = sorted(against or found, key=lambda each: -each[1].confidence)[:_MOST_AGAINST]
    if not deciding:
        return ValidateReply(reason=_NOTHING, against=[], verdict="unrelated", confidence=0.6)
    handles = [handle for handle, _ in deciding]
    best = deciding[0][1]
    reason = f"It cannot stand beside {handles[0]}: {best.reason}." if against else f"It agrees with {handles[0]}: {best.reason}."
    return ValidateReply(reason=reason, against=handles, verdict=best.standing, confidence=best.confidence)


def _statement(line: str) -> Statement | None:
    match = _LINE.match(line.strip())
    if match is None:
        return None
    return Statement(match["handle"] or "", match["kind"], _BECAUSE.sub("", match["text"]), bool(match["until"]))


def _finding(stated: Statement, known: Statement) -> Finding | None:
    """How two statements stand to each other. What has ended contradicts nothing."""
    if _folded(stated.text) == _folded(known.text):
        return Finding("supported", "the words are the same", 0.95)
    mine, theirs = read_claims(stated.text), read_claims(known.text)
    found = compared(mine, theirs) if mine and theirs else _by_words(stated.text, known.text)
    return None if found is not None and found.standing == "contradicted" and (stated.ended or known.ended) else found


def _by_words(one: str, other: str) -> Finding | None:
    """For what cannot be read as a claim: the same words, denied in one of the two or in none."""
    if len(stems_of(one)) < 2 or stems_of(one) != stems_of(other):
        return None
    if _denials(one) != _denials(other):
        return Finding("contradicted", "one denies the other", 0.6)
    return Finding("supported", "they say the same", 0.7)


def _denials(text: str) -> int:
    return sum(word in word_set("denials") for word in _WORD.findall(text.lower())) % 2


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")
