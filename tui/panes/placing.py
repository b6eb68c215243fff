"""Where places go on a grid: authored positions first, the others near what they are connected to. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from engine.records.base import PlaceId
from engine.records.world import Place, Portal

Cell = tuple[int, int]
"""Column and row, from 0."""

_NEAR = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
_PASSES = 4


def cells(places: Sequence[Place], portals: Sequence[Portal], columns: int) -> dict[PlaceId, Cell]:
    """A cell of its own for each place. Keeps to `columns` columns where authors have not said otherwise."""
    links = _links(places, portals)
    fixed = _authored(places)
    found = dict(fixed)
    for place in _order(places, links, found):
        found[place] = _best(place, found, links, columns)
    _improve(found, set(fixed), links, columns)
    return _packed(found)


def _links(places: Sequence[Place], portals: Sequence[Portal]) -> dict[PlaceId, list[PlaceId]]:
    links: dict[PlaceId, list[PlaceId]] = {place.id: [] for place in places}
    for portal in portals:
        if portal.a in links and portal.b in links and portal.b not in links[portal.a]:
            links[portal.a].append(portal.b)
            links[portal.b].append(portal.a)
    return links


def _authored(places: Sequence[Place]) -> dict[PlaceId, Cell]:
    """Authored positions with empty columns and rows taken out. Of two places at one position the first has it."""
    wanted: dict[Cell, PlaceId] = {}
    for place in places:
        if place.position is not None:
            wanted.setdefault(place.position, place.id)
    across = {x: index for index, x in enumerate(sorted({x for x, _ in wanted}))}
    down = {y: index for index, y in enumerate(sorted({y for _, y in wanted}))}
    return {place: (across[x], down[y]) for (x, y), place in wanted.items()}


def _order(places: Sequence[Place], links: Mapping[PlaceId, Sequence[PlaceId]], start: Iterable[PlaceId]) -> list[PlaceId]:
    """All places that have no cell, each after one of its neighbours where it has any."""
    rank = {place.id: index for index, place in enumerate(places)}
    seen = set(start)
    order: list[PlaceId] = []
    queue = sorted(seen, key=rank.__getitem__)
    while True:
        while queue:
            here = queue.pop(0)
            for near in sorted(links[here], key=lambda place: (-len(links[place]), rank[place])):
                if near not in seen:
                    seen.add(near)
                    order.append(near)
                    queue.append(near)
        rest = [place for place in rank if place not in seen]
        if not rest:
            return order
        root = max(rest, key=lambda place: (len(links[place]), -rank[place]))
        seen.add(root)
        order.append(root)
        queue.append(root)


def _best(place: PlaceId, found: Mapping[PlaceId, Cell], links: Mapping[PlaceId, Sequence[PlaceId]], columns: int) -> Cell:
    if not found:
        return (0, 0)
    taken = {cell: key for key, cell in found.items()}
    near = [found[other] for other in links[place] if other in found]
    if not near:  # a part of the world of its own: below all others
        return (min(x for x, _ in taken), max(y for _, y in taken) + 1)
    options = {(x + dx * far, y + dy * far) for x, y in near for dx, dy in _NEAR for far in (1, 2, 3)} - taken.keys()
    options |= {(min(x for x, _ in taken), max(y for _, y in taken) + 1)}
    allowed = [cell for cell in options if _fits(cell, taken, columns)]
    return min(allowed, key=lambda cell: (_cost(cell, near, taken), *_preference(cell, near[0])))


def _fits(cell: Cell, taken: Iterable[Cell], columns: int) -> bool:
    across = [x for x, _ in taken]
    widest = max(columns, max(across) - min(across) + 1)
    return max(cell[0], *across) - min(cell[0], *across) < widest


def _preference(cell: Cell, anchor: Cell) -> tuple[int, int, int]:
    """Between equals: right, then below, then left, then above."""
    dx, dy = cell[0] - anchor[0], cell[1] - anchor[1]
    side = 0 if dx > 0 and dy == 0 else 1 if dy > 0 else 2 if dx < 0 else 3
    return (side, cell[1], cell[0])


def _cost(cell: Cell, near: Sequence[Cell], taken: Mapping[Cell, PlaceId]) -> float:
    """Long and bent ways are dear, and ways that others stand in."""
    total = 0.0
    for other in near:
        dx, dy = abs(cell[0] - other[0]), abs(cell[1] - other[1])
        total += dx + dy + (1.5 if dx and dy else 0.0)
        if (dx == 0) != (dy == 0):
            total += 3.0 * sum(between in taken for between in _between(cell, other))
    return total


def _between(a: Cell, b: Cell) -> list[Cell]:
    if a[1] == b[1]:
        return [(x, a[1]) for x in range(min(a[0], b[0]) + 1, max(a[0], b[0]))]
    return [(a[0], y) for y in range(min(a[1], b[1]) + 1, max(a[1], b[1]))]


def _improve(found: dict[PlaceId, Cell], fixed: set[PlaceId], links: Mapping[PlaceId, Sequence[PlaceId]], columns: int) -> None:
    """Let each place move to, or change with, a cell that makes the ways around it shorter."""
    movable = [place for place in found if place not in fixed]
    for _ in range(_PASSES):
        moved = False
        for place in movable:
            taken = {cell: key for key, cell in found.items()}
            here = found[place]
            near = [found[other] for other in links[place] if other != place]
            if not near:
                continue
            best, gain = here, 0.1
            options = {(x + dx, y + dy) for x, y in near for dx, dy in _NEAR[:4]} - {here}
            for cell in sorted(options):
                other = taken.get(cell)
                if other in fixed or not _fits(cell, taken, columns):
                    continue
                saved = _around(place, other, found, links)
                found[place] = cell
                if other is not None:
                    found[other] = here
                better = saved - _around(place, other, found, links)
                found[place] = here
                if other is not None:
                    found[other] = cell
                if better > gain:
                    best, gain = cell, better
            if best != here:
                if (other := taken.get(best)) is not None:
                    found[other] = here
                found[place] = best
                moved = True
        if not moved:
            return


def _around(place: PlaceId, other: PlaceId | None, found: Mapping[PlaceId, Cell], links: Mapping[PlaceId, Sequence[PlaceId]]) -> float:
    taken = {cell: key for key, cell in found.items()}
    keys = [place] if other is None else [place, other]
    return sum(_cost(found[key], [found[near] for near in links[key]], taken) for key in keys)


def _packed(found: Mapping[PlaceId, Cell]) -> dict[PlaceId, Cell]:
    """The same without empty columns and rows."""
    across = {x: index for index, x in enumerate(sorted({x for x, _ in found.values()}))}
    down = {y: index for index, y in enumerate(sorted({y for _, y in found.values()}))}
    return {place: (across[x], down[y]) for place, (x, y) in found.items()}
