"""From names to reference tokens: what somebody's names mean, and where in a text they stand (DESIGN 5)."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Self

from engine.mind.labels import is_name
from engine.mind.wordlists import DETERMINERS, PARTICLES, TITLES
from engine.records.base import EntityId
from engine.records.tokens import token

_LINK = r"(?:(?<=\b\w)\.)?\s+(?:(?:" + "|".join(sorted(PARTICLES)) + r")\s+)*"
"""What may stand between two words of a name: a space, particles, the full stop of an initial."""
_TITLED = re.compile(
    r"(?<!\w)(?:[Tt]he\s+)?(?=[A-Z])(?:(?:" + "|".join(sorted(title.capitalize() for title in TITLES)) + r")\.?\s+)+"
    r"(?=\{\{e:(?P<id>[^}]*)\}\})"
)


class Vocabulary(dict[str, EntityId]):
    """Names, and whom each means to one viewer.

    `whole` has the true names of those meant. They name nobody by themselves, as the viewer may not have heard them: they only tell how
    far a name reaches. To one who knows Ines, `Ines Calder` is her, and no word of it stays in a text.
    """

    def __init__(self, names: Mapping[str, EntityId], whole: Mapping[EntityId, str]) -> None:
        super().__init__(names)
        self.whole = dict(whole)

    def __or__(self, other: Mapping[str, EntityId]) -> Self:  # type: ignore[override]
        return type(self)({**self, **other}, {**self.whole, **_whole(other)})

    def __ror__(self, other: Mapping[str, EntityId]) -> Self:  # type: ignore[override]
        return type(self)({**other, **self}, {**_whole(other), **self.whole})


def tokenize(text: str, names: Mapping[str, EntityId]) -> str:
    """The text with names replaced by reference tokens, longest first, whole words, in one pass.

    Labels match without case, names only as written. What is a token already stays as it is. Of those whose whole names a `Vocabulary`
    holds, capitalised words of them right beside a name or a token, and titles before it, belong to the same reference.
    """
    return _tokenizer(tuple(names.items()), tuple(_whole(names).items()))(text)


def _whole(names: Mapping[str, EntityId]) -> Mapping[EntityId, str]:
    return names.whole if isinstance(names, Vocabulary) else {}


@lru_cache(maxsize=64)
def _tokenizer(names: tuple[tuple[str, EntityId], ...], whole: tuple[tuple[EntityId, str], ...]) -> Callable[[str], str]:
    """`tokenize` for these names: the texts of one call are searched for the same ones."""
    usable = {" ".join(name.split()): id_ for name, id_ in names if name.strip()}
    called = dict(whole)
    if not usable and not called:
        return str
    longest = sorted(usable, key=lambda name: (-len(name), name))
    named = "|".join(_pattern(name) for name in longest) or r"(?!)"
    search = re.compile(r"\{\{e:([^}]*)\}\}|(?<!\w)(" + named + r")(?!\w)")
    ids = {name if is_name(name) else name.casefold(): usable[name] for name in reversed(longest)}

    def tokenized(text: str) -> str:
        parts: list[str] = []
        last, previous = 0, ("", "")
        for match in search.finditer(text):
            start, end = match.span()
            if start < last:  # the name before reached over it
                continue
            name = " ".join((match[2] or "").split())
            id_ = match[1] if match[2] is None else ids.get(name) or ids.get(name.casefold())
            if id_ is None:
                continue
            before, after = _reach(called[id_], name) if id_ in called else (None, None)
            if before is not None and (found := before.search(text, last, start)):
                start = found.start()
            if after is not None and (found := after.match(text, end)):
                end = found.end()
            twice = previous == (id_, "" if name else "word") and text[last:start].isspace()  # `Ines P2`: the name and its handle
            parts += [] if twice else [text[last:start], token(id_)]
            last, previous = end, (id_, "word" if name else "")
        line = "".join([*parts, text[last:]])
        return _TITLED.sub(lambda title: "" if is_name(called.get(title["id"], "")) else title.group(), line) if parts and called else line

    return tokenized


def _pattern(name: str) -> str:
    words = r"\s+".join(re.escape(word) for word in name.split())
    return words if is_name(name) else f"(?i:{words})"


@lru_cache(maxsize=4096)
def _reach(whole: str, name: str) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """What finds the other words of a whole name at the end of what stands before one of its names, and at the beginning of what
    stands behind. None when there are none."""
    own = {word.casefold() for word in name.split()}
    others = [word for word in _words(whole) if word.casefold() not in own]
    if not others:
        return None, None
    either = "(?:" + "|".join(re.escape(word[0]) + f"(?i:{re.escape(word[1:])})" for word in others) + r")(?!\w)"
    return re.compile(rf"(?<!\w)(?:{either}{_LINK})+\Z"), re.compile(f"(?:{_LINK}{either})+")


@lru_cache(maxsize=4096)
def _words(whole: str) -> tuple[str, ...]:
    """The words of a name that may stand beside a part of it, longest first; none of what is a label."""
    if not is_name(whole):
        return ()
    words = {word.strip(".,;:\"'\u201c\u201d\u2018\u2019()") for word in whole.split()}
    fit = (word for word in words if word and not word[0].islower() and word.casefold() not in DETERMINERS)
    return tuple(sorted(fit, key=lambda word: (-len(word), word)))
