"""What the map lights up."""

from datetime import datetime

from engine.records.world import Attribute, Entity, Place, Portal, World
from tui.panes.reach import reach


def world(*portals: Portal, status: str = "awake", light: str = "bright") -> World:
    names = {key for portal in portals for key in (portal.a, portal.b)} | {"here"}
    attributes = {"light": Attribute(name="light", value=light)}
    places = {key: Place(id=key, name=key, attributes={} if key == "here" else attributes) for key in names}
    bryn = Entity(id="bryn", agent=True, place="here", attributes={"status": Attribute(name="status", value=status, public=True)})
    return World(
        slug="w", name="W", now=datetime(1247, 3, 1), places=places, portals={p.id: p for p in portals}, entities={"bryn": bryn},
    )


def way(b: str, vision: int, sound: int, a: str = "here", one_way: bool = False) -> Portal:
    return Portal(id=f"{a}-{b}", name="way", a=a, b=b, vision=vision, sound=sound, one_way=one_way)


def test_sight_goes_before_hearing() -> None:
    assert reach(world(way("hall", 10, 10), way("yard", 4, 9), way("cell", 0, 7), way("vault", 0, 6)), "bryn") == {
        "here": "here", "hall": "seen", "yard": "heard", "cell": "faint",
    }


def test_talk_passes_one_way_and_takes_the_best() -> None:
    found = reach(world(way("a", 0, 9), way("b", 0, 9, "a"), way("c", 0, 7), way("here", 0, 5, "c"), way("d", 0, 6)), "bryn")
    assert found == {"here": "here", "a": "heard", "c": "faint"}


def test_sight_passes_a_one_way_portal_backwards() -> None:
    assert reach(world(way("here", 8, 0, "balcony", one_way=True)), "bryn") == {"here": "here", "balcony": "seen"}


def test_sleepers_reach_nowhere_and_the_dark_shows_nothing() -> None:
    assert reach(world(way("hall", 10, 10), status="asleep"), "bryn") == {"here": "here"}
    assert reach(world(way("hall", 10, 10), light="dark"), "bryn") == {"here": "here", "hall": "heard"}
    assert reach(world(), "nobody") == {}
