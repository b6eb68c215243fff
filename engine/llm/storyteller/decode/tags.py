"""Speech tags: `I say to the wet stranger`, `she whispers, leaning in`. They say how and to whom, and are no deed of their own."""

import re
from dataclasses import dataclass

from engine.llm.storyteller.decode.clauses import Person, Predicate, Told
from engine.llm.storyteller.decode.deeds import named
from engine.llm.storyteller.language.roster import Roster
from engine.llm.storyteller.language.verbs import reading
from engine.llm.storyteller.phrases import lists, words
from engine.records.intents import Verb

_SPEAKING = words("speaking")
_MODIFIERS = re.compile("|".join(lists("speaking")["modifiers"]))
_INVERTED = re.compile(r"^(\w+) (I|P1|she|he|they)\b\s*(.*)$", re.DOTALL)
_NOBODY = re.compile(
    r"\b(?:to|at) (?:(?:my|her|him|them)sel(?:f|ves)|no(?:body|[ -]one)|every(?:one|body)|any(?:one|body)|the (?:room|company|air|house))\b"
)
_NOT_ADVERBS = frozenset(("only", "family", "early", "daily", "ugly", "lonely", "friendly", "reply", "holy", "fly", "sly", "likely"))
_PARTICIPLE = re.compile(r"(?:^|,\s*|\s+(?:while|as I|as she|as he|as they)\s+)(\w+)\b(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tag:
    """How and to whom something is said."""

    verb: Verb = "say"
    modifiers: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    aside: bool = False
    """Expressly to nobody in particular."""
    beside: Predicate | None = None
    """What is done meanwhile: `wiping the counter`."""


def speaks(predicate: Predicate, *, beside_speech: bool) -> bool:
    """Whether a predicate tells of speaking. Some verbs, such as `sigh`, do so only beside a speech."""
    base = predicate.verb.base
    if predicate.negated or predicate.lead:
        return False
    if not any(base in _SPEAKING[kind] for kind in ("say", "whisper", "shout")):
        return base in ("turn", "lean") and beside_speech and "P" not in predicate.rest
    return beside_speech or base not in _SPEAKING["both"]


def inverted(sentence: str) -> Predicate | None:
    """`says Bryn quietly`, names already replaced by handles, as a predicate; None for anything else."""
    match = _INVERTED.match(sentence.strip().rstrip(".!?…,;: "))
    verb = reading(match[1], "third", "past", "base") if match else None
    if match is None or verb is None:
        return None
    predicate = Predicate(verb, match[3].strip(" ,"), source=sentence)
    return predicate if speaks(predicate, beside_speech=True) else None


def split_tag(told: Told) -> tuple[list[Predicate], Predicate | None, list[Predicate]]:
    """Predicates before the one that tells of speaking, that one, and those after it."""
    for at, predicate in enumerate(told.predicates):
        if predicate.verb.base not in ("turn", "lean") and speaks(predicate, beside_speech=True):
            return list(told.predicates[:at]), predicate, list(told.predicates[at + 1 :])
    return list(told.predicates), None, []


def read_tag(predicate: Predicate, roster: Roster, last_person: str, person: Person) -> Tag:
    """The tag that a predicate of speaking makes."""
    base, rest = predicate.verb.base, predicate.rest
    beside = None
    match = _PARTICIPLE.search(rest)
    if match:
        verb = reading(match[1], "gerund") or (reading(match[1], "base", "third") if "as" in match.group()[:5] else None)
        if verb is not None:
            beside = Predicate(verb, match[2].strip(" ,"), source=f"{match[1]}{match[2]}".strip())
            rest = rest[: match.start()]
    verb_kind: Verb = "say"
    modifiers = _modifiers(f"{predicate.adverbs} {rest}".strip(), person)
    if base in _SPEAKING["whisper"] or "whisper" in rest:
        verb_kind, modifiers = "whisper", ("whispering", *(one for one in modifiers if "whisper" not in one))
    elif base in _SPEAKING["shout"] or re.match(r"out\b", rest):
        verb_kind, modifiers = "shout", ("shouting", *modifiers)
    elif base in ("snap", "growl", "hiss", "sneer"):
        modifiers = ("sharply", *modifiers)
    elif base in ("mutter", "mumble", "murmur"):
        modifiers = ("muttering" if base != "murmur" else "softly", *modifiers)
    aside = _NOBODY.search(rest) is not None
    people = () if aside else tuple(one.handle for one in named(rest, roster, last_person) if not one.thing)
    return Tag(verb_kind, tuple(dict.fromkeys(modifiers)), people, aside, beside)


def _modifiers(text: str, person: Person) -> tuple[str, ...]:
    found = [match.group() for match in _MODIFIERS.finditer(text)]
    return tuple(
        re.sub(r"\b(?:my|her|his|their)\b", "the", one) for one in found if one not in _NOT_ADVERBS and not re.search(r"\bP\d", one)
    )
