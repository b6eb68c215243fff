import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.recall.candidates import thirds
from engine.memory.recall.ranking import Features, Floats, minmax, score
from engine.records.policies import RecallPolicy

POLICY = RecallPolicy()
NAN = float("nan")


def features(count: int, **given_: Any) -> Features:
    values: dict[str, Any] = {
        "hours": np.zeros(count), "importance": np.ones(count), "cosine": np.full(count, NAN), "words": np.zeros(count),
        "involved": np.zeros(count, dtype=bool), "before": np.full(count, -1), "after": np.full(count, -1),
    }
    return Features(**(values | {name: np.array(value) for name, value in given_.items()}))


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], []), ([3.0], [0.0]), ([2.0, 2.0], [0.0, 0.0]), ([1.0, 3.0, 2.0], [0.0, 1.0, 0.5]), ([NAN, NAN], [0.0, 0.0]),
     ([NAN, 1.0, 2.0], [0.0, 0.0, 1.0]), ([-1.0, 1.0], [0.0, 1.0])],
)  # fmt: skip
def test_minmax(values: list[float], expected: list[float]) -> None:
    assert minmax(np.array(values, dtype=float)).tolist() == expected


def test_the_formula_by_hand() -> None:
    found = score(
        features(3, hours=[0.0, 10.0, 100.0], importance=[2, 10, 5], cosine=[0.2, 0.6, 0.4], words=[4.0, 0.0, 1.0],
                 involved=[False, True, False], before=[-1, 0, -1], after=[1, -1, -1]),
        POLICY, 0.6,
    )  # fmt: skip
    base = [0.6 * 0.0 + 0.4 * 1.0, 0.6 * 1.0 + 0.2, 0.6 * 0.5 + 0.4 * 0.25]
    expected = [
        0.1 * 0.99**0 + 0.1 * 0.2 + base[0] + 0.2 * base[1],
        0.1 * 0.99**10 + 0.1 * 1.0 + base[1] + 0.2 * base[0],
        0.1 * 0.99**100 + 0.1 * 0.5 + base[2],
    ]
    assert found.total.tolist() == pytest.approx(expected)
    assert found.best_first().tolist() == [1, 0, 2]


def test_the_policys_share_of_meaning_wins_over_the_embedders() -> None:
    given_ = features(2, cosine=[0.0, 1.0], words=[1.0, 0.0])
    assert score(given_, POLICY, 0.9).best_first().tolist() == [1, 0]
    assert score(given_, RecallPolicy(meaning=0.1), 0.9).best_first().tolist() == [0, 1]


def test_an_entry_without_a_vector_is_judged_by_words_alone() -> None:
    found = score(features(3, cosine=[0.1, 0.9, NAN], words=[0.0, 0.0, 5.0]), POLICY, 0.6)
    assert found.words[2] == pytest.approx(1.0)
    assert found.cosine[2] == 0.0
    assert found.best_first()[0] == 2


def test_ties_keep_the_order_of_the_candidates() -> None:
    assert score(features(5), POLICY, 0.6).best_first().tolist() == [0, 1, 2, 3, 4]


def test_an_event_after_now_is_as_fresh_as_now() -> None:
    found = score(features(2, hours=[-50.0, 0.0]), POLICY, 0.6)
    assert found.recency.tolist() == [0.1, 0.1]


def test_recency_and_importance_do_not_bury_a_clear_match() -> None:
    found = score(features(2, hours=[0.0, 8760.0], importance=[10, 1], cosine=[0.1, 0.5], words=[0.0, 3.0]), POLICY, 0.6)
    assert found.best_first().tolist() == [1, 0]


NUMBERS = st.floats(0, 100, allow_nan=False)


@st.composite
def pools(draw: st.DrawFn) -> Features:
    count = draw(st.integers(0, 12))
    near = st.integers(-1, count - 1) if count else st.just(-1)
    cosines = st.one_of(st.floats(-1, 1, allow_nan=False), st.just(NAN))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    return features(
        count, hours=column(st.floats(-10, 1e6)), importance=column(st.integers(1, 10)), cosine=column(cosines), words=column(NUMBERS),
        involved=np.array(column(st.booleans()), dtype=bool), before=np.array(column(near), dtype=np.int64),
        after=np.array(column(near), dtype=np.int64),
    )


@given(pools(), st.floats(0, 1))
def test_scores_are_finite_bounded_and_the_sum_of_their_parts(pool: Features, meaning: float) -> None:
    found = score(pool, POLICY, meaning)
    parts: list[Floats] = [found.recency, found.importance, found.cosine, found.words, found.involved, found.smoothed]
    assert np.isfinite(found.total).all()
    assert all((part >= 0).all() for part in parts)
    assert np.allclose(sum(parts), found.total)
    assert (found.total <= 0.1 + 0.1 + 1.2 + 0.2 * 1.2 + 1e-9).all()
    order = found.best_first()
    assert sorted(order.tolist()) == list(range(len(pool.hours)))
    assert all(found.total[a] >= found.total[b] for a, b in pairwise(order))


@given(pools(), st.floats(0, 1), st.floats(0.1, 50), st.floats(-5, 5))
def test_the_scale_of_a_leg_does_not_matter(pool: Features, meaning: float, factor: float, shift: float) -> None:
    spread = np.nanmax(pool.words, initial=0.0) - np.nanmin(pool.words, initial=0.0)
    if 0 < spread < 1e-3:
        return
    stretched = features(
        len(pool.hours), hours=pool.hours, importance=pool.importance, cosine=pool.cosine, words=pool.words * factor + abs(shift),
        involved=pool.involved, before=pool.before, after=pool.after,
    )
    assert np.allclose(score(pool, POLICY, meaning).total, score(stretched, POLICY, meaning).total, atol=1e-6)


ROWS = st.lists(st.integers(0, 300), unique=True, max_size=120)


@given(ROWS, ROWS, ROWS, st.integers(3, 100))
def test_the_pool_is_filled_without_repeats_and_never_empty(a: list[int], b: list[int], c: list[int], pool: int) -> None:
    newest = list(range(300, -1, -1))
    found = thirds(a, b, c, newest, pool)
    assert len(found) == len(set(found)) == pool
    share = pool // 3
    for rows in (a, b, c):
        assert set(rows[:share]) <= set(found)
    offered = set(a) | set(b) | set(c)
    if len(offered) >= pool:
        assert set(found) <= offered


def test_a_short_third_gives_its_room_to_the_others() -> None:
    found = thirds([], [1, 2, 3], list(range(100, 200)), range(300, 400), 30)
    assert set(found) == {1, 2, 3} | set(range(100, 127))


def test_without_any_cue_the_newest_are_looked_at() -> None:
    assert thirds([], [], [], [9, 8, 7], 5) == [9, 8, 7]
    assert math.isclose(len(thirds([], [], [], [], 5)), 0)
