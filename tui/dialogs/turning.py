"""What is to be taken back, or brought again: how far, and what that comes to, before it is done."""

from collections.abc import Awaitable, Callable, Sequence

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from engine.records.history import Preview, Step
from tui.keybar import KeyBar
from tui.panes.rows import STYLES, Row, RowList
from tui.text import count, plain

Foretell = Callable[[int], Awaitable[Preview]]
"""What so many steps come to."""


class TurnDialog(ModalScreen[Preview | None]):
    """Asks how far to go. The first step is chosen, or what went together before: the same key once more does it."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "turning.tcss"]
    BINDINGS = [
        Binding("enter", "do", "Do it", tooltip="Do what is said above, and nothing else"),
        Binding("r", "round", "Whole round", tooltip="Go to the end of the round; again, of the next one"),
        Binding("escape,q", "leave", "Leave it", tooltip="Change nothing"),
    ]

    def __init__(self, steps: Sequence[Step], foretell: Foretell, *, back: bool, first: int = 1) -> None:
        """`steps` in the order in which they would go, of which the `first` are chosen to begin with."""
        super().__init__()
        self._first = min(first, len(steps)) - 1
        self._steps, self._foretell, self._back = steps, foretell, back
        for key in "u" if back else ("U", "ctrl+r"):
            self._bindings.bind(key, "do", "", show=False)

    def compose(self) -> ComposeResult:
        """The steps, what those that are chosen come to, the keys."""
        with Vertical(id="dialog", classes="writing turning") as dialog:
            dialog.border_title = Content("Take back" if self._back else "Bring again")
            dialog.border_subtitle = Content("↓ goes further")
            yield RowList(id="steps")
            yield Static(id="comes-to", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        """Begin with one step, or with those that belong together."""
        steps = self.query_one("#steps", RowList)
        steps.show(self._rows(self._first))
        steps.cursor = str(self._first)
        steps.focus()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.key:
            self.query_one("#steps", RowList).show(self._rows(int(event.key)))
            self.foretell()

    @work(group="foretell", exclusive=True)
    async def foretell(self) -> None:
        """Say what the chosen steps come to."""
        shown = await self._foretell(self._chosen + 1)
        number = count(len(shown.steps), "step")
        self.query_one("#comes-to", Static).update(
            Content.assemble((f"{'Takes back' if self._back else 'Brings again'} {number}: ", ".head"), (plain(shown.text), ".deed"))
        )

    @property
    def _chosen(self) -> int:
        """Index of the last step that would go."""
        return int(self.query_one("#steps", RowList).cursor or 0)

    def _rows(self, last: int) -> list[Row]:
        return [
            Row(
                Content.styled(plain(step.label), ".deed" if index <= last else ".quiet"), key=str(index),
                lead=Content.styled(f"{step.main.round:>4}  ", ".candidate" if index <= last else ".quiet"),
                tint="lit" if index <= last else "",
            )
            for index, step in enumerate(self._steps)
        ]

    def action_round(self) -> None:
        """Choose all of the round in which the next step is."""
        after = min(self._chosen + 1, len(self._steps) - 1)
        number = self._steps[after if self._ends(self._chosen) else self._chosen].main.round
        last = max(index for index, step in enumerate(self._steps) if step.main.round == number)
        self.query_one("#steps", RowList).cursor = str(last)

    def _ends(self, index: int) -> bool:
        """Whether a step is the last of its round in this list."""
        return index + 1 == len(self._steps) or self._steps[index + 1].main.round != self._steps[index].main.round

    @work(group="do", exclusive=True)
    async def action_do(self) -> None:
        """Close with what is chosen."""
        self.dismiss(await self._foretell(self._chosen + 1))

    def action_leave(self) -> None:
        """Close with nothing."""
        self.dismiss(None)
