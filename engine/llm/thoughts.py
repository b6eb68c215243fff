"""What models think aloud before they reply, between tags of their own: told from the reply itself."""

import re
from typing import Final

_TAG: Final = "think|thinking|thoughts?|reasoning|reflection|scratchpad"
_START: Final = re.compile(rf"<(?:{_TAG})>", re.IGNORECASE)
_ANY: Final = re.compile(rf"<(/?)({_TAG})>", re.IGNORECASE)
_UNFINISHED: Final = re.compile(r"</?[a-z]{0,10}$", re.IGNORECASE)
"""What may become a tag with the next piece."""


def without_thoughts(text: str) -> str:
    """The text without blocks of thoughts. A closing tag without its beginning closes all that stands before it: some templates open the
    thoughts within the prompt. A block that never ends stays."""
    tags = [(found.start(), found.end(), bool(found[1]), found[2].lower()) for found in _ANY.finditer(text)]
    ends: dict[str, int] = {}
    closing: list[int] = [0] * len(tags)  # of an opening tag: the next tag that closes it, counted from 1
    for number in range(len(tags), 0, -1):
        _, _, closes, name = tags[number - 1]
        if closes:
            ends[name] = number
        else:
            closing[number - 1] = ends.get(name, 0)
    kept: list[str] = []
    position, number = 0, 0
    while number < len(tags):
        start, end, closes, _ = tags[number]
        if closes:
            kept, position = [], end
            kept.append(" ")
        elif closing[number]:
            kept += [text[position:start], " "]
            number = closing[number] - 1
            position = tags[number][1]
        number += 1
    return "".join([*kept, text[position:]])


def thoughts_begin(text: str, position: int = 0) -> int | None:
    """Where the next block of thoughts begins."""
    found = _START.search(text, position)
    return found.start() if found else None


class SpokenPart:
    """The reply itself, taken from a text that comes in pieces, wherever tags are cut in two.

    Blank lines before its first word are no part of it.
    """

    def __init__(self) -> None:
        self.text = ""
        """All of it so far."""
        self.thought = False
        """Whether there were thoughts, closed or not."""
        self._within = ""
        """The tag of the thoughts that are open."""
        self._held = ""

    @property
    def thinking(self) -> bool:
        """Whether thoughts are open."""
        return bool(self._within)

    def add(self, piece: str) -> list[str | None]:
        """What to say on, in order: pieces, and None where all that was said before turns out to have been thoughts."""
        self._held += piece
        said: list[str | None] = []
        while self._tag(said):
            pass
        unfinished = _UNFINISHED.search(self._held)
        ready = unfinished.start() if unfinished else len(self._held)
        self._say(self._held[:ready], said)
        self._held = self._held[ready:]
        return said

    def end(self) -> list[str | None]:
        """What was still held back when the text has ended."""
        said: list[str | None] = []
        self._say(self._held, said)
        self._held = ""
        return said

    def _tag(self, said: list[str | None]) -> bool:
        """Take everything up to the next tag and the tag itself. False when there is none that counts."""
        for found in _ANY.finditer(self._held):
            closes, name = bool(found[1]), found[2].lower()
            if self._within and not (closes and name == self._within):
                continue
            before, self._held = self._held[: found.start()], self._held[found.end() :]
            self.thought = True
            if self._within:
                self._within = ""
            elif closes:  # of thoughts that began within the prompt
                if self.text:
                    said[:] = [None]
                self.text = ""
            else:
                self._say(before, said)
                self._within = name
            return True
        return False

    def _say(self, piece: str, said: list[str | None]) -> None:
        if self._within:
            return
        piece = piece if self.text else piece.lstrip()
        if piece:
            self.text += piece
            said.append(piece)
