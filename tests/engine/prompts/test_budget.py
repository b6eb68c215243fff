from hypothesis import given
from hypothesis import strategies as st

from engine.prompts.budget import fit


@given(st.lists(st.integers(1, 50)), st.integers(-5, 300))
def test_whole_pieces_by_rank_never_over_the_budget(costs: list[int], budget: int) -> None:
    kept, lost, used = fit(costs, lambda cost: cost, budget)
    assert kept + lost == costs
    assert used == sum(kept) <= max(budget, 0)
    assert not lost or used + lost[0] > budget
