"""When things that have happened are shown: an engine can be faster than an eye."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engine.events import EngineEvent
    from engine.game import StoryLine
    from engine.records.base import EntityId, LedgerId

SPEEDS = {"at once": 0.0, "brisk": 0.12, "calm": 0.25, "slow": 0.7}
"""Seconds between beats."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An engine event with what viewers are told of it, put into words at the moment it happened."""

    event: "EngineEvent"
    told: "Mapping[EntityId | None, StoryLine]" = field(default_factory=dict)


Why = Literal["done", "paused", "stopped", "asked", "capped", "failed"]
"""`asked`: a proposal waits for the reader's word. `capped`: the next call would pass a cap. `failed`: nobody could act in the last round,
or none that follow could, because a model cannot be asked."""


@dataclass(frozen=True, slots=True)
class Rested:
    """Play has come to rest."""

    why: Why
    rounds: int = 0
    """How many were finished."""
    wanted: int = 0
    """How many were asked for."""
    promoted: int = 0
    failed: int = 0
    """Beats that failed."""
    text: str = ""
    """What was to be done and was not, to be given back to the player."""
    reason: str = ""
    """Why play rests, where that is no matter of course."""
    advice: str = ""
    """The end of the reason: what to do next."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A round could not be played. Nothing has changed."""

    text: str
    """What was to be done, to be given back to the player."""
    reason: str
    capped: bool = False
    """Whether a cap forbids it."""
    advice: str = ""
    """The end of the reason: what to do next."""


Item = Heard | Rested | Refused


class Pacer:
    """A queue that lets go of things at the pace of a reader. With speed 0 at once."""

    def __init__(self, speed: float = 0.25, limit: int = 20_000) -> None:
        self.speed = speed
        self.interest: Callable[[EntityId, bool], bool] = lambda entity, starting: False
        """Whether the reader would look at a handoff of this entity, one that starts or one that goes on: only those take their time."""
        self.lost = False
        """Things had to be dropped: what is shown must be read anew. Whoever does that sets it back."""
        self._queue: deque[Item] = deque()
        self._limit = limit
        self._due = 0.0
        self._piece = 0.0
        self._rush = 0

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, item: Item) -> None:
        """Take a thing in. The oldest goes when there are far too many."""
        if len(self._queue) >= self._limit:
            self._queue.popleft()
            self._rush = max(self._rush - 1, 0)
            self.lost = True
        self._queue.append(item)

    def hurry(self) -> None:
        """Let go of everything that waits now, at the next turn. What comes later keeps its pace."""
        self._rush = len(self._queue)

    def take(self, now: float) -> list[Item]:
        """What may be shown by `now`, in seconds of any steady clock."""
        if self.speed <= 0:
            self._rush, self._due = 0, now
            items, self._queue = list(self._queue), deque()
            return items
        self._due = max(self._due, now - 0.1)
        items = []
        while self._queue and (self._rush or self._due <= now):
            item = self._queue.popleft()
            items.append(item)
            if self._rush:
                self._rush, self._due = self._rush - 1, now
            else:
                self._due += self._delay(item)
                if isinstance(item, Heard) and item.event.kind == "round_started":
                    break  # whose handoff is of interest depends on the round one sees
        return items

    def unseen_memories(self) -> "set[LedgerId]":
        """Ledger entries that are written but whose handoff is still to be shown."""
        events = (item.event for item in self._queue if isinstance(item, Heard))
        return {entry.id for event in events if event.kind == "handoff_committed" for entry in event.ledger}

    def _delay(self, item: Item) -> float:
        if not isinstance(item, Heard):
            return 0.0
        event = item.event
        match event.kind:
            case "beat_started":
                self._piece = 1.5 * self.speed / max(self._pieces(), 1)
                return 0.5 * self.speed
            case "prose":
                return self._piece
            case "beat_ended" | "beat_failed":
                return self.speed
            case "handoff_started":
                return 6 * self.speed if self.interest(event.entity, True) else 0.0
            case "chunk":
                return 2 * self.speed if self.interest(event.entity, False) else 0.0
            case "handoff_committed" | "handoff_failed" | "handoff_proposed":
                return 6 * self.speed if self.interest(event.entity, False) else 0.0
        return 0.0

    def _pieces(self) -> int:
        """Pieces of prose of the beat that is next, as far as they have come."""
        number = 0
        for item in self._queue:
            if isinstance(item, Heard):
                if item.event.kind == "prose":
                    number += 1
                elif item.event.kind in ("beat_ended", "beat_failed"):
                    break
        return number
