"""In how many ways the same moments can be remembered, for somebody who asks anew: what is kept, how finely, in which words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

_ALL = 1000


@dataclass(frozen=True, slots=True)
class Choice:
    """How much of a pool is kept."""

    room: int = 4
    """Chunks from which light beats give way."""
    light: int = 4
    """Importance up to which a beat gives way when there are more than that."""
    most: int = 4
    """Moments that are told of one beat; of an old memory that stands for others, one thing less."""


@dataclass(frozen=True, slots=True)
class Manner:
    """One way to remember. What it is made of never changes: only what is chosen of it, and how it is told."""

    choice: Choice = field(default_factory=Choice)
    apart: bool = False
    """Whether each exchange of a beat is a chunk of its own."""
    joined: bool = True
    """Whether moments that go together are one sentence."""
    anew: bool = False
    """Whether speech and thoughts are told with other verbs."""
    quotes: Literal["weightiest", "further", "one"] = "weightiest"
    """Which words are kept: the two weightiest, those after the weightiest, or only that."""
    heavier: int = 0
    """Added to the importance."""
    retain: bool = True
    """Whether matters that are not settled stay pinned."""


USUAL = Manner()
_FEW, _MANY = Choice(room=2, light=5, most=2), Choice(room=_ALL, light=0, most=6)
OTHERS = (
    Manner(anew=True, quotes="further"),
    Manner(apart=True, joined=False),
    Manner(choice=_FEW, quotes="one", heavier=1, retain=False),
    Manner(choice=_MANY, joined=False, anew=True, heavier=-1),
    Manner(choice=_FEW, apart=True, anew=True, quotes="one", retain=False),
)
"""The ways besides the usual one, in the order in which they are tried: each differs from the one before in its words where it can."""


def answer(attempt: int, write: Callable[[Manner], str]) -> str:
    """What `write` makes of the same for this attempt: the usual for 0, then another each time, and those by turns.

    Ways that come out the same count once; those that differ by no word from one before them come after the others. When only one
    differs from the usual, it and the usual take turns, so that asking again always changes something; when none does there
    is nothing else to say.
    """
    usual = write(USUAL)
    if attempt <= 0:
        return usual
    others = list(dict.fromkeys(text for text in map(write, OTHERS) if text != usual))
    seen, fresh = {_worded(usual)}, list[str]()
    for text in others:
        if _worded(text) not in seen:
            seen.add(_worded(text))
            fresh.append(text)
    others = list(dict.fromkeys([*fresh, *others]))
    turns = others if len(others) > 1 else [*others, usual]
    return turns[(attempt - 1) % len(turns)]


def _worded(text: str) -> str:
    """A reply without what is between its words, and without importance: what may differ although it says the same in the same words."""
    return "".join(filter(str.isalpha, text))
