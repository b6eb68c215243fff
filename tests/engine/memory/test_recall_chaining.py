"""Neighbours of the best: only of the three best, only where room is, and behind what was ranked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.recall.chaining import chain, room_for_chain
from engine.records.policies import RecallPolicy

POLICY = RecallPolicy()


def beside(row: int) -> tuple[int | None, int | None]:
    """Neighbours in a ledger of a hundred rows."""
    return (row - 1 if row > 0 else None, row + 1 if row < 99 else None)


def test_only_the_three_best_pull_in_their_neighbours_the_preceding_first() -> None:
    assert chain([50, 20, 0, 70, 90], beside, POLICY) == [49, 51, 19, 21, 1]
    assert chain([50, 51], beside, POLICY) == [49, 51, 50, 52]
    assert chain([50], beside, RecallPolicy(chained=0)) == []
    assert chain([], beside, POLICY) == []


@pytest.mark.parametrize(("budget", "room"), [(None, 3), (10_000, 3), (1000, 3), (999, 0), (0, 0)])
def test_neighbours_come_only_where_a_thousand_tokens_are(budget: int | None, room: int) -> None:
    assert room_for_chain(POLICY, budget) == room


@given(st.integers(1, 60), st.integers(0, 20))
def test_neighbours_take_a_quarter_at_the_most(limit: int, chained: int) -> None:
    room = room_for_chain(RecallPolicy(section_limit=limit, chained=chained), None)
    assert room <= limit // 4
    assert room <= 2 * chained


@given(st.lists(st.integers(0, 99), unique=True, max_size=20))
def test_a_neighbour_is_named_once_and_stands_beside_one_of_the_best(ranked: list[int]) -> None:
    found = chain(ranked, beside, POLICY)
    assert len(found) == len(set(found)) <= 6
    assert set(found) <= {near for row in ranked[:3] for near in beside(row)}
