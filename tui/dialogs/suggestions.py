"""All that a world suggests, with what it would cost, before any of it is taken."""

from typing import TYPE_CHECKING, Literal

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tui.figures import money
from tui.glyphs import REFUSED
from tui.keybar import KeyBar
from tui.panes.routes import key_words, model_name, price, slot_name
from tui.panes.rows import STYLES, Row, RowList
from tui.panes.spending import foretold
from tui.text import plain

if TYPE_CHECKING:
    from engine.records.models import Proposal

Answer = Literal["write", "leave"]
"""`write` the models as one's own; give `leave` to worlds to choose where nothing is set."""


class SuggestionsDialog(ModalScreen["Answer | None"]):
    """What the world suggests. Escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "dialogs.tcss"
    BINDINGS = [
        Binding("enter", "answer('write')", "Set them all", tooltip="Write the models into settings.toml"),
        Binding("h", "answer('leave')", "Let worlds choose", tooltip="Write hints = true: worlds choose where you have set nothing"),
        Binding("escape", "answer('')", "Leave it"),
    ]

    def __init__(self, proposal: "Proposal", capped: bool) -> None:
        """`capped` is whether a cap on money or tokens is set."""
        super().__init__()
        self._proposal, self._capped = proposal, capped

    def compose(self) -> ComposeResult:
        """Models, what they cost, what the keys would do."""
        with Vertical(id="dialog", classes="writing") as dialog:
            dialog.border_title = Content("What the world suggests")
            yield RowList(id="suggestions")
            yield KeyBar()

    def on_mount(self) -> None:
        """Show it."""
        rows = self.query_one("#suggestions", RowList)
        rows.show(self.rows())
        rows.focus()

    def rows(self) -> list[Row]:
        """All lines of it."""
        found = self._proposal.suggestions
        rows: list[Row] = []
        for one in found:
            lead = Content.styled(f" {slot_name(one.task):<11} ", ".deed")
            key, style = key_words(one.endpoint)
            body = Content.assemble((model_name(one.endpoint), ".name"), "\n", (price(one.endpoint), ".quiet"), " · ", (key, style))
            rows.append(Row(body, lead=lead))
        rows += [Row(Content("")), _line("With them the next round would take", ".head")]
        if self._proposal.forecast is not None:
            rows += [_line(text, style) for text, style in foretold(self._proposal.forecast)]
            cost = self._proposal.forecast.cost
            if cost is None:
                rows.append(_line(f"{REFUSED} What they cost is unknown: no cap on money can hold them.", ".bad"))
            elif cost:
                rows.append(_line(f"A hundred rounds like it: about {money(100 * cost)}.", ".deed"))
        else:
            rows.append(_line("It is foretold while a game is open.", ".quiet"))
        if not self._capped:
            rows.append(_line("No cap is set: 4 in Models sets one.", ".candidate"))
        rows.append(Row(Content("")))
        lines = ", ".join(f"models.{one.task}" for one in found)
        rows.append(_keyed("enter", f"writes {lines}, in place of what answers now; for all worlds"))
        taken = [slot_name(one.task) for one in found if one.by_leave]
        here = f"here {', '.join(taken)}" if taken else "nothing here, for you have set who answers everything"
        rows.append(_keyed("h", f"writes models.hints = true: worlds choose wherever you have set nothing ({here})"))
        return rows

    def action_answer(self, answer: str) -> None:
        """Close with the answer."""
        self.dismiss("write" if answer == "write" else "leave" if answer == "leave" else None)


def _line(text: str, style: str) -> Row:
    return Row(Content.styled(plain(text), style), lead=Content(" "))


def _keyed(key: str, text: str) -> Row:
    return Row(Content.styled(plain(text), ".quiet"), lead=Content.styled(f" {key:<5} ", ".key"))
