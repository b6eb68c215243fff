"""Rounds that are being played: how many are left, what is to be done in them, and how they come to rest."""

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.errors import CapReachedError, OthermindsError
from tui.pace import Refused, Rested, Why
from tui.text import count

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
    again: bool = False
    """Whether it could not, and does it in the next round."""
    capped: bool = False
    """A cap stops play."""
    trouble: str = ""
    """Why the last beat failed that did."""
    advice: str = ""
    """What to do about it, or about what play pauses for."""
    texts: deque[str] = field(default_factory=deque)
    """What the played entity does in the rounds to come, as far as it was written ahead."""
    begun: bool = False
    """Whether what is to be done in the round that runs was understood, and the round goes on."""
    looking_back: "set[EntityId]" = field(default_factory=set)
    """Whose memory is being handed over now."""
    over: bool = False
    """Whether these rounds have come to rest."""

    @classmethod
    def of(cls, rounds: int, text: str) -> "Run":
        """So many rounds; in the first of them the played entity does `text`."""
        return cls(rounds, rounds, texts=deque([text] if text else []))

    def begin(self) -> str:
        """The next round begins. Returns what the played entity does in it: first of all what failed in the one before."""
        self.left -= 1
        if not self.again:
            self.text = self.texts.popleft() if self.texts else ""
        self.acted, self.again, self.begun, self.trouble = False, False, False, ""
        self.looking_back.clear()
        return self.text

    def hear(self, event: "EngineEvent", played: "EntityId | None") -> None:
        """Note what bears on whether to go on."""
        match event.kind:
            case "round_started" | "beat_started":
                self.begun = True
            case "handoff_started":
                self.begun = True
                self.looking_back.add(event.entity)
            case "handoff_committed" | "handoff_failed" | "handoff_proposed":
                self.looking_back.discard(event.entity)
            case "beat_ended":
                self.acted = self.acted or event.entity == played
            case "beat_failed":
                self.trouble, self.advice = event.reason, event.advice
                self.again = self.again or (bool(self.text) and event.entity == played)
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

    @property
    def waits(self) -> tuple[str, ...]:
        """For each text that was written and is not done yet, in their order, what it waits for; nothing once all has come to rest."""
        if self.over:
            return ()
        now = (self._under_way,) if self.text and not self.acted else ()
        ahead = ("waits for the next round", *(f"waits for {number} more rounds" for number in range(2, len(self.texts) + 1)))
        return (*now, *ahead[: len(self.texts)])

    @property
    def _under_way(self) -> str:
        if self.looking_back:
            return f"waits for {count(len(self.looking_back), 'handoff')}"
        return "is being done…" if self.begun else "is being read…"

    def refused(self, error: OthermindsError) -> Refused:
        """A round that could not be played."""
        self.over = True
        return Refused(self.text, str(error), capped=isinstance(error, CapReachedError), advice=error.advice)

    def rested(self, why: Why, reason: str = "") -> Rested:
        """How these rounds came to rest."""
        self.over = True
        return Rested(why, self.done, self.wanted, self.promoted, self.failed, self.undone, reason, self.advice if reason else "")
