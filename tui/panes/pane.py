"""What all panes of the Play screen have in common."""

from typing import ClassVar

from textual import getters
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from tui.panes.rows import Row, RowList
from tui.view import WorldView


class Pane(Vertical):
    """A titled frame around a list. Draws one view, reports what the reader does, knows no other pane."""

    NUMBER: ClassVar[int] = 0
    """The key that leads here."""
    TITLE: ClassVar[str] = ""
    HELP: ClassVar[str] = ""
    view: reactive[WorldView] = reactive(WorldView(), init=False, repaint=False)
    rows = getters.query_one(RowList)

    def on_mount(self) -> None:
        """Name the frame."""
        self.entitle("")

    @property
    def target(self) -> Widget:
        """Where the focus goes: what the arrow keys work on."""
        return self.rows

    def action_pick(self) -> None:
        """Do what enter does to the row under the cursor."""
        self.rows.pick()

    def entitle(self, about: str, under: str = "") -> None:
        """Title of the frame: number, name and what it is about. `under` goes into the lower edge."""
        title = f"{self.NUMBER} {self.TITLE}"
        self.border_title = Content(f"{title} · {about}" if about else title)
        self.border_subtitle = Content(under)


def ruled(words: str) -> Row:
    """A heading with a line through it."""
    return Row(Content.styled(words, ".head"), lead=Content.styled("── ", ".rule"), rule="─")


def bar(share: float, width: int, style: str = ".bar") -> Content:
    """A bar of `width` cells of which `share` (0 to 1) is full. Anything above nothing shows at least one cell."""
    share = min(max(share, 0.0), 1.0)
    full = max(round(share * width), 1 if share > 0 else 0)
    return Content.assemble(("━" * full, style), ("─" * (width - full), ".bar-rest"))
