"""Audit: every change to sessions and knowledge, with what was before, what after, why and by what."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tui.dialogs.audit import AuditDialog
from tui.keybar import KeyBar
from tui.panes.audit import AuditFilter
from tui.panes.filter import FilterLine
from tui.panes.rows import STYLES, RowList
from tui.panes.sessions import StillList
from tui.screens.audit_reading import AuditReadingScreen
from tui.screens.going import knowledge_at
from tui.text import capital, plain

_WIDE = 110


class AuditScreen(AuditReadingScreen):
    """The audit trail, newest first, and the row under the cursor in full. Follows play while it goes on."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "audit.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]
    AUTO_FOCUS = "#audit"
    TITLE = "Audit"
    HELP = """\
Each row is one change to a session or to a piece of knowledge, newest first: the round, what was done, what it read before and after,
whose mind it concerns, what did it and why. Rows are only ever added.

**o** asks which rows to show: what was done, by what, to whom, in which rounds, of which session, piece or run. **s**, **p** and **r** show
only those of the same session, piece of knowledge or run as the row under the cursor, and all again. **/** searches words. **esc**
shows all again, and then goes back.

**enter** shows the history of the piece of knowledge that a row is about, or the session; **K** goes to the piece itself.
"""
    BINDINGS = [
        Binding("enter", "history", "History", tooltip="The history of this piece of knowledge, or the session", id="audit-history"),
        Binding("o", "only", "Only…", tooltip="Show only some actions, causes, minds, rounds, sessions", id="audit-only"),
        Binding("slash", "filter", "Search", key_display="/", tooltip="Show only rows that hold these words", id="audit-filter"),
        Binding("K", "piece", "Knowledge", tooltip="This piece of knowledge, where it can be changed", id="audit-knowledge"),
        Binding("s", "same('session')", "Session", tooltip="Only rows of this session, or all again", id="audit-session"),
        Binding("p", "same('knowledge')", "Piece", tooltip="Only rows of this piece of knowledge, or all again", id="audit-piece"),
        Binding("r", "same('run')", "Run", tooltip="Only rows of this collapse or promotion, or all again", id="audit-run"),
        Binding("u", "undo", "Take back", show=False, tooltip="Show what happened last, and take it back", id="audit-undo"),
        Binding("U,ctrl+r", "redo", "Bring again", show=False, tooltip="Bring again what was taken back last", id="audit-redo"),
        Binding("n", "round", "Round", show=False, tooltip="Play one round", id="audit-round"),
        Binding("z", "alone", "Zoom", show=False, tooltip="Show only the row in full, or both again", id="audit-zoom"),
        Binding("escape", "to_list", "To the list", tooltip="Back to the list", id="audit-to-list"),
        Binding("escape", "show_all", "Show all", tooltip="Show again what was left out", id="audit-show-all"),
        Binding("escape", "back", "Back", tooltip="Back to where you came from", id="audit-back"),
        Binding("q", "back", "Back", tooltip="Back to where you came from"),
        Binding("question_mark,f1", "app.show_help", "Help", id="help"),
        Binding("ctrl+q", "app.quit", "Quit", show=False, tooltip="Leave Otherminds; all is saved"),
    ]
    def compose(self) -> ComposeResult:
        """What is looked for, the list, the row in full, the search."""
        yield Static(id="audit-head", markup=False)
        with Horizontal(id="audit-body"):
            yield StillList(id="audit", classes="pane")
            yield RowList(id="audit-detail", classes="pane")
        with Horizontal(id="filter-line"):
            yield Static("/", id="filter-mark", markup=False)
            yield FilterLine(id="filter", compact=True, placeholder="words that it holds")
        yield Static(id="audit-note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Hide the search until it is asked for."""
        self.query_one("#filter-line").display = False

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are there when they can do something."""
        if not self.is_mounted or not self.alive:
            return True
        if self.words.has_focus:  # other keys write
            return action == "show_all"
        line = self.under
        match action:
            case "piece":
                return line is not None and bool(line.row.knowledge_id)
            case "history":
                return line is not None and not self.detail.has_focus and bool(line.row.knowledge_id or line.row.session_id)
            case "same":
                name = {"session": "session_id", "knowledge": "knowledge_id", "run": "run_id"}[str(parameters[0])]
                return bool(getattr(self.wanted, str(parameters[0]))) or (line is not None and bool(getattr(line.row, name)))
            case "to_list":
                return self.detail.has_focus or bool(self.history_of)
            case "show_all":
                if self.detail.has_focus or self.history_of:
                    return False
                return bool(self.words.value) or (self.filtered and self.wanted != self.came)
        return True

    def on_descendant_focus(self) -> None:
        """Other keys work in the list than in the detail."""
        self.refresh_bindings()

    def action_only(self) -> None:
        """Ask which rows to show."""
        game = self.host.game
        if game is None:
            return
        owners = [(agent.id, capital(plain(game.name(agent.id, self.viewer_of(agent.id))))) for agent in game.world.agents()]
        self.app.push_screen(AuditDialog(self.wanted, owners, self.look_for))

    def action_same(self, what: str) -> None:
        """Only rows of the same session, piece or run, or all again."""
        line = self.under
        held = getattr(self.wanted, what)
        value = {"session": "session_id", "knowledge": "knowledge_id", "run": "run_id"}[what]
        self.look_for(self.wanted.turned(**{what: held or (getattr(line.row, value) if line is not None else "") or ""}), stay=True)

    def action_filter(self) -> None:
        """Search by words."""
        self.query_one("#filter-line").display = True
        self.words.focus()

    @on(Input.Changed, "#filter")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self.look_for(self.wanted)

    @on(Input.Submitted, "#filter")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#filter-line").display = bool(self.words.value)
        self.entries.focus()

    def action_show_all(self) -> None:
        """Show all again: first without words, then without any filter."""
        self.query_one("#filter-line").display = False
        self.entries.focus()
        if self.words.value:
            self.words.value = ""
        else:
            self.look_for(AuditFilter(), stay=True)

    @on(RowList.Picked)
    def _picked(self, event: RowList.Picked) -> None:
        event.stop()
        self.action_history()

    def action_history(self) -> None:
        """The history of the piece under the cursor, or the session."""
        line = self.under
        if line is None:
            return
        if line.row.knowledge_id:
            self.history_of = line.row.knowledge_id
            self.detail.scroll_home(animate=False)
            self.read_history()
            self.refresh_bindings()
        elif line.row.session_id:
            from tui.screens.sessions import SessionsScreen

            self.app.push_screen(SessionsScreen(self.host, session=line.row.session_id))

    def action_piece(self) -> None:
        """Go to the piece of knowledge under the cursor."""
        line = self.under
        if line is not None and line.row.knowledge_id:
            self.app.push_screen(knowledge_at(self.host, line.row.knowledge_id, line.row.owner_id))

    def action_to_list(self) -> None:
        """Back to the list and to the row itself."""
        self.remove_class("-alone")
        self.history_of = ""
        self.entries.focus()
        self.describe()
        self.refresh_bindings()

    def action_alone(self) -> None:
        """Show only the row in full, or both again."""
        if self.has_class("-alone"):
            self.remove_class("-alone")
            self.entries.focus()
        else:
            self.add_class("-alone")
            self.detail.focus()

    def action_back(self) -> None:
        """Back to where one came from."""
        self.dismiss(None)
