"""Who may know what, and who is in a state to perceive."""

from __future__ import annotations

import pytest

from engine.records.world import Attribute, Entity, Place
from engine.world.access import is_active, is_awake, is_dark, visible_attributes


def test_a_viewer_sees_public_values_and_those_it_may_know() -> None:
    entity = Entity(
        id="bob",
        attributes={
            "looks": Attribute(name="looks", value="tall", public=True),
            "secret": Attribute(name="secret", value="debt", known_to=("bob", "ann")),
            "doom": Attribute(name="doom", value="drowns"),
        },
    )
    assert visible_attributes(entity, "ann") == {"looks": "tall", "secret": "debt"}
    assert visible_attributes(entity, "bob") == {"looks": "tall", "secret": "debt"}
    assert visible_attributes(entity, "stranger") == {"looks": "tall"}


@pytest.mark.parametrize(
    ("status", "awake"),
    [
        (None, True),
        ("awake", True),
        ("", True),
        ("asleep", False),
        ("Asleep ", False),
        ("unconscious", False),
        ("dead", False),
        ("inactive", False),
    ],
)
def test_status_decides_who_is_awake(status: str | None, awake: bool) -> None:
    attributes = {} if status is None else {"status": Attribute(name="status", value=status, public=True)}
    agent, thing = Entity(id="a", agent=True, attributes=attributes), Entity(id="t", attributes=attributes)
    assert is_awake(agent) == awake
    assert is_active(agent) == awake
    assert not is_active(thing)


def test_darkness_is_an_attribute_of_the_place() -> None:
    assert is_dark(Place(id="p", name="p", attributes={"light": Attribute(name="light", value=" Dark", public=True)}))
    assert not is_dark(Place(id="p", name="p", attributes={"light": Attribute(name="light", value="dim", public=True)}))
    assert not is_dark(Place(id="p", name="p"))
