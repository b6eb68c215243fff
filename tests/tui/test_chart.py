"""The map: every place has a box of its own, every line keeps off the boxes."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.records.world import Place, Portal
from tui.panes.chart import STEPS, Chart, chart, fitting_chart
from tui.panes.placing import cells


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Place], list[Portal]]:
    number = draw(st.integers(1, 40))
    spots = st.none() | st.tuples(st.integers(-50, 50), st.integers(-50, 50))
    names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
    positions = draw(st.lists(spots, min_size=number, max_size=number))
    places = [Place(id=f"p{i}", name=draw(names), position=positions[i]) for i in range(number)]
    links = draw(st.lists(st.tuples(st.integers(0, number - 1), st.integers(0, number - 1)), max_size=2 * number))
    portals = [Portal(id=f"w{i}", name="way", a=f"p{a}", b=f"p{b}") for i, (a, b) in enumerate(links) if a != b]
    return places, portals


@settings(max_examples=40, deadline=None)
@given(worlds(), st.integers(1, 6))
def test_every_place_has_its_own_cell(world: tuple[list[Place], list[Portal]], columns: int) -> None:
    places, portals = world
    found = cells(places, portals, columns)
    assert set(found) == {place.id for place in places}
    assert len(set(found.values())) == len(places)
    assert cells(places, portals, columns) == found


@settings(max_examples=40, deadline=None)
@given(worlds(), st.integers(1, 5), st.integers(1, 2))
def test_boxes_never_overlap_and_lines_keep_off_them(world: tuple[list[Place], list[Portal]], columns: int, lines: int) -> None:
    places, portals = world
    found = chart(places, portals, columns, lines)
    covered = Counter(point for box in found.boxes.values() for point in box.points())
    assert set(found.boxes) == {place.id for place in places}
    assert max(covered.values()) == 1
    assert all(0 <= x < found.width and 0 <= y < found.height for x, y in covered)
    for way in found.ways:
        assert not covered.keys() & set(way.points)
        assert all(0 <= x < found.width and 0 <= y < found.height for x, y in way.points)
    assert {way.portal for way in found.ways} | set(found.undrawn) == {portal.id for portal in portals}


@settings(max_examples=40, deadline=None)
@given(worlds())
def test_lines_lead_from_box_to_box_without_a_gap(world: tuple[list[Place], list[Portal]]) -> None:
    places, portals = world
    found = chart(places, portals)
    ends = {portal.id: (portal.a, portal.b) for portal in portals}
    for way in found.ways:
        a, b = ends[way.portal]
        dx, dy = STEPS[way.leaves]
        assert (way.points[0][0] - dx, way.points[0][1] - dy) in set(found.boxes[a].points())
        dx, dy = STEPS[way.enters]
        assert (way.points[-1][0] + dx, way.points[-1][1] + dy) in set(found.boxes[b].points())
        assert all(abs(p[0] - q[0]) + abs(p[1] - q[1]) == 1 for p, q in zip(way.points, way.points[1:], strict=False))
        assert way.door in way.points


def test_authored_positions_win() -> None:
    spots = {"west": (0, 5), "east": (30, 5), "south": (0, 9)}
    places = [Place(id=key, name=key, position=spot) for key, spot in spots.items()]
    assert cells(places, [], 3) == {"west": (0, 0), "east": (1, 0), "south": (0, 1)}


def inn() -> tuple[list[Place], list[Portal]]:
    places = [Place(id=key, name=f"the {key}") for key in ("taproom", "cellar", "loft", "quay", "yard", "boathouse")]
    pairs = [("taproom", "cellar"), ("taproom", "loft"), ("taproom", "quay"), ("taproom", "yard"), ("quay", "boathouse")]
    return places, [Portal(id=b, name="way", a=a, b=b) for a, b in pairs]


@pytest.mark.parametrize("size", [(36, 20), (52, 26), (76, 18), (200, 45)])
def test_a_small_world_has_all_its_lines_at_every_size(size: tuple[int, int]) -> None:
    found: Chart = fitting_chart(*inn(), *size)
    assert not found.undrawn
    assert len(found.ways) == 5


def test_neighbours_are_drawn_side_by_side() -> None:
    found = cells(*inn(), 3)
    far = [abs(found[p.a][0] - found[p.b][0]) + abs(found[p.a][1] - found[p.b][1]) for p in inn()[1]]
    assert far == [1, 1, 1, 1, 1]
