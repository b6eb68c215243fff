"""The last line of every screen: the few keys that matter now."""

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.screen import Screen

_NAMES = {
    "question_mark": "?", "escape": "esc", "up": "↑", "down": "↓", "space": "space", "full_stop": ".", "comma": ",", "delete": "del",
    "plus": "+", "slash": "/",
}

_HELP = "app.show_help"


def key_name(key: str) -> str:
    """A key as people write it: `?`, `esc`, `ctrl+q`."""
    return _NAMES.get(key, key)


class KeyBar(Widget):
    """Shows the bindings of what is focused, as many as fit, help always last. A click presses the key."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyBar { height: 1; dock: bottom; background: $footer-background; padding: 0 1; text-wrap: nowrap; text-overflow: clip; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._at: list[tuple[int, int, str]] = []

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: "Screen[object]") -> None:
        if self.is_attached and screen is self.screen:
            self.refresh()

    def keys(self) -> dict[str, tuple[str, str]]:
        """Key and label of what can be done now, by action."""
        found: dict[str, tuple[str, str]] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled and binding.description and binding.action not in found:
                found[binding.action] = (binding.key, binding.description)
        return found

    def render(self) -> Content:
        """Keys from the left, help at the right end."""
        width = self.content_size.width
        keys = self.keys()
        last = [pair for action, pair in keys.items() if action == _HELP]
        room = width - sum(self._width(pair) for pair in last)
        parts: list[Content] = []
        self._at, x = [], 0
        for pair in [pair for action, pair in keys.items() if action != _HELP]:
            wide = self._width(pair)
            if x + wide > room:
                break
            self._at.append((x, x + wide, pair[0]))
            parts.append(self._part(pair))
            x += wide
        parts.append(Content(" " * max(room - x, 0)))
        for pair in last:
            self._at.append((room, width, pair[0]))
            parts.append(self._part(pair))
        return Content("").join(parts)

    def _width(self, pair: tuple[str, str]) -> int:
        return cell_len(key_name(pair[0])) + 1 + cell_len(pair[1]) + 2

    def _part(self, pair: tuple[str, str]) -> Content:
        return Content.assemble((key_name(pair[0]), ".key"), " ", (pair[1], ".quiet"), "  ")

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked."""
        offset = event.get_content_offset(self)
        for start, end, key in self._at:
            if offset is not None and start <= offset.x < end:
                self.app.simulate_key(key)
