"""A small made-up house for tests of turns: a hall, a cellar behind a locked door, a yard behind an open one."""

from collections.abc import Callable
from datetime import datetime

import pytest

from engine.records.world import Attribute, Entity, Place, Portal, World


def _attributes(owner: str, **values: str) -> dict[str, Attribute]:
    public = {"label", "appearance", "status", "fixed"}
    return {
        name: Attribute(name=name, value=value, public=name in public, known_to=() if name in public else (owner,))
        for name, value in values.items()
    }


@pytest.fixture(scope="session")
def house() -> World:
    """Ada, Bo and a key in the hall; Cyd in the yard. Ada knows Bo by name, nobody else knows anybody."""
    entities = [
        Entity(id="ada_1", agent=True, place="pl_hall", order=0, aliases={"bo_1": "Bo Reed"}, goals=("find the coin",),
               attributes=_attributes("ada_1", name="Ada Finch", label="the tall cook", secret="She has the coin.")),
        Entity(id="bo_1", agent=True, place="pl_hall", order=1,
               attributes=_attributes("bo_1", name="Bo Reed", label="the old porter")),
        Entity(id="cyd_1", agent=True, place="pl_yard", order=2,
               attributes=_attributes("cyd_1", name="Cyd Marsh", label="the young groom")),
        Entity(id="th_key", place="pl_hall", order=3, attributes=_attributes("th_key", label="the brass key")),
        Entity(id="th_chest", place="pl_hall", order=4, attributes=_attributes("th_chest", label="the oak chest", fixed="yes")),
    ]
    portals = [
        Portal(id="po_arch", name="the arch", a="pl_hall", b="pl_yard", vision=10, sound=10),
        Portal(id="po_door", name="the cellar door", a="pl_hall", b="pl_cellar", state="locked", vision=0, sound=2, key="th_key"),
    ]
    places = [Place(id="pl_hall", name="the hall", description="Stone and smoke."), Place(id="pl_cellar", name="the cellar"),
              Place(id="pl_yard", name="the yard")]
    return World(
        slug="house", name="House", seed=3, now=datetime(1247, 3, 1, 18, 0), places={p.id: p for p in places},
        portals={p.id: p for p in portals}, entities={e.id: e for e in entities},
    )


@pytest.fixture
def move() -> Callable[[World, str, str], World]:
    """Puts an entity elsewhere without any rule."""

    def run(world: World, entity: str, place: str) -> World:
        moved = world.entities[entity].model_copy(update={"place": place})
        return world.model_copy(update={"entities": {**world.entities, entity: moved}})

    return run
