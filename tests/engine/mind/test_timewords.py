"""Time words of DESIGN 4: a table of every boundary, and what holds for all times."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.mind.timewords import FRESH, naturalize_time

NOON = datetime(1247, 3, 10, 12, 0)
SECOND = timedelta(seconds=1)

ELAPSED = [
    (timedelta(0), "just now"),
    (timedelta(seconds=59), "just now"),
    (timedelta(minutes=1), "moments ago"),
    (timedelta(minutes=3) - SECOND, "moments ago"),
    (timedelta(minutes=3), "a few minutes ago"),
    (timedelta(minutes=10) - SECOND, "a few minutes ago"),
    (timedelta(minutes=10), "several minutes ago"),
    (timedelta(minutes=30) - SECOND, "several minutes ago"),
    (timedelta(minutes=30), "about half an hour ago"),
    (timedelta(minutes=45) - SECOND, "about half an hour ago"),
    (timedelta(minutes=45), "about an hour ago"),
    (timedelta(minutes=90) - SECOND, "about an hour ago"),
    (timedelta(minutes=90), "a couple hours ago"),
    (timedelta(hours=3) - SECOND, "a couple hours ago"),
    (timedelta(hours=3), "a few hours ago"),
    (timedelta(hours=6) - SECOND, "a few hours ago"),
    (timedelta(hours=48), "a couple days ago"),
    (timedelta(days=3) - SECOND, "a couple days ago"),
    (timedelta(days=3), "a few days ago"),
    (timedelta(days=7) - SECOND, "a few days ago"),
    (timedelta(days=7), "about a week ago"),
    (timedelta(days=14) - SECOND, "about a week ago"),
    (timedelta(days=14), "a couple weeks ago"),
    (timedelta(days=21) - SECOND, "a couple weeks ago"),
    (timedelta(days=21), "a few weeks ago"),
    (timedelta(days=30) - SECOND, "a few weeks ago"),
    (timedelta(days=30), "about a month ago"),
    (timedelta(days=60) - SECOND, "about a month ago"),
    (timedelta(days=60), "a couple months ago"),
    (timedelta(days=90) - SECOND, "a couple months ago"),
    (timedelta(days=90), "a few months ago"),
    (timedelta(days=180) - SECOND, "a few months ago"),
    (timedelta(days=180), "many months ago"),
    (timedelta(days=365) - SECOND, "many months ago"),
    (timedelta(days=365), "about a year ago"),
    (timedelta(days=730) - SECOND, "about a year ago"),
    (timedelta(days=730), "years ago"),
    (timedelta(days=400_000), "years ago"),
]


@pytest.mark.parametrize(("gone", "words"), ELAPSED, ids=[str(gone) for gone, _ in ELAPSED])
def test_words_by_elapsed_time(gone: timedelta, words: str) -> None:
    assert naturalize_time(NOON, NOON - gone) == words


def _at(day: int, clock: str) -> datetime:
    return datetime.fromisoformat(f"1247-03-{day:02}T{clock}:00")


BY_DAY = [  # now, past, words
    # the same subjective day
    ((10, "12:00"), (10, "06:00"), "earlier today, in the morning"),
    ((10, "11:00"), (10, "05:00"), "earlier today, in the morning"),
    ((10, "18:30"), (10, "11:59"), "earlier today, in the morning"),
    ((10, "18:30"), (10, "12:00"), "earlier today, in the afternoon"),
    ((10, "23:30"), (10, "16:59"), "earlier today, in the afternoon"),
    ((10, "23:30"), (10, "17:00"), "earlier today, in the evening"),
    ((11, "04:59"), (10, "21:59"), "earlier today, in the evening"),
    ((11, "04:59"), (10, "22:00"), "last night"),
    ((11, "04:59"), (10, "22:59"), "last night"),
    ((11, "04:59"), (10, "05:00"), "earlier today, in the morning"),
    # one subjective day before
    ((10, "11:00"), (10, "04:59"), "late last night"),
    ((10, "11:00"), (10, "03:00"), "late last night"),
    ((10, "11:00"), (10, "02:59"), "around midnight"),
    ((10, "11:00"), (10, "00:00"), "around midnight"),
    ((10, "11:00"), (9, "23:59"), "last night"),
    ((10, "11:00"), (9, "22:00"), "last night"),
    ((10, "11:00"), (9, "21:59"), "yesterday evening"),
    ((10, "11:00"), (9, "17:00"), "yesterday evening"),
    ((10, "11:00"), (9, "16:59"), "yesterday afternoon"),
    ((10, "11:00"), (9, "12:00"), "yesterday afternoon"),
    ((10, "11:00"), (9, "11:59"), "yesterday morning"),
    ((10, "11:00"), (9, "05:00"), "yesterday morning"),
    ((11, "04:59"), (10, "04:59"), "late last night"),
    ((10, "05:00"), (9, "22:59"), "last night"),
    # two subjective days before
    ((10, "11:00"), (9, "04:59"), "the night before last"),
    ((10, "11:00"), (9, "00:00"), "the night before last"),
    ((10, "11:00"), (8, "22:00"), "the night before last"),
    ((10, "11:00"), (8, "21:59"), "the day before yesterday"),
    ((10, "11:00"), (8, "11:01"), "the day before yesterday"),
    ((10, "11:00"), (8, "11:00"), "a couple days ago"),
    ((11, "04:59"), (9, "05:00"), "yesterday morning"),
    ((11, "05:00"), (9, "05:01"), "the day before yesterday"),
]


@pytest.mark.parametrize(("now", "past", "words"), BY_DAY)
def test_words_by_subjective_day(now: tuple[int, str], past: tuple[int, str], words: str) -> None:
    assert naturalize_time(_at(*now), _at(*past)) == words


def test_the_future_is_now() -> None:
    assert naturalize_time(NOON, NOON + timedelta(days=900)) == "just now"


def test_fresh_words_are_those_below_half_an_hour() -> None:
    assert {naturalize_time(NOON, NOON - timedelta(minutes=m)) for m in range(30)} == FRESH
    assert naturalize_time(NOON, NOON - timedelta(minutes=30)) not in FRESH


RANKS = [
    ["just now"], ["moments ago"], ["a few minutes ago"], ["several minutes ago"], ["about half an hour ago"], ["about an hour ago"],
    ["a couple hours ago"], ["a few hours ago"], [f"earlier today, in the {p}" for p in ("evening", "afternoon", "morning")],
    ["late last night", "around midnight", "last night"], [f"yesterday {p}" for p in ("evening", "afternoon", "morning")],
    ["the night before last"], ["the day before yesterday"], ["a couple days ago"], ["a few days ago"], ["about a week ago"],
    ["a couple weeks ago"], ["a few weeks ago"], ["about a month ago"], ["a couple months ago"], ["a few months ago"], ["many months ago"],
    ["about a year ago"], ["years ago"],
]  # fmt: skip
ALL_WORDS = {words for rank in RANKS for words in rank}
TIMES = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59))


@given(TIMES, TIMES)
@example(datetime.min, datetime.min)
@example(datetime.max, datetime.min)
@example(datetime(1, 1, 2, 9), datetime(1, 1, 1, 0, 0))
@example(datetime(1, 1, 1, 7), datetime(1, 1, 1, 0, 0))
def test_total_and_pure(now: datetime, past: datetime) -> None:
    words = naturalize_time(now, past)
    assert words in ALL_WORDS
    assert naturalize_time(now, past) == words
    assert (words == "just now") == (now - past < timedelta(minutes=1))


@given(TIMES, st.timedeltas(timedelta(0), timedelta(days=1000)), st.timedeltas(timedelta(0), timedelta(days=1000)))
def test_older_never_sounds_newer(now: datetime, a: timedelta, b: timedelta) -> None:
    near, far = sorted((a, b))
    if now - datetime.min < far:
        return
    tiers = {words: tier for tier, rank in enumerate(RANKS) for words in rank}
    newer, older = naturalize_time(now, now - near), naturalize_time(now, now - far)
    if newer == "last night" and now.hour < 5:
        return  # still up before dawn: last night is tonight, and comes before what was earlier today
    assert tiers[newer] <= tiers[older]


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9000, 1, 1)),
    st.timedeltas(timedelta(0), timedelta(days=900)),
    st.integers(0, 3000),
)
def test_only_the_time_of_day_and_the_distance_count(now: datetime, gone: timedelta, days: int) -> None:
    past, shift = max(now - gone, datetime.min), timedelta(days=days)
    if past > datetime.min:
        assert naturalize_time(now + shift, past + shift) == naturalize_time(now, past)
