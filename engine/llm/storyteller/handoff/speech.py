"""What was said, as it would be told."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from engine.llm.storyteller.handoff.bank import Known, known
from engine.llm.storyteller.handoff.beats import AMBIENT as _AMBIENT
from engine.llm.storyteller.handoff.deeds import weight_of
from engine.llm.storyteller.handoff.hearsay import first_hand, shorter_way
from engine.llm.storyteller.handoff.moments import Moment
from engine.llm.storyteller.handoff.pressing import pressed_for
from engine.llm.storyteller.handoff.questions import WH, indirect
from engine.llm.storyteller.handoff.recasting import clause, phrase
from engine.llm.storyteller.handoff.report import Report, Scene
from engine.llm.storyteller.handoff.salience import bonus, kinds, topics
from engine.llm.storyteller.handoff.sentence import Grounds, is_imperative, opened, unaddressed
from engine.llm.storyteller.handoff.telling import facts, fill, infinitive, with_hearers
from engine.llm.storyteller.handoff.threats import threat
from engine.llm.storyteller.handoff.understood import understood
from engine.llm.storyteller.handoff.within import quoted
from engine.llm.storyteller.handoff.wordforms import reading
from engine.llm.storyteller.language.speechacts import classify
from engine.llm.storyteller.language.text import listed, sentences
from engine.llm.storyteller.phrases import lines

_PRICE = re.compile(
    r"^(?P<sum>(?:an?|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|\d[\d,.]*)"
    r"(?:[ -][\w-]+){0,2} [a-z]+?(?: (?:a|an|per|for the|the) \w+)?)(?:,.*)?$",
    re.IGNORECASE,
)
_NO_CHANGE = frozenset(("small", "pass", "thanks", "kind", "remind"))
_MERE = frozenset(("state", "answer"))
_TOLD = _MERE | {"claim"}
_SMALL = frozenset(("small", "pass", "thanks", "kind", "sorry", "no", "yes", "ask_name", "faint"))
_WHISPERED = 6
"""The least that whispered words weigh when they say anything."""
_WITNESS = re.compile(r"\bI (?:saw|heard|watched|found|was there|recogni[sz]ed)\b")
"""What makes a telling that of an eye-witness."""
_WITNESSED = 6
_OWN_DEED = re.compile(r"^I (?P<deed>\w+(?: .+)?)$")
_QUOTED = frozenset((
    "threat", "vow", "confess", "promise", "offer", "name", "accuse", "love", "warn", "reproach", "witness", "secret",
))  # fmt: skip
"""Acts whose words are kept as they were said."""
_LONGEST_QUOTE = 34
_QUOTE_WEIGHT = 5
_AT_OTHERS = re.compile(
    r"\bI(?: would| will| shall|['\u2019]d|['\u2019]ll) (?:kill|hang|ruin|burn|hurt|break|drown|end) (?:him|her|them)\b", re.IGNORECASE
)
_YOU = re.compile(r"\byour?\b", re.IGNORECASE)
_HEAVY = 2
"""Bonus from which a matter is no small one."""
_TRIVIAL = 4
"""Words below which a sentence that does nothing in particular is passed over."""


@dataclass(frozen=True, slots=True)
class _Rule:
    act: str
    weight: int
    pattern: re.Pattern[str]
    tellings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one sentence does."""

    act: str
    weight: int
    predicate: str
    sentence: str
    """As it was said."""
    source: str
    """As it was understood: pronouns that point back resolved."""
    bare: bool = False
    """Whether the predicate says too little without the words."""


@cache
def _rules() -> tuple[_Rule, ...]:
    split = [line.split(" :: ") for line in lines("remembering_speech")]
    return tuple(
        _Rule(act, int(weight), re.compile(pattern.replace("{wh}", WH), re.IGNORECASE), tuple(tellings.split(" | ")))
        for act, weight, pattern, tellings in split
    )


def spoken_report(moment: Moment, scene: Scene, asked: Report | None, before: Sequence[Report] = ()) -> Report:
    """What a speech amounts to. `asked` is the weighty question it may answer, `before` what happened up to it."""
    grounds = scene.grounds(moment)
    report = _report(moment, grounds, asked, before)
    predicate = shorter_way(first_hand(report.predicate))
    report = replace(report, predicate=predicate)
    if moment.whispered and moment.words and predicate and report.act not in _SMALL and report.weight >= _AMBIENT:
        weight = max(_WHISPERED, min(_WHISPERED + 2, report.weight + 1), report.weight)
        return replace(report, weight=weight, quote=report.quote or _quote(moment.words))
    return report


def _report(moment: Moment, grounds: Grounds, asked: Report | None, before: Sequence[Report] = ()) -> Report:
    if not moment.words:
        whisper = with_hearers("whispered to {who}", grounds) if moment.who else ""
        return Report(moment, whisper, "whisper" if moment.who else "faint", 2 if moment.who else 1)
    words = unaddressed(moment.words, grounds.cast)
    found = known(words) or known(moment.words)
    stock = _from_bank(moment, found, words, grounds, before) if found is not None else None
    if found is not None and stock is not None and (stock.predicate or not found.slots or not found.tellings):
        return stock
    said = sentences(words)
    act = classify(words)
    if act == "threat" and (_YOU.search(words) or not _AT_OTHERS.search(words)):
        return _threat(moment, said, grounds)
    if act == "introduction":
        return Report(moment, fill("{name}", {}, grounds), "name", 4, _naming(moment.words))
    if act == "ask_name":
        return Report(moment, with_hearers("asked {who} for a name", grounds), "ask_name", 2)
    parts = [_part(text, source, grounds, asked) for text, source in understood(said)]
    return _best(moment, parts, grounds, asked)


def _from_bank(moment: Moment, found: Known, words: str, grounds: Grounds, before: Sequence[Report]) -> Report:
    weight, quote = found.weight, ""
    slots = dict(found.slots)
    if "quote" in slots:
        return _from_quoted(moment, found, grounds)
    after = -1
    if any("{matter}" in telling for telling in found.tellings):
        slots["matter"], after = pressed_for(moment, before)
        weight = weight if slots["matter"] else min(weight, _AMBIENT)
    elif found.act == "promise":
        slots["promised"] = _promised(words, grounds)
    if "{threat}" in found.tellings:
        if "clause" in slots:
            told = fill("threatened {who}, to learn {clause}", slots, grounds) or threat(sentences(words), grounds)
        else:
            told = threat(sentences(words), grounds)
        return Report(moment, told, "threat", _menace(words), _quote(moment.words))
    told, bare = _first_told(found.tellings, slots, grounds)
    matter = " ".join(slots.values())
    if "fact" in slots and _WITNESS.search(slots["fact"]):
        weight = max(weight, _WITNESSED)
    elif "fact" in slots and all(map(_small_deed, sentences(slots["fact"]))):
        weight = _AMBIENT  # what somebody tells of its own small doings is as small
    if found.act not in _NO_CHANGE and bonus(matter) >= 3 and weight < (5 if found.act == "ask" else 7):
        weight += 1
    if not told and "fact" in slots:
        told = _topics_told(slots["fact"], grounds)
    if found.act == "name":
        quote = _naming(moment.words)
    elif found.act in _QUOTED or (found.act == "answer" and weight > _QUOTE_WEIGHT):
        quote = _quote(moment.words, slots.get("fact", ""))
    brief = with_hearers("pressed {who} for an answer", grounds) if after >= 0 else ""
    return Report(moment, told, found.act, weight, quote or (_quote(moment.words) if bare else ""), bare, brief, after)


def _first_told(tellings: Sequence[str], slots: Mapping[str, str], grounds: Grounds) -> tuple[str, bool]:
    """The first telling whose parts can be told, and whether it says too little without the words."""
    for telling in tellings:
        told = fill(telling.removesuffix("*"), slots, grounds)
        if told:
            return told, telling.endswith("*")
    return "", False


def _from_quoted(moment: Moment, found: Known, grounds: Grounds) -> Report:
    """A speech that repeats somebody's words: told with what they say, and as heavy."""
    slots, inner = quoted(found.slots, moment, grounds, lambda one, of: _report(one, of, None), heard=found.act == "press")
    told, bare = _first_told(found.tellings, {**found.slots, **slots}, grounds)
    weight = max(found.weight, inner.weight)
    quote = _quote(moment.words, found.slots["quote"]) if bare or weight > _QUOTE_WEIGHT else ""
    return Report(moment, told, found.act, weight, quote, bare)


def _promised(words: str, grounds: Grounds) -> str:
    """What is promised, as it stands after `promised P2`; empty when that cannot be told."""
    head = with_hearers("promised {who} ", grounds)
    for sentence in sentences(words):
        part = _part(sentence, sentence, grounds, None)
        if part.act == "promise" and part.predicate.startswith(head):
            return part.predicate.removeprefix(head)
    return ""


def _threat(moment: Moment, said: Sequence[str], grounds: Grounds) -> Report:
    return Report(moment, threat(said, grounds), "threat", _menace(moment.words), _quote(moment.words))


def _menace(words: str) -> int:
    """8, and 9 when violence is in it."""
    return 9 if kinds(words) & {"death", "violence"} else 8


def _part(sentence: str, source: str, grounds: Grounds, asked: Report | None) -> _Part:
    opening, asking = opened(source), source.rstrip("\"'\u201d").endswith("?")
    for rule in _rules():
        match = rule.pattern.search(opening)
        if match is None or (asking and rule.tellings[0].startswith("told ")):
            continue
        parts = {"all": opening} | {name: value or "" for name, value in match.groupdict().items()}
        told, bare = _first_told(rule.tellings, parts, grounds)
        if told:
            told = re.sub(r"^told (?:P\d+(?:(?:, | and ))?)+ that\b", "answered that", told) if asked is not None else told
            heavier = rule.act not in _NO_CHANGE and bonus(opening) >= 2 and rule.weight < (5 if rule.act == "ask" else 7)
            return _Part(rule.act, rule.weight + heavier, told, sentence, source, bare)
    if asking:
        return _question(sentence, source, grounds)
    return _statement(sentence, source, opening, grounds, asked)


def _question(sentence: str, source: str, grounds: Grounds) -> _Part:
    about = topics(source)
    weight = 3 + bool(about) + (bonus(source) >= 2)
    told = indirect(source, grounds)
    if told and len(told.split()) >= _TRIVIAL:
        return _Part("ask", weight, with_hearers(f"asked {{who}} {told}", grounds), sentence, source)
    subject = _named(about, grounds)
    if subject:
        return _Part("ask", weight, with_hearers(f"asked {{who}} about {subject}", grounds), sentence, source)
    return _Part("ask", 2, with_hearers(f"asked {{who}} {told}", grounds) if told else "", sentence, source)


def _statement(sentence: str, source: str, opening: str, grounds: Grounds, asked: Report | None) -> _Part:
    about, added = topics(source), bonus(source)
    if is_imperative(opening):
        deed = infinitive(opening, grounds) if len(opening.split()) >= _TRIVIAL else ""
        told = with_hearers(f"told {{who}} to {deed}", grounds) if deed else ""
        return _Part("order", min(6, 1 + added + bool(about and deed)), told, sentence, source)
    price = _PRICE.match(opening)
    if price and "money" in kinds(price["sum"]):
        return _Part("price", 5, f"named a price, {price['sum'][:1].lower() + price['sum'][1:]}", sentence, source)
    stated = clause(source, grounds)
    weight = min(7, 2 + bool(about) + added)
    if asked is None and _small_deed(opening):
        weight = _AMBIENT
    if stated and len(stated.split()) >= _TRIVIAL:
        weight = max(weight, 4) if asked is not None else weight
        return _Part("answer" if asked is not None else "state", weight, told_that(stated, grounds, asked), sentence, source)
    return _Part("state", max(1, weight - 1), _topics_told(source, grounds), sentence, source, bare=True)


def _small_deed(sentence: str) -> bool:
    """Whether a sentence tells a doing of its speaker's that would not be remembered either."""
    deed = _OWN_DEED.match(opened(sentence))
    past = deed is not None and reading(deed["deed"].split()[0], "past") is not None
    return deed is not None and past and bonus(sentence) < _HEAVY and weight_of(deed["deed"]) <= _AMBIENT


def told_that(stated: str, grounds: Grounds, asked: Report | None) -> str:
    """`told P1 that ...`, or `answered that ...` for an answer."""
    return f"answered that {stated}" if asked is not None else with_hearers(f"told {{who}} that {stated}", grounds)


def _best(moment: Moment, parts: Sequence[_Part], grounds: Grounds, asked: Report | None) -> Report:
    """The weightiest of what the sentences do, joined with the next when both only tell something."""
    telling = [part for part in parts if part.predicate]
    if not telling:
        return Report(moment, "", "small", max((part.weight for part in parts), default=1) if len(moment.words.split()) > 3 else 1)
    best = max(
        telling, key=lambda part: (part.weight + (part.act == "ask"), part.act == "ask", part.act not in _MERE, -parts.index(part))
    )
    predicate, kept = best.predicate, [best.sentence]
    telling_more = sum(part.act in _TOLD for part in telling) > 1
    if best.act in _MERE or (best.act in _TOLD and telling_more):
        following = [part for part in parts if part.act in _TOLD and not part.sentence.endswith("?")]
        stated = facts(" ".join(part.source for part in following), grounds)
        if stated:
            predicate, kept = told_that(stated, grounds, asked), [part.sentence for part in following]
    worth = best.act in _QUOTED or (best.weight >= _QUOTE_WEIGHT and best.act not in ("order", "request"))
    quote = _quote(moment.words, " ".join(kept)) if worth or best.bare else ""
    return Report(moment, predicate, best.act, best.weight, quote, best.bare and predicate == best.predicate)


def _topics_told(text: str, grounds: Grounds) -> str:
    subject = _named(topics(text), grounds)
    return with_hearers(f"spoke to {{who}} of {subject}", grounds) if subject else ""


def _named(about: Sequence[str], grounds: Grounds) -> str:
    told = [one for topic in about if (one := phrase(re.sub(r"^(?:an?|no|this|that) ", "the ", topic), grounds, before="of"))]
    return listed(told)


def _naming(words: str) -> str:
    """The sentence in which somebody gives a name."""
    return next((sentence for sentence in sentences(words) if classify(sentence) == "introduction"), "")


def _quote(words: str, preferred: str = "") -> str:
    """Words worth keeping, as they were said: the preferred ones as they stand there, else all, else the first sentences that fit.
    None of what holds no letter and no figure."""
    if not any(character.isalnum() for character in words):
        return ""
    if preferred in words and 0 < len(preferred.split()) <= _LONGEST_QUOTE:
        return preferred
    opening = [one.rstrip(" .!?\u2026") for one in sentences(preferred)]
    for sentence in sentences(words) if preferred else ():
        if sentence.startswith(tuple(opening)) and _TRIVIAL <= len(sentence.split()) <= _LONGEST_QUOTE:
            return sentence  # with the name of whom it was said to
    if len(words.split()) <= _LONGEST_QUOTE:
        return words
    kept = ""
    for sentence in sentences(words):
        longer = words[: words.find(sentence, len(kept)) + len(sentence)]
        if preferred or len(longer.split()) > _LONGEST_QUOTE:
            break
        kept = longer
    return kept
