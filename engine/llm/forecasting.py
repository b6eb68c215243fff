"""What the next round may take, reckoned from the calls of the last ones."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from engine.llm.sums import Sum
from engine.records.base import EntityId
from engine.records.models import Call, CapName, CapState, Forecast, Spent
from engine.settings.records import STORYTELLER

_LOOKED_AT: Final = 5
"""Rounds that a forecast goes by: enough to even out a long speech, few enough to follow how prompts grow."""
_BEAT: Final = frozenset({"actor", "decode", "referee"})
NOTHING: Final = Spent()


@dataclass
class _Taken:
    """What somebody's beats, or handoffs, of one round took."""

    all: Sum = field(default_factory=Sum)
    outside: Sum = field(default_factory=Sum)
    """Of it, what went to providers and servers."""
    done: int = 0
    """Replies of the task that makes it one: of the actor, of the handoff."""


@dataclass(frozen=True)
class _Usual:
    """What one beat, or one handoff, takes as a rule."""

    all: Spent
    outside: Spent
    of: int
    """How many it is the mean of; `all` and `outside` are their sums."""
    rounds: int = 0
    """Rounds they were seen in. 0 for a guess."""


class _LastRounds:
    """Calls of one kind in the rounds played last. A round that is played once more after an undo counts as played last."""

    def __init__(self) -> None:
        self._rounds: dict[int, dict[EntityId, _Taken]] = {}

    def add(self, call: Call, done: bool) -> None:
        """Take in a call."""
        self._rounds[call.round] = entities = self._rounds.pop(call.round, {})
        while len(self._rounds) > _LOOKED_AT:
            del self._rounds[next(iter(self._rounds))]
        taken = entities.setdefault(call.entity, _Taken())
        taken.all.add(call)
        if call.model != STORYTELLER:
            taken.outside.add(call)
        taken.done += done

    def usual(self, each_reply: bool) -> _Usual | None:
        """The sums over what was done: each reply is one, or each entity's round. None when nothing was."""
        found = [taken for entities in self._rounds.values() for taken in entities.values() if taken.done]
        rounds = sum(any(taken.done for taken in entities.values()) for entities in self._rounds.values())
        of = sum(taken.done for taken in found) if each_reply else len(found)
        return _Usual(_sum(taken.all for taken in found), _sum(taken.outside for taken in found), of, rounds) if of else None


class Forecasting:
    """Looks at calls as they end. What it holds is bounded: five rounds with beats, five with handoffs."""

    def __init__(self) -> None:
        self._beats, self._handoffs = _LastRounds(), _LastRounds()

    def add(self, call: Call) -> None:
        """Take in a call that has ended."""
        if call.task in _BEAT:  # what a person writes is decoded too, and is no beat that could be due
            self._beats.add(call, call.task == "actor" and not call.failed)
        elif call.task == "handoff":
            self._handoffs.add(call, not call.failed)

    def clear(self) -> None:
        """Other models answer from now on: what rounds took before tells nothing of the next one."""
        self._beats, self._handoffs = _LastRounds(), _LastRounds()

    def next_round(
        self, beats: int, handoffs: int, *, beat: Spent = NOTHING, handoff: Spent = NOTHING, guess: str = "",
        outside: bool = True, caps: Iterable[CapState] = (),
    ) -> Forecast:
        """What a round may take in which so many beats and handoffs are due, going by what they took lately.

        `beat` and `handoff` are what one of each is guessed to take, where none was seen yet, and `guess` says in words from what.
        `outside` is whether providers and servers answer in what is guessed: then nobody knows how long it takes. `caps` are looked at for
        the one that would be passed.
        """
        seen_beat, seen_handoff = self._beats.usual(each_reply=True), self._handoffs.usual(each_reply=False)
        parts = [
            (seen_beat or _Usual(beat, beat if outside else NOTHING, 1), beats),
            (seen_handoff or _Usual(handoff, handoff if outside else NOTHING, 1), handoffs),
        ]

        def expected(name: str) -> float:
            return sum(times * float(getattr(usual.all, name)) / usual.of for usual, times in parts)

        cost = expected("cost") if expected("unpriced") == 0 else None
        tokens_outside = sum(times * usual.outside.tokens / usual.of for usual, times in parts)
        due = [usual.rounds for usual, times in parts if times]
        timed = all(due) or not outside  # what was never called may take any time; what is built in takes none
        return Forecast(
            calls=expected("calls"), prompt_tokens=expected("prompt_tokens"), reply_tokens=expected("reply_tokens"), cost=cost,
            seconds=expected("seconds") if timed else None, basis=_basis(due, guess),
            stops=_stopped_by(caps, expected("tokens"), tokens_outside, cost),
        )


def _sum(parts: Iterable[Sum]) -> Spent:
    whole = Sum()
    for part in parts:
        whole.take_in(part)
    return whole.spent


def _basis(rounds: list[int], guess: str) -> str:
    """From what it is reckoned. `rounds` has for each kind of thing that is due in how many rounds it was seen."""
    if not rounds:
        return "nothing is due"
    seen = max(rounds)
    from_what = f": {guess}" if guess else ""
    if not seen:
        return f"nothing was played with these models yet{from_what}"
    text = "as the last round" if seen == 1 else f"as the last {seen} rounds"
    return text if min(rounds) else f"{text}, the rest a guess{from_what}"


def _stopped_by(caps: Iterable[CapState], tokens: float, outside: float, cost: float | None) -> CapName | None:
    for cap in caps:
        if cap.cap in ("run_money", "day_money"):
            takes = cost if cost is not None else cap.limit + 1  # a price that is unknown may be any
        else:
            takes = outside if cap.cap == "day_tokens" else tokens
        if cap.used + takes > cap.limit:
            return cap.cap
    return None
