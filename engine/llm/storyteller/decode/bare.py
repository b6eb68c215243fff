"""Text that tells of no deed in so many words: a greeting typed without quotation marks, a look at the weather, gibberish."""

import re

from engine.llm.storyteller.language.speechacts import classify
from engine.llm.storyteller.language.text import capital
from engine.llm.storyteller.language.verbs import readings

_SHOUTED = re.compile(
    r"\W*(?:fire|help|murder|thief|thieves|treason|man overboard|ship ahoy|land ahoy|wake up|look out|watch out)\b[\s!]*", re.IGNORECASE
)
_POLITE = re.compile(r"(?:thank you|thanks)(?: (?:kindly|very much|so much))?[.!]?|(?:I'm|I am|[Mm]y name is) [A-Z]\w+(?: [A-Z]\w+)?[.!]?")
_SPOKEN = ("greeting", "farewell", "thanks", "apology", "introduction", "ask_name")
_ASKED = re.compile(
    r"^(?:who|what|where|when|why|how|which|whose|are|is|was|were|do|does|did|have|has|can|could|will|would|may|shall|should)\b.*\w\s*\?$",
    re.IGNORECASE | re.DOTALL,
)
_YES_OR_NO = re.compile(
    r"^\W*(?:yes|no|aye|nay|please|very well|of course|never|certainly|sorry|indeed)\b\W*(?:\w+\W*){0,4}$", re.IGNORECASE
)


def is_speech(prose: str) -> bool:
    """Whether a whole text is a cry (`Fire!`) or a politeness (`thank you`), which would otherwise read as a deed."""
    return _cried(prose) or _POLITE.fullmatch(prose.strip().replace("\u2019", "'")) is not None


def _cried(prose: str) -> bool:
    return _SHOUTED.fullmatch(prose) is not None and prose.rstrip().endswith("!")


def spoken_bare(prose: str) -> str:
    """The words of a text that can only be meant as speech though nothing marks it so; empty for any other text."""
    text = " ".join(prose.split()).strip("*\"' ")
    if not re.search(r"[A-Za-z]", text):
        return ""
    exclaimed = text.endswith("!") and len(text.split()) <= 12
    if not (exclaimed or is_speech(prose) or classify(text) in _SPOKEN or _ASKED.match(text) or _YES_OR_NO.match(text)):
        return ""
    return capital(text if text[-1] in ".!?\u2026" else f"{text}.")


def tells_something(prose: str) -> bool:
    """Whether a text has a subject and a verb that are known: something is told, if not of its teller."""
    return any(any(form in ("third", "past", "gerund") for _, form in readings(match[1])) for match in _verbs_after_subjects(prose))


def _verbs_after_subjects(prose: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    for start in re.finditer(r"\b(?:the|a|an|she|he|it|they|we|you|there|this|that|[A-Z][a-z]+) ", prose):
        found += list(re.finditer(r"(\w+)", prose[start.end() :]))[:6]
    return found
