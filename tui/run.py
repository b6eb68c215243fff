"""Rounds that are being played: how many are left, what is to be done in them, and how they come to rest."""

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.pace import Rested, Why

if TYPE_CHECKING:
    from engine.events import EngineEvent
    from engine.game import RoundReport
    from engine.records.base import EntityId


@dataclass
class Run:
    """Rounds that are being played."""

    left: int
    wanted: int
    """Rounds that were asked for, all together."""
    done: int = 0
    promoted: int = 0
    failed: int = 0
    paused: bool = False
    stopped: bool = False
    asked: bool = False
    """A proposal came up that waits for the reader's word: no further round begins."""
    text: str = ""
    """What the played entity does in the round that runs."""
    acted: bool = False
    """Whether it has done so."""
    capped: bool = False
    """A cap stops play."""
    trouble: str = ""
    """Why the last beat failed that did."""
    advice: str = ""
    """What to do about it, or about what play pauses for."""
    texts: deque[str] = field(default_factory=deque)
    """What the played entity does in the rounds to come, as far as it was written ahead."""

    @classmethod
    def of(cls, rounds: int, text: str) -> "Run":
        """So many rounds; in the first of them the played entity does `text`."""
        return cls(rounds, rounds, texts=deque([text] if text else []))

    def begin(self) -> str:
        """The next round begins. Returns what the played entity does in it."""
        self.left -= 1
        self.text, self.acted, self.trouble = self.texts.popleft() if self.texts else "", False, ""
        return self.text

    def hear(self, event: "EngineEvent", played: "EntityId | None") -> None:
        """Note what bears on whether to go on."""
        match event.kind:
            case "beat_ended":
                self.acted = self.acted or event.entity == played
            case "beat_failed":
                self.trouble, self.advice = event.reason, event.advice
            case "paused":
                self.capped, self.advice = bool(event.cap), event.advice

    def barred(self, report: "RoundReport") -> Rested | None:
        """How play rests after this round though more were wanted, or a model cannot be asked; None when it goes on."""
        if report.paused:
            return self.rested("capped" if self.capped else "failed", report.paused)
        if self.left and report.failed_beats and not report.beats:
            return self.rested("failed", self.trouble)
        return None

    @property
    def undone(self) -> str:
        """What was written first of all that has not been done."""
        return self.text if self.text and not self.acted else self.texts[0] if self.texts else ""

    def rested(self, why: Why, reason: str = "") -> Rested:
        """How these rounds came to rest."""
        return Rested(why, self.done, self.wanted, self.promoted, self.failed, self.undone, reason, self.advice if reason else "")
