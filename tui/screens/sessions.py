"""Sessions: what one gathers of its dealings with another, how near that is to its end, and what became of it."""

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tui.keybar import KeyBar
from tui.panes.filter import FilterLine
from tui.panes.rows import STYLES, RowList
from tui.panes.sessions import StillList
from tui.panes.sessions_ended import FOLD, KNOWN
from tui.screens.going import knowledge_at
from tui.screens.sessions_by_hand import SessionsByHandScreen

if TYPE_CHECKING:
    from engine.storage.session_list import SessionState

_WIDE = 110
STATES: "tuple[SessionState, ...]" = ("open", "collapsing", "failed", "collapsed", "discarded")


class SessionsScreen(SessionsByHandScreen):
    """A list of sessions, newest first, and one of them in full. Follows play while it goes on."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "sessions.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]
    AUTO_FOCUS = "#sessions"
    TITLE = "Sessions"
    HELP = """\
What one says to another gathers in a **session**, of which each of the two has its own. It ends when they have done with each other:
after so long without a word, so many turns, or when you say so. Then it is **collapsed**: if it returns to what it is about, or something
in it is pinned, a model is asked once what is left of it, and that becomes knowledge. The gauge shows which end is nearest.

**←** and **→** show those in which one takes part, **o** those in one state, **/** searches names, turns, notes and summaries. **enter**
goes to all that there is of a session, **z** shows only that.

**+** begins one, **t** adds a turn, **s** writes a note, **c** collapses it now and first says what that will cost, **d** discards it.
In the full view **p** pins the turn under the cursor, **e** and **d** change a note or take it away, **enter** unfolds a prompt or
goes to a piece of knowledge. **r** tries a failed collapse again, and takes back what was discarded. **n** plays a round,
**u** takes back what happened last, **U** brings it again.
**K** shows what whose session it is knows, **A** the audit trail.
"""
    BINDINGS = [
        Binding("enter", "look", "Look", tooltip="Go into it; unfold a prompt; show the history of a piece", id="sessions-look"),
        Binding("plus", "begin", "Begin", tooltip="Begin a session by hand", id="sessions-begin"),
        Binding("t", "turn", "Turn", tooltip="Add a turn to it", id="sessions-turn"),
        Binding("p", "pin", "Pin", tooltip="Pin the turn under the cursor, or let go of it", id="sessions-pin"),
        Binding("s", "note", "Note", tooltip="Write a note on its scratchpad", id="sessions-note-add"),
        Binding("e", "edit", "Change", tooltip="Change the note under the cursor", id="sessions-edit"),
        Binding("r", "again", "Again", tooltip="Try a failed collapse again; take back what was discarded", id="sessions-again"),
        Binding("c", "collapse", "Collapse", tooltip="Collapse it now; first what that will cost is said", id="sessions-collapse"),
        Binding("d", "take_away", "Discard", tooltip="Discard the session; take the note under the cursor away", id="sessions-discard"),
        Binding("o", "state", "Only…", tooltip="Show only those that are open, failed, collapsed, …", id="sessions-state"),
        Binding("slash", "filter", "Search", key_display="/", tooltip="Show only those that hold these words", id="sessions-filter"),
        Binding("right,l", "whose(1)", "Whose", key_display="→", tooltip="Those of the next one; left goes back", id="sessions-next"),
        Binding("left,h", "whose(-1)", "Whose before", show=False, id="sessions-previous"),
        Binding("K", "knowledge", "Knowledge", tooltip="What whose session it is knows", id="sessions-knowledge"),
        Binding("A", "audit", "Audit", tooltip="The audit trail of this session", id="sessions-audit"),
        Binding("u", "undo", "Take back", show=False, tooltip="Show what happened last, and take it back", id="sessions-undo"),
        Binding("U,ctrl+r", "redo", "Bring again", show=False, tooltip="Bring again what was taken back last", id="sessions-redo"),
        Binding("n", "round", "Round", show=False, tooltip="Play one round", id="sessions-round"),
        Binding("M", "models", "Models", show=False, tooltip="Which models answer", id="sessions-models"),
        Binding("z", "alone", "Zoom", show=False, tooltip="Show only the session in full, or both again", id="sessions-zoom"),
        Binding("escape", "to_list", "To the list", tooltip="Back to the list", id="sessions-to-list"),
        Binding("escape", "show_all", "Show all", tooltip="Show again what was searched or left out", id="sessions-show-all"),
        Binding("escape", "back", "Back", tooltip="Back to play", id="sessions-back"),
        Binding("q", "back", "Back", tooltip="Back to play"),
        Binding("question_mark,f1", "app.show_help", "Help", id="help"),
        Binding("ctrl+q", "app.quit", "Quit", show=False, tooltip="Leave Otherminds; all is saved"),
    ]

    def compose(self) -> ComposeResult:
        """Whose, the list, one in full, the search."""
        yield Static(id="sessions-head", markup=False)
        with Horizontal(id="sessions-body"):
            yield StillList(id="sessions", classes="pane")
            yield StillList(id="session-detail", classes="pane")
        with Horizontal(id="filter-line"):
            yield Static("/", id="filter-mark", markup=False)
            yield FilterLine(id="filter", compact=True, placeholder="words that it holds, or names")
        yield Static(id="sessions-note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Hide the search until it is asked for."""
        self.query_one("#filter-line").display = False

    def on_resize(self) -> None:
        """Fit the names to the width."""
        if self.alive:
            self.head()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are there when they can do something."""
        if not self.is_mounted or not self.alive:
            return True
        if self.words.has_focus:  # other keys write
            return action == "show_all"
        line = self.under
        match action:
            case "turn" | "note":
                return self.writable
            case "collapse":
                return line is not None and line.state == "open"
            case "pin":
                return self.writable and self.under_turn is not None
            case "edit":
                return self.writable and bool(self.under_note)
            case "again":
                return line is not None and (line.state in ("failed", "discarded") or self.given_up(line))
            case "take_away":
                return self.writable if self.under_note else line is not None and line.session.status in ("open", "collapsing")
            case "look":
                inside = self.detail.has_focus
                return self.detail.cursor.startswith((FOLD, KNOWN)) if inside else line is not None and self.entries.has_focus
            case "to_list":
                return self.detail.has_focus
            case "show_all":
                return not self.detail.has_focus and (self.filtered or self.words.has_focus)
        return True

    def on_descendant_focus(self) -> None:
        """Other keys work in the list than in the detail."""
        if self.alive:
            self.detail.begin()
        self.refresh_bindings()

    # looking for something

    def _ask(self) -> None:
        """Something else is looked for: from the top."""
        self.lines, self._all, self._first, self.wanted = [], False, True, None
        self.start_reading()

    def action_whose(self, by: int) -> None:
        """The sessions of the next one."""
        tabs = self.tabs()
        here = tabs.index(self.agent) if self.agent in tabs else 0
        self.agent = tabs[(here + by) % len(tabs)]
        self.to_list()
        self._ask()

    def action_state(self) -> None:
        """All, or those in one state only."""
        states = (None, *STATES)
        self.state = states[(states.index(self.state) + 1) % len(states)]
        self._ask()

    def action_filter(self) -> None:
        """Search by words."""
        self.query_one("#filter-line").display = True
        self.words.focus()

    @on(Input.Changed, "#filter")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._ask()

    @on(Input.Submitted, "#filter")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#filter-line").display = bool(self.words.value)
        self.to_list()

    def action_show_all(self) -> None:
        """Show all again."""
        key = self.entries.cursor
        self.agent = self.state = None
        self.words.value = ""
        self.query_one("#filter-line").display = False
        self.to_list()
        self._ask()
        self.wanted = key

    # going into one

    @on(RowList.Picked)
    def _picked(self, event: RowList.Picked) -> None:
        event.stop()
        self.action_look()

    def action_look(self) -> None:
        """Go into the session; in it, unfold what is folded or go to a piece of knowledge."""
        key = self.detail.cursor
        if not self.detail.has_focus:
            self.set_class(self.has_class("-narrow"), "-alone")
            self.detail.focus()
        elif key.startswith(FOLD):
            self.folds ^= {key}
            self.show_page()
        elif key.startswith(KNOWN):
            self._go_to_piece(key.removeprefix(KNOWN))

    def _go_to_piece(self, piece: str) -> None:
        """Go to a piece of knowledge; of one that is no more, to what was done to it."""
        known = next((one for one in self.page.became if one.knowledge_id == piece), None) if self.page is not None else None
        if self.page is not None and known is not None and known.there:
            self.app.push_screen(knowledge_at(self.host, piece, self.page.line.session.agent_id))
        else:
            from tui.screens.audit import AuditScreen

            self.app.push_screen(AuditScreen(self.host, knowledge=piece))

    def to_list(self) -> None:
        """Back to the list."""
        self.remove_class("-alone")
        self.entries.focus()

    def action_to_list(self) -> None:
        """Back to the list."""
        self.to_list()

    def action_alone(self) -> None:
        """Show only the session in full, or both again."""
        if self.has_class("-alone"):
            self.to_list()
        else:
            self.add_class("-alone")
            self.detail.focus()

    # elsewhere

    def action_audit(self) -> None:
        """The audit trail of the session under the cursor, or all of it."""
        from tui.screens.audit import AuditScreen

        line = self.under
        self.app.push_screen(AuditScreen(self.host, session=line.session.id if line is not None else ""))

    def action_knowledge(self) -> None:
        """What the one knows whose session is under the cursor, or whose sessions are shown; without either, what anybody knows."""
        from tui.panes.known_reading import Whose
        from tui.screens.knowledge import KnowledgeScreen

        owner = self.under.session.agent_id if self.under is not None else self.agent
        self.app.push_screen(KnowledgeScreen(self.host, Whose("entity", owner) if owner else Whose()))

    def action_models(self) -> None:
        """Which models answer."""
        from tui.screens.models import ModelsScreen

        self.app.push_screen(ModelsScreen(self.host))

    def action_back(self) -> None:
        """Back to where one came from."""
        self.dismiss(None)
