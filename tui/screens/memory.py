"""Memory: what left a mind, why, what became of it, and the way back."""

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Literal

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from engine.errors import OthermindsError
from engine.records.base import EntityId, LedgerId
from tui.dialogs.confirm import ConfirmDialog
from tui.keybar import KeyBar
from tui.panes.filter import FilterLine
from tui.panes.origins import provenance_rows
from tui.panes.past import (
    EMPTY,
    FATES,
    SHELVES,
    Line,
    Shelf,
    Twins,
    detail_of,
    fate_of,
    fate_words,
    holds,
    key_of,
    memory_of,
    row_of,
    twins,
)
from tui.panes.rows import STYLES, Row, RowList
from tui.screens.playbars import said
from tui.text import capital, plain
from tui.view import Note

if TYPE_CHECKING:
    from engine.game import Game

_WIDE = 110
_PAGE = 200
_MORE = "more"
_ORDER: tuple[Shelf, ...] = ("moments", "memories", "twins")


class MemoryScreen(Screen[None]):
    """Three shelves of one mind: moments that left working memory, memories that left the ledger, near-duplicates in it."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "memory.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]
    AUTO_FOCUS = "#shelf"
    TITLE = "Memory"
    HELP = """\
Nothing that left a memory is lost. **1** Moments: what left working memory, kept or forgotten, newest first. **2** Memories: what
left the ledger, removed by hand, merged, or told together with others. **3** Near-duplicates: memories that tell nearly the same.

What is under the cursor is told in full beside the list, or below it: when and why it left, and what it became.

**u** puts it back where it was: a moment into working memory, pinned by your hand so that the next handoff does not take it
again, a memory into the ledger. **m** merges two that tell the same. **enter** shows where a memory comes from. **/** searches,
**o** shows one fate only; **esc** shows all again, and then goes back to play.
"""
    BINDINGS = [
        Binding("u", "restore", "Put back", tooltip="Put it back into mind or into the ledger", id="memory-restore"),
        Binding("m", "merge", "Merge", tooltip="Let the first of the two stand for both", id="memory-merge"),
        Binding("enter", "origin", "Origin", tooltip="Show where the memory comes from", id="memory-origin"),
        Binding("slash", "filter", "Search", key_display="/", tooltip="Show only what holds these words", id="memory-filter"),
        Binding("o", "fate", "Only…", tooltip="Show only what was forgotten, kept, removed or merged", id="memory-fate"),
        *(
            Binding(str(number), f"shelf('{key}')", SHELVES[key], show=False, tooltip=f"Go to {SHELVES[key].lower()}")
            for number, key in enumerate(_ORDER, 1)
        ),
        Binding("right,l", "turn(1)", "Next list", key_display="→", tooltip="The next list; left goes back", id="memory-next"),
        Binding("left,h", "turn(-1)", "List before", show=False, id="memory-previous"),
        Binding("escape", "show_all", "Show all", tooltip="Show again what was searched or left out", id="memory-show-all"),
        Binding("escape,q", "back", "Back", key_display="esc", tooltip="Back to play", id="memory-back"),
        Binding("question_mark,f1", "app.show_help", "Help", id="help"),
        Binding("ctrl+q", "app.quit", "Quit", show=False, tooltip="Leave Otherminds; all is saved"),
    ]
    entries = getters.query_one("#shelf", RowList)
    detail = getters.query_one("#detail", RowList)
    line = getters.query_one("#filter", Input)

    def __init__(self, game: "Game", owner: EntityId, name: str) -> None:
        """`name` is what the reader calls `owner`."""
        super().__init__()
        self._game, self._owner, self._name = game, owner, name
        self._shelf: Shelf = "moments"
        self._lines: dict[Shelf, Sequence[Line]] = {}
        self._fate = ""
        self._found: Sequence[Line] = ()
        self._shown = _PAGE
        self._made: dict[str, tuple[Line, Row]] = {}

    def compose(self) -> ComposeResult:
        """Shelves, the chosen one, what is under the cursor, the search."""
        yield Static(id="memory-head", markup=False)
        with Horizontal(id="memory-body"):
            yield RowList(id="shelf", classes="pane")
            yield RowList(id="detail", classes="pane")
        with Horizontal(id="filter-line"):
            yield Static("/", id="filter-mark", markup=False)
            yield FilterLine(id="filter", compact=True, placeholder="words that it holds")
        yield Static(id="memory-note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the first shelf, and count the others."""
        self.query_one("#filter-line").display = False
        self.detail.can_focus = True
        self.read()

    # reading

    @work(group="memory", exclusive=True)
    async def read(self) -> None:
        """Read all shelves anew and show the one one is at."""
        try:
            for shelf in (self._shelf, *(one for one in _ORDER if one != self._shelf)):
                self._lines[shelf] = await self._read(shelf)
                self._head()
                if shelf == self._shelf:
                    self._show()
        except OthermindsError as error:
            self.say(str(error), "bad")

    async def _read(self, shelf: Shelf) -> Sequence[Line]:
        desk = self._game.memory
        match shelf:
            case "moments":
                return await desk.archive(self._owner)
            case "memories":
                return await desk.archived_memories(self._owner)
            case "twins":
                pairs = await desk.near_duplicates(self._owner)
                return twins(pairs, await self._game.ledger(self._owner) if pairs else ())

    # showing

    def _head(self) -> None:
        parts = [Content.styled(f"Memory of {self._name}  ", ".head")]
        for number, shelf in enumerate(_ORDER, 1):
            held = f" {len(self._lines[shelf]):,}" if shelf in self._lines else ""
            label = f"{number} {SHELVES[shelf]}{held}"
            here = shelf == self._shelf
            parts.append(Content.styled(f"[{label}]" if here else f" {label} ", ".key" if here else ".quiet"))
        self.query_one("#memory-head", Static).update(Content("").join(parts), layout=False)

    def _show(self) -> None:
        """The shelf, as far as it fits what the reader looks for."""
        lines = self._lines.get(self._shelf)
        words = self.line.value.casefold().split()
        found = [line for line in lines or () if not self._fate or fate_of(line) == self._fate]
        if words:
            found = [line for line in found if holds(line, words)]
        self._found = found
        made = {key_of(line): self._row(line) for line in found[: self._shown]}
        self._made = made
        rows = [row for _, row in made.values()]
        if len(found) > self._shown:
            rows.append(Row(Content.styled(f"{len(found) - self._shown:,} more below", ".key"), key=_MORE))
        if not rows:
            text = "Looking…" if lines is None else EMPTY[self._shelf] if not lines else "Nothing here fits. esc shows all again."
            rows = [Row(Content.styled(text, ".quiet"), lead=Content(" "))]
        self.entries.show(rows)
        title = SHELVES[self._shelf] + (f" · {fate_words(self._fate)} only" if self._fate else "")
        self.entries.border_title = Content(title)
        self.entries.border_subtitle = Content(f"{len(found):,} of {len(lines or ()):,}" if len(found) != len(lines or ()) else "")
        self._describe()
        self.refresh_bindings()

    def _row(self, line: Line) -> tuple[Line, Row]:
        """A line with its row, the one made before if it still says the same."""
        known = self._made.get(key_of(line))
        return known if known is not None and (known[0] is line or known[0] == line) else (line, row_of(line))

    @property
    def under(self) -> Line | None:
        """What is under the cursor."""
        known = self._made.get(self.entries.cursor)
        return known[0] if known else None

    @on(RowList.Moved, "#shelf")
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.key == _MORE:
            self._shown += _PAGE
            last = len(self._made)
            self._show()
            self.entries.cursor = key_of(self._found[last])
            return
        self._describe()
        self.refresh_bindings()

    def _describe(self) -> None:
        line = self.under
        self.detail.border_title = Content("In full")
        self.detail.show(detail_of(line) if line is not None else [])
        self.detail.scroll_home(animate=False)

    def say(self, text: str, kind: Literal["plain", "good", "bad"] = "plain") -> None:
        """Say it in the last line but one; over the screen too when it is too long for that."""
        if kind == "bad" and len(text) > self.size.width - 4:
            self.notify(plain(text), severity="warning", markup=False)
        self.query_one("#memory-note", Static).update(said(Note(text, kind)), layout=False)

    # looking for something

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are there when they can do something."""
        if not self.is_mounted:
            return True
        line = self.under
        match action:
            case "restore":
                return line is not None and not isinstance(line, Twins)
            case "merge":
                return isinstance(line, Twins)
            case "origin":
                return line is not None and bool(memory_of(line))
            case "fate":
                return bool(FATES[self._shelf])
            case "show_all":
                return bool(self._fate or self.line.value or self.line.has_focus)
        return True

    def action_shelf(self, shelf: Shelf) -> None:
        """Another shelf."""
        self._shelf, self._fate, self._shown, self._made = shelf, "", _PAGE, {}
        self.line.value = ""
        self.query_one("#filter-line").display = False
        self.entries.cursor = ""
        self.say("")
        self._head()
        self._show()
        self.entries.focus()
        self.entries.action_first()

    def action_turn(self, by: int) -> None:
        """The shelf beside."""
        self.action_shelf(_ORDER[(_ORDER.index(self._shelf) + by) % len(_ORDER)])

    def action_filter(self) -> None:
        """Search by words."""
        self.query_one("#filter-line").display = True
        self.line.focus()

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._shown = _PAGE
        self._show()
        self.entries.action_first()

    @on(Input.Submitted)
    def _to_list(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#filter-line").display = bool(self.line.value)
        self.entries.focus()

    def action_show_all(self) -> None:
        """Show all again: neither words nor a fate are asked for."""
        self._fate, self._shown = "", _PAGE
        self.line.value = ""
        self.query_one("#filter-line").display = False
        self.entries.focus()
        self._show()
        self.entries.begin()

    def action_fate(self) -> None:
        """All, or one fate only."""
        fates = ["", *FATES[self._shelf]]
        self._fate = fates[(fates.index(self._fate) + 1) % len(fates)]
        self._shown = _PAGE
        self._show()
        self.entries.action_first()

    # ways back

    @work(group="by-hand")
    async def action_restore(self) -> None:
        """Put back what is under the cursor."""
        line = self.under
        if line is None or isinstance(line, Twins):
            return
        if self._shelf == "moments":
            await self._did(self._game.memory.restore(key_of(line)), "Back in mind, pinned by your hand: p in the Mind pane lets go of it.")
        else:
            said_then = "Back in the ledger. No handoff or compression takes it out again."
            await self._did(self._game.memory.restore_memory(key_of(line)), said_then)

    @work(group="by-hand")
    async def action_merge(self) -> None:
        """Merge the two memories under the cursor, once the reader has said so."""
        pair = self.under
        if not isinstance(pair, Twins):
            return
        first, second = pair.first, pair.second
        question = f"{plain(first.text)}\n\nstays and takes over the quotes, people and sources of\n\n{plain(second.text)}"
        if await self.app.push_screen_wait(ConfirmDialog("Merge these two?", question, "merge them")):
            merging = self._game.memory.merge(first.entry.id, second.entry.id)
            await self._did(merging, "Merged. The second is under Memories and can be put back.")

    async def _did(self, doing: Awaitable[object], done: str) -> None:
        try:
            await doing
        except OthermindsError as error:
            self.say(str(error), "bad")
        else:
            self.say(done, "good")
        self.read()

    @on(RowList.Picked, "#shelf")
    def _picked(self, event: RowList.Picked) -> None:
        event.stop()

    def action_origin(self) -> None:
        """Show where the memory under the cursor comes from."""
        if (line := self.under) is not None and (memory := memory_of(line)):
            self.show_origin(memory)

    @work(group="origin", exclusive=True)
    async def show_origin(self, memory: LedgerId) -> None:
        """Read where a memory comes from."""
        try:
            found = await self._game.memory.provenance(memory)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        body = Content.assemble((plain(found.text), ".quote"), "\n", (f"{capital(plain(found.when))}.", ".quiet"))
        self.detail.border_title = Content("Where it comes from")
        self.detail.show([Row(body, lead=Content(" ")), Row(Content("")), *provenance_rows(found)])
        self.detail.scroll_home(animate=False)

    def action_back(self) -> None:
        """Back to play."""
        self.dismiss(None)
