"""Text that would give orders to whoever remembers it: cut before it can become memory (DESIGN 9). Pure.

What is said in a conversation is no order to the mind that writes it down. A turn in which somebody speaks to the model behind a character
is left out as a whole: what such a turn claims besides is as little to be trusted. People may of course ask each other to remember
things, and tell of what others ignore, so that alone cuts nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from engine.memory.sessions.orders import spoken_to_the_model
from engine.memory.sessions.readings import readings
from engine.records.sessions import Turn

_TOGETHER: Final = 3
"""Turns of one speaker that are read as one, too: an order may be split over them."""
_GOES_ON: Final = re.compile(r"(?:\.{2,}|\u2026|[-\u2013\u2014,])?\s*$")
_GONE_ON: Final = re.compile(r"^\s*(?:\.{2,}|\u2026|[-\u2013\u2014,])?\s*")


class Guarded(NamedTuple):
    """Turns that may be read, and what was cut of them."""

    turns: tuple[Turn, ...]
    cut: tuple[str, ...]
    """The words of the turns that were left out, in order."""


def orders(text: str) -> str:
    """The part of a text that speaks to the model behind a character, as it reads there; empty when there is none."""
    return next(filter(None, map(spoken_to_the_model, readings(text))), "")


def guarded(turns: Sequence[Turn]) -> Guarded:
    """The turns without those that give orders, each by itself or several of one speaker together. A hint of such a turn goes with it; a
    hint alone that gives orders is taken off."""
    giving = {at for at, turn in enumerate(turns) if orders(turn.content)}
    giving |= _split({at: turn for at, turn in enumerate(turns) if at not in giving and turn.role != "note"})
    kept, cut = [], []
    for at, turn in enumerate(turns):
        if at in giving:
            cut.append(turn.content)
        elif turn.hint and orders(turn.hint):
            cut.append(turn.hint)
            kept.append(turn.model_copy(update={"hint": ""}))
        else:
            kept.append(turn)
    return Guarded(tuple(kept), tuple(cut))


def _split(turns: Mapping[int, Turn]) -> set[int]:
    """Turns, by their places, that give orders only where they are read with those of the same speaker before or after them."""
    found: set[int] = set()
    for speaker in dict.fromkeys(turn.speaker_id for turn in turns.values()):
        own = [at for at, turn in turns.items() if turn.speaker_id == speaker]
        for count in range(2, _TOGETHER + 1):
            for start in range(len(own) - count + 1):
                part = own[start : start + count]
                if found.isdisjoint(part) and orders(_joined([turns[at] for at in part])):
                    found.update(part)
    return found


def _joined(turns: Sequence[Turn]) -> str:
    first, *rest = (turn.content for turn in turns)
    for words in rest:
        first = f"{_GOES_ON.sub('', first)} {_GONE_ON.sub('', words)}"
    return first
