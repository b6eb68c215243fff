"""Changes of a save, as its journal keeps them: what can be taken back and brought again (DESIGN 16)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from engine.records.base import Record

ChangeKind = Literal[
    "round", "beat", "handoff", "compression", "proposal", "review", "collapse", "promotion", "upkeep", "hand", "other"
]
"""What made a change. `round` begins a round and belongs to what comes after it; `upkeep` (the clock, counts of use, what sinks, marks of
sessions) belongs to what came before it: neither is a step of its own. `proposal` is one that waits for a person, `review` what the person
said of it, `hand` any other change by hand. `other` has no name."""


class Change(Record):
    """One transaction of a save."""

    seq: int = Field(gt=0)
    """Its number, never given twice: later changes have higher ones."""
    kind: ChangeKind
    label: str
    """What happened, for people, with reference tokens; `told` renders it."""
    round: int
    """The round it was made in; what a hand does between two rounds belongs to the earlier one."""
    now: datetime
    """World time after it."""
    undone: bool = False
    """Whether it was taken back and can be brought again."""


class Step(Record):
    """What one press of a key takes back or brings again: a change with all that belongs to it."""

    changes: tuple[Change, ...] = Field(min_length=1)
    """In the order in which they were made."""
    label: str
    """What happened, in the names of whoever asked."""

    @property
    def main(self) -> Change:
        """The change that the others belong to."""
        return next((change for change in self.changes if change.kind not in ("round", "upkeep")), self.changes[0])

    @property
    def begins_round(self) -> bool:
        """Whether with it goes that its round was begun at all."""
        return any(change.kind == "round" for change in self.changes)


class Preview(Record):
    """What would be taken back, or brought again, before it is."""

    back: bool
    """Whether it is taken back; else it is brought again."""

    steps: tuple[Step, ...]
    """In the order in which they would go: for undo the newest first. Empty when there is nothing."""
    text: str
    """The same in a few words: `round 12: 5 beats, 1 handoff (3 memories)`."""
    rows: Mapping[str, int]
    """How many rows would change, by table."""
