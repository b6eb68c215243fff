"""What somebody does, recast as what was done: past tense, no subject, nobody's own `I` or `my` left."""

import re
from collections.abc import Callable

from engine.llm.storyteller.decode.clauses import Person, Predicate
from engine.llm.storyteller.language.text import squeezed
from engine.llm.storyteller.language.verbs import reading

_PAIRS = frozenset(
    ("hands", "eyes", "arms", "shoulders", "feet", "legs", "knees", "fists", "palms", "ears", "elbows", "boots", "sleeves", "wrists")
)
_ONE_OF_TWO = frozenset(
    ("hand", "eye", "arm", "shoulder", "foot", "leg", "knee", "fist", "palm", "ear", "elbow", "boot", "sleeve", "brow", "eyebrow", "wrist",
     "finger", "thumb")
)  # fmt: skip
_IDIOMS = (
    (re.compile(r"^shook (?:my|her|his|their) head\b"), "gave a shake of the head"),
    (re.compile(r"^nodded (?:my|her|his|their) head\b"), "nodded"),
    (re.compile(r"^shrugged (?:my|her|his|their) shoulders\b"), "shrugged"),
    (re.compile(r"^cleared (?:my|her|his|their) throat\b"), "gave a small cough"),
    (re.compile(r"^held (?:my|her|his|their) breath\b"), "stood with held breath"),
    (re.compile(r"^held (?:my|her|his|their) tongue\b"), "kept silent"),
    (re.compile(r"^(?:made|took) (?:my|her|his|their) way\b"), "went"),
)
_OWN = {"first": r"\bmy\b", "third": r"\b(?:her|his|their|my)\b"}
_AFTER_OBJECT = r"P\d+|the|a|an|to|with|in|on|at|from|by|for|and|as|into|out|up|down|over|back|away|aside|through|some|it|go"
_OBJECT_END = rf"(?=$|[,.;]|\s+(?:{_AFTER_OBJECT})\b)"
_PRONOUN = re.compile(rf"\b(?:him|them|her){_OBJECT_END}")
_IT = re.compile(r"\bit\b(?=$|[,.;]|\s+(?:to|with|in|on|at|from|for|and|into|up|down|over|back|away|open|shut)\b)")
_SUBJECT_VERB = re.compile(r"\b(she|he|it|they|who|that|P\d+) (\w+)\b")


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
    text = squeezed(" ".join(part for part in (predicate.adverbs.lower(), words, rest) if part))
    return _of_nobody(text, person, last)


def past_joined(parts: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def phrase(text: str, person: Person, last: str = "") -> str:
    """A phrase beside the verb, such as `wiping my hands`, without its `my`."""
    return _of_nobody(squeezed(text), person, last)


def _of_nobody(text: str, person: Person, last: str) -> str:
    for pattern, instead in _IDIOMS:
        text = pattern.sub(instead, text)
    if last:
        text = _PRONOUN.sub(last, text)
    if person == "first" or not re.search(r"\bP[2-9]\d*\b", text):
        text = re.sub(rf"{_OWN[person]} (?:own )?(\w+)", _owned, text)
    text = re.sub(r"\b(?:while|as) I (\w+)", _gerund("while"), text)
    text = re.sub(r"\bbefore I (\w+)", _gerund("before"), text)
    text = re.sub(r"\bafter I (\w+)", _gerund("after"), text)
    text = re.sub(r"\b(?:to|by) (?:myself|herself|himself|themselves)\b", "alone", text)
    text = re.sub(r"\b(?:myself|herself|himself) (?=a |an |some |the )", "", text)
    text = re.sub(r"\b(?:myself|me|mine|I)\b", "P1", text)
    return squeezed(_SUBJECT_VERB.sub(_past_after, text))


def _owned(match: re.Match[str]) -> str:
    noun = match[1]
    if noun in _PAIRS:
        return f"both {noun}"
    if noun in _ONE_OF_TWO:
        return f"a{'n' if noun[0] in 'aeiou' else ''} {noun}"
    return f"the {noun}"


def _gerund(lead: str) -> Callable[[re.Match[str]], str]:
    def recast(match: re.Match[str]) -> str:
        verb = reading(match[1], "base", "past")
        return f"{lead} {verb.gerund}" if verb else match.group()

    return recast


def _past_after(match: re.Match[str]) -> str:
    """`until she looks up` becomes `until she looked up`."""
    word = match[2]
    if word in ("is", "are"):
        return f"{match[1]} {'was' if word == 'is' else 'were'}"
    verb = reading(word, "third")
    if verb is None and match[1] == "they":
        verb = reading(word, "base")
    return f"{match[1]} {verb.past}" if verb and not verb.nounish else match.group()
