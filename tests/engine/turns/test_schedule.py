from datetime import datetime, timedelta

import pytest

from engine.records.world import SetAttribute, World
from engine.turns.schedule import ASLEEP_SINCE, acting, due_to_wake, idle_until, with_sleepers
from engine.world.rules import apply


def asleep(world: World, entity: str, since: datetime | None = None) -> World:
    if since is not None:
        world = apply(world, SetAttribute(entity=entity, name=ASLEEP_SINCE, value=since.isoformat(), public=False))
    return apply(world, SetAttribute(entity=entity, name="status", value="asleep"))


def test_everybody_awake_acts_in_fixed_order_and_the_given_first(house: World) -> None:
    assert acting(house) == ["ada_1", "bo_1", "cyd_1"]
    assert acting(house, ["cyd_1"]) == ["cyd_1", "ada_1", "bo_1"]
    assert acting(asleep(house, "bo_1")) == ["ada_1", "cyd_1"]


def test_a_sleeper_wakes_at_six_or_after_eight_hours(house: World) -> None:
    night = asleep(house, "bo_1", datetime(1247, 3, 1, 23, 0))
    assert due_to_wake(night.model_copy(update={"now": datetime(1247, 3, 2, 5, 59)})) == []
    assert due_to_wake(night.model_copy(update={"now": datetime(1247, 3, 2, 6, 0)})) == ["bo_1"]
    early = asleep(house, "bo_1", datetime(1247, 3, 1, 12, 0))
    assert due_to_wake(early.model_copy(update={"now": datetime(1247, 3, 1, 19, 59)})) == []
    assert due_to_wake(early.model_copy(update={"now": datetime(1247, 3, 1, 20, 0)})) == ["bo_1"]


def test_the_clock_runs_on_when_nobody_can_act(house: World) -> None:
    assert idle_until(house) is None
    world = house
    for entity in ("ada_1", "bo_1", "cyd_1"):
        world = asleep(world, entity, datetime(1247, 3, 1, 18, 0))
    assert idle_until(world) == datetime(1247, 3, 2, 2, 0)
    for entity in ("ada_1", "bo_1", "cyd_1"):
        world = apply(world, SetAttribute(entity=entity, name="status", value="dead"))
    assert idle_until(world) == house.now + timedelta(minutes=10)


def test_who_is_written_as_asleep_has_just_fallen_asleep(house: World) -> None:
    world = with_sleepers(asleep(house, "bo_1"))
    assert world.entities["bo_1"].value(ASLEEP_SINCE) == house.now.isoformat()
    assert due_to_wake(world.model_copy(update={"now": datetime(1247, 3, 2, 2, 0)})) == ["bo_1"]


@pytest.mark.parametrize("since", ["rubbish", "9999-12-31T23:59:59", "1247-03-01T12:00:00+02:00", ""])
def test_a_time_of_sleep_that_makes_no_sense_wakes_at_six(house: World, since: str) -> None:
    world = apply(house, SetAttribute(entity="bo_1", name=ASLEEP_SINCE, value=since, public=False))
    night = asleep(world, "bo_1").model_copy(update={"now": datetime(1247, 3, 3, 5, 0)})
    assert "bo_1" not in due_to_wake(night) or since.endswith("+02:00")
    assert due_to_wake(night.model_copy(update={"now": datetime(1247, 3, 3, 8, 0)})) == ["bo_1"]


def test_the_last_night_of_all_does_not_overflow(house: World) -> None:
    last = datetime(9999, 12, 31, 23, 58)
    assert due_to_wake(asleep(house, "bo_1", last).model_copy(update={"now": last})) == []
