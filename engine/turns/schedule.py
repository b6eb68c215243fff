"""Who acts in a round, who wakes, and how far the clock runs when everybody sleeps."""

from collections.abc import Iterable
from datetime import datetime, time, timedelta

from engine.records.base import EntityId
from engine.records.world import Entity, SetAttribute, World
from engine.world.access import is_active
from engine.world.rules import apply

ASLEEP_SINCE = "asleep_since"
"""Attribute that only the narrator knows: when sleep began, as ISO text."""
_LONGEST, _SHORTEST, _DAWN = timedelta(hours=8), timedelta(hours=4), time(6, 0)
_STEP = timedelta(minutes=10)


def acting(world: World, first: Iterable[EntityId] = ()) -> list[EntityId]:
    """Agents that act this round, in fixed order; those in `first` lead, in the order given."""
    led = [i for i in first if i in world.entities and is_active(world.entities[i])]
    return [*led, *(e.id for e in world.agents() if is_active(e) and e.id not in led)]


def wakes_at(entity: Entity, now: datetime) -> datetime | None:
    """When a sleeper wakes by itself: after 8 hours, or at 06:00 once it has slept 4. None for those who do not sleep."""
    if entity.value("status") != "asleep":
        return None
    began = _began(entity.value(ASLEEP_SINCE), now)
    try:
        rested = began + _SHORTEST
        dawn = datetime.combine(rested.date(), _DAWN)
        if dawn < rested:
            dawn += timedelta(days=1)
        return min(began + _LONGEST, dawn)
    except OverflowError:  # the last night of the year 9999
        return datetime.max.replace(microsecond=0)


def _began(since: str | None, now: datetime) -> datetime:
    """When sleep began; the last midnight when nothing usable says so."""
    try:
        began = datetime.fromisoformat(since or "").replace(tzinfo=None, microsecond=0)
    except ValueError:
        began = datetime.max
    return began if began <= now else datetime.combine(now.date(), time(0, 0))


def due_to_wake(world: World) -> list[EntityId]:
    """Sleepers whose time has come, in fixed order."""
    return [e.id for e in world.agents() if (at := wakes_at(e, world.now)) is not None and at <= world.now]


def idle_until(world: World) -> datetime | None:
    """When nobody can act: the moment the first sleeper wakes, or ten minutes on when none ever will. None when somebody acts."""
    if acting(world):
        return None
    times = [at for e in world.agents() if (at := wakes_at(e, world.now)) is not None]
    return max(world.now, min(times)) if times else world.now + _STEP


def with_sleepers(world: World) -> World:
    """The world at its beginning: who is written as asleep has just fallen asleep."""
    for agent in world.agents():
        if agent.value("status") == "asleep" and agent.value(ASLEEP_SINCE) is None:
            world = apply(world, SetAttribute(entity=agent.id, name=ASLEEP_SINCE, value=world.now.isoformat(), public=False))
    return world
