"""Which memories are told as one."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from engine.memory.compression.choose import DAY, neighbours, protected
from engine.records.policies import CompressionPolicy
from engine.storage.old_memories import OldMemory

START = datetime(1247, 3, 1, 8, 0)
POLICY = CompressionPolicy(limit=20, group=4)
MEMORIES = st.lists(st.tuples(st.floats(0, 40), st.sampled_from(["pl_bar", "pl_quay", None]), st.booleans()), max_size=60)


def memories(*given_: tuple[float, str | None, bool]) -> list[OldMemory]:
    """Memories with hours from the start, place and whether they are compressions, each that many hours after the one before."""
    at, found = START, []
    for number, (hours, place, told) in enumerate(given_, 1):
        at += timedelta(hours=hours)
        found.append(OldMemory(f"led-{number:06d}", number, at, place, told))
    return found


def numbers(groups: list[tuple[str, ...]]) -> list[list[int]]:
    return [[int(key[4:]) for key in group] for group in groups]


def test_neighbours_of_one_place_and_day_are_one_group_however_they_are_mixed() -> None:
    mixed = memories(*[(1, "pl_bar", False), (1, "pl_quay", False)] * 4)
    assert numbers(neighbours(mixed, POLICY, 99, 9)) == [[1, 3, 5, 7], [2, 4, 6, 8]]


def test_a_day_later_another_group_begins() -> None:
    days = memories((0, "pl_bar", False), (1, "pl_bar", False), (1, "pl_bar", False), (23, "pl_bar", False), (1, "pl_bar", False))
    assert numbers(neighbours(days, POLICY, 99, 9)) == [[1, 2, 3]]


def test_one_that_finds_no_company_does_not_keep_the_next_from_theirs() -> None:
    sparse = memories((0, "pl_bar", False), (20, "pl_bar", False), (10, "pl_bar", False), (1, "pl_bar", False))
    assert numbers(neighbours(sparse, POLICY, 99, 9)) == [[2, 3, 4]]


def test_two_are_not_worth_a_call_but_policy_may_ask_for_pairs() -> None:
    two = memories((1, "pl_bar", False), (1, "pl_bar", False))
    assert neighbours(two, POLICY, 99, 9) == []
    assert numbers(neighbours(two, CompressionPolicy(limit=20, group=2), 99, 9)) == [[1, 2]]


def test_no_more_is_told_as_one_than_there_is_too_much() -> None:
    many = memories(*[(0.5, "pl_bar", False)] * 12)
    assert numbers(neighbours(many, POLICY, 1, 9)) == [[1, 2, 3, 4]]
    assert numbers(neighbours(many, POLICY, 4, 9)) == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert numbers(neighbours(many, POLICY, 99, 1)) == [[1, 2, 3, 4]]


def test_whole_groups_go_before_those_that_may_still_grow() -> None:
    many = memories(*[(0.5, "pl_quay", False)] * 3, *[(0.5, "pl_bar", False)] * 4)
    assert numbers(neighbours(many, POLICY, 1, 9)) == [[4, 5, 6, 7]]
    assert numbers(neighbours(many, POLICY, 5, 9)) == [[1, 2, 3], [4, 5, 6, 7]]


def test_compressions_are_told_with_compressions_only() -> None:
    mixed = memories((0, "pl_bar", True), *[(0.5, "pl_bar", False)] * 2, *[(0.5, "pl_bar", True)] * 2, (0.5, "pl_bar", False))
    assert numbers(neighbours(mixed, POLICY, 99, 9)) == [[1, 4, 5], [2, 3, 6]]


def test_memories_are_read_no_further_than_needed() -> None:
    many = iter(memories(*[(0.5, "pl_bar", False)] * 12))
    neighbours(many, POLICY, 1, 9)
    assert len(list(many)) == 8


def test_something_is_left_to_choose_whatever_is_protected() -> None:
    assert protected(CompressionPolicy(limit=20, newest=200)) == 10
    assert protected(CompressionPolicy(limit=2000, newest=200)) == 200


@given(MEMORIES, st.integers(1, 60), st.integers(1, 5))
def test_groups_are_disjoint_near_and_of_one_kind(given_: list[tuple[float, str | None, bool]], excess: int, most: int) -> None:
    found = {memory.id: memory for memory in memories(*given_)}
    groups = neighbours(found.values(), POLICY, excess, most)
    assert len(groups) <= most
    keys = [key for group in groups for key in group]
    assert len(keys) == len(set(keys))
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)
    for group in groups:
        told = [found[key] for key in group]
        assert 3 <= len(told) <= POLICY.group
        assert list(group) == sorted(group)
        assert len({(memory.place, memory.told_before) for memory in told}) == 1
        assert told[-1].timestamp - told[0].timestamp <= DAY
