"""What people do with words: ask, greet, threaten, tell their name. Read from the words alone."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, cast

from engine.llm.stems import STOP_WORDS, stem
from engine.llm.storyteller.phrases import lines, lists

SpeechAct = Literal[
    "ask_name", "introduction", "threat", "accusation", "request", "warning", "farewell", "greeting", "thanks", "apology", "refusal",
    "order", "question", "statement",
]  # fmt: skip

_INTRODUCTION = re.compile(
    r"\b(?:I am|I'm|[Mm]y name is|[Tt]he name is|[Nn]ame's|[Cc]all me|[Tt]hey call me|[Pp]eople call me) (?!I\b)[A-Z][\w'\u2019-]+"
    r"|^(?:[A-Z][\w'\u2019-]+, )?([A-Z][\w'\u2019-]+)\. \1 [A-Z]|^[A-Z][\w'\u2019-]+ [A-Z][\w'\u2019-]+, (?:from|of|at)\b"
)
_QUOTED = re.compile(r"(?:^|(?<=\s))'[^']+(?:'[a-z][^']*)*[.!?\u2026]'(?=\s|$)")
_NOT_NAMES = re.compile(r"\b(?:I am|I'm) (?:Sorry|Glad|Afraid|Not|Here|Told|Sure|No|Only|Just|The|A|An|Done|Going|Waiting|Asking|Tired)\b")
_PATTERNS: Mapping[str, re.Pattern[str]] = {act: re.compile("|".join(patterns)) for act, patterns in lists("speechacts").items()}
_WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019-]*")
_LITTLE = frozenset(stem(word) for line in lines("little_words") for word in line.split())


@lru_cache(maxsize=4096)
def classify(words: str) -> SpeechAct:
    """The act a speech performs; the weightiest when it performs several. What it quotes of others does not count."""
    words = _QUOTED.sub(" ", words)
    lower = words.lower().replace("\u2019", "'")
    introduced = _INTRODUCTION.search(words) is not None and _NOT_NAMES.search(words) is None
    for act, pattern in _PATTERNS.items():
        if introduced and act not in ("ask_name", "threat"):
            return "introduction"
        if pattern.search(lower):
            return cast(SpeechAct, act)
    return "statement"


@lru_cache(maxsize=8192)
def stems_of(text: str) -> frozenset[str]:
    """Stems of the words of a text that say what it is about."""
    words = (word.lower().replace("\u2019", "'").strip("'-") for word in _WORD.findall(text))
    return frozenset(root for word in words if len(word) > 2 and word not in STOP_WORDS and (root := stem(word)) not in _LITTLE)
