"""Tokens, money and time as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.records.models import CapState, Spent
from tui.figures import cost, duration, money, nearest, percent, price, short_tokens


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (14_231, "14.2k"), (99_949, "99.9k"), (99_960, "100k"), (999_499, "999k"),
     (999_500, "1.00M"), (1_420_000, "1.42M"), (12_000_000, "12.0M"), (250_000_000, "250M")],
)
def test_tokens_are_short(number: int, text: str) -> None:
    assert short_tokens(number) == text


@given(st.integers(min_value=0, max_value=900_000_000))
def test_tokens_never_take_more_than_five_cells(number: int) -> None:
    assert len(short_tokens(number)) <= 5


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0, "$0"), (0.00001, "<$0.0001"), (0.0021, "$0.0021"), (0.0213, "$0.021"), (0.9999, "$1.00"), (2.131, "$2.13"), (213.4, "$213"),
     (12_345, "$12,345")],
)
def test_money_has_as_many_places_as_it_needs(dollars: float, text: str) -> None:
    assert money(dollars) == text


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_money_that_was_spent_never_reads_as_nothing(dollars: float) -> None:
    assert money(dollars).strip("<$0.,") != ""


@pytest.mark.parametrize(("dollars", "text"), [(2, "$2"), (0.25, "$0.25"), (0.075, "$0.075"), (1.1, "$1.10"), (0, "$0")])
def test_prices_have_no_needless_places(dollars: float, text: str) -> None:
    assert price(dollars) == text


def test_an_unknown_price_is_never_nothing() -> None:
    assert cost(Spent(calls=2, unpriced=2)) == "unknown"
    assert cost(Spent(calls=2, unpriced=2), long=True) == "price unknown"
    assert cost(Spent(calls=2, unpriced=1, cost=0.5)) == "$0.500+"
    assert cost(Spent(calls=2, unpriced=1, cost=0.5), long=True) == "$0.500 and calls of unknown price"
    assert cost(Spent(calls=2)) == "free"
    assert cost(Spent(calls=2, cost=0.02)) == "$0.020"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "<0.1 s"), (1.34, "1.3 s"), (60, "60 s"), (99.6, "1 m 40 s"), (3_599, "59 m 59 s"), (7_500, "2 h 5 m")],
)
def test_time_is_said_in_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("share", "text"), [(0, "0%"), (0.0001, "1%"), (0.62, "62%"), (0.999, "99%"), (1, "100%"), (1.3, "130%")])
def test_a_cap_is_full_only_when_it_is(share: float, text: str) -> None:
    assert percent(share) == text


def test_the_nearest_cap_is_the_one_used_up_most() -> None:
    near, far = CapState(cap="run_money", limit=1, used=0.9), CapState(cap="day_tokens", limit=1_000, used=100)
    assert nearest((far, near)) is near
    assert nearest(()) is None
