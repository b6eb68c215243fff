"""What of knowledge is shown: which state, kind, tier and term, and about whom."""

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label, Static

from tui.dialogs.one_of import OneOf
from tui.keybar import KeyBar
from tui.panes.rows import STYLES
from tui.text import plain

FIELDS: Sequence[tuple[str, str, Sequence[tuple[str, str]]]] = (
    ("state", "State", (
        ("believed", "believed now"), ("ended", "ended: believed no longer"), ("both", "believed and ended"),
        ("gone", "no more: deleted or merged"),
    )),
    ("kind", "Kind", (("", "all kinds"), ("fact", "facts"), ("decision", "decisions"), ("strategy", "strategies"))),
    ("tier", "Tier", (
        ("", "all tiers"), ("hot", "hot: told when it fits"), ("warm", "warm: looked up"), ("cold", "cold: only when asked for"),
        ("archived", "archived: never"),
    )),
    ("term", "Term", (("", "short-term and long-term"), ("short", "short-term: not promoted yet"), ("long", "long-term"))),
)  # fmt: skip


class _About(Input):
    BINDINGS = [Binding("enter", "submit", "Show")]


class OnlyDialog(ModalScreen[dict[str, str] | None]):
    """Answers with a value for each field, empty for all of them; `subject` is a name. Escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "knowledge.tcss"]
    BINDINGS = [
        Binding("enter,ctrl+s", "show_it", "Show", tooltip="Show what is chosen here"),
        Binding("tab,down", "app.focus_next", "Next field", key_display="tab", tooltip="To the next field; shift+tab goes back"),
        Binding("up", "app.focus_previous", "Field before", show=False),
        Binding("ctrl+x", "clear", "All again", tooltip="Leave nothing out"),
        Binding("escape", "leave", "Leave it", tooltip="Change nothing"),
    ]

    def __init__(self, values: dict[str, str], names: Sequence[str]) -> None:
        """`values` hold now; `names` can be what it is about."""
        super().__init__()
        self._values, self._names = values, [plain(name) for name in names]

    def compose(self) -> ComposeResult:
        """The fields and the keys."""
        with Vertical(id="dialog", classes="writing only") as dialog:
            dialog.border_title = Content("Show only")
            for key, label, choices in FIELDS:
                with Horizontal(classes="field tight"):
                    yield Label(label, markup=False)
                    yield OneOf(choices, self._values.get(key, ""), id=f"only-{key}")
            with Horizontal(classes="field tight"):
                yield Label("About", markup=False)
                yield _About(
                    plain(self._values.get("subject", "")), "whom or what; empty for all", id="only-subject", compact=True,
                    suggester=SuggestFromList(self._names, case_sensitive=False),
                )
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_show_it()

    def action_show_it(self) -> None:
        """Answer, if somebody is called so."""
        subject = self.query_one("#only-subject", Input).value.strip()
        if subject and subject.casefold() not in {name.casefold() for name in self._names}:
            self.query_one("#problem", Static).update(Content(plain(f"Nobody and nothing is called “{subject[:60]}” here.")))
            return
        values = {key: self.query_one(f"#only-{key}", OneOf).value for key, _, _ in FIELDS}
        self.dismiss(values | {"subject": subject})

    def action_clear(self) -> None:
        """Leave nothing out."""
        self.dismiss({key: "" for key, _, _ in FIELDS} | {"subject": ""})

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)
