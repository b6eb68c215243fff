"""Keys of one's own in what a server says: some proxies echo them. They are to stand in no save, tape or log."""

import os
import re
from collections.abc import Iterable
from typing import Final

SHORTEST: Final = 8
"""Characters of a key from which it is looked for: shorter ones are words."""
_HIDDEN: Final = "\u2026"


def keys_in(names: Iterable[str]) -> tuple[str, ...]:
    """What stands in these variables of the environment, as far as it can be told from words."""
    found = (os.environ.get(name, "").strip() for name in names)
    return tuple(sorted({key for key in found if len(key) >= SHORTEST}, key=lambda key: -len(key)))


class Veil:
    """Takes keys out of a text that comes in pieces, wherever they are cut in two."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = keys
        self._pattern = re.compile("|".join(map(re.escape, keys))) if keys else None
        self._held = ""

    def add(self, piece: str) -> str:
        """What can be said on of the text so far. The beginning of a key is held back until it is known whether it is one."""
        if self._pattern is None:
            return piece
        self._held = self._pattern.sub(_HIDDEN, self._held + piece)
        begun = max((length for key in self._keys for length in _begun(self._held, key)), default=0)
        ready, self._held = self._held[: len(self._held) - begun], self._held[len(self._held) - begun :]
        return ready

    def end(self) -> str:
        """What was held back when the text has ended."""
        held, self._held = self._held, ""
        return held


def _begun(text: str, key: str) -> Iterable[int]:
    """How many letters of the key stand at the end of the text: the most that do."""
    for length in range(min(len(key) - 1, len(text)), 0, -1):
        if text.endswith(key[:length]):
            yield length
            return
