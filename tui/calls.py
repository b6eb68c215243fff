"""Calls to models as they are now: those under way with their time, and the last one of each task for everybody."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tui.text import plain

if TYPE_CHECKING:
    from engine.records.base import EntityId
    from engine.records.models import CallView
    from engine.records.prompts import Task

STORYTELLER: Final = "storyteller"
TASKS: "Final[tuple[Task, ...]]" = ("actor", "decode", "referee", "handoff", "alias", "collapse", "validate", "narrate")
"""In the order in which people read them."""
_SHOWN_AFTER: Final = 1.0
"""Seconds after which a call is worth a word."""
_KEPT: Final = 400
"""Calls that have ended and can still be looked at."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A call under way and the moment, by the host's clock, since when it is as it is."""

    call: "CallView"
    since: float


class CallBook:
    """What is told of calls, at once and not at the pace of the story: what is said of a model is true now."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._now: dict[int, Pending] = {}
        self._last: OrderedDict[tuple[EntityId, Task], CallView] = OrderedDict()
        self.version = 0
        """Another number whenever anything has changed."""

    def hear(self, call: "CallView") -> None:
        """Take in what is told of a call."""
        self.version += 1
        if call.over:
            self._now.pop(call.key, None)
        else:
            self._now[call.key] = Pending(call, self._clock())
        key = (call.entity, call.task)
        kept = self._last.get(key)
        if call.state in ("held", "waiting") or (call.state == "failed" and (kept is None or kept.key != call.key)):
            return  # nothing was sent
        self._last[key] = call
        self._last.move_to_end(key)
        while len(self._last) > _KEPT:
            self._last.popitem(last=False)

    def clear(self) -> None:
        """Another game: forget all."""
        self.version += 1
        self._now.clear()
        self._last.clear()

    @property
    def now(self) -> "list[CallView]":
        """The calls under way, oldest first."""
        return [pending.call for pending in self._now.values()]

    @property
    def held(self) -> "list[CallView]":
        """Those that wait for the reader's word."""
        return [call for call in self.now if call.state == "held"]

    @property
    def live(self) -> "tuple[CallView, ...]":
        """The calls under way; when there are none, the one that was sent last."""
        return tuple(self.now) or tuple(reversed(self._last.values()))[:1]

    def last(self, entity: "EntityId | None") -> "tuple[CallView, ...]":
        """The last call of each task on behalf of an entity, as far as it was sent."""
        return tuple(call for task in TASKS if (call := self._last.get((entity or "", task))) is not None)

    def line(self) -> str:
        """What takes its time, for the line at the bottom: `actor · qwen2.5-7b · 34 s`. The storyteller never does. Changes once a
        second at most, as long as no call begins or ends."""
        now = self._clock()
        busy = [one for one in self._now.values() if one.call.state != "held" and one.call.model != STORYTELLER]
        slow = [one for one in busy if now - one.since > _SHOWN_AFTER]
        if not slow:
            return ""
        first = min(slow, key=lambda one: (one.call.state != "sent", one.since))
        waits = "" if first.call.state == "sent" else "waits its turn "
        more = f" · {len(busy)} calls" if len(busy) > 1 else ""
        return f"{first.call.task} · {short_model(first.call.model)} · {waits}{_seconds(now - first.since)}{more}"


def short_model(model: str) -> str:
    """A model's name without the provider: `qwen2.5-7b` of `openai/qwen2.5-7b`."""
    return plain(model).rstrip("/").rsplit("/", 1)[-1] or plain(model)


def _seconds(passed: float) -> str:
    whole = int(passed)
    return f"{whole} s" if whole < 100 else f"{whole // 60} m {whole % 60} s"
