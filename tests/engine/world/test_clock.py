"""World time moves forward only, and is said in words."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.world.clock import LAST_MOMENT, advance, day_number, is_waking, period, present_words, subjective_day

TIMES = st.datetimes(min_value=datetime(1, 1, 1), max_value=LAST_MOMENT)


@given(TIMES, st.integers(-(10**6), 10**12))
def test_time_never_runs_backwards_nor_past_its_end(now: datetime, minutes: int) -> None:
    later = advance(now, minutes)
    assert now <= later <= LAST_MOMENT
    stopped = LAST_MOMENT - later < timedelta(minutes=1)
    assert stopped or (later - now) // timedelta(minutes=1) == max(0, minutes)


def test_advance_past_the_last_moment_stays_where_it_is() -> None:
    assert advance(datetime(9999, 12, 31, 23, 59, 30), 5) == datetime(9999, 12, 31, 23, 59, 30)


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        (datetime(1247, 3, 2, 5, 0), date(1247, 3, 2)),
        (datetime(1247, 3, 2, 4, 59), date(1247, 3, 1)),
        (datetime(1247, 3, 2, 0, 0), date(1247, 3, 1)),
        (datetime(1247, 1, 1, 2, 0), date(1246, 12, 31)),
        (datetime(1, 1, 1, 2, 0), date(1, 1, 1)),
    ],
)
def test_a_subjective_day_begins_at_five(moment: datetime, day: date) -> None:
    assert subjective_day(moment) == day


@given(TIMES)
def test_a_subjective_day_is_the_calendar_day_five_hours_before(moment: datetime) -> None:
    if moment >= datetime(1, 1, 1, 5):
        assert day_number(moment) == (moment - timedelta(hours=5)).toordinal()
        assert subjective_day(moment).toordinal() == day_number(moment)


PERIODS = {
    **dict.fromkeys(range(3), "midnight"), 3: "late night", 4: "late night", **dict.fromkeys(range(5, 12), "morning"),
    **dict.fromkeys(range(12, 17), "afternoon"), **dict.fromkeys(range(17, 22), "evening"), 22: "night", 23: "night",
}  # fmt: skip


@pytest.mark.parametrize(("hour", "name"), PERIODS.items())
def test_periods(hour: int, name: str) -> None:
    for minute in (0, 59):
        assert period(datetime(1247, 3, 1, hour, minute)) == name
        assert is_waking(datetime(1247, 3, 1, hour, minute)) == (name in ("morning", "afternoon", "evening"))


def test_the_present_in_words() -> None:
    assert present_words(datetime(1247, 3, 1, 18, 5)) == "It is early evening, the first day of March."
    assert present_words(datetime(1247, 12, 31, 6, 0)) == "It is early morning, the thirty-first day of December."
    assert present_words(datetime(1247, 6, 22, 23, 0)) == "It is night, the twenty-second day of June."


@given(TIMES)
def test_the_present_holds_no_figures(moment: datetime) -> None:
    assert re.fullmatch(r"It is [a-z, ]+, the [a-z-]+ day of [A-Z][a-z]+\.", present_words(moment))
