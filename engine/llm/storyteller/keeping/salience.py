"""How much a moment matters."""

import re
from functools import cache

from engine.llm.storyteller.language.speechacts import SpeechAct
from engine.llm.storyteller.phrases import lines

_BY_ACT: dict[SpeechAct, int] = {
    "threat": 6, "accusation": 3, "introduction": 4, "warning": 4, "request": 3, "question": 2, "apology": 2, "statement": 1,
    "refusal": 1, "thanks": 0, "greeting": 0, "farewell": 0, "ask_name": 1,
}  # fmt: skip
_PROMISE = re.compile(r"\b(?:i promise|i swear|my word|i will see|you shall have|count on me|i give you)\b")
_WEIGHTY_DEED = re.compile(
    r"^(?:gave|handed|took|stole|snatched|unlocked|locked|opened|broke|forced|hit|struck|attacked|stabbed|shot|shoved|pushed|hid|burned|tore|"
    r"carried|rescued|saved|killed|kissed|embraced|bound|freed|woke|showed|held out|dropped|threw|put down|paid|signed|wrote|counted out|"
    r"slapped|punched|kicked|refused|demanded|asked|told|threatened|accused|ordered|begged|thanked)\b"
)
_GOING = re.compile(r"^(?:went|left|came|arrived|entered|returned|walked out|ran)\b")
_STAGE_LIMIT = 3
"""The most that a deed of no consequence may weigh, whatever words it is told in."""


@cache
def _patterns() -> tuple[tuple[int, re.Pattern[str]], ...]:
    split = [line.split(" :: ", 1) for line in lines("salience")]
    return tuple((int(weight), re.compile(pattern)) for weight, pattern in split)


def words_weigh(text: str) -> int:
    """Weight of the words themselves."""
    lower = text.lower()
    return sum(weight for weight, pattern in _patterns() if pattern.search(lower))


def promises(text: str) -> bool:
    """Whether somebody gives his word."""
    return _PROMISE.search(text.lower()) is not None


def weight_of(mode: str, act: SpeechAct | None, text: str, *, failed: bool = False) -> int:
    """Weight of a moment: what was done with words or hands, and what the words are about. 0 means nobody need remember it."""
    if mode == "said":
        if not text:
            return 1  # a whisper seen, or a voice whose words did not carry
        plain = len(text.split()) < 5 and act in ("statement", "refusal", "question", "greeting")
        return 0 if plain else _BY_ACT.get(act or "statement", 1) + words_weigh(text) + (2 if promises(text) else 0)
    if mode == "thought":
        return min(_STAGE_LIMIT, words_weigh(text)) if len(text.split()) > 5 else 0
    if _WEIGHTY_DEED.match(text):
        return 3 + words_weigh(text)
    if _GOING.match(text):
        return 1
    return 2 if failed else min(_STAGE_LIMIT, words_weigh(text) // 2) if len(text.split()) > 9 else 0
