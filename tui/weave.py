"""The story of a save that is opened again: what happened and, in between, what minds did, each where it came about."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tui.panes.story import Aside
from tui.wording import retold

if TYPE_CHECKING:
    from engine.asides import Aside as Kept
    from engine.game import StoryLine


def woven(lines: "Iterable[StoryLine]", asides: "Sequence[Kept]") -> "list[StoryLine | Aside]":
    """Lines and asides in the order in which they would have been shown. Both come in order of time."""
    told: list[StoryLine | Aside] = []
    rest = list(reversed(asides))
    for line in lines:
        while rest and _comes_first(rest[-1], line):
            _tell(told, rest.pop())
        told.append(line)
    while rest:
        _tell(told, rest.pop())
    return told


def _comes_first(aside: "Kept", line: "StoryLine") -> bool:
    """Names are learned from what is said at that time, handoffs come before it; but sleepers wake before the handoffs of a round."""
    if aside.round != line.round:
        return aside.round < line.round
    return aside.at < line.at or (aside.at == line.at and aside.first and line.intent.verb != "wake")


def _tell(told: "list[StoryLine | Aside]", aside: "Kept") -> None:
    text, who, bad = retold(aside)
    if text:
        told.append(Aside(aside.round, f"{aside.at:%H:%M}", text, who, bad))
