"""What is said around a retelling, taken off it: `Do you remember`, `They say`, `and I do not forget it`. Pure.

What is left is the story, however often it was passed on. `A boy` in hearsay becomes `they`: whoever hides behind it is not said, so that
the words agree with a memory of anybody.
"""

import re

from engine.memory.wording import sentences

_QUESTION_WORDS = r"(?:who|whom|whose|what|where|when|why|how|which|whether|if)"
_REMINDER = re.compile(
    rf"^[\s\"'\u2018\u201c]*(?:(?:and|so|but|listen|say),?\s+)?(?:do|don['\u2019]t|did|can)\s+you\s+(?:not\s+|still\s+)?(?:remember|recall)\b"
    rf"(?:\s+that\b)?(?![\s,:]*(?:{_QUESTION_WORDS}|this)\b)[\s,:]*",
    re.IGNORECASE,
)
"""Asks whether a story is remembered, and tells it. `Do you remember who` asks for one."""
_HEARSAY = re.compile(
    r"^[\s\"'\u2018\u201c]*(?:(?:and|but|so|for)\s+)?(?:(?:they|people|folk|some|others)(?:\s+(?:all|still|do|have))?\s+(?:say|said|tell|told|claim|claimed)"
    r"|it\s+(?:is|was)\s+said|rumou?r\s+has\s+it)\b(?:\s+that\b)?[\s,:]*",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(
    r"^(?:a|an|some|a\s+certain)\s+(?:young\s+|old\s+)?(?:boy|girl|man|woman|lad|lass|fellow|person|body|soul)\b[\s,]*"
    r"((?:said|says|answered|told|thought|claimed|repeated|remembered)\s+that\b\s*)?",
    re.IGNORECASE,
)
"""Whom hearsay leaves unnamed, perhaps as one who tells it in turn."""
_VOW = re.compile(
    r"(?:(?:^|(?<=[\s,;]))(?:and|but|so)\s+|,\s*|^)(?:(?:I|we|you)\s+(?:(?:do|did|have|had|will|shall|can|could|would|must)\s+)?(?:not|never|cannot)"
    r"|(?:I|we|you)(?:['\u2019]ll|['\u2019]ve)\s+(?:not|never)|(?:I|we|you)\s+(?:don|didn|haven|won|can|couldn)['\u2019]t)"
    r"\s+(?:ever\s+)?(?:forget|forgot|forgotten)(?:\s+(?:it|that|this))?\s*(?=[.!\u2026\"'\u2019\u201d]*$)",
    re.IGNORECASE,
)
"""Says of a story that it is not forgotten."""


def retold(text: str) -> list[str]:
    """The sentences of what was said, without what only says that it is told again. Blank ones are left out."""
    lines = sentences(text)
    if lines and (found := _REMINDER.match(lines[0])):
        asked = 0 if "?" in lines[0] else -1  # a story of several sentences is asked for at its end
        lines[0] = lines[0][found.end() :]
        lines[asked] = lines[asked].rstrip("'\"\u2019\u201d").removesuffix("?")
    told = (_VOW.sub("", _without_hearsay(line)).strip() for line in lines)
    return [line for line in told if any(letter.isalnum() for letter in line)]


def _without_hearsay(line: str) -> str:
    """A sentence without `They say`, and without `They say a boy said that they said`."""
    while found := _HEARSAY.match(line):
        line = _SOMEBODY.sub(lambda who: "" if who[1] else "they ", line[found.end() :])
    return line
