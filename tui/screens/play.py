"""Play: six panes over one game, and the only place that knows which pane feeds which."""

from dataclasses import replace

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message

from tui.dialogs.rounds import RoundsDialog
from tui.keybar import KeyBar
from tui.panes.buffer import BufferPane
from tui.panes.ledger import LedgerPane
from tui.panes.map import MapPane
from tui.panes.pane import Pane
from tui.panes.people import PeoplePane
from tui.panes.prompt import PromptPane
from tui.panes.rows import STYLES
from tui.panes.story import StoryPane
from tui.screens.playbars import PaneBar, StatusLine, TopBar
from tui.screens.writing import WritingScreen
from tui.view import Note

PANES: tuple[tuple[str, type[Pane]], ...] = (
    ("story", StoryPane), ("map", MapPane), ("people", PeoplePane), ("buffer", BufferPane), ("ledger", LedgerPane), ("prompt", PromptPane),
)
_WIDE, _MEDIUM, _TALL = 140, 100, 32


class PlayScreen(WritingScreen):
    """A game being watched or played."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "play.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_MEDIUM, "-medium"), (_WIDE, "-wide")]
    AUTO_FOCUS = "#transcript"
    HELP = """\
Press **n** (or space): everybody acts once, in order. Minds fill as they perceive each other; when one is full, a handoff keeps
what mattered in its ledger and forgets the rest. It is shown as it happens.

**t** takes over whom you have chosen, and lets go again. Playing somebody, the story tells only what they perceive. The minds of
others stay open to you all the same: **3**, then **enter** on somebody shows what they have in mind, **f** what they forgot.

**V** makes handoffs ask you before they keep or forget anything; **v**
opens what waits for your word. **f** shows what left the memory of the chosen one, and puts it back; **+** writes a memory. **S** shows
what the chosen one has gathered of others, **A** every change to sessions and knowledge.

**u** takes back what happened last: a beat, a handoff, whatever your hand did. It shows what that is first; **r** there goes to the
beginning of the round, down goes further. **U** brings it again, until something new happens. Both outlast a restart.

**M** shows which models answer, what they took, and the caps that hold them. Play pauses before the call that would pass a cap. While a
call takes its time, the line at the bottom says which: its task, the model, the seconds. When another model answers than the first in
line, the top says so.

**H** holds each call until you let it go, the storyteller's too: you read the exact text first, its size and what it may cost. Only what
an embedder is given is not asked about. **6**, then **c** shows the calls under way and the last ones. **f3** shows a long note in full.
"""
    BINDINGS = [
        Binding("f3,N", "read_on", "Whole note", tooltip="Show the note below in full; f3 also from the line"),
        Binding("escape", "stop", "Stop", tooltip="Stop at once; the running beat is not played", id="stop"),
        Binding("escape", "unzoom", "All panes", tooltip="Show all panes again"),
        Binding("escape", "leave_line", "Leave line", tooltip="Leave the line you write in"),
        Binding("n", "round", "Round", tooltip="Play one round; space does too, and f5 also from the line", id="round"),
        Binding("space", "pause", "Pause", tooltip="Rest after this round", id="pause"),
        Binding("space,f5", "round", "Round", show=False),
        Binding(
            "enter,f4", "show_held", "Held call", key_display="f4", tooltip="Show the call that waits for your word; f4 also from the line",
            id="held",
        ),
        Binding("i,enter", "write", "Write", tooltip="Write what the entity you play does", id="write"),
        Binding("R", "rounds", "Rounds…", tooltip="Play several rounds", id="rounds"),
        Binding("t", "take_over", "Take over", tooltip="Play the entity under the people cursor, or the chosen one", id="take-over"),
        Binding("t", "let_go", "Let go", tooltip="Stop playing this entity and watch", id="let-go"),
        Binding("v", "review", "Review", tooltip="Decide on memories that wait for your word", id="review"),
        Binding("v", "nothing_waits", "Review", show=False, tooltip="Decide on memories that wait for your word; none does now"),
        Binding("V", "ask_first", "Ask first", show=False, tooltip="Let handoffs ask you first, or decide alone", id="ask-first"),
        Binding("H", "hold_calls", "Hold calls", show=False, tooltip="Ask before each call to a model, or let all go out", id="hold-calls"),
        Binding("N,f3", "whole_note", "Whole note", show=False, tooltip="Show the note below, or what was wrong last, in full"),
        Binding("f", "memory", "Forgotten", tooltip="What left the memory of the chosen one, and the way back", id="memory"),
        Binding("S", "sessions", "Sessions", show=False, tooltip="What the chosen one has gathered of others, and what became of it"),
        Binding("K", "knowledge", "Knowledge", show=False, tooltip="What the chosen one knows; what waits; what was believed"),
        Binding("A", "audit", "Audit", show=False, tooltip="Every change to sessions and knowledge"),
        Binding("plus", "add_memory", "Add memory", show=False, tooltip="Give the chosen one a memory in your words", id="add-memory"),
        Binding("u", "undo", "Take back", tooltip="Take back what happened last, after showing what that is", id="undo"),
        Binding("U,ctrl+r", "redo", "Bring again", show=False, tooltip="Bring again what was taken back last", id="redo"),
        Binding("a", "alias", "Alias", tooltip="Change what the chosen one calls the entity under the people cursor", id="alias"),
        *(Binding(str(kind.NUMBER), f"pane('{key}')", kind.TITLE, show=False, tooltip=f"Go to {kind.TITLE}") for key, kind in PANES),
        Binding("M,f2", "models", "Models", tooltip="Which models answer, what calls took, and caps; f2 also from the line", id="models"),
        Binding("q", "home", "Home", tooltip="Back to the first screen; all is saved", id="home"),
        Binding("z,m", "zoom", "Zoom", tooltip="Show only the focused pane", id="zoom"),
        Binding("question_mark,f1", "app.show_help", "Help", id="help"),
        Binding("ctrl+q", "app.quit", "Quit", show=False, tooltip="Leave Otherminds; all is saved"),
    ]

    class Left(Message):
        """The player goes back to Home."""

    bar = getters.query_one(PaneBar)

    active = "story"
    """The pane one is in."""
    side = "buffer"
    """The last pane one was in that is not the story: what stands beside it."""
    lower = "ledger"
    """Ledger or prompt: what stands below the buffer where there is room for all."""
    zoomed = False

    def compose(self) -> ComposeResult:
        """Bars around three columns. Which panes are in sight is decided by `fit`."""
        yield TopBar(id="top-bar").data_bind(PlayScreen.view)
        yield PaneBar([(key, pane.NUMBER, pane.TITLE) for key, pane in PANES])
        with Horizontal(id="body"):
            with Vertical(id="west"):
                yield self._pane("map")
                yield self._pane("people")
            yield self._pane("story")
            with Vertical(id="east"):
                yield self._pane("buffer")
                yield self._pane("ledger")
                yield self._pane("prompt")
        yield StatusLine(id="status").data_bind(PlayScreen.view)
        yield KeyBar()

    def _pane(self, key: str) -> Pane:
        pane = dict(PANES)[key]()
        pane.id = key
        pane.add_class("pane")
        return pane.data_bind(PlayScreen.view)

    def on_mount(self) -> None:
        """Begin."""
        self.fit()
        self.start()

    def on_screen_resume(self) -> None:
        """Back from another screen: other models may answer, and other caps hold."""
        self.view = self.with_models(self.view)

    # layout

    def on_resize(self) -> None:
        """Fit the panes to the terminal."""
        self.fit()

    def fit(self) -> None:
        """Decide which panes are in sight."""
        width, height = self.size
        if width >= _WIDE and not self.zoomed:
            shown = {"story", "map", "people", "buffer", self.lower}
        elif width >= _MEDIUM and not self.zoomed:
            shown = {"story", self.side}
            if height >= _TALL and self.side in ("buffer", "ledger"):
                shown |= {"buffer", "ledger"}
        else:
            shown = {self.active}
        for key, kind in PANES:
            self.query_one(kind).display = key in shown
        self.query_one("#west").display = bool(shown & {"map", "people"})
        self.query_one("#east").display = bool(shown & {"buffer", "ledger", "prompt"})
        self.set_class(self.zoomed, "-zoomed")
        self.bar.display = len(shown) < 5
        self.bar.shown = frozenset(shown)
        self.query_one(StatusLine).mind_shown = "buffer" in shown
        self.bar.news = {key: number for key, number in self.bar.news.items() if key not in shown}
        if "prompt" in shown and self._stale_prompt and self.is_mounted:
            self.read({"prompt"})

    def action_pane(self, key: str) -> None:
        """Go to a pane and bring it into sight."""
        if key != self.active:
            self.note_read()
        self._enter(key)
        self.set_focus(self.query_one(dict(PANES)[key]).target)  # before the old pane is hidden, which would hand the focus on
        self.fit()

    def _enter(self, key: str) -> None:
        self.active = key
        if key != "story":
            self.side = key
        if key in ("ledger", "prompt"):
            self.lower = key

    def on_descendant_focus(self) -> None:
        """Moving with tab also says where one is."""
        for key, kind in PANES:
            pane = self.query_one(kind)
            if pane.has_focus_within and key != self.active:
                self._enter(key)
                self.fit()
        self.refresh_bindings()

    def on_memories(self, number: int) -> None:
        """Count new memories at the ledger's key while it is out of sight."""
        if "ledger" not in self.bar.shown:
            self.bar.news = {**self.bar.news, "ledger": self.bar.news.get("ledger", 0) + number}

    def forget_news(self) -> None:
        """Count from now on."""
        self.bar.news = {}

    def action_zoom(self) -> None:
        """Show only the focused pane, or all again."""
        self.zoomed = not self.zoomed
        self.fit()
        self.refresh_bindings()

    def action_unzoom(self) -> None:
        """Show all panes again."""
        self.action_zoom()

    # keys that depend on what goes on

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are there when they can do something."""
        if not self.is_mounted:
            return True
        in_line = self.story.say.has_focus
        match action:
            case "stop":
                return self.host.running or bool(self.host.calls.held)
            case "read_on":
                return self.bottom.cut
            case "show_held":
                return bool(self.host.calls.held)
            case "unzoom":
                return self.zoomed and not in_line
            case "leave_line":
                return in_line
            case "pause":
                return self.host.left > 0
            case "write":
                return self.view.played is not None and not in_line and not (self.host.asks and self.host.running)
            case "take_over":
                return self.view.played is None
            case "let_go":
                return self.view.played is not None
            case "alias":
                return self.people.has_focus_within
            case "review":
                return bool(self.view.waiting)
            case "add_memory":
                return not in_line
        return True

    def action_round(self) -> None:
        """One round. What is still being shown is shown at once."""
        self.play()

    def play(self, text: str = "", rounds: int = 1) -> None:
        """Play rounds, in the first of which the played entity does `text`."""
        if self.host.game is None:
            return
        self.host.pacer.hurry()
        waiting = "After this round." if self.host.running and text else ""
        self.host.start_step(text, rounds)
        self.wrote(text)
        self.view = replace(self.view, running=True, note=Note(waiting if rounds == 1 else f"{rounds} rounds. Space pauses, escape stops."))
        self.refresh_bindings()

    def action_pause(self) -> None:
        """Rest after this round."""
        self.host.pause()
        self.view = replace(self.view, note=Note("Resting after this round."))
        self.refresh_bindings()

    def action_stop(self) -> None:
        """Stop at once."""
        self.stop_play()

    def action_models(self) -> None:
        """Look at models, what they took and the caps. Play goes on behind it."""
        from tui.screens.models import ModelsScreen

        self.note_read()
        self.app.push_screen(ModelsScreen(self.host))

    def action_rounds(self) -> None:
        """Ask how many rounds."""

        def answered(number: int | None) -> None:
            if number:
                self.play(rounds=number)

        self.app.push_screen(RoundsDialog(), answered)

    def action_leave_line(self) -> None:
        """Leave the line one writes in."""
        self.set_focus(self.story.rows)

    def action_write(self) -> None:
        """Go to the line."""
        self._enter("story")
        self.set_focus(self.story.say)
        self.fit()

    @on(StoryPane.Said)
    def _said(self, event: StoryPane.Said) -> None:
        self.play(event.text)

    @work(group="leave", exclusive=True)
    async def action_home(self) -> None:
        """Close the game and go back to Home."""
        self.stop_reading()
        await self.host.close()
        self.post_message(self.Left())
