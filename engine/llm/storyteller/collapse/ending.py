"""What a talk was about, and how it ended."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from engine.llm.storyteller.claims.lexicon import word_set as claim_words
from engine.llm.storyteller.collapse.decisions import Decision
from engine.llm.storyteller.collapse.facts import Fact
from engine.llm.storyteller.collapse.heard import Heard, small
from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.collapse.steps import Step
from engine.llm.storyteller.collapse.talk import Talk
from engine.llm.storyteller.collapse.thirdperson import QUOTED, sayable
from engine.llm.storyteller.collapse.wording import weight_of_words
from engine.llm.storyteller.handoff.questions import indirect
from engine.llm.storyteller.handoff.salience import topics
from engine.llm.storyteller.handoff.sentence import Grounds
from engine.llm.storyteller.language.speechacts import stems_of
from engine.llm.storyteller.language.text import listed

Outcome = Literal["resolved", "partial", "abandoned", "delegated"]

LONGEST: Final = 160
_LEAST_WORDS: Final = 3
_TELLING: Final = 3
"""Words that say what a question is about, from which more make it no better."""
_OF_NO_ONE = re.compile(r"^(?:an?|no|this|that|his|her|its|their|two|three|four|five|six) ")
_NO_TOPICS = frozenset(("instead", "next", "all"))
_HANDLE = re.compile(r"(?<!\w)P\d+")


def goal_of(sentences: Sequence[Heard], facts: Sequence[Fact], decisions: Sequence[Decision], steps: Sequence[Step], talk: Talk) -> str:
    """What the one whose memory it is wanted, else what the other wanted, else what was spoken of."""
    for who in (talk.agent, talk.other):
        asked = [one for one in sentences if one.turn.who == who and _serious(one)]
        for one in sorted(asked, key=lambda one: (-weight_of_words(one.plain), -min(_TELLING, len(stems_of(one.plain))))):
            told = _wanted(one, talk)
            if told:
                return told
    asked_for = next((step for step in steps if step.by_asking), None)
    if asked_for is not None:
        other = talk.other if asked_for.who == talk.agent else talk.agent
        told = _fitting(f"{other} wanted {asked_for.who} {asked_for.content.partition(' is ')[2]}", talk)
        if told:
            return told
    told = " ".join([*(fact.content for fact in facts[:4]), *(one.content for one in decisions[:2])])
    idle = claim_words("times") | _NO_TOPICS
    about = [_OF_NO_ONE.sub("the ", topic) for topic in topics(told, most=4) if not set(topic.split()) & idle]
    people = [handle for handle in dict.fromkeys(_HANDLE.findall(told)) if handle not in (talk.agent, talk.other)][:2]
    spoken = listed([*people, *about[:2]][:3])
    both = f"{talk.agent} and {talk.other}"
    return (_fitting(f"{both} spoke of {spoken}.", talk) if spoken else "") or f"{both} passed the time."


def _serious(one: Heard) -> bool:
    said = one.asking and not one.turn.note and QUOTED.search(one.said) is None
    return said and len(one.plain.split()) >= _LEAST_WORDS and not small(one.plain)


def _asked_for(one: Heard) -> bool:
    return one.ordering and not one.turn.note and len(one.plain.split()) > _LEAST_WORDS


def _wanted(one: Heard, talk: Talk) -> str:
    """`P1 wanted to know who had put out the lantern.`; empty when the question cannot be told."""
    if one.sides.speaker is None or one.sides.hearer is None:
        return ""
    # by handle, whoever it is: nothing stands before it that a pronoun could mean
    speaker, hearer = replace(one.sides.speaker, owner=True), replace(one.sides.hearer, owner=True)
    told = indirect(one.plain, Grounds(talk.cast, speaker, (hearer,)), longest=20)
    return _fitting(f"{one.turn.who} wanted to know {told}.", talk) if len(told.split()) >= _LEAST_WORDS else ""


def _fitting(text: str, talk: Talk) -> str:
    return text if len(text) <= LONGEST and sayable(text, talk.handles) else ""


def outcome_of(sentences: Sequence[Heard], decisions: Sequence[Decision], steps: Sequence[Step], talk: Talk) -> Outcome:
    """How a talk ended, by what became of what was asked in it: answered or agreed, refused, left to somebody else, or some of it."""
    asked = [at for at, one in enumerate(sentences) if _serious(one) or _asked_for(one)]
    met = [_met(sentences, at) for at in asked]
    said = [one for one in sentences if not one.turn.note]
    late = said[-max(3, len(said) // 4) :]
    if any(_sent(one, talk) for one in late) and not (met and met[-1] is True and not _sent(sentences[asked[-1]], talk)):
        return "delegated"
    if any(pattern("dropped").search(one.plain) for one in late) or (met and not any(met) and not decisions and len(met) > 0):
        return "abandoned"
    if met and all(met):
        return "resolved"
    if not met:
        return "resolved" if decisions and not steps else "partial"
    return "partial"


def _sent(one: Heard, talk: Talk) -> bool:
    """Whether a sentence leaves a matter to somebody who is not there to talk."""
    match = pattern("sent").search(one.plain)
    who = (match["who"] or match["by"]) if match is not None else ""
    return bool(who) and who not in (talk.agent, talk.other) and not one.plain.startswith(("I ", "Did "))


def _met(sentences: Sequence[Heard], at: int) -> bool:
    """Whether what was asked was answered, or done, by who was asked."""
    one = sentences[at]
    later = [other for other in sentences[at + 1 :] if other.turn is not one.turn]
    if not later:
        return False
    reply = next((other for other in later if other.turn.who != one.turn.who), None)
    if reply is None:
        return False
    turn = [other for other in later if other.turn is reply.turn]
    if reply.turn.note or pattern("yes").match(reply.said):
        return True
    if one.ordering and pattern("no").match(reply.said):
        return False
    if any(pattern("unknown").match(other.plain) for other in turn):
        return False
    if pattern("no").match(reply.said) is not None or any(other.told for other in turn):
        return True
    return not all(other.asking or small(other.plain) for other in turn)
