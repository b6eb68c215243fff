"""Whether what others say around a retelling is news: a moment of asking and answering is an echo when its question brings none. Pure.

`Ines asked Orla about the loft; Orla answered that Tam came asking for work` copies what Orla remembers of Tam. A question says what
somebody wants to know, and seldom more; but `Why did you put it out?` accuses, `Did you hear that the bridge burned?` tells, and an
answer may be all that matters. What is not surely empty counts as news.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from engine.memory.handoff.echoes import CHATTER
from engine.memory.handoff.retold import retold
from engine.memory.wording import content, names, negations, numbers, sentences
from engine.records.base import EntityId
from engine.records.memory import BufferEntry, Chunk
from engine.records.tokens import referred

_TELLING = content(
    "answer reply respond ask question want wish like know wonder learn find mean explain claim remind add insist hear whether something "
    "anything somebody anybody about"
)
"""What accounts of questions and answers are made of."""
_ASKING = CHATTER | _TELLING | content("truth thing things nothing else guess matter plain turn")
"""What questions are made of."""
_LIGHT = content("put get give take make go come keep have happen bring let see set")
"""Words of a question that say little by themselves: `Who put out the lantern` asks about the lantern."""
_OWN_WORDS = 2
"""Content words of an account that come from nobody's lines: how it was said, as whoever tells of it saw it."""
_TOPIC = 1
"""Content words of a question that has no question word. With more it may tell, or accuse."""

_WHICH = r"(?:who|whom|whose|what|where|when|why|how|which|whether)"
_QUESTION_WORD = re.compile(rf"\b{_WHICH}\b", re.IGNORECASE)
_TALK = (
    r"(?:tell|told|know|knows|knew|speak|spoke|spoken|talk|talking|talked|say|said|ask|asked|asking|hear|heard|hearing|wonder|wondering"
    r"|learn|find out)"
)
_OF = rf"(?:about|of|{_WHICH})\b"
_ASKS = re.compile(
    rf"\b(?:tell|ask|asking|speak|talk)\b(?:\W+\w+){{0,4}}?\W+{_OF}"
    rf"|\bI\W+(?:\w+\W+){{0,5}}?(?:want|wish|like|much|mean|wonder|wondering|until I|before I)\b(?:\W+\w+){{0,6}}?\W+{_OF}"
    rf"|\b(?:you|anybody|anyone|somebody|someone|everybody)\b(?:\W+\w+){{0,3}}?\W+{_TALK}\b(?:\W+\w+){{0,3}}?\W+{_OF}"
    r"|^(?:it is about|there is the matter of|of all things)\b|\bis no secret to you\b",
    re.IGNORECASE,
)
"""A question that is put as a statement."""
_POLITE = re.compile(
    r"\bis no secret to you\b|\b(?:could|would|will|can|why) (?:you )?not\b|\bnot you\b|\bwhen I was not by\b", re.IGNORECASE
)
"""Denials that deny nothing."""
_INVITES = re.compile(
    r"\b(?:tell|ask|let) (?:me|us)\b|\bI(?:['\u2019]m| am) (?:asking|listening)\b"
    r"|\bI (?:want|would like|should like|mean|have a right) to\b"
    r"|\b(?:say|tell) (?:that|it) again\b|^(?:speak|talk)\b|\basking me\b",
    re.IGNORECASE,
)
"""Somebody waits for an answer, without a question mark."""
_FRAGMENT = re.compile(r"^(?:the|that|this|your|his|her|their)(?: [\w'\u2019-]+){1,2}(?: of(?: the)? [\w'\u2019-]+)?[.!?]*$", re.IGNORECASE)
"""A topic taken up: `The great lantern. Say that again.`"""
_NAMED_TOPIC = re.compile(
    r"\b(?:about|of|over|the matter of|of all things,|what (?:is|you have|have you)(?: got)? (?:in|on|under|behind))"
    r" (?:(?:the|that|this|a|an|your|his|her|their) )?[\w'\u2019-]+(?: [\w'\u2019-]+)?(?: of (?:the )?[\w'\u2019-]+)?(?=[.,?!]|$)",
    re.IGNORECASE,
)
"""A thing, not what happened to it."""
_NAMED = 2
"""Content words of it that may be new: `the night of the wreck`."""
_BREAKING = re.compile(
    rf"\b(?:have|has|did|do) you (?:not |also |already )?(?:hear|heard|know)\b(?!\W+{_WHICH}\b)|\byou(?:['\u2019]ve)? heard\b",
    re.IGNORECASE,
)
"""How news is broken: `Have you heard about the fire?`"""
_NAMED_FIRST = re.compile(
    r"^([A-Z][\w'\u2019-]+) (?:did|does|was|is|has|had|will|would|could|can|knows|knew)\b"
)
"""A sentence whose first word may be a name: `Joss did it.`"""
_DEEDS_OF_HEARER = re.compile(
    rf"\b(?:(?:did|have|had|were|was|are|would|could|do) you|(?:is|was) it you (?:who|that))\b"
    rf"(?!\W+(?:\w+\W+)?(?:{_TALK}|mean|think|thought|help|remember|make)\b)",
    re.IGNORECASE,
)
"""Asks after what the hearer does or did, and so says that it may have been the hearer."""


class Moment(NamedTuple):
    """A chunk's words by whose they are: those of its owner, and what others said around them."""

    told: Sequence[BufferEntry]
    asides: Sequence[BufferEntry]


class Topic(NamedTuple):
    """What somebody asked about, as far as an account has it."""

    stems: frozenset[str]
    words: tuple[str, ...]
    """The same as words to search for."""


class Aside(NamedTuple):
    """What is left of the others' lines in an account."""

    topics: tuple[Topic, ...]
    """Those that have to be known already: one memory has to hold all of each."""
    people: frozenset[EntityId]
    """Whom the account refers to beside those who spoke or were spoken to."""


def moment_of(sources: Sequence[BufferEntry], owner: EntityId) -> Moment | None:
    """The words of some events parted, if they are the owner's and others' and no deeds, as far as the owner understood them."""
    if any(entry.intent.type == "action" or entry.grasp != "full" for entry in sources):
        return None
    told = [entry for entry in sources if entry.intent.actor == owner]
    asides = [entry for entry in sources if entry.intent.actor != owner]
    return Moment(told, asides) if told and asides else None


def emptied(chunk: Chunk, moment: Moment) -> Aside | None:
    """What a chunk has of the others' lines, when that is no more than what they asked about; None when it may be news.

    What an account leaves out of a line is lost with it or without; so a line counts by what the account has of it.
    """
    account = " ".join((chunk.content, *chunk.quotes))
    if _goes_beyond(account, [entry.intent.text for entry in moment.told]):
        return None
    waiting = ["?" in entry.intent.text or _INVITES.search(entry.intent.text) is not None for entry in moment.asides]
    stated = [entry.intent.text for entry, waits in zip(moment.asides, waiting, strict=True) if not waits]
    if any(quote in text for text in stated for quote in chunk.quotes):  # most moments tell news, and need not be taken apart
        return None
    kept = content(chunk.content).union(*map(content, chunk.quotes)) - _TELLING
    if any((content(text) - _ASKING) & kept for text in stated):
        return None
    own = frozenset().union(*(content(line) for entry in moment.told for line in (*retold(entry.intent.text), entry.intent.text)))
    if not kept & own:
        return None
    asked: set[str] = set()
    topics: list[Topic] = []
    passed_over = named = False
    for entry, waits in zip(moment.asides, waiting, strict=True):
        for line in sentences(entry.intent.text):
            stems = content(line) - _ASKING
            if waits and _is_question(line, stems, own, negations(account) > 0):
                asked |= content(line)
                passed_over = passed_over or not stems <= kept | _LIGHT
                known = _to_be_known(line, (stems & kept) - _LIGHT)
                topics += known
                named = named or not (known or _NAMED_TOPIC.search(line) or not _has_name(line))
            elif stems & kept:
                return None
            else:
                passed_over, named = True, named or _has_name(line)
    strange = kept - own - asked
    if len(strange) > (0 if passed_over else _OWN_WORDS):  # what was passed over may stand there in other words
        return None
    present = {who for entry in (*moment.told, *moment.asides) for who in (entry.owner_id, entry.intent.actor, *entry.intent.targets)}
    people = frozenset(referred(chunk.content)) - present
    return None if named and people else Aside(tuple(topics), people)  # `It was Tom` may stand in the account as a reference


def _has_name(line: str) -> bool:
    """Whether somebody may be named in a line."""
    first = _NAMED_FIRST.search(line)
    return bool(names(line)) or (first is not None and bool(content(first[1]) - _ASKING))


def _goes_beyond(account: str, told: Sequence[str]) -> bool:
    """Whether an account has numbers, names or denials that are not of what the owner told."""
    text = " ".join(told)
    if Counter(numbers(account)) - Counter(numbers(text) * 2):  # an account and its quotes may both have one
        return True
    spoken = set(re.findall(r"\w+", text))
    return (negations(account) > 0) > (negations(text) > 0) or not names(account) <= spoken


def _is_question(line: str, stems: frozenset[str], own: frozenset[str], denied: bool) -> bool:
    """Whether a line only asks. `own` are the stems of what the owner told, `denied` says whether the account has a denial of somebody."""
    if numbers(line) or _DEEDS_OF_HEARER.search(line) or (denied and negations(_POLITE.sub(" ", line))):
        return False
    asks = "?" in line
    if _ASKS.search(line) or _FRAGMENT.search(line) or (asks and _QUESTION_WORD.search(line)):
        return len(stems & own) <= _TOPIC + 1
    return asks and len(stems) <= _TOPIC


def _to_be_known(line: str, stems: frozenset[str]) -> list[Topic]:
    """The topic of a question, if it may tell something: that the bridge burned tells who is asked who burned it, and nobody is told
    anything by `What about the bridge?`."""
    named = _NAMED_TOPIC.search(line)
    if named is not None and len(stems) <= _NAMED and stems <= content(named[0]) and not _BREAKING.search(line):
        return []
    words = [word for word in re.findall(r"[^\W_]+", line.casefold()) if content(word) & stems]
    return [Topic(stems, tuple(dict.fromkeys(words)))] if stems else []
