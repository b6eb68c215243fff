"""Long-term memory: a timeline of what was kept, newest first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message

from engine.records.base import EntityId, LedgerId
from tui.panes.pane import Pane
from tui.panes.rows import Row, RowList
from tui.text import capital, count, plain
from tui.view import WorldView

if TYPE_CHECKING:
    from engine.game import LedgerLine

_PAGE = 300
_STEPS = "▁▂▃▄▅▆▇█"
_MORE = "more"
_EMPTY = ("No memories yet.", "When old moments sink below the watermark, a handoff decides which of them stay here.")
_MARKS = "“”\" "


class LedgerPane(Pane):
    """Memories with importance, place, people and quotes. What has just been kept is marked for a while."""

    NUMBER = 5
    TITLE = "Ledger"
    HELP = """\
The long-term memory of the chosen entity, newest first. Each memory has its importance (1 to 10), what was said word for
word, the place and the people.

Memories that were written just now are lit and marked `new`. **enter** shows the moments a memory was made of, and hides them
again. Names are those the entity uses today: an old memory of a stranger reads with the name once it is known.
"""
    BINDINGS = [Binding("enter", "pick", "Sources", tooltip="Show the moments this memory was made of", id="ledger-sources")]

    @dataclass
    class SourcesWanted(Message):
        """The reader asks what a memory was made of."""

        entry: LedgerId

    def __init__(self) -> None:
        super().__init__()
        self._owner: EntityId | None = None
        self._lines: Sequence[LedgerLine] = ()
        self._sources: dict[LedgerId, Sequence[str]] = {}
        self._made: dict[tuple[object, ...], Row] = {}
        self._shown = _PAGE

    def compose(self) -> ComposeResult:
        """The timeline."""
        yield RowList(id="memories")

    def draw(self, owner: EntityId, lines: Sequence["LedgerLine"]) -> None:
        """Show the memories of `owner`, given oldest first."""
        if owner != self._owner:
            self._owner, self._sources, self._shown = owner, {}, _PAGE
            self.rows.scroll_home(animate=False)
        self._lines = lines
        self.entitle(plain(self.view.name(owner)), count(len(lines), "memory", "memories"))
        self._show()
        if self.view.mind.fresh:
            self.rows.scroll_home(animate=False)

    def show_sources(self, entry: LedgerId, told: Sequence[str]) -> None:
        """Open a memory: what it was made of, in its owner's words."""
        self._sources[entry] = told
        self._show()

    def watch_view(self, old: WorldView, new: WorldView) -> None:
        """Light up what is new, and stop when it is not."""
        if old.mind.fresh != new.mind.fresh:
            self._show()

    @on(RowList.Picked)
    def _pick(self, event: RowList.Picked) -> None:
        event.stop()
        if event.key == _MORE:
            self._shown += _PAGE
            self._show()
        elif event.key in self._sources:
            del self._sources[event.key]
            self._show()
        else:
            self.post_message(self.SourcesWanted(event.key))

    def _show(self) -> None:
        fresh = self.view.mind.fresh if self.view.chosen == self._owner else frozenset()
        rows: list[Row] = []
        made: dict[tuple[object, ...], Row] = {}
        when = ""
        for line in [*reversed(self._lines)][: self._shown]:
            if line.when != when:
                when = line.when
                rows.append(self._kept(made, ("when", when), partial(_heading, when)))
            new = line.entry.id in fresh
            rows.append(self._kept(made, (line.entry.id, line.entry.version, line.text, new), partial(memory, line, new)))
            rows += [Row(Content.styled(plain(text), ".quiet"), lead=Content("      ↳ ")) for text in self._sources.get(line.entry.id, ())]
        if len(self._lines) > self._shown:
            older = count(len(self._lines) - self._shown, "older memory", "older memories")
            rows.append(Row(Content.styled(f"{older}: enter shows more", ".key"), key=_MORE))
        if not rows:
            rows = [Row(Content.styled(text, ".quiet"), lead=Content(" ")) for text in _EMPTY]
        self._made = made
        self.rows.show(rows)

    def _kept(self, made: dict[tuple[object, ...], Row], key: tuple[object, ...], make: Callable[[], Row]) -> Row:
        """A row that was made before, or a new one."""
        row = made[key] = self._made.get(key) or make()
        return row


def _heading(when: str) -> Row:
    return Row(Content.styled(capital(plain(when)), ".head"), lead=Content(" "))


def memory(line: "LedgerLine", fresh: bool) -> Row:
    """One memory: importance, account, quotes, place and people."""
    entry = line.entry
    step = _STEPS[min((entry.importance - 1) * len(_STEPS) // 10, len(_STEPS) - 1)]
    strong = ".key" if entry.importance >= 7 else ".quiet"
    parts = [Content.styled(plain(line.text), ".deed")]
    parts += [Content.styled(f"“{plain(quote).strip(_MARKS)}”", ".quote") for quote in entry.quotes]
    about = [plain(line.place)] if line.place else []
    about += [f"with {', '.join(plain(person) for person in line.people)}"] if line.people else []
    about += [f"brought up to date {count(entry.version - 1, 'time')}"] if entry.version > 1 else []
    parts += [Content.styled(" · ".join(about), ".quiet")] if about else []
    tail = Content.styled("new" if entry.version == 1 else "renewed", ".good") if fresh else Content("")
    lead = Content.assemble((f"{entry.importance:>2} ", strong), (step, strong), "  ")
    return Row(Content("\n").join(parts), lead=lead, tail=tail, key=entry.id, tint="fresh" if fresh else "")
