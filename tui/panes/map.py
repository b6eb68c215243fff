"""The map: places as boxes, portals as lines with their state, who is where, and how far the chosen one's senses reach."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import getters, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from engine.records.base import PlaceId
from engine.records.world import Portal, World
from tui.glyphs import LOCKED, OPEN, SHUT_LEVEL, SHUT_UPRIGHT
from tui.panes.chart import BACK, EAST, NORTH, SOUTH, STEPS, WEST, Box, Chart, Point, Way, fitting_chart
from tui.panes.pane import Pane
from tui.panes.reach import Reach, reach
from tui.text import plain, short_name
from tui.view import WorldView, peopled, perceived

_LINES = {
    NORTH | SOUTH: "│", EAST | WEST: "─", NORTH | EAST: "╰", EAST | SOUTH: "╭", SOUTH | WEST: "╮", NORTH | WEST: "╯",
    NORTH | EAST | SOUTH | WEST: "┼",
}
_DOORS = {"open": (OPEN, OPEN), "closed": (SHUT_LEVEL, SHUT_UPRIGHT), "locked": (LOCKED, LOCKED)}
"""State of a portal on a level and on an upright line."""
_ARROWS = {NORTH: "↑", EAST: "→", SOUTH: "↓", WEST: "←"}
_PLAIN, _LIT = "╭─╮│╰╯", "┏━┓┃┗┛"
_WORDS: Mapping[Reach, str] = {"here": "here", "seen": "in sight", "heard": "in earshot", "faint": "faintly heard"}
Cell = tuple[str, str]
"""A character and the name of its style."""


class MapCanvas(ScrollView, can_focus=True):
    """The drawn map. Scrolls both ways."""

    BINDINGS = [
        Binding("up,k", "scroll_up", "Up", show=False), Binding("down,j", "scroll_down", "Down", show=False),
        Binding("left,h", "scroll_left", "Left", show=False), Binding("right,l", "scroll_right", "Right", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="canvas")
        self._grid: list[list[Cell]] = []
        self._strips: dict[int, Strip] = {}
        self._styles: dict[str, RichStyle] = {}

    def draw(self, grid: list[list[Cell]]) -> None:
        """Show this picture."""
        kept = {y: strip for y, strip in self._strips.items() if y < len(grid) and grid[y] == self._grid[y]}
        self._grid, self._strips = grid, kept
        size = Size(max((len(line) for line in grid), default=0), len(grid))
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line as it is on the screen now."""
        base = self.visual_style.rich_style
        line = y + self.scroll_offset.y
        if line >= len(self._grid):
            return Strip.blank(self.size.width, base)
        if (strip := self._strips.get(line)) is None:
            runs = groupby(self._grid[line], key=itemgetter(1))
            strip = self._strips[line] = Strip(Segment("".join(char for char, _ in run), self._style(name)) for name, run in runs)
        return strip.crop_extend(self.scroll_offset.x, self.scroll_offset.x + self.size.width, base)

    def _style(self, name: str) -> RichStyle:
        if name not in self._styles:
            self._styles[name] = (self.visual_style + self._get_style(f".{name}") if name else self.visual_style).rich_style
        return self._styles[name]

    def notify_style_update(self) -> None:
        """Colours have changed: draw all lines anew."""
        super().notify_style_update()
        if hasattr(self, "_strips"):
            self._strips, self._styles = {}, {}


class MapPane(Pane):
    """Lays the map out for its width, draws who is where, keeps the chosen one in sight."""

    NUMBER = 2
    TITLE = "Map"
    HELP = f"""\
Places are boxes, portals the lines between them. In a box stand the short names of those who are there.

On a line: `{OPEN}` open · `{SHUT_LEVEL}` shut · `{LOCKED}` locked · `→` one way only.

The heavy box is where the chosen entity is. Boxes marked *in sight*, *in earshot* or *faintly heard* are within reach of its
senses as the doors stand now. The arrow keys scroll.
"""
    canvas = getters.query_one(MapCanvas)

    def __init__(self) -> None:
        super().__init__()
        self._chart: Chart | None = None
        self._laid: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """The picture and its legend."""
        yield MapCanvas()
        yield Static(Content(f"{OPEN} open  {SHUT_LEVEL} shut  {LOCKED} locked  → one way"), id="legend", markup=False)

    @property
    def target(self) -> Widget:
        """Where the focus goes: what the arrow keys work on."""
        return self.canvas

    def on_resize(self) -> None:
        """Lay out for the new size."""
        self._draw(self.view)

    def watch_view(self, old: WorldView, new: WorldView) -> None:
        """Draw when somebody moved, a portal changed or somebody else was chosen."""
        if peopled(old) != peopled(new) or old.chosen != new.chosen or old.names is not new.names:
            self._draw(new)

    def _draw(self, view: WorldView) -> None:
        world, size = view.world, self.canvas.size
        if world is None or size.width < 10:
            return
        shape = (world.slug, len(world.places), len(world.portals), size)
        if shape != self._laid:
            self._laid = shape
            self._lay_out(world, size)
        if self._chart is None or self._chart.boxes.keys() != world.places.keys():
            return
        left, top = max((size.width - self._chart.width) // 2, 0), max((size.height - self._chart.height) // 3, 0)
        blank = [(" ", "")]
        self.canvas.draw([blank] * top + [blank * left + line for line in picture(self._chart, view, world)])
        chosen = world.entities.get(view.chosen or "")
        self.entitle("", f"lit: what {plain(view.name(view.chosen))} perceives" if chosen else "")
        if chosen and (box := self._chart.boxes.get(chosen.place or "")):
            self.canvas.scroll_to_region(Region(left + box.x - 2, top + box.y - 1, box.width + 4, box.height + 2), animate=False)


    @work(group="lay-out", exclusive=True)
    async def _lay_out(self, world: World, size: Size) -> None:
        """Find the map for a size in a thread: a large one takes a while."""
        places, portals = [*world.places.values()], [*world.portals.values()]
        self._chart = await asyncio.to_thread(fitting_chart, places, portals, size.width, size.height)
        self._draw(self.view)


def picture(laid: Chart, view: WorldView, world: World) -> list[list[Cell]]:
    """The map as characters with styles."""
    grid: list[list[Cell]] = [[(" ", "")] * laid.width for _ in range(laid.height)]
    reached = reach(world, view.chosen) if view.chosen else {}
    seen = perceived(view)
    _ways(grid, laid, world, reached)
    for place, box in laid.boxes.items():
        who = [short_name(view.name(entity.id)) for entity in world.at(place) if entity.agent and (seen is None or entity.id in seen)]
        _box(grid, box, who, reached.get(place))
    for way in laid.ways:
        _ends(grid, way, world.portals[way.portal])
    return grid


def _ways(grid: list[list[Cell]], laid: Chart, world: World, reached: Mapping[PlaceId, Reach]) -> None:
    joined: dict[Point, tuple[int, bool]] = {}
    for way in laid.ways:
        portal = world.portals[way.portal]
        lit = portal.a in reached and portal.b in reached and "here" in (reached[portal.a], reached[portal.b])
        sides = _sides(way)
        for index, point in enumerate(way.points):
            before, was_lit = joined.get(point, (0, False))
            joined[point] = (before | BACK[sides[index]] | sides[index + 1], lit or was_lit)
    for (x, y), (sides_of, lit) in joined.items():
        grid[y][x] = (_LINES.get(sides_of, "┼"), "key" if lit else "edge")
    for way in laid.ways:
        portal = world.portals[way.portal]
        x, y = way.door
        upright = joined[way.door][0] == NORTH | SOUTH
        style = {"open": "quiet", "closed": "deed", "locked": "bad"}[portal.state]
        grid[y][x] = (_DOORS[portal.state][upright], "key" if joined[way.door][1] and portal.state == "open" else style)


def _sides(way: Way) -> list[int]:
    """Direction into each point of a way, then out of the last."""
    by_step = {step: side for side, step in STEPS.items()}
    between = [by_step[b[0] - a[0], b[1] - a[1]] for a, b in zip(way.points, way.points[1:], strict=False)]
    return [way.leaves, *between, way.enters]


def _ends(grid: list[list[Cell]], way: Way, portal: Portal) -> None:
    if portal.one_way:
        x, y = way.points[-1]
        grid[y][x] = (_ARROWS[way.enters], grid[y][x][1])


def _box(grid: list[list[Cell]], box: Box, who: Sequence[str], reached: Reach | None) -> None:
    edge = "key" if reached == "here" else "lamp" if reached else "edge"
    corner = _LIT if reached == "here" else _PLAIN
    across, down = box.width - 2, box.height - 2
    word = _WORDS[reached] if reached else ""
    foot = f"{corner[1]} {word} " if word and len(word) + 3 <= across else ""
    _write(grid, box.x, box.y, corner[0] + corner[1] * across + corner[2], edge)
    for line in range(down):
        _write(grid, box.x, box.y + 1 + line, corner[3] + " " * across + corner[3], edge)
    _write(grid, box.x, box.y + box.height - 1, corner[4] + corner[1] * across + corner[5], edge)
    _write(grid, box.x + 1, box.y + box.height - 1, foot, edge)
    title = f" {box.title} "
    _write(grid, box.x + 1, box.y, title if cell_len(title) <= across else set_cell_size(title, across), "name" if reached else "quiet")
    for line, text in enumerate(_fitted(who, across - 2, down)):
        _write(grid, box.x + 2, box.y + 1 + line, text, "speech" if reached else "deed")


def _fitted(names: Sequence[str], width: int, lines: int) -> list[str]:
    """Names in as many lines as there are; how many more when they are too many."""
    rest = list(names)
    found: list[str] = []
    for number in range(lines):
        line = ""
        while rest:
            more = len(rest) - 1
            room = width - (len(f" +{more}") if number == lines - 1 and more else 0)
            name = rest[0] if cell_len(rest[0]) <= room or line else set_cell_size(rest[0], max(room - 1, 1)) + "…"
            longer = f"{line}, {name}" if line else name
            if cell_len(longer) > room:
                break
            line = longer
            rest.pop(0)
        if rest and number == lines - 1:
            line = f"{line} +{len(rest)}"
        elif rest:
            line += ","
        found.append(line)
    return found


def _write(grid: list[list[Cell]], x: int, y: int, text: str, style: str) -> None:
    """Put text on the grid. A wide character takes two cells, the second of them empty."""
    for char in text:
        width = cell_len(char)
        if width and x + width <= len(grid[y]):
            grid[y][x] = (char, style)
            if width == 2:
                grid[y][x + 1] = ("", style)
            x += width
