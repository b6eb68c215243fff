"""Whether a deed makes sense where it is done: what it names has to be there, and no feat is beyond everybody."""

import re
from collections.abc import Collection

from engine.llm.storyteller.chance import pick
from engine.llm.storyteller.language.verbs import reading
from engine.llm.storyteller.phrases import lists, words

_WORDS = words("sense")
_LISTS = lists("sense_reasons")
_GESTURE = re.compile(r"^(?:\w+ly )?(?:slowly |then )?(\w+)(?: (\w+))?(?: (.*))?$", re.DOTALL)
_LIMBS = (
    r"(?:hands?|fingers?|thumb|chin|head|brows?|eyebrows?|shoulders?|eyes|arms?|nod|shrug|smile|bow|wave|look|sign|lift of the chin|"
    r"(?:shake|tilt|lift) of the (?:head|chin))"
)
_MOVED = re.compile(
    rf"^(?:lifted|raised|tilted|shook|waved|turned|bowed|inclined|gave|moved|held up|put up|lowered|folded|crossed|opened|closed)"
    rf" (?:P\d+ )?(?:(?:a|an|the|one|both) )?(?:\w+ )?{_LIMBS}(?:$| (?:at|to|toward|towards) P\d+$|,)"
)
_PHRASE = r"(?P<words>(?:[a-z][\w'\u2019-]* ){0,2}[a-z][\w'\u2019-]+)"
_ONTO = re.compile(
    r"\b(?:off|from|onto|up|down|over|at|on top of|into|inside|under|behind|through|across|against|with|beside|in front of|towards?|to)"
    rf" (?:the|that|this|those|these) {_PHRASE}"
)
_OBJECT = re.compile(rf"^(?:\w+ly )?\w+(?: (?:up|open|out|down|off|away|at|over|on))? the {_PHRASE}")
_WIELDED = re.compile(
    r"\b(?:drew|pulled out|pulled|produced|fired|swung|aimed|brandished|wielded|with|threw|lit) (?:a|an|one) (?:\w+ )?(?P<words>[a-z]+)\b"
)
_NAMED = re.compile(r"\b(?!P\d)([A-Z][a-z]+(?: [A-Z][a-z]+)?)\b")
_FROM_SOMEBODY = re.compile(
    r"^(?:took|take|pulled|pull|snatched|snatch|grabbed|grab|got|get|fetched|stole|steal|lifted|lift|removed|remove|picked|pick) "
    r"(?P<what>(?:the|a|an|some|all|every|any) (?!step|pace|breath|seat|look|sip|chair|bite|little|long|bit)(?:[\w'-]+ ){1,3})(?:back )?"
    r"(?:from|off|out of) (?:the \w+ of )?(?P<who>P\d+)\b"
)


def is_gesture(deed: str) -> bool:
    """Whether a deed is no more than a nod or a shrug, which nothing can prevent."""
    match = _GESTURE.match(deed.strip())
    if match is None:
        return False
    first = match[1]
    verb = reading(first, "past", "base")
    if verb is not None and verb.base in _WORDS["gesture"] and " into " not in deed:
        return True
    return _MOVED.match(deed) is not None


def absurd(deed: str, known: str, awake: Collection[str], *parts: object) -> str:
    """Why a deed cannot be, seeing what is around (`known`: all that the prompt names); empty when it may.

    `awake` are the handles of people who would notice. `parts` decide between reasons alike.
    """
    bare = re.sub(r"^(?:tried|attempted|began|started) to (?=\w)", "", deed)
    held = _FROM_SOMEBODY.match(bare)
    if held and held["who"] in awake:
        return pick(_LISTS["held"], *parts).replace("{it}", held["who"])
    around = _forms(known)
    for name in _NAMED.findall(bare[1:]):
        if not any(word.casefold() in around for word in name.split()) and name.split()[0].casefold() not in _WORDS["fine"]:
            return pick(_LISTS["nobody"], *parts).replace("{who}", name)
    for noun in _specific(bare):
        if not _around(noun, around):
            return pick(_LISTS["nothing"], *parts).replace("{what}", noun)
    return ""


def _specific(deed: str) -> list[str]:
    """Nouns with `the` for things so large or singular that they would be told of if they were there."""
    matches = (*_ONTO.finditer(deed), *filter(None, [_OBJECT.match(deed)]))
    found = [noun for match in matches if (noun := next(filter(_notable, match["words"].split()), ""))]
    return found + [match["words"] for match in _WIELDED.finditer(deed) if match["words"] in _WORDS["weapon"]]


def _notable(noun: str) -> bool:
    return noun in _WORDS["notable"] or noun.removesuffix("s") in _WORDS["notable"]


def _around(noun: str, around: frozenset[str]) -> bool:
    one = noun.removesuffix("s")
    alike = [group for group in map(str.split, _LISTS["alike"]) if noun in group or one in group]
    return bool({noun, one, f"{noun}s", *(word for group in alike for word in group)} & around)


def _forms(known: str) -> frozenset[str]:
    return frozenset(form for word in re.findall(r"[a-z]+", known.casefold()) for form in (word, word.removesuffix("s")))
