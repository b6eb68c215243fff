"""A map as boxes and lines on a grid of characters. Pure: drawn by the map pane."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.records.base import PlaceId, PortalId
from engine.records.world import Place, Portal
from tui.panes.placing import cells
from tui.text import capital, plain, without_article

Point = tuple[int, int]
"""Column and line of a character."""

NORTH, EAST, SOUTH, WEST = 1, 2, 4, 8
STEPS: dict[int, Point] = {NORTH: (0, -1), EAST: (1, 0), SOUTH: (0, 1), WEST: (-1, 0)}
BACK = {NORTH: SOUTH, SOUTH: NORTH, EAST: WEST, WEST: EAST}
_GAP_Y = 2
_MEASURES = ((7, 18, 24), (5, 13, 22), (3, 10, 15))
"""From roomy to tight: characters between columns; least and most inside of a box."""
_TURN, _CROSS, _TOUCH = 3, 8, 2


@dataclass(frozen=True, slots=True)
class Box:
    """A place on the map."""

    place: PlaceId
    title: str
    x: int
    y: int
    width: int
    height: int

    def points(self) -> Iterator[Point]:
        """All characters it covers."""
        return ((x, y) for y in range(self.y, self.y + self.height) for x in range(self.x, self.x + self.width))


@dataclass(frozen=True, slots=True)
class Way:
    """A portal on the map: the characters from box `a` to box `b`, both ends outside of the boxes."""

    portal: PortalId
    points: tuple[Point, ...]
    leaves: int
    """Side on which it leaves box `a`."""
    enters: int
    """Direction in which it comes into box `b`."""
    door: Point
    """Where its state is drawn."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The laid out map."""

    boxes: Mapping[PlaceId, Box]
    ways: tuple[Way, ...]
    width: int
    height: int
    undrawn: tuple[PortalId, ...] = ()
    """Portals no line was found for."""


def fitting_chart(places: Sequence[Place], portals: Sequence[Portal], width: int, height: int) -> Chart:
    """The roomiest map that fits into `width` by `height` characters; the tightest when none does."""
    plan = None
    for measures in _MEASURES:
        for lines in (2, 1):
            plan = _plan(places, portals, max(width // (sum(measures[:2]) + 2), 1), lines, measures)
            if plan.width <= width and plan.height <= height:
                return _with_ways(plan, portals)
    assert plan is not None
    return _with_ways(plan, portals)


def chart(places: Sequence[Place], portals: Sequence[Portal], columns: int = 3, lines: int = 2) -> Chart:
    """Lay out a map: about `columns` boxes wide, each with `lines` lines for who is there."""
    return _with_ways(_plan(places, portals, max(columns, 1), lines, _MEASURES[1]), portals)


def _plan(places: Sequence[Place], portals: Sequence[Portal], columns: int, lines: int, measures: tuple[int, int, int]) -> Chart:
    """Where the boxes go."""
    gap, least, most = measures
    spots = cells(places, portals, columns)
    titles = {place.id: capital(without_article(plain(place.name)))[: most - 2] for place in places}
    wide: dict[int, int] = {}
    for place in places:
        column = spots[place.id][0]
        wide[column] = max(wide.get(column, least), min(len(titles[place.id]) + 2, most))
    left, x = {}, 2
    for column in sorted(wide):
        left[column] = x
        x += wide[column] + 2 + gap
    height = lines + 2
    boxes = {}
    for place in places:
        column, row = spots[place.id]
        boxes[place.id] = Box(place.id, titles[place.id], left[column], 1 + row * (height + _GAP_Y), wide[column] + 2, height)
    return Chart(boxes, (), x - gap + 2, max((box.y + box.height for box in boxes.values()), default=0) + 1)


def _with_ways(plan: Chart, portals: Sequence[Portal]) -> Chart:
    """The map with its lines."""
    router = _Router(plan.boxes.values(), plan.width, plan.height)
    ways = [way for portal in _by_ease(portals, plan.boxes) if (way := router.way(portal, plan.boxes[portal.a], plan.boxes[portal.b]))]
    drawn = {way.portal for way in ways}
    return replace(plan, ways=tuple(ways), undrawn=tuple(portal.id for portal in portals if portal.id not in drawn))


def _by_ease(portals: Sequence[Portal], boxes: Mapping[PlaceId, Box]) -> list[Portal]:
    """Neighbours first: their lines are straight, the others find their way around them."""
    known = [portal for portal in portals if portal.a in boxes and portal.b in boxes and portal.a != portal.b]

    def far(portal: Portal) -> tuple[bool, int]:
        a, b = boxes[portal.a], boxes[portal.b]
        return (a.x != b.x and a.y != b.y, abs(a.x - b.x) + abs(a.y - b.y))

    return sorted(known, key=far)


class _Router:
    """Finds lines between boxes that keep off boxes and off each other."""

    def __init__(self, boxes: Iterable[Box], width: int, height: int) -> None:
        self._blocked = {point for box in boxes for point in box.points()}
        self._lines: dict[Point, int] = {}
        self._doors: set[Point] = set()
        self._ports: set[Point] = set()
        self._width, self._height = width, height

    def way(self, portal: Portal, a: Box, b: Box) -> Way | None:
        """The cheapest line from `a` to `b`; None when there is no room."""
        found = self._search(list(_ports(a)), {point: BACK[side] for point, side in _ports(b)})
        if found is None:
            return None
        points, sides = found
        for index, point in enumerate(points):
            self._lines[point] = self._lines.get(point, 0) | BACK[sides[index]] | sides[index + 1]
        self._ports |= {points[0], points[-1]}
        door = self._door(points, sides)
        self._doors.add(door)
        return Way(portal.id, tuple(points), sides[0], sides[-1], door)

    def _door(self, points: Sequence[Point], sides: Sequence[int]) -> Point:
        """The middle of the line, on a straight piece that nothing crosses."""
        straight = [
            point for index, point in enumerate(points)
            if sides[index] == sides[index + 1] and self._lines[point] in (NORTH | SOUTH, EAST | WEST) and point not in self._doors
        ]
        middle = points[len(points) // 2]
        return min(straight, key=lambda point: abs(point[0] - middle[0]) + abs(point[1] - middle[1]), default=middle)

    def _search(self, starts: Sequence[tuple[Point, int]], ends: Mapping[Point, int]) -> tuple[list[Point], list[int]] | None:
        """A* over characters and directions. Returns the points and the direction into each, then out of the last."""
        left, right = min(x for x, _ in ends), max(x for x, _ in ends)
        top, low = min(y for _, y in ends), max(y for _, y in ends)
        heap: list[tuple[int, int, Point, int]] = []
        best: dict[tuple[Point, int], int] = {}
        came: dict[tuple[Point, int], tuple[Point, int] | None] = {}
        number = 0

        def push(point: Point, side: int, cost: int, parent: tuple[Point, int] | None) -> None:
            nonlocal number
            if cost < best.get((point, side), 1 << 30):
                best[point, side], came[point, side] = cost, parent
                number += 1
                ahead = max(left - point[0], 0, point[0] - right) + max(top - point[1], 0, point[1] - low)
                heapq.heappush(heap, (cost + ahead, number, point, side))

        for rank, (point, side) in enumerate(starts):
            if (extra := self._entry(point, side)) is not None and point not in self._ports:
                push(point, side, extra + rank % 3, None)
        while heap:
            _, _, point, side = heapq.heappop(heap)
            cost = best[point, side]
            if ends.get(point) == side and point not in self._ports and self._lines.get(point) is None:
                return self._walk(came, (point, side))
            for turn, (dx, dy) in STEPS.items():
                if turn == BACK[side] or (turn != side and self._lines.get(point)):
                    continue  # lines cross at right angles and turn nowhere near another
                step = (point[0] + dx, point[1] + dy)
                if (extra := self._entry(step, turn)) is not None:
                    push(step, turn, cost + extra + (_TURN if turn != side else 0), (point, side))
        return None

    def _entry(self, point: Point, side: int) -> int | None:
        """Cost of a step onto a character; None when it cannot be."""
        x, y = point
        if not (0 <= x < self._width and 0 <= y < self._height) or point in self._blocked or point in self._doors:
            return None
        lines = self._lines.get(point, 0)
        if not lines:
            beside = [(x - 1, y), (x + 1, y)] if side in (NORTH, SOUTH) else [(x, y - 1), (x, y + 1)]
            return 1 + _TOUCH * sum(near in self._lines for near in beside)
        straight = NORTH | SOUTH if side in (EAST, WEST) else EAST | WEST
        return 1 + _CROSS if lines == straight and point not in self._ports else None

    def _walk(self, came: Mapping[tuple[Point, int], tuple[Point, int] | None], end: tuple[Point, int]) -> tuple[list[Point], list[int]]:
        points, sides = [], [end[1]]
        at: tuple[Point, int] | None = end
        while at is not None:
            points.append(at[0])
            sides.append(at[1])
            at = came[at]
        return points[::-1], sides[::-1]


def _ports(box: Box) -> Iterator[tuple[Point, int]]:
    """Characters just outside of a box with the side they are on; the middle of each side first."""
    inner = sorted(range(box.y + 1, box.y + box.height - 1), key=lambda y: abs(2 * y - (2 * box.y + box.height - 2)))
    across = sorted(range(box.x + 2, box.x + box.width - 2), key=lambda x: abs(2 * x - (2 * box.x + box.width - 1)))
    for y in inner:
        yield (box.x + box.width, y), EAST
        yield (box.x - 1, y), WEST
    for x in across:
        yield (x, box.y + box.height), SOUTH
        yield (x, box.y - 1), NORTH
