"""Where a statement tells of several things, what ends one of them does not end what is known of the others (DESIGN 10). Pure."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from engine.llm.stems import stem
from engine.memory.knowledge.contraries import ARTICLES, BREAKS, ENDED, NAMED, PARTED, WENT
from engine.memory.wording import content, negations, numbers
from engine.records.tokens import bare

_BETWEEN: Final = re.compile(r",? \b(?:and|or)\b |, ")
_NOUN: Final = re.compile(r"[^\W_][\w'\u2019-]*")
_ALL: Final = re.compile(r"\b(?:all|both|everything|neither|none|every|each|them)\b", re.IGNORECASE)


def in_part(older: str, newer: str) -> bool:
    """Whether a newer statement, by which something is over or is not so, speaks of only one of the things that an older one tells of:
    `sold the red cart` beside `owns a red cart and a black cart`, `sold a boat` beside `owns three boats`."""
    plain = bare(newer).casefold()
    parted = PARTED.search(plain) is not None or WENT.search(plain) is not None
    if not (parted or ENDED.search(plain) is not None or negations(plain)) or _ALL.search(plain):
        return False
    things, said = _things(older), content(plain)
    concerned = [thing for thing in things if thing[-1] in said]
    if len(things) > 1 and concerned:
        return any(not set(thing) <= said for thing in things) and not _plural(plain, things)
    several = [number for number in numbers(older) if number != "1"]
    return parted and bool(several and concerned) and numbers(newer) != numbers(older) and not _plural(plain, concerned)


@lru_cache(maxsize=4096)
def _things(text: str) -> tuple[tuple[str, ...], ...]:
    """The stems of the names of the things that a statement lists, each with what kind of thing it is last."""
    plain = NAMED.sub("", bare(text)).casefold()
    return tuple(found for part in _BETWEEN.split(plain) if (found := _thing(part)))


def _thing(part: str) -> tuple[str, ...]:
    words = _NOUN.findall(part)
    article = next((at for at, word in enumerate(words) if word in ARTICLES or numbers(word)), None)
    named = words[article + 1 :] if article is not None else words
    end = next((at for at, word in enumerate(named) if word in BREAKS), len(named))
    named = [word for word in named[:end] if word not in ARTICLES]
    return tuple(stem(word) for word in (named if article is not None else named[-1:]))


def _plural(text: str, things: Iterable[tuple[str, ...]]) -> bool:
    """Whether a text speaks of several of one kind without telling them apart: `sold her carts`."""
    kinds = {thing[-1] for thing in things}
    several = any(word.endswith("s") and not word.endswith(("ss", "'s")) and stem(word) in kinds for word in _NOUN.findall(text))
    return several and len(kinds) == 1 and not numbers(text)
