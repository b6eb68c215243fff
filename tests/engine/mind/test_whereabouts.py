"""A place as the answer to where."""

from __future__ import annotations

import pytest

from engine.mind.whereabouts import where
from engine.records.world import Attribute, Place


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("the taproom", "in the taproom"),
        ("the quay", "on the quay"),
        ("the Salt Lantern", "in the Salt Lantern"),
        ("Salt Street", "on Salt Street"),
        ("the crossroads", "at the crossroads"),
        ("the deck of the Gull", "on the deck of the Gull"),
        ("the room behind the bar", "in the room behind the bar"),
    ],
)
def test_the_preposition_goes_by_the_noun(name: str, words: str) -> None:
    assert where(Place(id="p", name=name)) == words


def test_an_authored_preposition_decides() -> None:
    attributes = {"preposition": Attribute(name="preposition", value="under", public=True)}
    assert where(Place(id="p", name="the bridge", attributes=attributes)) == "under the bridge"
