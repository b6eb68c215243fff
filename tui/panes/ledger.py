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
from tui.glyphs import PIN_HAND, TOLD_FROM
from tui.panes.origins import provenance_rows, quoted, signs, weight
from tui.panes.pane import Pane
from tui.panes.rows import Row, RowList
from tui.text import capital, count, plain
from tui.view import WorldView

if TYPE_CHECKING:
    from engine.game import LedgerLine
    from engine.memory_views import Provenance

_PAGE = 300
_MORE = "more"
_EMPTY = ("No memories yet.", "When old moments sink below the watermark, a handoff decides which of them stay here.")


class LedgerPane(Pane):
    """Memories with importance, place, people and quotes. What has just been kept is marked for a while."""

    NUMBER = 5
    TITLE = "Ledger"
    HELP = f"""\
The long-term memory of the chosen entity, newest first. Each memory has its importance (1 to 10), what was said word for
word, the place and the people.

Memories that were written just now are lit and marked `new`. **enter** shows where a memory comes from: the moments it was made
of and where they are now, earlier wordings, how often it came to mind. Names are those the entity uses today: an old memory of
a stranger reads with the name once it is known.

**+** writes a memory by hand, **e** changes the one under the cursor, **d** takes it out of the ledger; **f** shows what left
the ledger, to put it back. `{PIN_HAND}` written or changed by hand: no handoff or compression takes it away. `{TOLD_FROM}` told
from older memories, which are kept in the archive.
"""
    BINDINGS = [
        Binding("enter", "pick", "Origin", tooltip="Show where this memory comes from", id="ledger-sources"),
        Binding("plus", "screen.add_memory", "Add", tooltip="Give the chosen one a memory in your words"),
        Binding("e", "edit", "Edit", tooltip="Change the memory under the cursor", id="ledger-edit"),
        Binding("d,delete", "remove", "Remove", tooltip="Take the memory under the cursor out of the ledger", id="ledger-remove"),
    ]

    @dataclass
    class OriginWanted(Message):
        """The reader asks where a memory comes from."""

        entry: LedgerId

    @dataclass
    class EditWanted(Message):
        """The reader wants to change a memory."""

        line: "LedgerLine"

    @dataclass
    class RemovalWanted(Message):
        """The reader wants a memory out of the ledger."""

        line: "LedgerLine"

    def __init__(self) -> None:
        super().__init__()
        self._owner: EntityId | None = None
        self._lines: Sequence[LedgerLine] = ()
        self._origins: dict[LedgerId, Provenance] = {}
        self._made: dict[tuple[object, ...], Row] = {}
        self._shown = _PAGE

    def compose(self) -> ComposeResult:
        """The timeline."""
        yield RowList(id="memories")

    def draw(self, owner: EntityId, lines: Sequence["LedgerLine"]) -> None:
        """Show the memories of `owner`, given oldest first."""
        if owner != self._owner:
            self._owner, self._origins, self._shown = owner, {}, _PAGE
            self.rows.scroll_home(animate=False)
        self._lines = lines
        versions = {line.entry.id: line.entry.version for line in lines}
        self._origins = {key: origin for key, origin in self._origins.items() if versions.get(key) == origin.entry.version}
        self.entitle(plain(self.view.name(owner)), count(len(lines), "memory", "memories"))
        self._show()
        if self.view.mind.fresh:
            self.rows.scroll_home(animate=False)

    def show_origin(self, provenance: "Provenance") -> None:
        """Open a memory: where it comes from, in its owner's words."""
        self._origins[provenance.entry.id] = provenance
        self._show()

    @property
    def cursor(self) -> "LedgerLine | None":
        """The memory under the cursor."""
        return next((line for line in self._lines if line.entry.id == self.rows.cursor), None)

    def action_edit(self) -> None:
        """Change the memory under the cursor."""
        if (line := self.cursor) is not None:
            self.post_message(self.EditWanted(line))

    def action_remove(self) -> None:
        """Take the memory under the cursor out of the ledger."""
        if (line := self.cursor) is not None:
            self.post_message(self.RemovalWanted(line))

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
        elif event.key in self._origins:
            del self._origins[event.key]
            self._show()
        else:
            self.post_message(self.OriginWanted(event.key))

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
            facts = (line.entry.id, line.entry.version, line.entry.origin, line.text, line.people, new)
            rows.append(self._kept(made, facts, partial(memory, line, new)))
            if (origin := self._origins.get(line.entry.id)) is not None:
                rows += provenance_rows(origin)
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
    parts = [Content.styled(plain(line.text), ".deed"), *quoted(entry.quotes)]
    about = signs(entry)
    about += [plain(line.place)] if line.place else []
    about += [f"with {', '.join(plain(person) for person in line.people)}"] if line.people else []
    parts += [Content.styled(" · ".join(about), ".quiet")] if about else []
    tail = Content.styled("new" if entry.version == 1 else "renewed", ".good") if fresh else Content("")
    return Row(
        Content("\n").join(parts), lead=weight(entry.importance) + Content("  "), tail=tail, key=entry.id, tint="fresh" if fresh else "",
    )
