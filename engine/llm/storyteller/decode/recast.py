"""What somebody does, recast as what was done: past tense, no subject, nobody's own `I` or `my` left."""

import re

from engine.llm.storyteller.decode.clauses import Person, Predicate
from engine.llm.storyteller.decode.possessives import without_owner
from engine.llm.storyteller.decode.subordinate import without_doer
from engine.llm.storyteller.language.text import squeezed

_AFTER_OBJECT = r"P\d+|the|a|an|to|with|in|on|at|from|by|for|and|as|into|out|up|down|over|back|away|aside|through|some|it|go"
_OBJECT_END = rf"(?=$|[,.;]|\s+(?:{_AFTER_OBJECT})\b)"
_PRONOUN = re.compile(rf"\b(?:him|them|her){_OBJECT_END}")
_IT = re.compile(r"\bit\b(?=$|[,.;]|\s+(?:to|with|in|on|at|from|for|and|into|up|down|over|back|away|open|shut)\b)")
_HARM = re.compile(r"^(?:tried to )?(\w+) P1\b(.*)$", re.DOTALL)
_HARMING = frozenset(
    ("killed", "stabbed", "murdered", "strangled", "hanged", "hung", "shot", "poisoned", "drowned", "beheaded", "cut", "burned",
     "hurt", "attacked", "hit", "struck", "beat", "punched", "kill", "stab", "murder", "hang", "shoot", "drown", "attack")
)  # fmt: skip
_OWN_NAME = re.compile(r"\s*\b(?:(?:at|to|on|over|around|about|with|from|for) )?P1\b(?!['\u2019]s)(?! \w+ed\b)")


def past_summary(predicate: Predicate, person: Person, last: str = "", thing: str = "") -> str:
    """The predicate in the past tense without subject. `her`, `him` and `them` stand for `last`, `it` for `thing` (handles)."""
    verb = predicate.verb
    if predicate.negated:
        words = f"{'could' if predicate.modal else 'did'} not {verb.base}"
    elif predicate.lead:
        words = f"{predicate.lead} {verb.gerund if predicate.lead == 'stopped' else verb.base}"
    else:
        words = verb.past
    rest = _IT.sub(thing, predicate.rest) if thing else predicate.rest
    rest = rest.replace("P1 himself", "P1").replace("P1 herself", "P1")
    text = squeezed(" ".join(part for part in (predicate.adverbs.lower(), words, rest) if part))
    return _of_nobody(text, person, last)


def past_joined(parts: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def phrase(text: str, person: Person, last: str = "") -> str:
    """A phrase beside the verb, such as `wiping my hands`, without its `my`."""
    return _of_nobody(squeezed(text), person, last)


def _of_nobody(text: str, person: Person, last: str) -> str:
    text = _to_oneself(text)
    if last:
        text = _PRONOUN.sub(last, text)
    if person == "first" or not re.search(r"\bP[2-9]\d*\b", text):
        text = without_owner(text, person)
    return squeezed(without_doer(text, person)).strip(" ,;")


def _to_oneself(text: str) -> str:
    """A deed done to its own doer does not name that one twice."""
    harm = _HARM.match(re.sub(r"\b(?:me|myself|himself|herself)\b", "P1", text))
    if harm and harm[1] in _HARMING:
        return f"tried to come to harm{_OWN_NAME.sub('', harm[2])}"
    return _OWN_NAME.sub("", text) if "P1" in text else text
