"""The line in which a list is searched."""

from textual.binding import Binding
from textual.widgets import Input


class FilterLine(Input):
    """Words that rows must hold. Its screen shows all again at escape."""

    BINDINGS = [
        Binding("enter,down", "submit", "To the list"), Binding("escape", "screen.show_all", "Show all"),
    ]
