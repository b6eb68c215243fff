"""Caps: asked before every call, never passed, and play goes on when they are raised."""

import asyncio
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import CapReachedError
from engine.llm.caps import Caps, Reservation
from engine.llm.meter import Meter
from engine.llm.usage_log import UsageLog
from engine.records.models import CapState
from engine.settings.records import CapSettings
from tests.engine.llm.stack import a_call


class Run:
    """Caps with a meter, and calls to them."""

    def __init__(self, settings: CapSettings, log: UsageLog | None = None) -> None:
        self.meter, self.log = Meter(), log
        self.caps = Caps(settings, self.meter, log)

    def begin(self, tokens: int, cost: float | None = 0.0, *, by_day: bool = True) -> Reservation:
        return self.caps.reserve("actor", tokens, cost, model="openai/x" if by_day else "storyteller", by_day=by_day)

    def end(self, reservation: Reservation, tokens: int, cost: float = 0.0) -> None:
        reservation.release()
        call = a_call(prompt=tokens, reply=0, cost=cost, model="openai/x" if reservation.by_day else "storyteller")
        self.meter.add(call)
        if self.log is not None and reservation.by_day:
            self.log.add(call)

    def takes(self, tokens: int, cost: float | None = 0.0, *, by_day: bool = True) -> bool:
        """Whether a call would be made now."""
        try:
            self.begin(tokens, cost, by_day=by_day).release()
        except CapReachedError:
            return False
        return True


def day_log(folder: Path) -> UsageLog:
    return UsageLog(folder, lambda: datetime(2026, 11, 30, 9, 30))


def test_without_caps_nothing_is_held_up() -> None:
    run = Run(CapSettings())
    assert run.takes(10**12, None)
    assert run.caps.states() == ()


def test_a_call_that_would_pass_the_cap_is_not_made_and_one_that_fits_exactly_is() -> None:
    run = Run(CapSettings(run_tokens=1000))
    run.end(run.begin(600), 400)
    assert run.takes(600)
    assert not run.takes(601)


def test_what_calls_under_way_may_take_is_held_for_them_until_they_end() -> None:
    run = Run(CapSettings(run_tokens=1000))
    first = run.begin(600)
    assert not run.takes(401)
    second = run.begin(400)
    assert not run.takes(1)
    run.end(first, 100)
    assert run.takes(500)
    second.release()
    second.release()
    assert run.takes(900)
    assert not run.takes(901)


def test_raised_or_taken_out_the_cap_lets_play_go_on_at_once() -> None:
    run = Run(CapSettings(run_tokens=100))
    run.end(run.begin(100), 100)
    assert not run.takes(1)
    run.caps.change(CapSettings(run_tokens=200))
    assert run.takes(100)
    assert not run.takes(101)
    run.caps.change(CapSettings(run_tokens=50))  # lowered below what is used
    assert not run.takes(0)
    run.caps.change(CapSettings())
    assert run.takes(10**9)


@given(
    st.integers(1, 400), st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90), st.integers(0, 9), st.booleans()), max_size=60)
)
def test_no_order_of_calls_passes_a_cap_and_all_reservations_end(
    limit: int, steps: list[tuple[int, int, int, bool]]
) -> None:
    run = Run(CapSettings(run_tokens=limit, run_money=limit / 8))
    under_way: list[tuple[Reservation, int]] = []
    for estimate, real, which, begins in steps:
        if begins:
            try:
                under_way.append((run.begin(estimate, estimate / 8), min(real, estimate)))
            except CapReachedError:
                continue
        elif under_way:
            reservation, tokens = under_way.pop(which % len(under_way))
            if which == 9:
                reservation.release()  # it never reached the model
            else:
                run.end(reservation, tokens, tokens / 8)
        assert run.meter.total.tokens <= limit
        assert run.meter.total.cost <= limit / 8
    for reservation, tokens in under_way:
        run.end(reservation, tokens, tokens / 8)
    left = limit - run.meter.total.tokens
    assert left >= 0
    assert run.takes(left, left / 8)
    assert not run.takes(left + 1)
    assert not run.takes(0, left / 8 + 0.125)


def test_money_is_capped_too_and_the_storyteller_costs_none() -> None:
    run = Run(CapSettings(run_money=1.0))
    run.end(run.begin(10**6, 0.5), 10**6, 0.5)
    assert run.takes(10**6, 0.5)
    assert not run.takes(1, 0.75)
    assert run.takes(10**9, 0.0, by_day=False)


def test_a_price_that_is_unknown_cannot_be_held_to_a_cap_on_money_and_that_is_said() -> None:
    run = Run(CapSettings(run_money=2.0))
    with pytest.raises(CapReachedError, match=r"What openai/x costs is unknown.*\$2\.00 for this run.*input_price.*output_price") as raised:
        run.begin(1, None)
    assert raised.value.cap == "run_money"
    run.caps.change(CapSettings(run_tokens=100))
    assert run.takes(1, None)


def test_by_run_all_tokens_count_and_by_day_those_of_providers_and_servers(tmp_path: Path) -> None:
    run = Run(CapSettings(run_tokens=1000, day_tokens=500), day_log(tmp_path))
    run.end(run.begin(600, by_day=False), 600)
    assert run.caps.states() == (CapState(cap="run_tokens", limit=1000, used=600), CapState(cap="day_tokens", limit=500, used=0))
    held = run.begin(300, by_day=False)
    assert run.takes(100)  # by day the storyteller holds nothing
    held.release()
    run.end(run.begin(400), 400)
    run.caps.change(CapSettings(day_tokens=500))
    assert run.takes(10**6, by_day=False)
    assert not run.takes(101)


def test_a_day_is_shared_with_runs_before_and_beside(tmp_path: Path) -> None:
    before = Run(CapSettings(), day_log(tmp_path))
    before.end(before.begin(300, 0.5), 300, 0.5)
    run = Run(CapSettings(day_tokens=1000, day_money=1.0), day_log(tmp_path))
    assert [(state.used, state.share) for state in run.caps.states()] == [(300, 0.3), (0.5, 0.5)]
    assert run.takes(700, 0.5)
    assert not run.takes(701, 0.0)
    before.end(before.begin(300), 300)
    assert run.takes(400)
    assert not run.takes(401)


def test_without_a_log_the_day_is_this_run() -> None:
    run = Run(CapSettings(day_tokens=100))
    run.end(run.begin(10_000, by_day=False), 10_000)
    run.end(run.begin(60), 60)
    assert run.takes(40)
    assert not run.takes(41)


async def test_a_long_day_is_read_beside_the_loop_when_a_cap_asks_for_it(tmp_path: Path) -> None:
    log = day_log(tmp_path)
    log.add(a_call())
    await Run(CapSettings(day_tokens=100), log).caps.ready()
    reading = asyncio.create_task(Run(CapSettings(day_tokens=100), log).caps.ready())
    await asyncio.sleep(0)
    log.add(a_call())  # while it is read
    await reading
    assert log.today().calls == 2


@pytest.mark.parametrize(
    ("settings", "used", "held", "takes", "said", "raise_to"),
    [
        (CapSettings(run_tokens=20_000), (18_000, 0.0), (1_200, 0.0), (1_500, 0.0),
         "could pass the cap of 20,000 tokens for this run: 18,000 tokens used, calls under way may take 1,200 tokens, the next one "
         "(actor, openai/x) may take up to 1,500 tokens.", "caps.run_tokens 40000"),
        (CapSettings(day_tokens=100), (0, 0.0), None, (3_210, 0.0),
         "The cap of 100 tokens a day is below what one model call may take: nothing is used yet, and the first one (actor, openai/x) may "
         "take up to 3,210 tokens.", "caps.day_tokens 9700"),
        (CapSettings(run_money=0.5), (10, 0.4987), None, (10, 0.002),
         "cap of $0.50 for this run: $0.499 used, the next one (actor, openai/x) may take up to $0.002.", "caps.run_money 1"),
        (CapSettings(day_money=2.0), (10, 1.25), None, (10, 12.5),
         "cap of $2.00 a day: $1.25 used, the next one (actor, openai/x) may take up to $12.50.", "caps.day_money 39"),
    ],
    ids=["run_tokens", "day_tokens", "run_money", "day_money"],
)  # fmt: skip
def test_what_is_said_is_the_cap_what_is_used_and_how_to_go_on(
    settings: CapSettings, used: tuple[int, float], held: tuple[int, float] | None, takes: tuple[int, float], said: str, raise_to: str
) -> None:
    run = Run(CapSettings())
    run.end(run.begin(*used), *used)
    if held is not None:
        run.begin(*held)
    run.caps.change(settings)
    with pytest.raises(CapReachedError) as raised:
        run.begin(*takes)
    assert said in str(raised.value)
    assert f"in Models (key M), or with `otherminds config set {raise_to}`" in raised.value.advice
    assert raised.value.cap in raise_to
    name, value = raise_to.split()
    run.caps.change(CapSettings.model_validate({name.removeprefix("caps."): float(value) if "money" in name else int(value)}))
    assert run.takes(*takes)
