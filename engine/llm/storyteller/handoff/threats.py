"""Threats as they are told: what was demanded, by when, or else."""

import re
from collections.abc import Sequence

from engine.llm.storyteller.handoff.questions import WH, embedded
from engine.llm.storyteller.handoff.recasting import clause, phrase
from engine.llm.storyteller.handoff.salience import topics
from engine.llm.storyteller.handoff.sentence import Grounds, is_imperative, opened
from engine.llm.storyteller.handoff.telling import infinitive, with_hearers
from engine.llm.storyteller.language.speechacts import classify

_OR = re.compile(
    r"^(?P<demand>.+?),? or (?:(?P<else>else)\b,? ?)?(?:I (?:swear|promise|warn)(?:(?: you| to you)? that)?,? )?(?P<rest>.*)$",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"^you have until (?P<term>[\w' -]+?)(?:,.*)?$", re.IGNORECASE)
_WANTED = re.compile(rf"\b(?:tell me|i want to know|say|hear|asked gently|you know),? (?P<clause>{WH}\b[^,]+)", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:it|them|that|there)\b")
_YOU = re.compile(r"\byour?\b", re.IGNORECASE)
_SHORT = 5


def threat(spoken: Sequence[str], grounds: Grounds) -> str:
    """The predicate that tells a threat, as exactly as its sentences allow."""
    for index, sentence in enumerate(spoken):
        told = _alternative(sentence, spoken[index - 1] if index else "", grounds)
        if told:
            return told
    wanted = _WANTED.search(opened(" ".join(spoken)))
    asked = embedded(wanted["clause"], grounds) if wanted else ""
    if asked:
        return with_hearers(f"threatened {{who}}, to learn {asked}", grounds)
    for index, sentence in enumerate(spoken):
        term = _UNTIL.match(opened(sentence))
        if term:
            after = clause(spoken[index + 1], grounds) if index + 1 < len(spoken) else ""
            return with_hearers(f"gave {{who}} until {term['term'].strip()}", grounds) + (f"; {after}" if after else "")
    return _plain(spoken, grounds)


def _alternative(sentence: str, before: str, grounds: Grounds) -> str:
    """`Do this, or that will happen`, whatever the demand is."""
    match = _OR.match(opened(sentence))
    if match is None or sentence.rstrip().endswith("?"):
        return ""
    otherwise = clause(match["rest"], grounds, future=True) if match["rest"] else ""
    if not otherwise and not match["else"]:
        return ""
    otherwise = f"or {otherwise}" if otherwise else "or else"
    demand = match["demand"].strip(" ,")
    if is_imperative(demand):
        deed = infinitive(demand, grounds)
        context = clause(before, grounds) if before and _POINTS_BACK.search(deed) else ""
        told = f"ordered {{who}} to {deed}, {otherwise}"
        return with_hearers(f"told {{who}} that {context} and {told}" if context else told, grounds) if deed else ""
    stated = clause(demand, grounds)
    if not stated and classify(demand) != "threat":
        fragment = phrase(demand[:1].lower() + demand[1:], grounds, before="of")
        return with_hearers(f"threatened {{who}}: {fragment}, {otherwise}", grounds) if fragment else ""
    return with_hearers(f"told {{who}} that {stated}, {otherwise}", grounds) if stated else ""


def _plain(spoken: Sequence[str], grounds: Grounds) -> str:
    """A threat that names no choice: its plainest sentence after a colon, or only what it was about."""
    menacing = [sentence for sentence in spoken if classify(sentence) == "threat"]
    ordered = [*(s for s in menacing if _YOU.search(s)), *menacing, *(s for s in spoken if _YOU.search(s)), *spoken]
    short = ""
    for sentence in dict.fromkeys(ordered):
        told = clause(sentence, grounds, longest=24)
        if told and len(told.split()) >= _SHORT:
            return with_hearers(f"threatened {{who}}: {told}", grounds)
        short = short or told
    if short:
        return with_hearers(f"threatened {{who}}: {short}", grounds)
    about = [told for topic in topics(" ".join(spoken), most=1) if (told := phrase(topic, grounds, before="of"))]
    return with_hearers(f"threatened {{who}} over {about[0]}" if about else "threatened {who}", grounds)
