"""Tellings: templates like `asked {who} {clause}`, filled from the parts of a sentence."""

import re
from collections.abc import Mapping
from typing import Final

from engine.llm.storyteller.handoff.questions import WH, embedded
from engine.llm.storyteller.handoff.recasting import clause, phrase
from engine.llm.storyteller.handoff.sentence import Grounds, opened
from engine.llm.storyteller.handoff.understood import with_subject
from engine.llm.storyteller.handoff.wordforms import reading, verb
from engine.llm.storyteller.language.text import sentences

_SLOT = re.compile(r"\{(\w+)\}")
_GIVING = re.compile(
    r"^(bring|give|fetch|show|hand|lend|pay|send|get|leave|find) me (?=(?:the|a|an|my|your|her|his|its|their|what|that|this|some)\b)"
)
_SAYING = re.compile(rf"^tell me (?={WH}\b)", re.IGNORECASE)
_ARTICLE: Final = ("The ", "A ", "An ", "My ", "Your ", "His ", "Her ", "That ", "This ")
_LONGEST_FACT = 30


def fill(template: str, parts: Mapping[str, str], grounds: Grounds) -> str:
    """The telling with its slots filled; empty when a part cannot be told."""
    told = with_hearers(template, grounds)
    for slot in _SLOT.findall(told):
        value = _part(slot, parts, grounds)
        if not value:
            return ""
        told = told.replace(f"{{{slot}}}", value)
    return told


def with_hearers(template: str, grounds: Grounds) -> str:
    """The telling with `{who}` filled, or worded without it when nobody in particular was spoken to."""
    who = grounds.cast.called([person.handle for person in grounds.hearers])
    if who:
        return template.replace("{who}", who)
    template = re.sub(r"^(?:told|answered) \{who\} that", "said that", template)
    template = re.sub(r" (?:to|of|for|with|from) \{who\}", "", template)
    template = re.sub(r"^(asked|promised) \{who\}", r"\1", template)
    return template.replace("{who}", "the others")


def infinitive(text: str, grounds: Grounds, *, longest: int = 24) -> str:
    """An opened imperative, `bring me her letter`, as it stands after `to`; empty when it cannot be told safely."""
    text = re.sub(r"^(?:please|just|only|kindly|now|then) ", "", text, flags=re.IGNORECASE)
    negated = re.match(r"^(?:do not|never) ", text, re.IGNORECASE)
    text = text[negated.end() :] if negated else text
    text = text[:1].lower() + text[1:]
    if _SAYING.match(text):
        asked = embedded(_SAYING.sub("", text), grounds)
        return f"say {asked}" if asked else ""
    if not grounds.speaker.owner:
        text = _GIVING.sub(r"\1 ", text)
    told = phrase(text, grounds, before="to", longest=longest)
    return f"not to {told}" if negated and told else told


def _part(slot: str, parts: Mapping[str, str], grounds: Grounds) -> str:
    text = parts.get(slot, "")
    match slot:
        case "clause":
            return embedded(text, grounds)
        case "deed":
            return infinitive(opened(text), grounds).removeprefix("not to ") if text else ""
        case "all":
            return clause(text, grounds)
        case "had":
            return _had(parts.get("all", ""), grounds)
        case "fact":
            return facts(text, grounds)
        case "gerund":
            return _gerund(text, parts.get("rest", ""), grounds)
        case "as":
            return text.lower()
        case "person":
            return text[:1].lower() + text[1:] if text.startswith(_ARTICLE) else text
        case "name":
            return _name(grounds)
        case "self":
            return grounds.speaker.form("subject")
        case "past":
            return phrase(text, grounds, before="who")
        case "to":
            deed = infinitive(opened(text), grounds)
            return deed if deed.startswith("not to ") or not deed else f"to {deed}"
        case "heard" | "recalled" | "words" | "matter" | "promised":
            return text
        case _:
            return phrase(text[:1].lower() + text[1:] if text.startswith(_ARTICLE) else text, grounds, before="of") if text else ""


def _had(text: str, grounds: Grounds) -> str:
    match = re.match(r"^you (\w+)\b(.*)$", opened(text), re.IGNORECASE)
    found = reading(match[1], "past") if match else None
    return clause(f"you had {found.participle}{match[2]}", grounds) if match and found else ""


def _gerund(word: str, rest: str, grounds: Grounds) -> str:
    first, *more = word.split()
    found = reading(first, "past")
    gerund = first if first.endswith("ing") else found.gerund if found else verb(first).gerund
    return phrase(f"{' '.join([gerund, *more])}{rest}", grounds, before="of")


def _name(grounds: Grounds) -> str:
    speaker = grounds.speaker
    owned = "a name" if speaker.gender == "they" and not speaker.owner else f"{speaker.form('possessive')} name"
    return with_hearers(f"gave {{who}} {owned}" if grounds.hearers else f"gave {owned}", grounds)


def facts(text: str, grounds: Grounds) -> str:
    """What somebody told, as one clause or two: `the boat was gone, and that the rope had been cut`."""
    told: list[str] = []
    said = sentences(text)
    for index, sentence in enumerate(said):
        source = with_subject(sentence, said[index - 1]) if index and not told else sentence
        one = clause(source, grounds, longest=_LONGEST_FACT)
        if not one:
            continue
        if told and len(" ".join([*told, one]).split()) > _LONGEST_FACT + 4:
            break
        told.append(one)
        if len(told) == 2:
            break
    return ", and that ".join(told)
