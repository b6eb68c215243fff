"""What a line of speech claims about names, whoever hears it: who the speaker says it is, whom it introduces, whom it addresses."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from engine.mind.spoken import is_part, name_at

_APOSTROPHE = "['\u2019]"
_NESTED = re.compile('["\u201c][^"\u201c\u201d]*["\u201d]')
_NOT_SO = re.compile(
    rf"(?:\b(?:not|never|stop|dare|dares|nobody|no one|none|if|whether|says?|said|thinks?|thought|believes?|claims?|pretends?)\b|"
    rf"n{_APOSTROPHE}t\b)[^.!?,;:]{{0,16}}$",
    re.IGNORECASE,
)
_SELF = re.compile(
    rf"\b(?:(?:I{_APOSTROPHE}m|I am)(?: called| known as)?|I go by|it{_APOSTROPHE}s me,|it is (?:me|I),|"
    rf"my (?:true |real |full |own |given )?name(?: is|{_APOSTROPHE}s)|(?<!you )call me|"
    r"(?:they|people|folks?|most|some|many|everyone|everybody|all|friends) calls? me)\s+(?:just |plain |simply )?",
    re.IGNORECASE,
)
_BY_CALLING = re.compile("call|known|name|go by", re.IGNORECASE)
_SELF_PLAIN = re.compile(rf"(?:(?:and|but|well|aye|oh) )?(?:the )?name(?: is|{_APOSTROPHE}s)\s+", re.IGNORECASE)
_SELF_AFTER = re.compile(r",? (?:(?:is|be) (?:my|the) name|they call me|at your service)\b", re.IGNORECASE)
_OF_NAME = re.compile(rf"{_APOSTROPHE}s (?=(?:my|the) name\b)", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:(?P<here>this(?: here)? is|(?:^|(?<=[.!?,;:] )|(?<=come )|(?<=you to ))meet|have you met|"
    rf"(?:may i|let me|allow me to|i) (?:present|introduce)(?: you to)?)|that is|that{_APOSTROPHE}s|"
    rf"(?:his|her|their) name(?: is|{_APOSTROPHE}s)|(?:he|she)(?: is|{_APOSTROPHE}s)(?: called| named)?)\s+",
    re.IGNORECASE,
)
_YOU_ARE = re.compile(rf"\b(?:you are|you{_APOSTROPHE}re|you must be|your name(?: is|{_APOSTROPHE}s))\s+", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!\u2026]['\"\u201d\u2019)]*\s)['\"\u201c\u2018(]*")
_CLAUSE_START = re.compile(r"(?:^|[.!?\u2026\u2014;:,]['\"\u201d\u2019)]*)\s*['\"\u201c\u2018(]*")
_GREETING = re.compile(
    r"(?:^|[.!?\u2026,]\s+)(?:good (?:day|morning|evening|afternoon|night)|hello|hail|hey|hi|ho|oi|greetings|welcome(?: back)?|evening|"
    r"morning|thanks|thank you|goodbye|farewell|sorry|please|well met|come on|yes|no|aye|nay|listen|look|oh|ah|wait|easy|and|but),?\s+",
    re.IGNORECASE,
)
_SET_OFF = re.compile(r"\s*(?:[,.!?\u2026;:\u2014-]|$)")


class Claims(NamedTuple):
    """Names in one line of speech, as spoken, in the order of the rules that found them."""

    own: tuple[str, ...]
    """The speaker's: `I'm Bryn`."""
    introduced: tuple[tuple[str, bool], ...]
    """Somebody else's: `that's Mira`. True when it is shown to the hearer: `meet Mira`, `this is Mira`."""
    bare: tuple[str, ...]
    """Names that open a sentence and stand apart in it, the speaker's own or not: `Rusk. Ketil Rusk.`, `Aldous Fenn, from the river.`"""
    addressed: tuple[str, ...]
    """Of those spoken to: `Bryn, the mugs`. Any word set off by commas may stand here: only a known name means somebody."""


@lru_cache(maxsize=256)
def claims(speech: str) -> Claims:
    """The claims in a line of speech. What the speaker quotes of others is not looked at."""
    line = " ".join(speech.split())
    text = line if _NESTED.fullmatch(line) else _NESTED.sub('""', line)
    return Claims(tuple(_own(text)), tuple(_introduced(text)), tuple(_bare(text)), tuple(_addressed(text)))


def _own(text: str) -> Iterator[str]:
    plain = (found for start in _clause_starts(text) if (found := _SELF_PLAIN.match(text, start)))
    for match in (*_SELF.finditer(text), *plain):
        given = name_at(text, match.end(), epithet=_BY_CALLING.search(match[0]) is not None)
        if given and _is_claimed(text, match, given[1]):
            yield _repeated(text, given)
    turned = _OF_NAME.sub(" is ", text)  # Bryn's my name
    for start in _clause_starts(turned):
        given = name_at(turned, start)
        if given and _SELF_AFTER.match(turned, given[1]):
            yield given[0]


def _introduced(text: str) -> Iterator[tuple[str, bool]]:
    for match in _OTHER.finditer(text):
        given = name_at(text, match.end())
        if given and _is_claimed(text, match, given[1]):
            yield given[0], match["here"] is not None


def _bare(text: str) -> Iterator[str]:
    for match in _SENTENCE_START.finditer(text):
        given = name_at(text, match.end())
        if given and _SET_OFF.match(text, given[1]) and not _is_asked(text, given[1]):
            yield given[0]


def _addressed(text: str) -> Iterator[str]:
    told = {match.end() for match in _YOU_ARE.finditer(text) if not _NOT_SO.search(text[: match.start()])}
    for start in sorted({*_clause_starts(text), *(match.end() for match in _GREETING.finditer(text)), *told}):
        given = name_at(text, start)
        if given and (start in told or _SET_OFF.match(text, given[1])):
            yield given[0]


def _clause_starts(text: str) -> list[int]:
    return [match.end() for match in _CLAUSE_START.finditer(text)]


def _is_claimed(text: str, match: re.Match[str], end: int) -> bool:
    """Whether what was matched is said to be so: neither denied nor asked."""
    return not _is_asked(text, end) and not _NOT_SO.search(text[: match.start()])


def _is_asked(text: str, end: int) -> bool:
    return text[end : end + 1] == "?"


def _repeated(text: str, given: tuple[str, int]) -> str:
    """The longer name that follows at once, if one does: `Harrow. Bryn Harrow.`"""
    name, end = given
    more = name_at(text, end + 2) if text[end : end + 2] in (". ", ", ") else None
    return more[0] if more and is_part(name, more[0]) else name
