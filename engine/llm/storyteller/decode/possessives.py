"""What is one's own, told of nobody in particular: `my thumb` as `one thumb`, `my cap` as `the cap`."""

import re

from engine.llm.storyteller.decode.clauses import Person
from engine.llm.storyteller.phrases import words

_BODY = words("body")
_IDIOMS = (
    (re.compile(r"^shook OWN head\b"), "gave a shake of the head"),
    (re.compile(r"^nodded OWN head\b"), "nodded"),
    (re.compile(r"^(?:bowed|inclined|bent) OWN head\b"), "bowed"),
    (re.compile(r"^(?:lowered|hung|dropped) OWN head\b"), "looked down"),
    (re.compile(r"^raised OWN head\b"), "looked up"),
    (re.compile(r"^(lift|tilt)(?:ed)? OWN (chin|head)(?: (?:at|to) (P\d+))"), r"gave \3 a \1 of the \2"),
    (re.compile(r"^(lift|tilt)(?:ed)? OWN (chin|head)\b"), r"gave a \1 of the \2"),
    (re.compile(r"^(?:raised|lifted) OWN (?:eye)?brows?(?: at (P\d+))"), r"gave \1 a questioning look"),
    (re.compile(r"^shrugged OWN shoulders\b"), "shrugged"),
    (re.compile(r"^cleared OWN throat\b"), "gave a small cough"),
    (re.compile(r"^(?:held|hold) OWN breath\b"), "stood with held breath"),
    (re.compile(r"^held OWN tongue\b"), "kept silent"),
    (re.compile(r"^(?:caught|got) OWN breath\b"), "stopped for breath"),
    (re.compile(r"^(lowered|raised) OWN voice\b"), r"spoke \1"),
    (re.compile(r"^lowered OWN eyes\b"), "looked down"),
    (re.compile(r"^raised OWN eyes(?: (to|from) )?"), r"looked up \1 "),
    (re.compile(r"^(?:made|took) OWN way\b"), "went"),
    (re.compile(r"^turned OWN back (?:on|to) "), "turned away from "),
    (re.compile(r"^turned OWN back\b"), "turned away"),
    (re.compile(r"\bwith OWN (back|face) (to|against) "), r"\1 \2 "),
    (re.compile(r"\bon OWN (?:own|feet)\b"), "up"),
    (re.compile(r"\bto OWN feet\b"), "up"),
    (re.compile(r"\b(?:in|at|by) OWN (?:place|side)\b"), "close by"),
    (re.compile(r"\b(?:under|beneath) OWN breath\b"), "hardly aloud"),
    (re.compile(r"\bout of the corner of OWN eye\b"), "sidelong"),
)
_SPOKE = {"spoke lowered": "spoke lower", "spoke raised": "spoke louder"}
_OWN = {"first": r"\b(?:my|mine)\b", "third": r"\b(?:her|his|their|my)\b"}
_WORN = re.compile(rf"\s(?:on|across|over|against|into|in|behind|about|round|around) OWN (?:{'|'.join(sorted(_BODY['worn']))})\b(?! and)")
_OWNED = re.compile(r"\bOWN (?:own )?([a-z-]+)(?: ([a-z-]+))?\b")


def without_owner(text: str, person: Person) -> str:
    """A past deed of somebody without `my` or `her`, in words that fit anybody who did it."""
    text = re.sub(_OWN[person], "OWN", text)
    if "OWN" not in text:
        return text
    for pattern, instead in _IDIOMS:
        text = pattern.sub(instead, text)
    for clumsy, plain in _SPOKE.items():
        text = text.replace(clumsy, plain)
    text = _WORN.sub("", text)
    text = re.sub(r"\bOWN back ", "", text) if text.endswith("OWN back ") else text
    return re.sub(r"\bOWN (?=\w)", "the ", _OWNED.sub(_owned, text)).replace("OWN", "")


def _owned(match: re.Match[str]) -> str:
    first, second = match[1], match[2] or ""
    if _bodily(first):
        return f"{_counted(first)} {second}".rstrip()
    if _bodily(second):
        return f"{first} {second}" if second in _BODY["pair"] else _counted(second, f"{first} ")
    return f"the {first} {second}".rstrip()


def _bodily(noun: str) -> bool:
    return any(noun in _BODY[kind] for kind in ("pair", "single", "parts"))


def _counted(noun: str, describing: str = "") -> str:
    if noun in _BODY["pair"]:
        return f"both {describing}{noun}"
    if noun in _BODY["single"]:
        return f"one {describing}{noun}"
    return f"the {describing}{noun} of one hand"
