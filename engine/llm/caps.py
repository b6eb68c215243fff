"""Caps on tokens and money, by run and by day: asked before every call, so that no sum ever passes them."""

import asyncio
import math
import re
from collections.abc import Callable
from typing import Final

from engine.errors import CapReachedError
from engine.llm.meter import Meter
from engine.llm.usage_log import UsageLog
from engine.records.models import CapName, CapState, Spent
from engine.records.prompts import Task
from engine.settings.records import STORYTELLER, CapSettings

_NAMES: Final[tuple[CapName, ...]] = ("run_tokens", "run_money", "day_tokens", "day_money")
_CALLS: Final = 3
"""Calls like the one that was held for which a raised cap has room at least."""
_HOW: Final = re.compile(r"in Models \(key M\), or with `otherminds config (?:set caps\.(\w+) ([^` ]+)|unset caps\.(\w+))`")


class Reservation:
    """What one call may take at most, held against the caps until it has ended and its real figures are counted."""

    def __init__(self, caps: "Caps", tokens: int, cost: float, by_day: bool) -> None:
        self.tokens, self.cost, self.by_day = tokens, cost, by_day
        self._caps = caps

    def release(self) -> None:
        """The call has ended. To be called in one go with counting it; safe to call twice."""
        self._caps.released(self)


class Caps:
    """Holds calls that would pass a cap. Caps by run go by what the meter has counted, all models together; caps by day by the day's
    log, which has calls to providers and servers only. Without a log they count those of this run.

    Calls under way in other processes count when they have ended.
    """

    def __init__(self, settings: CapSettings, meter: Meter, usage_log: UsageLog | None = None) -> None:
        self._settings, self._meter, self._log = settings, meter, usage_log
        self._held: set[Reservation] = set()

    def change(self, settings: CapSettings) -> None:
        """Other caps from the next call on."""
        self._settings = settings

    def states(self) -> tuple[CapState, ...]:
        """The caps that are set, and what calls that have ended took of them."""
        found = []
        for name in _NAMES:
            limit = getattr(self._settings, name)
            if limit is not None:
                found.append(CapState(cap=name, limit=limit, used=self._used(name)))
        return tuple(found)

    async def ready(self) -> None:
        """Read what the day has taken, if a cap asks for it: a long day's log at once would hold up everything else."""
        if self._log is not None and (self._settings.day_tokens is not None or self._settings.day_money is not None):
            await asyncio.to_thread(self._log.today)

    def reserve(self, task: Task, tokens: int, cost: float | None, *, model: str, by_day: bool = True) -> Reservation:
        """Room for a call that takes no more than `tokens` and `cost` (US dollars; None when its price is unknown).

        `by_day` is whether it counts by day: calls to providers and servers do. Raises `CapReachedError` when what is used, what
        calls under way may take and this one would pass a cap together, and when a cap on money is set and the price is unknown.
        """
        for state in self.states():
            by_run, of_money = state.cap.startswith("run"), state.cap.endswith("money")
            if not by_run and not by_day:
                continue
            if of_money and cost is None:
                raise _unpriced(state, model)
            takes = (cost or 0.0) if of_money else tokens
            held = sum(one.cost if of_money else one.tokens for one in self._held if by_run or one.by_day)
            if state.used + held + takes > state.limit:
                raise _reached(state, held, takes, f"{task}, {model}", self._longest_round(of_money))
        reservation = Reservation(self, tokens, cost or 0.0, by_day)
        self._held.add(reservation)
        return reservation

    def released(self, reservation: Reservation) -> None:
        """Give up the room of a reservation."""
        self._held.discard(reservation)

    def _used(self, name: CapName) -> float:
        spent = self._meter.total if name.startswith("run") else self._today()
        return spent.cost if name.endswith("money") else spent.tokens

    def _longest_round(self, of_money: bool) -> float:
        return max((spent.cost if of_money else spent.tokens for spent in self._meter.by_round.values()), default=0)

    def _today(self) -> Spent:
        if self._log is not None:
            return self._log.today()
        return sum((spent for model, spent in self._meter.by_model.items() if model != STORYTELLER), Spent())


def _reached(state: CapState, held: float, takes: float, call: str, longest: float) -> CapReachedError:
    """`longest` is what the round with most calls has taken so far, as a measure of what it takes to get somewhere."""
    if not state.used and not held:
        text = (
            f"The cap of {_named(state)} is below what one model call may take: nothing is used yet, and the first one ({call}) may take "
            f"up to {_said(state, takes)}."
        )
    else:
        under_way = f"calls under way may take {_said(state, held)}, " if held else ""
        text = (
            f"The next model call could pass the cap of {_named(state)}: {_said(state, state.used)} used, {under_way}"
            f"the next one ({call}) may take up to {_said(state, takes)}."
        )
    enough = _raised(max(2 * state.limit, state.used + held + max(_CALLS * takes, longest)))
    return CapReachedError(text, f"Play goes on when the cap is raised or taken out: {_how(state, f'{enough:.10g}')}.", cap=state.cap)


def _unpriced(state: CapState, model: str) -> CapReachedError:
    text = f"What {model} costs is unknown, so the cap of {_named(state)} cannot be kept."
    advice = (
        f"Set `input_price` and `output_price` of its endpoint (US dollars per million tokens, 0 when it is free), choose another model, "
        f"or take the cap out: in Models (key M), or with `otherminds config unset caps.{state.cap}`."
    )
    return CapReachedError(text, advice, cap=state.cap)


def with_ways(text: str, ways: Callable[[str, str | None], str]) -> str:
    """What was said of a cap, with other ways to change it in place of settings: `ways` is given the cap's name and the amount that is
    proposed, None where it is to go."""
    return _HOW.sub(lambda found: ways(found[1] or found[3], found[2]), text)


def _how(state: CapState, value: str) -> str:
    return f"in Models (key M), or with `otherminds config set caps.{state.cap} {value}`"


def _named(state: CapState) -> str:
    return f"{_said(state, state.limit)} {'a day' if state.cap.startswith('day') else 'for this run'}"


def _said(state: CapState, amount: float) -> str:
    if not state.cap.endswith("money"):
        return f"{amount:,.0f} tokens"
    if amount >= 1 or not amount:
        return f"${amount:,.2f}"
    whole, _, cents = f"{amount:.{2 - math.floor(math.log10(amount))}f}".partition(".")  # three digits that say something
    return f"${whole}.{cents.rstrip('0'):0<2}"


def _raised(amount: float) -> float:
    """The next number of two digits that is not less, as a proposal."""
    unit = 10.0 ** (math.floor(math.log10(amount)) - 1)
    return math.ceil(round(amount / unit, 6)) * unit
