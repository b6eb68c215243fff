"""Text that would give orders to whoever remembers it: cut before it can become memory (DESIGN 9). Pure.

What is said in a conversation is no order to the mind that writes it down. A turn in which somebody speaks to the model behind a character
is left out as a whole: what such a turn claims besides is as little to be trusted. People may of course ask each other to remember
things, so that alone cuts nothing.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from engine.records.sessions import Turn

_RULES: Final = r"(?:instructions?|rules?|prompts?|guidelines?|directives?|constraints?|restrictions?|programming|safety)"
_ORDERS: Final = re.compile(
    "|".join(
        (
            rf"\b(?:ignore|disregard|forget|override|bypass|drop|discard)\b[^.!?\n]{{0,40}}\b{_RULES}\b",
            rf"\b(?:new|updated|real|hidden|secret)\s+(?:system\s+)?{_RULES}\s*:",
            r"\bsystem\s*(?:prompt|message|note|override|instruction)s?\b",
            r"(?:^|\n)\s*(?:system|assistant|developer|user|narrator|human|ai)\s*:",
            r"<\|?\s*/?\s*(?:im_start|im_end|system|assistant|endoftext|s|inst)\s*\|?>|\[/?INST\]|^\s*#{2,}\s*(?:system|instruction)",
            r"\byou\s+are\s+(?:now\s+|really\s+|actually\s+)?(?:an?\s+)?(?:ai|assistant|language\s+model|llm|chat\s?bot|machine\s+learning)\b",
            r"\bas\s+an?\s+(?:ai|assistant|language\s+model)\b",
            r"\b(?:jailbreak|developer\s+mode|debug\s+mode|admin(?:istrator)?\s+mode|god\s+mode)\b",
            r"\b(?:add|save|store|write|commit|record|append|insert)\b[^.!?\n]{0,60}\b(?:to|into|in)\s+"
            r"(?:your\s+|the\s+|its\s+|long[- ]term\s+)+"
            r"(?:memory|memories|knowledge|ledger|database|records?|facts?)\b",
            r"\b(?:update|overwrite|rewrite|erase|wipe|clear|delete|edit|set)\b[^.!?\n]{0,30}\b(?:your|the|its)\s+"
            r"(?:memory|memories|knowledge|ledger|database|facts?|summary)\b",
            r"\b(?:in|from)\s+(?:your|the)\s+(?:summary|output|reply|response|json)\b",
            r"\b(?:reply|respond|answer|output|return)\s+(?:only|solely|exactly|just)\s+(?:with|in)\b",
            r"\b(?:extract|summari[sz]e|classify|output)\b[^.!?\n]{0,40}\b(?:fact|facts|json|schema|confidence)\b",
            r"\"(?:facts|decisions|strategies|confidence|topicKey|sourceTurnIds)\"\s*:",
            r"\b(?:must|shall|always|never)\s+(?:be\s+)?(?:believe[ds]?|remember(?:ed)?|recorded?|treat(?:ed)?)\b[^.!?\n]{0,30}"
            r"\b(?:as\s+(?:true|a?\s*fact)|no\s+matter)",
            r"\bfrom\s+now\s+on,?\s+you\s+(?:must|will|shall|are\s+to|have\s+to)\s+(?:believe|remember|obey|treat|say|answer|respond|act|pretend)\b",
            r"\b(?:with|at)\s+(?:a\s+)?confidence\s+(?:of\s+)?(?:1|1\.0|100\s*%|0?\.9\d*)\b",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)
"""Ways of speaking to a model rather than to a person."""
_SPACES: Final = re.compile(r"[\s\u200b-\u200f\u2060\ufeff\u00ad]+")
_LOOKALIKES: Final = str.maketrans("\u0456\u043e\u0435\u0430\u0440\u0441\u0445\u0443", "ioeapcxy")
"""Letters of other scripts that look like ours."""


class Guarded(NamedTuple):
    """Turns that may be read, and what was cut of them."""

    turns: tuple[Turn, ...]
    cut: tuple[str, ...]
    """The words of the turns that were left out, in order."""


def orders(text: str) -> str:
    """The part of a text that speaks to the model behind a character, as it stands there; empty when there is none."""
    plain = _SPACES.sub(lambda found: "\n" if "\n" in found.group() else " ", text.translate(_LOOKALIKES))
    found = _ORDERS.search(plain) or _ORDERS.search(plain.replace("\n", " "))
    return found.group().strip() if found else ""


def guarded(turns: Sequence[Turn]) -> Guarded:
    """The turns without those that give orders. A hint of such a turn goes with it; a hint alone that gives orders is taken off."""
    kept, cut = [], []
    for turn in turns:
        if orders(turn.content):
            cut.append(turn.content)
        elif turn.hint and orders(turn.hint):
            cut.append(turn.hint)
            kept.append(turn.model_copy(update={"hint": ""}))
        else:
            kept.append(turn)
    return Guarded(tuple(kept), tuple(cut))
