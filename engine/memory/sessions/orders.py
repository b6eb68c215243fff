"""Ways of speaking to the model behind a character rather than to a person (DESIGN 9, guard). Pure."""

import re
from functools import cache
from importlib import resources
from typing import Final

_RULES: Final = (
    r"(?:instructions?|rules?|prompts?|guidelines?|directives?|constraints?|restrictions?|programming|safety|"
    r"everything\s+(?:that\s+)?you\s+(?:were|have\s+been|are|was)\s+(?:told|taught|given|instructed))\b"
)
_IGNORE: Final = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|overrule|bypass|drop|discard|neglect|abandon|suspend|skip|"
    r"(?:set|put|lay|leave|throw)\s+(?:aside|away|by)|pay\s+no\s+(?:heed|attention|mind)\s+to|take\s+no\s+(?:notice|heed)\s+of|"
    r"(?:do\s+not|don['\u2019]t|stop|cease)\s+(?:to\s+)?(?:follow(?:ing)?|obey(?:ing)?|heed(?:ing)?))"
)
_KEEP: Final = r"(?:remember|memori[sz]e|record|note|store|write|put|take\s+down|believe|know|say|keep)"
_MEMORY: Final = r"(?:memory|memories|knowledge|ledger|database|records?|facts?|notes|summary)"
_DISREGARD: Final = re.compile(rf"\b{_IGNORE}\b:?[^.!?:;\n]{{0,40}}?\b{_RULES}", re.IGNORECASE)
_REPORTED: Final = re.compile(
    r"\b(?:told|asked|ordered|bade|bid|taught|warned|wants?|wanted|made|lets?|advised|begged|urged|dared|forced|let)\s+(?!you\b)"
    r"(?:[^\W\d_]+\s+){1,3}(?:not\s+|never\s+)?(?:to\s+)?$"
    r"|\b(?:i|we|they|he|she|who|people|sailors|soldiers|men|nobody|everybody)(?:\s+(?:all|never|always|often|just|would|will|can|cannot|"
    r"could|must|may|might|shall|should|have\s+to|had\s+to|used\s+to|choose\s+to|dare\s+to|not|do|does|did))*\s+$"
    r"|\b(?:never|not|don['\u2019]t|cannot|can['\u2019]t|won['\u2019]t|shouldn['\u2019]t|mustn['\u2019]t)\s+$",
    re.IGNORECASE,
)
"""What stands before a disregarding that somebody tells of, or that is warned of."""
_OF_THE_PLACE: Final = re.compile(
    r"\s+of\s+(?:the|this|that|his|her|their|our|my)\s+(?!conversation|session|game|prompt|system|chat|model|assistant|simulation)\w", re.I
)
_ALL: Final = re.compile(r"\b(?:all|any|every|each|your|previous|prior|above|earlier|preceding|former|foregoing)\b", re.IGNORECASE)
_FOLLOWED: Final = re.compile(rf"^[^\n]{{0,80}}\b{_KEEP}\b", re.IGNORECASE)
_NOUNS: Final = "instruction rule prompt guideline directive task restriction constraint programming safety"
_ORDERS: Final = tuple(
    (tuple(words.split(" ")), re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for words, pattern in (
        (
            _NOUNS,
            r"\b(?:new|updated|real|hidden|secret)\s+(?:system\s+rules?|(?:system\s+)?(?:instructions?|prompts?|guidelines?|directives?|"
            r"tasks?))\s*:",
        ),
        ("rule", rf"\b(?:new|updated|real|hidden|secret)\s+rules?\s*:[^\n]{{0,60}}\b{_KEEP}\b"),
        ("let", rf"\blet\b[^.!?\n]{{0,30}}\b{_RULES}\s+(?:go|rest|be|lie)\b"),
        (
            _NOUNS,
            rf"\b{_RULES}\s+(?:no\s+longer|do\s+not|don['\u2019]t|cease\s+to|stop)\s+(?:apply|bind|hold|count|exist|matter)\w*\b"
            rf"[^\n]{{0,40}}\b{_KEEP}\b",
        ),
        (_NOUNS, r"(?:ignore|disregard|forget)(?:all|any|every|the|your|previous|prior)+(?:rules|instructions|prompts|guidelines)"),
        ("system", r"\bsystem\s*(?:prompt|message|note|override|instruction)s?\b"),
        (":", r"(?:^|[\n.!?\"'\])>])\s*(?:system|assistant|developer|user|narrator|human|ai)\s*:"),
        (
            "[ < #",
            r"\[\s*(?:system|assistant|developer)\s*\]|<\|?\s*/?\s*(?:im_start|im_end|system|assistant|developer|endoftext|s|inst)\s*\|?>"
            r"|\[/?INST\]|^\s*#{2,}\s*(?:system|instruction)",
        ),
        (
            "ai assistant model llm chat machine",
            r"\b(?:you\s+are\s+(?:now\s+|really\s+|actually\s+)?|as\s+)(?:an?\s+)?(?:ai|assistant|language\s+model|llm|chat\s?bot|"
            r"machine\s+learning)\b|\b(?:dear|note\s+to(?:\s+the)?|message\s+to(?:\s+the)?)\s+(?:model|assistant|ai|machine)\b",
        ),
        ("jailbreak mode", r"\b(?:jailbreak|(?:developer|debug|admin(?:istrator)?|god)\s+mode)\b"),
        (
            "memor knowledge ledger database record fact note summary",
            r"\b(?:add|save|store|write|commit|record|append|insert|note|keep)\b[^.!?\n]{0,60}\b(?:to|into|in)\s+"
            rf"(?:(?:the\s+)?(?:your|its|long[- ]term)\s+(?:long[- ]term\s+)?{_MEMORY}\b"
            r"|the\s+(?:memory|memories|knowledge|database|facts)\b|the\s+(?:ledger|records?|notes|summary)(?:\s*:|,?\s+that\b))"
            r"|\b(?:update|overwrite|rewrite|erase|wipe|clear|delete|edit|set)\b[^.!?\n]{0,30}\b(?:your|the|its)\s+"
            r"(?:memory|memories|knowledge|ledger|database|facts?|summary)\b",
        ),
        ("summary output reply response json", r"\b(?:in|from)\s+(?:your|the)\s+(?:summary|output|reply|response|json)\b"),
        ("respond reply answer output return", r"\b(?:reply|respond|answer|output|return)\s+(?:only|solely|exactly|just)\s+(?:with|in)\b"),
        (
            "fact json schema confidence",
            r"\b(?:extract|summari[sz]e|classify|output)\b[^.!?\n]{0,40}\b(?:facts?|json|schema|confidence)\b"
            r"|\"(?:facts|decisions|strategies|confidence|topicKey|sourceTurnIds)\"\s*:"
            r"|\b(?:with|at)\s+(?:a\s+)?confidence\s+(?:of\s+)?(?:1|1\.0|100\s*%|0?\.9\d*)\b",
        ),
        (
            "true matter fact",
            r"\b(?:must|shall|always|never)\s+(?:be\s+)?(?:believe[ds]?|remember(?:ed)?|recorded?|treat(?:ed)?)\b[^.!?\n]{0,30}"
            r"\b(?:as\s+(?:true|a?\s*fact)|no\s+matter)"
            rf"|\b{_KEEP}\b[^.!?\n]{{0,20}}\bas\s+an?\s+(?:certain\s+|established\s+|proven\s+|lasting\s+)?fact\b",
        ),
        (
            "from",
            r"\bfrom\s+now\s+on,?\s+you\s+(?:must|will|shall|are\s+to|have\s+to)\s+(?:believe|remember|obey|treat|say|answer|respond|act|"
            r"pretend)\b",
        ),
        (
            "this these it",
            r"\b(?:whoever|whatever|the\s+(?:one|model|machine)\s+(?:that|who|which))\s+(?:writes|records|summari[sz]es|extracts|reads|keeps)\s+"
            r"(?:this|these|all\s+this|it)(?:\s+down)?\b[^\n]{0,30}(?:\b(?:must|shall|should|is\s+to)\b|[:,])",
        ),
        ("when", r"\bwhen(?:ever)?\s+you\s+(?:summari[sz]e|extract|collapse)\b"),
        (" of ", r"\b(?:end|start|beginning)\s+of\s+(?:the\s+)?(?:conversation|transcript|dialogue|session|context|prompt|input|turns)\b"),
        (
            "p m",
            r"(?:^|[.:;,!?\"']\s*|\b(?:that|and|so)\s+)[PM][1-9]\d?\s+(?:is|was|knows|believes|remembers|holds|owns|must|shall)\b",
        ),
    )
)
"""Each with words of which one stands wherever it fits: they are looked for first, which is a hundred times as quick."""


def spoken_to_the_model(text: str) -> str:
    """The part of one reading of a text that speaks to a model, as it stands there; empty when there is none."""
    for found in _DISREGARD.finditer(text):
        if not _told_of(text, found):
            return found.group().strip()
    low = text.casefold()
    for words, pattern in (*_ORDERS, *_abroad()):
        if any(word in low for word in words) and (other := pattern.search(text)):
            return other.group().strip()
    return ""


def _told_of(text: str, found: "re.Match[str]") -> bool:
    """Whether a disregarding is something that people do or are told to do, and not asked of the listener."""
    before, after = text[: found.start()].rsplit("\n", 1)[-1], text[found.end() :]
    if _FOLLOWED.match(after):
        return False
    told = _REPORTED.search(before[-80:].rstrip() + " ") is not None
    local = _OF_THE_PLACE.match(after) is not None and _ALL.search(found.group()) is None
    return told or local


@cache
def _abroad() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    """The same in other languages, by `orders_abroad.txt`."""
    lines = resources.files("engine.memory.sessions").joinpath("orders_abroad.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" | ") for line in lines if line.strip() and not line.startswith("#")]
    return tuple((_beginnings(done), re.compile(_either(done.strip(), to.strip()), re.IGNORECASE)) for done, to in pairs)


def _beginnings(alternatives: str) -> tuple[str, ...]:
    return tuple(found.group().casefold() for one in alternatives.strip().split("|") if (found := re.match(r"[^\\\[(]+", one)))


def _either(done: str, to: str) -> str:
    """One beside the other, whichever comes first. Scripts without spaces have no ends of words."""
    edge = r"\b" if re.match(r"[a-z\u0400-\u04ff\u0370-\u03ff]", to, re.IGNORECASE) else ""
    one, other = f"{edge}(?:{done}){edge}", f"{edge}(?:{to}){edge}"
    return rf"{one}[^.!?\n]{{0,40}}?{other}|{other}[^.!?\n]{{0,40}}?{one}"
