from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.handoff.watermark import partition
from engine.mind.timewords import FRESH, naturalize_time
from engine.records.policies import HandoffPolicy

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

POLICY = HandoffPolicy()
PINS = st.sampled_from(["none", "none", "none", "model", "hand"])
BUFFERS = st.lists(st.tuples(st.integers(0, 400), PINS), max_size=60)
TRIGGERS = st.sampled_from(["none", "voluntary", "involuntary"])


def buffer(inn: Inn, rows: list[tuple[int, str]]) -> list[Any]:
    return inn.numbered([inn.said(f"Line {n}.", ago, pinned=pin) for n, (ago, pin) in enumerate(rows)])


def test_the_last_eight_are_kept_of_an_old_buffer(inn: Inn) -> None:
    parts = partition(buffer(inn, [(300 - n, "none") for n in range(12)]), inn.now, POLICY, "voluntary")
    assert [e.seq for e in parts.candidates] == [1, 2, 3, 4]
    assert [e.seq for e in parts.tail] == list(range(5, 13))


def test_all_that_is_fresh_is_kept_beyond_the_eight(inn: Inn) -> None:
    rows = [(200, "none"), (31, "none"), *((29 - n, "none") for n in range(11))]
    parts = partition(buffer(inn, rows), inn.now, POLICY, "voluntary")
    assert [e.seq for e in parts.candidates] == [1, 2]


def test_a_hand_pin_is_never_a_candidate_and_a_model_pin_is_one(inn: Inn) -> None:
    rows = [(300, "hand"), (299, "model"), *((200 - n, "none") for n in range(8))]
    parts = partition(buffer(inn, rows), inn.now, POLICY, "involuntary")
    assert [e.seq for e in parts.held] == [1]
    assert [e.seq for e in parts.candidates] == [2]


@pytest.mark.parametrize(("trigger", "candidates"), [("voluntary", 0), ("none", 0), ("involuntary", 13)])
def test_freshness_yields_to_a_hard_trigger_when_it_leaves_nothing(inn: Inn, trigger: Any, candidates: int) -> None:
    rows = [(20, "none")] * 21
    assert len(partition(buffer(inn, rows), inn.now, POLICY, trigger).candidates) == candidates


def test_a_few_long_entries_that_are_all_fresh_yield_too(inn: Inn) -> None:
    rows = [(20, "none")] * 12
    assert len(partition(buffer(inn, rows), inn.now, POLICY, "involuntary").candidates) == 4
    assert partition(buffer(inn, rows), inn.now, POLICY, "voluntary").candidates == ()


def test_an_old_pin_alone_does_not_hold_freshness_up(inn: Inn) -> None:
    rows = [(300, "model"), *([(20, "none")] * 21)]
    assert len(partition(buffer(inn, rows), inn.now, POLICY, "involuntary").candidates) == 14


def test_freshness_yields_when_the_fresh_alone_are_too_many(inn: Inn) -> None:
    rows = [(300, "none"), *([(20, "none")] * 40)]
    assert len(partition(buffer(inn, rows), inn.now, POLICY, "involuntary").candidates) == 33


def test_freshness_stays_when_the_older_ones_are_enough(inn: Inn) -> None:
    rows = [*([(300, "none")] * 12), *([(20, "none")] * 12)]
    assert len(partition(buffer(inn, rows), inn.now, POLICY, "involuntary").candidates) == 12


@given(BUFFERS, TRIGGERS)
def test_every_entry_is_in_one_part_and_time_divides_them(inn: Inn, rows: list[tuple[int, str]], trigger: Any) -> None:
    entries = buffer(inn, rows)
    parts = partition(entries, inn.now, POLICY, trigger)
    ids = [e.id for part in (parts.tail, parts.candidates, parts.held) for e in part]
    assert sorted(ids) == sorted(e.id for e in entries)
    assert len(parts.tail) >= min(POLICY.floor, len(entries))
    older = [(e.timestamp, e.seq) for e in (*parts.candidates, *parts.held)]
    newer = [(e.timestamp, e.seq) for e in parts.tail]
    assert not older or not newer or max(older) < min(newer)
    assert all(e.pinned != "hand" for e in parts.candidates)
    for part in (parts.tail, parts.candidates, parts.held):
        assert list(part) == sorted(part, key=lambda e: (e.timestamp, e.seq))


@given(BUFFERS)
def test_nothing_fresh_is_a_candidate_unless_a_hard_trigger_calls(inn: Inn, rows: list[tuple[int, str]]) -> None:
    parts = partition(buffer(inn, rows), inn.now, POLICY, "voluntary")
    assert all(naturalize_time(inn.now, e.timestamp) not in FRESH for e in (*parts.candidates, *parts.held))


@given(BUFFERS)
def test_a_hard_trigger_always_brings_the_buffer_back_within_its_bound(inn: Inn, rows: list[tuple[int, str]]) -> None:
    entries = buffer(inn, rows)
    counted = [e for e in entries if e.pinned == "none"]
    if len(counted) <= POLICY.max_entries:
        return
    parts = partition(entries, inn.now, POLICY, "involuntary")
    left = [e for e in counted if e not in parts.candidates]
    assert len(left) <= POLICY.max_entries
    assert len(left) < len(counted)


@given(BUFFERS, TRIGGERS, st.randoms())
def test_the_order_of_the_rows_given_does_not_matter(inn: Inn, rows: list[tuple[int, str]], trigger: Any, random: Any) -> None:
    entries = buffer(inn, rows)
    shuffled = list(entries)
    random.shuffle(shuffled)
    assert partition(shuffled, inn.now, POLICY, trigger) == partition(entries, inn.now, POLICY, trigger)
