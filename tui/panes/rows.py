"""The line widget under every list: rows of wrapped text, some of which can be chosen, drawn line by line."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import RenderOptions

from tui.glyphs import CURSOR

EMPTY = Content("")
STYLES = {
    "speech", "thought", "deed", "name", "quiet", "head", "good", "bad", "key", "candidate", "bar", "bar-rest", "rule", "quote", "edge",
    "lamp", "place",
}
"""Names of the text styles that `app.tcss` defines and texts use as `.speech`. Screens carry them for all that is on them."""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One piece of text. Compared by identity: a pane that keeps a row unchanged hands in the same object again."""

    body: Content
    lead: Content = EMPTY
    """Stands left of the first line; lines that follow are indented by its width."""
    tail: Content = EMPTY
    """Stands at the right end of the first line. The body wraps before it."""
    key: str = ""
    """Rows with a key can be chosen."""
    name: str = ""
    """By which a pane can bring it into sight."""
    tint: str = ""
    """Component class that colours the whole row."""
    rule: str = ""
    """A character that fills the first line up to its tail, for lines across the pane."""


@dataclass(slots=True)
class _Drawn:
    """A row at one width: where it is divided, and those of its lines that have been looked at."""

    lines: list[Content]
    strips: dict[int, Strip] = field(default_factory=dict)


@dataclass(slots=True)
class _Wrapped:
    """The lines of all rows at one width."""

    width: int = 0
    rows: Sequence[Row] = ()
    row_of: list[int] = field(default_factory=list)
    """Index of the row for each line."""
    first: list[int] = field(default_factory=list)
    """First line of each row."""


class RowList(ScrollView, can_focus=True):
    """Rows of text. Wraps each row once, holds its place, and follows its end when asked to."""

    COMPONENT_CLASSES = {"lit", "fresh", "pick"}
    DEFAULT_CSS = """
    RowList {
        height: 1fr; padding: 0; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1;
    }
    """
    BINDINGS = [
        Binding("up,k", "previous", "Up", show=False),
        Binding("down,j", "next", "Down", show=False),
        Binding("home,g", "first", "First", show=False),
        Binding("end,G", "last", "Last", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
    ]
    cursor: var[str] = var("")
    """Key of the chosen row."""

    @dataclass
    class Picked(Message):
        """The reader pressed enter on a row."""

        rows: "RowList"
        key: str

        @property
        def control(self) -> "RowList":
            """The list, for `@on` selectors."""
            return self.rows

    @dataclass
    class Moved(Message):
        """The chosen row is another one."""

        rows: "RowList"
        key: str

        @property
        def control(self) -> "RowList":
            """The list, for `@on` selectors."""
            return self.rows

    def __init__(self, *, follow: bool = False, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Row] = ()
        self._wrapped = _Wrapped()
        self._cache: dict[int, _Drawn] = {}
        self._follow = follow
        self._at_end = True

    # what is shown

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows instead. Rows handed in before keep their lines; the place of the reader is kept."""
        kept = {id(row) for row in rows}
        self._cache = {key: drawn for key, drawn in self._cache.items() if key in kept}
        self._rows = tuple(rows)  # a copy: callers go on adding to their list
        keys = self.keys
        if self.cursor not in keys and (self.cursor or self.has_focus):
            self.cursor = keys[0] if keys else ""
        self._wrap()

    @property
    def keys(self) -> list[str]:
        """Keys of the rows that can be chosen, from top to bottom."""
        return [row.key for row in self._rows if row.key]

    def _wrap(self) -> None:
        """Bring lines up to date with rows and width."""
        width = self.scrollable_content_region.width
        if width <= 2:  # out of sight
            self._wrapped = _Wrapped()
            return
        if width != self._wrapped.width:
            self._cache.clear()
        wrapped = _Wrapped(width, self._rows)
        for index, row in enumerate(self._rows):
            drawn = self._cache.get(id(row))
            if drawn is None:
                drawn = self._cache[id(row)] = _Drawn(_divided(row, width - 2))  # the cursor, and air before the scrollbar
            wrapped.first.append(len(wrapped.row_of))
            wrapped.row_of += [index] * len(drawn.lines)
        at_end, before, self._wrapped = self._at_end, self._wrapped, wrapped
        here = self.scroll_offset.y
        self._resized(Size(width, len(wrapped.row_of)))
        if self._follow and at_end:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True, immediate=True)
        same = self._same_until(before) if here == self.scroll_offset.y else 0
        longest = max(len(wrapped.row_of), len(before.row_of))
        if same == 0 or self.gutter.height:
            self.refresh()
        elif same < longest:
            self.refresh_lines(same, longest - same)

    def _resized(self, size: Size) -> None:
        """Take a new virtual size. Setting it plainly would lay out and paint the whole screen, at each line of a story."""
        if size != self.virtual_size:
            self.set_reactive(RowList.virtual_size, size)
            self._scroll_update(size)

    def _same_until(self, before: _Wrapped) -> int:
        """The first line that is not what it was."""
        if before.width != self._wrapped.width:
            return 0
        number = 0
        for old, new in zip(before.rows, self._rows, strict=False):
            if old is not new:
                break
            number += 1
        return self._wrapped.first[number] if number < len(self._wrapped.first) else len(self._wrapped.row_of)

    def _strip(self, line: int) -> Strip:
        """One line of all, drawn when it is first looked at."""
        index = self._wrapped.row_of[line]
        row, number = self._rows[index], line - self._wrapped.first[index]
        drawn = self._cache[id(row)]
        if (strip := drawn.strips.get(number)) is None:
            width = self._wrapped.width - 2
            base = self.get_visual_style(row.tint) if row.tint else self.visual_style
            content = _line(row, drawn.lines, number, width)
            [strip] = content.render_strips(width, 1, base, RenderOptions(self._get_style, {}))
            blank, full = Strip([Segment(" ", base.rich_style)], 1), self.visual_style.rich_style
            strip = Strip.join([blank, strip.extend_cell_length(width, base.rich_style)]).extend_cell_length(self.size.width, full)
            drawn.strips[number] = strip
        return strip

    def render_line(self, y: int) -> Strip:
        """One line as it is on the screen now."""
        line = y + self.scroll_offset.y
        base = self.visual_style.rich_style
        if line >= len(self._wrapped.row_of) or self.scrollable_content_region.width != self._wrapped.width:
            return Strip.blank(self.size.width, base)
        row, strip = self._rows[self._wrapped.row_of[line]], self._strip(line)
        if row.key and row.key == self.cursor and self.has_focus:
            over = self.get_visual_style("pick").background_style.rich_style
            mark = CURSOR if self._wrapped.first[self._wrapped.row_of[line]] == line else " "
            parts = [(mark, base), *((text, style) for text, style, _ in strip.crop(1))]
            strip = Strip([Segment(text, style + over if style else over) for text, style in parts], strip.cell_length)
        return strip

    def notify_style_update(self) -> None:
        """Colours have changed: draw all lines anew."""
        super().notify_style_update()
        for drawn in getattr(self, "_cache", {}).values():
            drawn.strips.clear()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap for the new width."""
        self._wrap()
        self._show_cursor()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Remember whether the reader looks at the end."""
        super().watch_scroll_y(old_value, new_value)
        self._at_end = new_value >= self.max_scroll_y - 0.5

    @property
    def at_end(self) -> bool:
        """Whether the reader looks at the end, or there is no more than is in sight."""
        return self._at_end

    def to_end(self) -> None:
        """Show the end, and follow it from now on."""
        self._at_end = True
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True, immediate=True)

    # the reader

    def on_focus(self) -> None:
        """A list one enters shows where one is."""
        self.begin()
        self.refresh()

    def begin(self) -> None:
        """Put the cursor on the first row that can be chosen, when it is on none."""
        keys = self.keys
        if keys and self.cursor not in keys:
            self.cursor = keys[0]

    def on_blur(self) -> None:
        """The cursor is seen in the focused list only."""
        self.refresh()

    def watch_cursor(self, old: str, new: str) -> None:
        """Keep the chosen row in sight and say so."""
        self._show_cursor()
        self.refresh()
        if new != old:
            self.post_message(self.Moved(self, new))

    def _show_cursor(self) -> None:
        for index, row in enumerate(self._rows):
            if row.key and row.key == self.cursor and index < len(self._wrapped.first):
                top = self._wrapped.first[index]
                end = self._wrapped.first[index + 1] if index + 1 < len(self._wrapped.first) else len(self._wrapped.row_of)
                self.scroll_to_region(Region(0, top, 1, end - top), animate=False, immediate=True, x_axis=False)
                return

    def reveal(self, name: str, above: float = 0.25) -> None:
        """Bring the row of this name into the upper part, with `above` of the height over it, so that what follows is in sight."""
        for index, row in enumerate(self._rows):
            if row.name == name and index < len(self._wrapped.first):
                top = self._wrapped.first[index] - int(self.size.height * above)
                self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def _step(self, by: int) -> None:
        keys = self.keys
        if not keys:
            self.scroll_relative(y=by, animate=False)
            return
        at = keys.index(self.cursor) if self.cursor in keys else -1
        to = min(max(at + by, 0), len(keys) - 1)
        if to == at:  # at an end: what lies beyond the last row that can be chosen
            self.scroll_relative(y=by, animate=False)
        self.cursor = keys[to]

    def action_previous(self) -> None:
        """Up by one."""
        self._step(-1)

    def action_next(self) -> None:
        """Down by one."""
        self._step(1)

    def action_first(self) -> None:
        """To the top."""
        if keys := self.keys:
            self.cursor = keys[0]
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """To the end."""
        if keys := self.keys:
            self.cursor = keys[-1]
        self.scroll_end(animate=False, x_axis=False)

    def pick(self) -> None:
        """Choose the row under the cursor."""
        if self.cursor in self.keys:
            self.post_message(self.Picked(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one chooses."""
        line = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if 0 <= line < len(self._wrapped.row_of) and (key := self._rows[self._wrapped.row_of[line]].key):
            again = key == self.cursor
            self.cursor = key
            if again:
                self.pick()

    def text(self) -> str:
        """All lines as they are drawn, for tests and for copying."""
        return "\n".join(self._strip(line).text[1:].rstrip() for line in range(len(self._wrapped.row_of)))


def _divided(row: Row, width: int) -> list[Content]:
    """The body of a row in lines that fit."""
    if row.rule or not row.body:
        return [row.body]
    room = max(width - row.lead.cell_length, 8)
    lines = row.body.wrap(room)
    free = room - row.tail.cell_length - 1
    return row.body.wrap(free) if row.tail and lines[0].cell_length > free > 12 else lines


def _line(row: Row, lines: Sequence[Content], number: int, width: int) -> Content:
    """One line of a row with what stands left and right of it."""
    indent, tail = row.lead.cell_length, row.tail.cell_length
    if number:
        return Content(" " * indent) + lines[number]
    if row.rule:
        text = row.body.truncate(max(width - indent - tail - 2, 1), ellipsis=True)
        fill = max(width - indent - text.cell_length - tail - bool(text) - bool(tail), 0)
        rule = Content.styled(row.rule * fill, ".rule")
        return Content.assemble(row.lead, text, " " if text else "", rule, " " if tail else "", row.tail)
    content = row.lead + lines[0]
    room = width - content.cell_length - tail
    return content + " " * room + row.tail if tail and room > 0 else content
