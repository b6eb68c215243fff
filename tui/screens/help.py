"""Help for the pane one is in, and all keys that work there."""

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Markdown, Static

from tui.keybar import KeyBar, key_name
from tui.panes.rows import STYLES, RowList


class HelpScreen(ModalScreen[None]):
    """A page over the screen it explains. Its text is ours, never a world's or a model's."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["../dialogs/dialogs.tcss", "help.tcss"]
    BINDINGS = [
        Binding("escape,q,question_mark,enter", "close", "Back", key_display="esc"),
        Binding("up,k", "scroll(-1)", "Up", show=False),
        Binding("down,j", "scroll(1)", "Down", show=False),
    ]

    def __init__(self, title: str, text: str, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title, self._text, self._keys = title, text, keys

    def compose(self) -> ComposeResult:
        """Text, then keys."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content(self._title)
            with VerticalScroll(id="help-scroll", classes="last"):
                yield Markdown(self._text, open_links=False)
                yield Static(keys_content(self._keys), id="help-keys")
            yield KeyBar()

    def action_scroll(self, by: int) -> None:
        """Scroll the page."""
        self.query_one("#help-scroll").scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        """Back to the screen."""
        self.dismiss(None)


def keys_of(screen: Screen[Any]) -> list[tuple[str, str]]:
    """Keys in force and what they do: first what the pane and its screen do, then how one moves. What Textual binds by itself, such
    as scrolling sideways, is left out."""
    own: dict[str, tuple[str, str]] = {}
    moving: dict[str, tuple[str, str]] = {}
    for active in screen.active_bindings.values():
        binding, found = active.binding, moving if isinstance(active.node, RowList) else own
        if binding.description and active.enabled and binding.action not in found and not _is_textuals(active.node, binding):
            found[binding.action] = (binding.key, binding.tooltip or binding.description)
    return [*own.values(), *moving.values(), ("tab", "To the next pane or field; shift+tab goes back"), ("ctrl+p", "All commands by name")]


def _is_textuals(node: DOMNode, binding: Binding) -> bool:
    """Whether a binding comes from a class of Textual and not of ours."""
    classes = [one for one in type(node).__mro__ if one.__module__.startswith("tui.") and "BINDINGS" in vars(one)]
    ours = (known for one in classes for known in Binding.make_bindings(vars(one)["BINDINGS"]))
    return not any((known.key, known.action) == (binding.key, binding.action) for known in ours)


def keys_content(keys: Sequence[tuple[str, str]]) -> Content:
    """Keys and what they do, one a line."""
    width = max((len(key_name(key)) for key, _ in keys), default=0)
    return Content("\n").join(Content.assemble((f"{key_name(key):>{width}}", "bold"), f"  {text}") for key, text in keys)
