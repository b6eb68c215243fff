"""Sentences of a speech as they are understood: what points back to another sentence is resolved."""

import re
from collections.abc import Sequence

from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.handoff.salience import topics
from engine.llm.storyteller.handoff.sentence import finite, opened
from engine.llm.storyteller.handoff.wordforms import reading

_ECHO = re.compile(
    r"^(?:did|do|does|have|has|are|is|were|was|will|would|can|could) (?:you|he|she|it|they|that)(?: not)?\?$"
    r"|^(?:is (?:it|that) (?:true|so))\?$",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"^(?:they|people|i|you)(?: all)? (?:say|tell me|hear|heard|am told|was told|think|said)(?: that)? (?=\w)", re.IGNORECASE
)
_POINTING = re.compile(
    r"(?<=\w) (?P<pronoun>it|him|her|them)"
    r"(?=[.,!?;]|$| (?:in|to|up|out|off|back|down|ashore|with|on|at|from|for|away)\b)"
)
_PLEDGE = re.compile(r"^I (?:promise|swear|give you my word)(?: on)?(?: you)?(?: that| it)?[.!]$")
_FRAGMENT = re.compile(r"^(?:not|only|no|nothing|just) [^,]*, (?:and|but) ", re.IGNORECASE)
_SUBJECT = re.compile(r"^(?:He|She|It)(?= \w)")
_LONGEST_NAME = 5
"""Words of what somebody only names."""
_NAMED = re.compile(r"^(?P<name>(?:The|A|An|My|Our) [\w' -]+?|[A-Z][\w'-]+ [A-Z][\w'-]+)(?:, .+|[.!?\u2026]*)$")


def understood(said: Sequence[str]) -> list[tuple[str, str]]:
    """Sentences as said and as understood: `They say you left. Did you?` is one question; `it` after one thing means that thing."""
    found: list[tuple[str, str]] = []
    for index, sentence in enumerate(said):
        if _ECHO.match(sentence) and found:
            before, source = found.pop()
            found.append((f"{before} {sentence}", _HEARSAY.sub("", source).rstrip(".") + "?"))
        elif _PLEDGE.match(sentence) and found:
            before, source = found.pop()
            pledged = source if re.match(r"I\b", source) else source[:1].lower() + source[1:]
            found.append((f"{before} {sentence}", f"I promise you that {pledged}"))
        else:
            source = _resolved(sentence, said[index - 1]) if index else sentence
            found.append((sentence, _FRAGMENT.sub("", source)))
    return found


def with_subject(sentence: str, before: str) -> str:
    """A sentence whose `she` is what the sentence before only names, with that: `The Patient Margaret, brig. She struck the Teeth.`"""
    match = _NAMED.match(before.strip())
    if match is None or not _SUBJECT.match(sentence):
        return sentence
    words = opened(match["name"]).split()[1:]
    if len(words) >= _LONGEST_NAME or any(map(_verbal, words)):
        return sentence
    return _SUBJECT.sub(match["name"], sentence, count=1)


def _verbal(word: str) -> bool:
    verb = reading(word, "past", "third")
    return finite(word) or (verb is not None and not verb.nounish)


def _resolved(sentence: str, before: str) -> str:
    """The sentence with a pronoun replaced by the one thing or person that the sentence before speaks of."""
    sentence = with_subject(sentence, before)
    match, about = _POINTING.search(sentence), topics(before, most=3)
    if match is None or len(about) != 1 or about[0].split()[0] not in ("the", "a", "an", "that"):
        return sentence
    noun = about[0].split()[-1]
    women, men = noun in word_set("people", "women"), noun in word_set("people", "men")
    fits = {"her": women, "him": men, "it": not women and not men and not noun.endswith("s"), "them": noun.endswith("s")}
    if not fits[match["pronoun"]]:
        return sentence
    return f"{sentence[: match.start('pronoun')]}the {' '.join(about[0].split()[1:])}{sentence[match.end('pronoun') :]}"
