from __future__ import annotations

import tracemalloc
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.recall import vectors as module
from engine.memory.recall.vectors import OwnerVectors, VectorCache
from engine.storage.embeddings import LedgerSlice
from engine.storage.ledger import LedgerFacts

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

DIM = 16


def facts(inn: Inn, count: int, *, first: int = 1, hours: list[float] | None = None, place: str = "pl_bar") -> list[LedgerFacts]:
    when = hours or [1000.0 - first - n for n in range(count)]
    return [
        LedgerFacts(f"led-{first + n:06d}", first + n, inn.now - timedelta(hours=when[n]), 1 + n % 10, place, ("en_monk",))
        for n in range(count)
    ]


def unit(count: int, seed: int = 0) -> Any:
    made = np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def filled(inn: Inn, matrix: Any) -> OwnerVectors:
    rows = facts(inn, len(matrix))
    held = OwnerVectors(DIM)
    held.extend(rows, {fact.id: row.tobytes() for fact, row in zip(rows, matrix, strict=True)})
    return held


@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 99))
def test_the_nearest_are_those_of_a_full_sort(inn: Inn, size: int, count: int, seed: int) -> None:
    matrix = unit(size, seed)
    query = unit(1, seed + 1)[0]
    expected = np.argsort(-(matrix @ query), kind="stable")[:count].tolist()
    assert filled(inn, matrix).nearest(query, count) == expected


def test_of_equals_the_earlier_comes_first(inn: Inn) -> None:
    matrix = np.repeat(unit(1), 9, axis=0)
    assert filled(inn, matrix).nearest(matrix[0], 4) == [0, 1, 2, 3]


def test_it_grows_and_takes_nothing_twice(inn: Inn) -> None:
    matrix = unit(50)
    held = OwnerVectors(DIM)
    rows = facts(inn, 50)
    for start in range(0, 50, 7):
        piece = rows[start : start + 7]
        for _ in range(2):
            held.extend(piece, {fact.id: matrix[fact.seq - 1].tobytes() for fact in piece})
    assert (len(held), held.last_seq) == (50, 50)
    assert held.nearest(matrix[33], 1) == [33]
    assert np.allclose(held.cosines(np.arange(50), matrix[33]), matrix @ matrix[33], atol=1e-6)


def test_entries_without_a_vector_are_no_ones_neighbour_in_meaning(inn: Inn) -> None:
    matrix, rows = unit(3), facts(inn, 3)
    held = OwnerVectors(DIM)
    held.extend(rows, {rows[1].id: matrix[1].tobytes(), rows[2].id: matrix[2][:4].tobytes()})
    assert held.without_vector(9) == ["led-000001", "led-000003"]
    assert held.nearest(matrix[0], 3) == [1]
    assert np.isnan(held.cosines(np.array([0, 1]), matrix[0])).tolist() == [True, False]
    held.extend((), {rows[0].id: matrix[0].tobytes()})
    assert held.nearest(matrix[0], 1) == [0]


def test_rows_without_a_vector_do_not_crowd_out_those_that_mean_the_contrary(inn: Inn) -> None:
    matrix, rows = unit(1), facts(inn, 5)
    held = OwnerVectors(DIM)
    held.extend(rows, {rows[4].id: (-matrix[0]).tobytes()})
    assert held.nearest(matrix[0], 1) == [4]


def test_a_rewritten_entry_takes_its_new_time_and_vector(inn: Inn) -> None:
    matrix = unit(4)
    held = filled(inn, matrix)
    assert held.neighbours(1) == (0, 2)
    late = LedgerFacts("led-000001", 1, inn.now, 9, "pl_quay", ())
    held.replace([late], {"led-000001": matrix[3].tobytes()})
    assert held.nearest(matrix[3], 2) == [0, 3]
    assert held.neighbours(0) == (3, None)
    assert held.people[0] == ()


def sliced(rows: list[LedgerFacts], vectors: dict[str, bytes], size: int) -> list[LedgerSlice]:
    """A ledger as the save gives it."""
    found = []
    for start in range(0, len(rows), size):
        ids, seqs, moments, importance, places, people = zip(*rows[start : start + size], strict=True)
        times = tuple(moment.isoformat() for moment in moments)
        found.append(LedgerSlice(ids, seqs, times, importance, places, people, tuple(vectors.get(key) for key in ids)))
    return found


@given(st.lists(st.sampled_from(["right", "missing", "short"]), min_size=1, max_size=40), st.integers(1, 9), st.integers(0, 50))
def test_a_ledger_filled_at_once_is_as_one_that_grew(inn: Inn, kinds: list[str], size: int, expected: int) -> None:
    matrix, rows = unit(len(kinds)), facts(inn, len(kinds))
    whole = {fact.id: row.tobytes() for fact, row in zip(rows, matrix, strict=True)}
    kind_of = dict(zip(whole, kinds, strict=True))
    vectors = {key: blob if kind_of[key] == "right" else blob[:8] for key, blob in whole.items() if kind_of[key] != "missing"}
    grown, filled_at_once = OwnerVectors(DIM), OwnerVectors(DIM)
    grown.extend(rows, vectors)
    filled_at_once.fill(sliced(rows, vectors, size), expected)
    every, query = np.arange(len(rows)), unit(1, 9)[0]
    for one in (grown, filled_at_once):
        one.extend(facts(inn, 3, first=len(kinds) + 1), {})
    assert grown.ids == filled_at_once.ids
    assert grown.people == filled_at_once.people
    assert grown.last_seq == filled_at_once.last_seq
    assert grown.without_vector(99) == filled_at_once.without_vector(99)
    known, strange = [fact.seq for fact in rows], grown.last_seq + 1
    for one in (grown, filled_at_once):
        assert one.rows([*known, strange, 0]) == [*range(len(rows)), -1, -1]
        assert one.rows(known[::-1]) == [*range(len(rows))][::-1]
        assert one.rows([]) == []
    assert grown.nearest(query, 99) == filled_at_once.nearest(query, 99)
    assert grown.newest(99) == filled_at_once.newest(99)
    assert (grown.hours_before(every, inn.now) == filled_at_once.hours_before(every, inn.now)).all()
    assert (grown.importance(every) == filled_at_once.importance(every)).all()
    assert [found.tolist() for found in grown.scenes(every)] == [found.tolist() for found in filled_at_once.scenes(every)]


def test_of_an_empty_ledger_no_row_is_known() -> None:
    assert OwnerVectors(DIM).rows([1, 2]) == [-1, -1]


def test_what_is_held_takes_about_what_it_says(inn: Inn) -> None:
    """Within the budget is what the cache counts: that must not be less than what is taken."""
    rows = facts(inn, 3000)
    vectors = dict(zip([fact.id for fact in rows], [row.tobytes() for row in unit(3000)], strict=True))
    slices = sliced(rows, vectors, 128)
    tracemalloc.start()
    held = OwnerVectors(DIM)
    held.fill(slices, 3000)
    held.newest(1)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken <= 1.13 * held.nbytes  # an eighth is room that the system has not given out yet


def test_a_scene_is_one_place_within_some_hours(inn: Inn) -> None:
    held = OwnerVectors(DIM)
    held.extend(facts(inn, 3, hours=[20.0, 10.0, 9.0]), {})
    held.extend(facts(inn, 1, first=4, hours=[8.5], place="pl_quay"), {})
    before, after = held.scenes(np.arange(4))
    assert list(zip(before.tolist(), after.tolist(), strict=True)) == [(-1, -1), (-1, 2), (1, -1), (-1, -1)]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30))
def test_neighbours_walk_the_whole_of_time(inn: Inn, hours: list[int]) -> None:
    held = OwnerVectors(DIM)
    held.extend(facts(inn, len(hours), hours=[float(h) for h in hours]), {})
    walk: list[int] = []
    row: int | None = held.newest(len(hours))[-1]
    while row is not None:
        walk.append(row)
        row = held.neighbours(row)[1]
    assert walk == sorted(range(len(hours)), key=lambda r: (-hours[r], r))
    assert held.newest(3) == walk[::-1][:3]


def test_a_large_ledger_is_scored_in_two_passes(inn: Inn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_EXACT", 100)
    monkeypatch.setattr(module, "_LEADING", 8)
    matrix = unit(400)
    found = filled(inn, matrix).nearest(matrix[123], 5)
    assert found[0] == 123
    cosines = matrix @ matrix[123]
    assert [cosines[row] for row in found] == sorted((cosines[row] for row in found), reverse=True)


def test_a_large_ledger_knows_what_was_added_and_rewritten(inn: Inn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_EXACT", 100)
    monkeypatch.setattr(module, "_LEADING", 8)
    monkeypatch.setattr(module, "_PICKED", 0.0)
    matrix, rows = unit(300), facts(inn, 300)
    matrix[:, 8:] = 0  # all of their meaning is in what the first pass looks at
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    vectors = {fact.id: row.tobytes() for fact, row in zip(rows, matrix, strict=True)}
    held = OwnerVectors(DIM)
    held.fill(sliced(rows[:90], vectors, 40), 90)
    for start in range(90, 300, 70):
        held.extend(rows[start : start + 70], vectors)
    for row in (0, 95, 299):
        assert held.nearest(matrix[row], 1) == [row]
    held.replace([rows[95]], {rows[95].id: (-matrix[95]).tobytes()})
    assert held.nearest(-matrix[95], 1) == [95]
    assert held.nearest(matrix[95], 1) != [95]


def test_the_cache_drops_those_not_used_for_longest(inn: Inn) -> None:
    size = filled(inn, unit(8)).nbytes
    cache = VectorCache(budget=3 * size)
    for owner in ("a", "b", "c"):
        cache.put(owner, filled(inn, unit(8)))
    assert cache.get("a") is not None
    cache.put("d", filled(inn, unit(8)))
    assert [owner for owner in "abcd" if cache.get(owner)] == ["a", "c", "d"]
    cache.put("e", filled(inn, unit(200)))
    assert [owner for owner in "abcde" if cache.get(owner)] == ["e"]


def test_the_cache_counts_what_it_holds_once_and_at_its_present_size(inn: Inn) -> None:
    size = filled(inn, unit(8)).nbytes
    cache = VectorCache(budget=3 * size)
    for owner in "abaabb":  # put again after each recall
        cache.put(owner, filled(inn, unit(8)))
    cache.put("c", filled(inn, unit(8)))
    assert [owner for owner in "abc" if cache.get(owner)] == ["a", "b", "c"]
    cache.drop("a")
    cache.drop("a")
    cache.put("d", filled(inn, unit(8)))
    assert [owner for owner in "abcd" if cache.get(owner)] == ["b", "c", "d"]
    cache.put("d", filled(inn, unit(16)))  # it has grown
    assert [owner for owner in "abcd" if cache.get(owner)] == ["c", "d"]
