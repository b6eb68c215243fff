"""Facts: what a sentence says of somebody that still holds when the talk is over."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from engine.llm.stems import stem
from engine.llm.storyteller.claims.comparing import compared
from engine.llm.storyteller.claims.complement import HANDLE
from engine.llm.storyteller.claims.lexicon import relations, stems_under
from engine.llm.storyteller.claims.reading import Claim, read_claims
from engine.llm.storyteller.claims.splitting import statements
from engine.llm.storyteller.claims.topic import topic_key
from engine.llm.storyteller.collapse.heard import Heard
from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.collapse.talk import Talk
from engine.llm.storyteller.collapse.thirdperson import sayable
from engine.llm.storyteller.collapse.wording import weight_of_words
from engine.llm.storyteller.handoff.cast import gender_by_name
from engine.llm.storyteller.handoff.deeds import weight_of
from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.handoff.salience import kinds
from engine.llm.storyteller.language.speechacts import classify
from engine.llm.storyteller.phrases import words

LONGEST: Final = 200
"""Characters of a fact."""
_MOST_TURNS = 6
_SAME: Final = 0.75
_SENSITIVE: Final = frozenset(("death", "crime", "secret"))
_HANDLES = re.compile(r"(?<![\w'])P\d+")
_POSSESSED = re.compile(r"(?<![\w'])(P\d+)'s\b")
_THIS_IS = re.compile(r"^(?:This|That|Here|It) (?:is|comes) (?P<one>.+)$")
_APPOSED = re.compile(r"^(?P<name>P\d+|[A-Z][\w'-]+(?: [A-Z][\w'-]+)?),? (?P<what>(?:P\d+'s|the|an?) .+)$")
_OF_SOMEBODY = re.compile(r"^(?P<what>P\d+'s [a-z]+(?: [a-z]+)?),? (?P<name>P\d+|[A-Z][\w'-]+)$")
_TOO = re.compile(r",? (?:too|either|also|as well|again|then)$")
_IDIOM = re.compile(r"^P\d+ (?:has (?:ears|eyes)|sends? P\d+ to P\d+)$")
"""What is only said so."""
_OFFERED = re.compile(r"\b(?:(?:could|would)(?! not)|ought to)\b")
_CLAUSE = re.compile(
    r"^(?:If|When|Whenever|Unless|Whether|Because|Although|Though|While|Until|As|Since|Who|What|Which|How|Where|Why|That|Let) (?!is\b)"
)
"""How a sentence begins that states something only in some case, or nothing at all."""
_DATED = re.compile(r"\b(?:just|right) now\b")
_WEIGHTS: Final = {
    "own": 5, "serve": 6, "fear": 6, "like": 4, "trust": 6, "live": 5, "origin": 5, "spouse": 6, "alive": 7, "name": 6, "age": 3, "know": 4,
    "owe": 6, "hunt": 6, "work": 5, "lead": 6, "guard": 5, "at": 5, "need": 5, "belong": 4,
}  # fmt: skip
_USUAL: Final = 4


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact with the turns it was taken from."""

    content: str
    about: str
    key: str
    confidence: float
    importance: int
    sensitive: bool
    turns: tuple[str, ...]
    claims: tuple[Claim, ...]
    index: int
    """Place of its first turn."""
    replaced: bool = False
    """Whether a later one says that it is so no longer."""


@cache
def _words(heading: str) -> frozenset[str]:
    return frozenset(map(stem, words("collapsing_words")[heading]))


def facts_of(one: Heard, talk: Talk) -> list[Fact]:
    """The facts of one sentence: none for small talk, questions and what cannot be told safely."""
    if one.turn.note:
        return _of_note(one, talk)
    named = _naming(one, talk)
    if one.asking or (one.ordering and not named):
        return []
    told = named or (list(statements(_introduced(one.told))) if one.told and not _CLAUSE.match(one.told) else [])
    return [fact for text in told if (fact := _fact(text, one, talk)) is not None]


def _naming(one: Heard, talk: Talk) -> list[str]:
    """`P2 is called Gareth`, for a name that nobody in the prompt goes by, and what is said with the name: `P2 is the ferryman`."""
    called = pattern("they_call").match(one.plain)
    if called is not None and one.sides.speaker is not None:
        return [f"{one.sides.speaker.handle} is called {called['name']}"] if talk.names.of(called["name"]) is None else []
    match = pattern("named").match(one.told)
    if match is None:
        return []
    surely = match["how"] != " is" or gender_by_name(match["name"]) != "they" or classify(one.said) == "introduction"
    known = match["name"] == match["who"] or talk.names.of(match["name"]) is not None
    found = [f"{match['who']} is called {match['name']}"] if surely and not known else []
    return [*found, *([f"{match['who']} is {match['what']}"] if match["what"] and (surely or known) else [])]


def _introduced(told: str) -> str:
    """Who somebody is, from how it is shown to another: `This is P3, P2's brother` is `P3 is P2's brother`."""
    shown = _THIS_IS.match(told)
    if shown is None:
        return told
    match = _APPOSED.match(shown["one"]) or _OF_SOMEBODY.match(shown["one"])
    return f"{match['name']} is {match['what']}" if match is not None else ""


def _fact(text: str, one: Heard, talk: Talk) -> Fact | None:
    """A statement as a fact; None when it tells nothing that lasts."""
    claims = read_claims(text)
    offered = not one.wording.source and _OFFERED.search(text)  # in what another is said to have said, `could` is his `can`
    idle = offered or _DATED.search(text) or _NAMED_SELF.match(text) or _IDIOM.match(text)
    if idle or not any(tells(claim, text) for claim in claims):
        return None
    content = _whole(_TOO.sub("", text))
    about = _about(content, claims[0])
    weight = min(10, _weight(claims[0], text) + weight_of_words(text) + (2 if one.turn.pinned else 1 if one.turn.hint else 0))
    return Fact(
        content, about, topic_key(text, about), one.wording.confidence, max(1, weight), one.hushed or bool(kinds(text) & _SENSITIVE),
        one.turns, claims, one.turn.index,
    ) if len(content) <= LONGEST and sayable(content, talk.handles) else None  # fmt: skip


_NAMED_SELF = re.compile(r"^(?P<who>P\d+)(?:'s name)? (?:is|is called|is named|was) (?P=who)(?:$|'s |, )")
"""What says of somebody that it is itself, or its own brother."""


def _whole(text: str) -> str:
    """A statement as a sentence."""
    text = text.strip(" ,;")
    return f"{text[:1].upper()}{text[1:]}."


def _about(text: str, claim: Claim) -> str:
    """Handle of whom a statement is about: of its subject, or of whose it is; empty for the world at large."""
    subject = claim.subject.split(":")[-1] if HANDLE.fullmatch(claim.subject.split(":")[-1]) else claim.subject.split(":")[0]
    if HANDLE.fullmatch(subject):
        return subject.upper()
    owned = _POSSESSED.match(text)
    return owned[1] if owned is not None else ""


def _weight(claim: Claim, text: str) -> int:
    relation = claim.relation.rpartition(":")[2]
    if relation == "be" and (claim.head in stems_under("trades") or claim.head in _words("work")):
        return 5
    predicate = text.partition(" ")[2]
    return _WEIGHTS.get(relation, max(_USUAL - 1, min(8, weight_of(predicate))) if claim.relation.startswith("was") else _USUAL)


def tells(claim: Claim, text: str) -> bool:
    """Whether a claim says something of somebody or something that is worth keeping."""
    mood, _, relation = claim.relation.rpartition(":")
    subject = claim.subject.rpartition(":")[2]
    vague = subject in _words("nobody") or subject in word_set("grammar", "vague")
    weight = weight_of_words(text)
    if not subject or (relation == "exist" and not claim.numbers):
        return False
    if vague and ":" not in claim.subject:
        return subject == stem("nobody") and claim.definite and bool(claim.times or claim.place or weight)
    thing = not claim.person and subject in _words("small")
    if thing and weight < 2:
        return False
    if mood in ("would", "should", "must", "try") and weight < 2:
        return False
    specific = bool(claim.proper or claim.names or claim.numbers or claim.place or weight)
    if relation == "be":
        return bool(claim.head) and (specific or _lasting(claim))
    lasting = relation in _relations() or relation == "at"
    if claim.head in _words("small") or (claim.head in word_set("grammar", "vague") and not claim.names):
        return weight >= 2
    if lasting or relation == "exist":
        return bool(claim.head or claim.numbers) or relation in ("alive", "spouse") or (relation == "know" and weight > 0)
    if relation in _empty():
        timed = not claim.person and bool(claim.times or claim.numbers)
        return weight >= 2 or timed or bool(relation in ("see", "hear", "find") and specific)
    if mood == "was":
        return weight >= 1 or bool(claim.proper or claim.names) or weight_of(text.partition(" ")[2]) > _USUAL
    return bool(claim.head) or specific or mood == "can" or bool(claim.times)


@cache
def _relations() -> frozenset[str]:
    return frozenset(one.name for one in relations().values())


@cache
def _empty() -> frozenset[str]:
    return words("collapsing_words")["empty"]


def _lasting(claim: Claim) -> bool:
    """Whether what somebody is said to be lasts longer than the talk."""
    return claim.head not in (_words("passing") if claim.person else _words("so_so")) and claim.head not in _words("small")


def _of_note(one: Heard, talk: Talk) -> list[Fact]:
    """What was done before the eyes of the one whose memory it is, when it weighs anything."""
    text = one.told.rstrip(".")
    weight = weight_of(text.partition(" ")[2])
    claims = read_claims(text)
    if weight <= _USUAL or not claims or not _HANDLES.match(text) or not sayable(text, talk.handles):
        return []
    about = _about(text, claims[0])
    content = _whole(text)
    sensitive = bool(kinds(text) & _SENSITIVE)
    fact = Fact(content, about, topic_key(text, about), 0.95, min(10, weight), sensitive, (one.turn.handle,), claims, one.turn.index)
    return [fact] if len(content) <= LONGEST else []


def together(facts: Sequence[Fact]) -> list[Fact]:
    """Facts in order, each told once: what says the same in other words is one, and says all that either says."""
    kept: list[Fact] = []
    for fact in facts:
        found = next(((at, one) for at, one in enumerate(kept) if _say_the_same(fact, one)), None)
        if found is None:
            kept = [replace(one, replaced=True) if not one.replaced and _contradict(fact, one) else one for one in kept]
            kept.append(fact)
        else:
            kept[found[0]] = _joined(found[1], fact)
    return kept


def _say_the_same(new: Fact, old: Fact) -> bool:
    if old.replaced or new.about != old.about:
        return False
    if new.content == old.content:
        return True
    found = compared(new.claims, old.claims)
    return found is not None and found.standing == "supported" and found.confidence >= _SAME


def _contradict(new: Fact, old: Fact) -> bool:
    found = compared(new.claims, old.claims) if new.about == old.about else None
    return found is not None and found.standing == "contradicted"


def _joined(old: Fact, new: Fact) -> Fact:
    """Two tellings of one fact: the words of the fuller, the confidence of the surer."""
    news = any(claim.changed for claim in new.claims) - any(claim.changed for claim in old.claims)
    fuller = new if news > 0 or (not news and len(new.content.split()) > len(old.content.split())) else old
    return replace(
        fuller, key=old.key or new.key, confidence=max(old.confidence, new.confidence), importance=max(old.importance, new.importance),
        sensitive=old.sensitive or new.sensitive, turns=tuple(dict.fromkeys((*old.turns, *new.turns)))[:_MOST_TURNS], index=old.index,
    )  # fmt: skip


def with_known_keys(facts: Sequence[Fact], talk: Talk) -> list[Fact]:
    """Facts that speak of what was known before have the key that it has."""
    known = [(one, read_claims(one.text)) for one in talk.known if one.kind == "fact" and one.key]
    found: list[Fact] = []
    for fact in facts:
        key = next((one.key for one, claims in known if compared(fact.claims, claims) is not None), "")
        found.append(replace(fact, key=key) if key else fact)
    return found
