"""A change either leaves a whole world behind or raises and leaves the old one."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import OthermindsError, RuleError
from engine.records.world import (
    Attribute,
    Delta,
    Entity,
    LearnAttribute,
    Move,
    Place,
    Portal,
    PortalState,
    SetAttribute,
    SetPortal,
    Transfer,
    World,
)  # fmt: skip
from engine.world.index import carried_by, entities_at, portals_at, with_entities
from engine.world.rules import apply


def _world() -> World:
    secret = Attribute(name="secret", value="owes money", known_to=("bob",))
    entities = [
        Entity(id="bob", agent=True, place="bar", order=2, attributes={"secret": secret}),
        Entity(id="ann", agent=True, place="bar", order=1),
        Entity(id="chest", place="bar", order=3),
        Entity(id="bag", place="bar", holder="bob", order=4),
        Entity(id="coin", place="bar", holder="bag", order=5),
        Entity(id="ghost", agent=True),
    ]
    portals = [
        Portal(id="trap", name="trap door", a="bar", b="cellar", state="closed", vision=0, sound=4, vision_other=8, sound_other=9),
        Portal(id="door", name="door", a="quay", b="bar", one_way=True),
    ]
    return World(
        slug="w", name="W", now=datetime(1247, 3, 1), places={p: Place(id=p, name=p) for p in ("bar", "cellar", "quay")},
        portals={p.id: p for p in portals}, entities={e.id: e for e in entities},
    )  # fmt: skip


def test_moving_carries_held_things_along() -> None:
    world = apply(_world(), Move(entity="bob", to="cellar"))
    assert {id_: world.entities[id_].place for id_ in ("bob", "bag", "coin", "ann")} == {
        "bob": "cellar", "bag": "cellar", "coin": "cellar", "ann": "bar",
    }  # fmt: skip
    assert world.entities["coin"].holder == "bag"


def test_giving_hands_over_with_all_that_is_inside() -> None:
    world = apply(apply(_world(), Move(entity="ann", to="quay")), Transfer(thing="bag", holder="ann"))
    assert (world.entities["bag"].holder, world.entities["bag"].place, world.entities["coin"].place) == ("ann", "quay", "quay")


def test_dropping_leaves_it_where_the_holder_is() -> None:
    world = apply(apply(_world(), Move(entity="bob", to="cellar")), Transfer(thing="bag", holder=None))
    assert (world.entities["bag"].holder, world.entities["bag"].place) == (None, "cellar")
    assert [e.id for e in entities_at(world, "cellar")] == ["bob", "bag"]


def test_setting_keeps_access_and_a_new_value_is_public_unless_said_otherwise() -> None:
    world = apply(_world(), SetAttribute(entity="bob", name="secret", value="paid"))
    assert world.entities["bob"].attributes["secret"] == Attribute(name="secret", value="paid", known_to=("bob",))
    world = apply(world, SetAttribute(entity="bob", name="status", value="asleep"))
    assert world.entities["bob"].attributes["status"] == Attribute(name="status", value="asleep", public=True)
    world = apply(world, SetAttribute(entity="bob", name="doom", value="drowns", public=False))
    assert world.entities["bob"].attributes["doom"] == Attribute(name="doom", value="drowns")


@pytest.mark.parametrize(
    ("states", "sight", "sound"),
    [
        (("open",), 8, 9),
        (("locked",), 0, 4),
        (("open", "closed"), 0, 4),
        (("locked", "open"), 8, 9),
        (("open", "open"), 8, 9),
        (("closed",), 0, 4),
    ],
)
def test_a_portal_lets_other_sight_and_sound_through_once_it_is_open(states: tuple[PortalState, ...], sight: int, sound: int) -> None:
    world = _world()
    for state in states:
        world = apply(world, SetPortal(portal="trap", state=state))
    assert (world.portals["trap"].state, world.portals["trap"].vision, world.portals["trap"].sound) == (states[-1], sight, sound)


def test_learning_an_attribute_adds_the_viewer_once() -> None:
    learn = LearnAttribute(viewer="ann", entity="bob", name="secret")
    world = apply(apply(_world(), learn), learn)
    assert world.entities["bob"].attributes["secret"].known_to == ("bob", "ann")


IMPOSSIBLE: list[Delta] = [
    Move(entity="nobody", to="bar"),
    Move(entity="bob", to="nowhere"),
    Move(entity="bag", to="quay"),
    Transfer(thing="bar", holder="bob"),
    Transfer(thing="nothing", holder="bob"),
    Transfer(thing="bag", holder="nobody"),
    Transfer(thing="bag", holder="bag"),
    Transfer(thing="bag", holder="coin"),
    Transfer(thing="ann", holder="bob"),
    SetAttribute(entity="nobody", name="x", value="y"),
    SetAttribute(entity="bob", name="", value="y"),
    SetPortal(portal="none", state="open"),
    LearnAttribute(viewer="ann", entity="bob", name="none"),
    LearnAttribute(viewer="nobody", entity="bob", name="secret"),
    LearnAttribute(viewer="ann", entity="nobody", name="secret"),
]


@pytest.mark.parametrize("delta", IMPOSSIBLE, ids=[str(delta) for delta in IMPOSSIBLE])
def test_the_impossible_raises_and_its_reason_names_nobody(delta: Delta) -> None:
    world = _world()
    with pytest.raises(RuleError) as caught:
        apply(world, delta)
    assert isinstance(caught.value, OthermindsError)
    assert world == _world()
    assert not set(str(caught.value).lower().replace(".", "").split()) & ({*world.entities, *world.places, *world.portals} - {"door"})


@pytest.mark.parametrize(
    "delta",
    [
        Move(entity="bob", to="bar"),
        Transfer(thing="bag", holder="bob"),
        Transfer(thing="chest", holder=None),
        SetPortal(portal="trap", state="closed"),
    ],
)
def test_what_is_so_already_changes_nothing(delta: Delta) -> None:
    world = _world()
    assert apply(world, delta) is world


IDS = st.sampled_from(["bob", "ann", "chest", "bag", "coin", "ghost", "nobody"])
DELTAS: st.SearchStrategy[Delta] = st.one_of(
    st.builds(Move, entity=IDS, to=st.sampled_from(["bar", "cellar", "quay", "nowhere"])),
    st.builds(Transfer, thing=IDS, holder=st.none() | IDS),
    st.builds(SetAttribute, entity=IDS, name=st.sampled_from(["status", "secret"]), value=st.sampled_from(["a", "b"])),
    st.builds(SetPortal, portal=st.sampled_from(["trap", "door"]), state=st.sampled_from(["open", "closed", "locked"])),
    st.builds(LearnAttribute, viewer=IDS, entity=IDS, name=st.sampled_from(["secret", "status"])),
)


@given(st.lists(DELTAS, max_size=25))
def test_any_series_of_changes_leaves_a_whole_world_and_a_true_index(deltas: list[Delta]) -> None:
    world = _world()
    for delta in deltas:
        entities_at(world, "bar")  # so that each step hands its index on to the next
        portals_at(world, "bar")
        before = world.model_copy(deep=True)
        try:
            after = apply(world, delta)
        except RuleError:
            after = world
        assert world == before, "a value is never changed in place"
        _assert_whole(world)
        world = after
        _assert_whole(world)


def _assert_whole(world: World) -> None:
    for place in world.places:
        assert entities_at(world, place) == world.at(place)
        assert portals_at(world, place) == [p for p in world.portals.values() if place in (p.a, p.b)]
    for entity in world.entities.values():
        expected = sorted((e for e in world.entities.values() if e.holder == entity.id), key=lambda e: (e.order, e.id))
        assert carried_by(world, entity.id) == expected
        seen, above = {entity.id}, entity.holder
        while above is not None:
            assert above not in seen, "nobody holds itself"
            seen.add(above)
            assert world.entities[above].place == entity.place, "a held thing is where its holder is"
            above = world.entities[above].holder


def test_an_index_is_true_for_a_world_made_by_copying() -> None:
    world = _world()
    assert [e.id for e in entities_at(world, "bar")] == ["ann", "bob", "chest"]
    later = world.model_copy(update={"now": datetime(1247, 3, 2)})
    assert [e.id for e in entities_at(later, "bar")] == ["ann", "bob", "chest"]
    emptied = world.model_copy(update={"entities": {}})
    assert entities_at(emptied, "bar") == []
    assert entities_at(world, None) == []
    assert portals_at(world, None) == []
    reordered = with_entities(world, [world.entities["ann"].model_copy(update={"order": 9})])
    assert [e.id for e in entities_at(reordered, "bar")] == ["bob", "chest", "ann"]
    assert [e.id for e in entities_at(world, "bar")] == ["ann", "bob", "chest"]
