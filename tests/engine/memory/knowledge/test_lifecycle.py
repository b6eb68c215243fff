"""Knowledge sinks when it is not used, and rises when it is."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.knowledge.activation import activation_of, strength
from engine.memory.knowledge.lifecycle import TIERS, Uses, hours_until, lifted, reinforce, score, sunk, sweep, sweep_due, tier_by
from engine.records.knowledge import Knowledge, LifecyclePolicy
from engine.storage.knowledge_audit import Change

if TYPE_CHECKING:
    from tests.engine.memory.knowledge.conftest import Minds

POLICY = LifecyclePolicy()
START = datetime(1247, 3, 1)


def row(**more: object) -> Knowledge:
    values: dict[str, object] = {
        "id": "kno-000001", "seq": 1, "owner_id": "a", "kind": "fact", "content": "It rains.", "confidence": 0.8, "scope_id": "a",
        "valid_from": START, "created": START, "created_round": 0, "updated": START, "updated_round": 0,
    }
    return Knowledge.model_validate(values | more)


def exactly(moments: list[datetime], now: datetime) -> float:
    return sum(1 / math.sqrt(max(1 / 60, (now - one).total_seconds() / 3600)) for one in moments)


def test_the_score_is_the_sum_of_its_parts() -> None:
    one = row(retrieval_count=4, last_retrieved_at=START + timedelta(hours=10), importance=7)
    now = START + timedelta(hours=82)
    assert score(one, now, POLICY) == pytest.approx(0.3 * math.log(5) + 0.3 * math.exp(-1) + 0.2 * 0.7 + 0.2 * 0.8)


@given(st.integers(0, 10_000), st.integers(0, 100_000), st.integers(1, 10), st.floats(0, 1))
def test_use_weight_and_sureness_never_lower_a_score_and_time_never_raises_it(count: int, hours: int, weight: int, sure: float) -> None:
    now = START + timedelta(hours=hours)
    one = row(retrieval_count=count, importance=weight, confidence=sure)
    found = score(one, now, POLICY)
    assert score(one.model_copy(update={"retrieval_count": count + 1}), now, POLICY) >= found
    assert score(one.model_copy(update={"importance": min(10, weight + 1)}), now, POLICY) >= found
    assert score(one, now + timedelta(hours=1), POLICY) <= found


@given(st.sampled_from(TIERS), st.integers(0, 100_000), st.booleans(), st.booleans())
def test_nothing_sinks_by_more_than_one_tier_nor_what_is_pinned_or_authored(tier: str, hours: int, pinned: bool, authored: bool) -> None:
    one = row(tier=tier, pinned=pinned, authored=authored)
    now = START + timedelta(hours=hours)
    after = TIERS.index(sunk(one, now, POLICY)) - TIERS.index(one.tier)
    assert after in ((0,) if pinned or authored else (0, 1))
    if after == 1:
        assert TIERS.index(tier_by(score(one, now, POLICY), POLICY)) > TIERS.index(one.tier)


@given(st.integers(0, 5), st.integers(0, 300), st.integers(1, 10), st.floats(0, 1), st.sampled_from([0.12, 0.25, 0.45, 0.9]))
def test_a_score_falls_below_a_threshold_when_it_is_said_to(count: int, idle: int, weight: int, sure: float, threshold: float) -> None:
    now = START + timedelta(hours=idle)
    one = row(retrieval_count=count, importance=weight, confidence=sure)
    hours = hours_until(one, now, POLICY, threshold)
    if hours is None:
        assert score(one, now + timedelta(days=3000), POLICY) >= threshold - 1e-9
    elif hours == 0:
        assert score(one, now + timedelta(minutes=1), POLICY) < threshold
    else:
        assert score(one, now + timedelta(hours=hours), POLICY) == pytest.approx(threshold)


def test_activation_of_one_and_of_two_uses_is_exact() -> None:
    now = START + timedelta(hours=30)
    assert strength(START, START, 1, now) == pytest.approx(exactly([START], now))
    later = START + timedelta(hours=20)
    assert strength(START, later, 2, now) == pytest.approx(exactly([START, later], now))
    assert activation_of(row(retrieval_count=1, last_retrieved_at=later), now) == pytest.approx(math.log(exactly([START, later], now)))


@given(st.lists(st.integers(0, 5_000), min_size=3, max_size=40), st.integers(1, 1_000))
def test_activation_lies_between_the_least_and_the_most_that_so_many_uses_can_come_to(hours: list[int], since: int) -> None:
    moments = sorted(START + timedelta(hours=each) for each in hours)
    now = moments[-1] + timedelta(hours=since)
    found = strength(moments[0], moments[-1], len(moments), now)
    rest = len(moments) - 2
    least = exactly([moments[0]] * (rest + 1) + [moments[-1]], now)
    most = exactly([moments[0]] + [moments[-1]] * (rest + 1), now)
    assert least - 1e-6 <= found <= most + 1e-6


def test_uses_spread_evenly_are_told_within_a_tenth() -> None:
    moments = [START + timedelta(hours=6 * each) for each in range(40)]
    for since in (1, 24, 240):
        now = moments[-1] + timedelta(hours=since)
        assert math.log(strength(moments[0], moments[-1], 40, now)) == pytest.approx(math.log(exactly(moments, now)), abs=0.1)


async def test_what_is_not_used_sinks_one_tier_a_sweep_and_is_never_deleted(minds: Minds) -> None:
    [plain, pinned, authored] = await minds.add(
        minds.new("It rains.", subject_id=None, confidence=0.2, importance=1),
        minds.new("It snows.", subject_id=None, confidence=0.2, importance=1, pinned=True),
        minds.new("It hails.", subject_id=None, confidence=0.2, importance=1, authored=True),
    )
    tiers = []
    for _ in range(5):
        await minds.later(24 * 30)
        await minds.store.db.write(lambda conn: sweep(conn, minds.store, minds.world, POLICY))
        tiers.append([one.tier for one in await minds.rows()])
    assert [tier for tier, _, _ in tiers] == ["warm", "cold", "archived", "archived", "archived"]
    assert {tuple(rest) for _, *rest in tiers} == {("hot", "hot")}
    assert len(await minds.store.db.read(lambda conn: minds.store.knowledge.versions(conn, plain.id))) == 3
    assert [one.action for one in await minds.audit(knowledge=plain.id)] == ["added", "demoted", "demoted", "demoted"]
    assert {one.knowledge_id for one in await minds.audit(actions=["demoted"])}.isdisjoint({pinned.id, authored.id})


async def test_a_sweep_is_due_by_world_time(minds: Minds) -> None:
    async def due() -> bool:
        return await minds.store.db.read(lambda conn: sweep_due(conn, minds.store, minds.world, POLICY))

    assert not await due()
    await minds.add(minds.new("It rains.", subject_id=None))
    await minds.later(23)
    assert not await due()
    await minds.later(1)
    assert await due()
    await minds.store.db.write(lambda conn: sweep(conn, minds.store, minds.world, POLICY))
    assert not await due()
    await minds.later(24)
    assert await due()


async def test_being_in_a_prompt_counts_lifts_by_one_and_no_more(minds: Minds) -> None:
    [one] = await minds.add(minds.new("It rains.", 10, subject_id=None))
    cold = one.model_copy(update={"tier": "cold"})
    change = Change("demoted", "lifecycle", "", minds.world.now)
    await minds.store.db.write(lambda conn: minds.store.knowledge.update(conn, cold, change))
    uses = {one.id: Uses(3, minds.world.now), "kno-000099": Uses(1, minds.world.now)}
    await minds.store.db.write(lambda conn: reinforce(conn, minds.store, uses))
    now = await minds.row(one.id)
    assert (now.tier, now.retrieval_count, now.last_retrieved_at) == ("warm", 3, minds.world.now)
    assert now.activation == pytest.approx(math.log(now.strength))
    assert now.strength == pytest.approx(strength(one.created, minds.world.now, 4, minds.world.now))
    assert (await minds.audit(knowledge=one.id))[-1].action == "lifted"
    await minds.store.db.write(lambda conn: reinforce(conn, minds.store, uses))
    version = (await minds.row(one.id)).version
    await minds.store.db.write(lambda conn: reinforce(conn, minds.store, uses))
    assert (await minds.row(one.id)).version == version  # at the top there is nothing to lift


def test_the_top_is_the_top() -> None:
    assert [lifted(tier) for tier in TIERS] == ["hot", "hot", "warm", "cold"]
