"""Short handles that stand for ids in model calls (invariant 1): P people and things, M moments, L ways, K what is known."""

import re
from typing import Literal

from engine.records.tokens import substitute, token

Kind = Literal["P", "M", "L", "K"]

_HANDLE = re.compile(r"^\W*([PMLKpmlk])0*([1-9]\d*)\W*$")
_PEOPLE = re.compile(r"\[P([1-9]\d*)\]|(?<![\w{])P([1-9]\d*)(?!\w)")


class Handles:
    """Gives out handles in call order and maps them back. One object serves one call."""

    def __init__(self) -> None:
        self._handles: dict[tuple[Kind, str], str] = {}
        self._ids: dict[str, str] = {}
        self._counts: dict[Kind, int] = {"P": 0, "M": 0, "L": 0, "K": 0}

    def of(self, id_: str, kind: Kind = "P") -> str:
        """The handle of an id, given out when it has none yet. Ids of different kinds may be spelled alike."""
        known = self._handles.get((kind, id_))
        if known is not None:
            return known
        self._counts[kind] += 1
        handle = f"{kind}{self._counts[kind]}"
        self._handles[kind, id_] = handle
        self._ids[handle] = id_
        return handle

    def entry(self, id_: str) -> str:
        """The handle of a memory entry: M1, M2."""
        return self.of(id_, "M")

    def way(self, id_: str) -> str:
        """The handle of a portal: L1, L2."""
        return self.of(id_, "L")

    def fact(self, id_: str) -> str:
        """The handle of something that is known: K1, K2."""
        return self.of(id_, "K")

    def given(self, *kinds: Kind) -> tuple[str, ...]:
        """All handles of these kinds that were given out, kind by kind in the order of giving."""
        return tuple(handle for kind in kinds for (of, _), handle in self._handles.items() if of == kind)

    def id(self, handle: str, kind: Kind | None = None) -> str | None:
        """The id behind a handle as a model writes it (`P2`, `p2`, `[P2]`), or None. With `kind`, of that kind only."""
        found = _HANDLE.match(handle)
        if found is None:
            return None
        letter = found.group(1).upper()
        return self._ids.get(letter + found.group(2)) if kind in (None, letter) else None

    def replace_tokens(self, text: str) -> str:
        """The text with reference tokens as P-handles."""
        return substitute(text, self.of)

    def tokens(self, text: str) -> str:
        """The text with P-handles that were given out as reference tokens: whole words, in brackets or bare."""

        def replaced(match: re.Match[str]) -> str:
            id_ = self._ids.get("P" + (match.group(1) or match.group(2)))
            return match.group(0) if id_ is None else token(id_)

        return _PEOPLE.sub(replaced, text)
