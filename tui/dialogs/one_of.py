"""One of a few values on one line."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.text import plain


class OneOf(Static, can_focus=True):
    """One of several values, told by its words. Left and right go through them, a letter goes to the next that begins with it."""

    DEFAULT_CSS = """
    OneOf {
        height: 1; width: 1fr; padding: 0 1; background: $background; border-left: outer $edge;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    OneOf:focus { background: $lit; border-left: outer $primary; }
    """
    BINDINGS = [
        Binding("right,space", "turn(1)", "Next", key_display="→", tooltip="The next one; a letter goes to one that begins with it"),
        Binding("left", "turn(-1)", "Before", key_display="←", tooltip="The one before"),
    ]

    @dataclass
    class Turned(Message):
        """Another one is chosen."""

        one: "OneOf"

        @property
        def control(self) -> "OneOf":
            """The line, for `@on` selectors."""
            return self.one

    def __init__(self, choices: Sequence[tuple[str, str]], value: str = "", *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        """`choices` are values with what people read for them; at least one."""
        super().__init__(id=id, markup=False)
        self._choices = choices
        self._at = next((number for number, (key, _) in enumerate(choices) if key == value), 0)
        self._draw()

    @property
    def value(self) -> str:
        """The value chosen."""
        return self._choices[self._at][0]

    def _draw(self) -> None:
        number = f"{self._at + 1} of {len(self._choices)}"
        self.update(Content.assemble("◂ ", plain(self._choices[self._at][1]), " ▸", (f"  {number}", "dim")))

    def action_turn(self, by: int) -> None:
        """The one beside."""
        self._at = (self._at + by) % len(self._choices)
        self._draw()
        self.post_message(self.Turned(self))

    def on_key(self, event: events.Key) -> None:
        """A letter goes to the next that begins with it."""
        if event.character is None or not event.character.isalnum():
            return
        event.stop()
        letter, number = event.character.casefold(), len(self._choices)
        for step in range(1, number + 1):
            if self._choices[(self._at + step) % number][1].casefold().startswith(letter):
                self.action_turn(step)
                return

    def on_click(self) -> None:
        """A click goes on by one."""
        self.action_turn(1)
