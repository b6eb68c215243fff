"""The last line of every screen, or the last two: the few keys that matter now."""

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
        self._at: list[tuple[int, int, int, str]] = []
        """Line, columns from and to, and the key there."""

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: "Screen[object]") -> None:
        if self.is_attached and screen is self.screen:
            self.refresh()

    def keys(self) -> dict[str, tuple[str, str, str]]:
        """Key, its name and label of what can be done now, by action."""
        found: dict[str, tuple[str, str, str]] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled and binding.description and binding.action not in found:
                found[binding.action] = (binding.key, binding.key_display or key_name(binding.key), binding.description)
        return found

    def render(self) -> Content:
        """Keys from the left, on each line as many as fit, help at the right end of the last."""
        width, height = self.content_size.width, max(self.content_size.height, 1)
        keys = self.keys()
        last = [one for action, one in keys.items() if action == _HELP]
        room = width - sum(self._width(one) for one in last)
        parts: list[Content] = []
        self._at, x, y = [], 0, 0
        for one in [one for action, one in keys.items() if action != _HELP]:
            wide = self._width(one)
            if y < height - 1 and x + wide > width:
                parts.append(Content("\n"))
                x, y = 0, y + 1
            if x + wide > (room if y == height - 1 else width):
                break
            self._at.append((y, x, x + wide, one[0]))
            parts.append(self._part(one))
            x += wide
        if y < height - 1:
            parts.append(Content("\n" * (height - 1 - y)))
            x, y = 0, height - 1
        parts.append(Content(" " * max(room - x, 0)))
        for one in last:
            self._at.append((y, room, width, one[0]))
            parts.append(self._part(one))
        return Content("").join(parts)

    def _width(self, key: tuple[str, str, str]) -> int:
        return cell_len(key[1]) + 1 + cell_len(key[2]) + 2

    def _part(self, key: tuple[str, str, str]) -> Content:
        return Content.assemble((key[1], ".key"), " ", (key[2], ".quiet"), "  ")

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked."""
        offset = event.get_content_offset(self)
        for line, start, end, key in self._at:
            if offset is not None and offset.y == line and start <= offset.x < end:
                self.app.simulate_key(key)
