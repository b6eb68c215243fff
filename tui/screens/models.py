"""Models: who answers what, which models there are, what calls took, and the caps that hold them."""

from functools import partial
from operator import attrgetter

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from tui.dialogs.route import RouteDialog
from tui.dialogs.value import ValueDialog
from tui.figures import CAPS, cap_amount
from tui.keybar import KeyBar
from tui.models_view import DEFAULT, EMBED, ModelsView
from tui.panes.endpoint import CAP_ABOUT, cap_detail, embed_detail, model_detail, task_detail
from tui.panes.mending import FAULT, fault_detail, fault_rows
from tui.panes.routes import TASK, found, model_rows, set_by, slot_name, task_rows
from tui.panes.rows import STYLES, Row, RowList
from tui.panes.spending import ORDER, cap_rows, meter_rows, no_cap, sums
from tui.screens.taking import TakingScreen
from tui.text import plain

PANES = (("tasks", "Tasks"), ("endpoints", "Models"), ("meter", "Meter"), ("caps", "Caps"))
_WIDE, _TALL = 100, 30


class ModelsScreen(TakingScreen):
    """Four panes over the desk of models, and one that tells in full what is under the cursor."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "models.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]
    AUTO_FOCUS = "#tasks"
    TITLE = "Models"
    HELP = """\
**1 Tasks**: who answers what. **enter** chooses another model, fallbacks, a temperature; **x** takes a setting back; **w** takes what
the world suggests, **W** shows all that it suggests, with the cost. A task without a model of its own goes to *everything*. Settings that
cannot be used are shown here, line by line: **enter** opens the file in your editor, **x** makes a comment of a line, **r** reads it again.

**2 Models**: those that are set up, and those of servers on this machine. **t** asks one for a few words, set up or not, and says how long
it took, what it cost, or what is wrong and what to do. **u** lets it answer everything, **U** the task under the cursor of 1; what is
written is said beside it. Keys to services come from the environment only and are never written.

**3 Meter**: what calls took since the save was opened; **b** adds them up by task, entity, round or model. Below stands what the save took
in all sittings, and what today took in all runs. `~` marks estimates, `+` that there were calls of unknown price as well.

**4 Caps**: play pauses before the call that would pass one. **enter** sets it (`200k`, `$2`), **x** takes it out, and `n` in Play goes on.
"""
    BINDINGS = [
        Binding("enter,e", "open_file", "Open file", tooltip="Open the settings in your editor, at the line at fault", id="models-open"),
        Binding("x", "put_aside", "Put aside", tooltip="Make a comment of the line at fault: nothing is lost", id="models-aside"),
        Binding("enter,e", "edit", "Edit", tooltip="Choose who answers the task under the cursor, or set the cap", id="models-edit"),
        Binding("t", "test", "Test", tooltip="Ask the model under the cursor for a few words", id="models-test"),
        Binding("u", "use", "Use", tooltip="Let the model under the cursor answer everything", id="models-use"),
        Binding("U", "use_for", "For task", tooltip="Let the model under the cursor answer the task chosen in 1", id="models-use-for"),
        Binding("w", "suggested", "World's choice", tooltip="Take the model that the world suggests", id="models-suggested"),
        Binding("W", "all_suggested", "All of them", tooltip="See all that the world suggests, with what it costs", id="models-all"),
        Binding("x,delete", "unset", "Take back", tooltip="Take the setting under the cursor back to its default", id="models-unset"),
        Binding("b", "by", "By…", tooltip="Add calls up by task, entity, round or model", id="models-by"),
        Binding("r", "again", "Look again", tooltip="Look again for servers on this machine", id="models-again"),
        *(
            Binding(str(number), f"pane('{key}')", title, show=False, tooltip=f"Go to {title}")
            for number, (key, title) in enumerate(PANES, 1)
        ),
        Binding("escape", "stop_test", "Stop", tooltip="Stop the call that is being tried", id="models-stop"),
        Binding("escape", "leave", "Back", tooltip="Back to where you came from; q too", id="models-back"),
        Binding("q", "back", "Back", show=False),
        Binding("question_mark,f1", "app.show_help", "Help", id="help"),
        Binding("ctrl+q", "app.quit", "Quit", show=False, tooltip="Leave Otherminds; all is saved"),
    ]
    meter = getters.query_one("#meter", RowList)
    detail = getters.query_one("#endpoint-detail", RowList)

    def compose(self) -> ComposeResult:
        """Panes, what has just happened, the keys."""
        yield Static(id="models-head", markup=False)
        with Horizontal(id="models-body"):
            with Vertical(id="models-left"):
                yield RowList(id="tasks", classes="pane")
                yield RowList(id="endpoints", classes="pane")
            with Vertical(id="models-right"):
                yield RowList(id="endpoint-detail", classes="pane")
                yield RowList(id="meter", classes="pane")
                yield RowList(id="caps", classes="pane")
        yield Static(id="models-note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Begin."""
        for number, (key, title) in enumerate(PANES, 1):
            self.query_one(f"#{key}", RowList).border_title = Content(f"{number} {title}")
        self.tasks.cursor = TASK + DEFAULT
        self.tasks.show([Row(Content.styled("reading settings…", ".quiet"), lead=Content(" "))])
        self.fit()
        self.open()

    # layout

    def on_resize(self) -> None:
        """Fit the panes to the terminal."""
        self.fit()

    def fit(self) -> None:
        """Decide which panes are in sight."""
        if not self.alive:
            return
        width, height = self.size
        told = self.active in ("tasks", "endpoints")
        if width >= _WIDE and height >= _TALL:
            shown = {"tasks", "endpoints", "endpoint-detail", "meter", "caps"}
        elif width >= _WIDE:
            shown = {self.active, "endpoint-detail"} if told else {"tasks", self.active}
        else:
            shown = {self.active, "endpoint-detail"} if told else {self.active}
        for key in ("tasks", "endpoints", "endpoint-detail", "meter", "caps"):
            self.query_one(f"#{key}").display = key in shown
        self.query_one("#models-left").display = bool(shown & {"tasks", "endpoints"})
        self.query_one("#models-right").display = bool(shown & {"endpoint-detail", "meter", "caps"})
        self.set_class(len(shown) < 5, "-one")
        self._head()
        self.call_after_refresh(self._draw_spent)

    def action_pane(self, key: str) -> None:
        """Go to a pane and bring it into sight."""
        self.active = key
        pane = self.query_one(f"#{key}", RowList)
        self.fit()
        self.set_focus(pane)
        pane.begin()  # before the keys that follow

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Moving with tab also says where one is."""
        if event.widget.id in dict(PANES) and event.widget.id != self.active:
            self.active = event.widget.id or self.active
            self.fit()
        self._describe()
        self.refresh_bindings()

    # showing

    def watch_view(self, old: ModelsView, new: ModelsView) -> None:
        """Draw what has changed."""
        if not self.alive:
            return
        self._head()
        parts = attrgetter("routes", "settings", "suggested", "endpoints", "environment")
        if parts(old) != parts(new) or old.broken != new.broken:
            self.tasks.show([*fault_rows(new), *task_rows(new)])
            if new.broken is not None and old.broken is None:
                self.tasks.cursor = f"{FAULT}0"
        parts = attrgetter("endpoints", "servers", "trouble", "reports", "routes")
        if parts(old) != parts(new):
            self.models.show(model_rows(new))
        self._draw_spent()
        self._describe()
        self.refresh_bindings()

    def _draw_spent(self) -> None:
        if self.desk is None or not self.alive:
            return
        view = self.view
        self.meter.border_title = Content(f"3 Meter · by {view.by}")
        self.meter.show(meter_rows(view, self.meter.size.width + 2, self.named))
        self.caps.show(cap_rows(view, self.caps.size.width + 2))

    def _head(self) -> None:
        view = self.view
        parts = [Content.styled("Models  ", ".head")]
        for number, (key, title) in enumerate(PANES, 1):
            here = key == self.active
            parts.append(Content.styled(f"[{number} {title}]" if here else f" {number} {title} ", ".key" if here else ".quiet"))
        left = Content("").join(parts)
        for right in sums(view):
            room = self.size.width - 2 - left.cell_length - right.cell_length
            if room >= 2:
                left = Content.assemble(left, " " * room, right)
                break
        self.query_one("#models-head", Static).update(left, layout=False)

    # what is under the cursor

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        self._describe()
        self.refresh_bindings()

    @on(RowList.Picked)
    def _picked(self, event: RowList.Picked) -> None:
        event.stop()

    def _describe(self) -> None:
        view = self.view
        if self.desk is None:
            return
        if self.active == "tasks" and view.broken is not None and (fault := self.fault) is not None:
            title, rows = "Settings", fault_detail(view.broken, fault)
        elif self.active == "caps" and self.cap is not None:
            title, rows = CAPS[self.cap], cap_detail(view, self.cap)
        elif self.active == "endpoints":
            title, rows = model_detail(view, self.models.cursor, self.slot)
        else:
            title, rows = slot_name(self.slot), embed_detail(view) if self.slot == EMBED else task_detail(view, self.slot)
        same = title == str(self.detail.border_title)
        self.detail.border_title = Content(title)
        self.detail.show(rows)
        if not same:
            self.detail.scroll_home(animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are there when they can do something."""
        if not self.is_mounted:
            return True
        match action:
            case "open_file" | "put_aside":
                fault = self.fault if self.active == "tasks" else None
                return fault is not None and (action == "open_file" or bool(fault.line))
            case "edit":
                on_task = self.active == "tasks" and self.fault is None
                return self.desk is not None and (on_task or (self.active == "caps" and self.cap is not None))
            case "test":
                return bool(self.tested) and not self.view.testing
            case "use" | "use_for":
                some = action == "use" or self.slot not in (DEFAULT, EMBED)
                return some and self.active == "endpoints" and bool(self.tested or found(self.view, self.models.cursor))
            case "suggested":
                return self.active == "tasks" and self.slot in self.view.suggested
            case "all_suggested":
                return self.active == "tasks" and bool(self.view.suggested)
            case "unset":
                return self._unsettable()
            case "by":
                return self.active == "meter"
            case "again":
                return self.active == "endpoints" or self.desk is None or self.view.broken is not None
            case "stop_test" | "leave":
                return bool(self.view.testing) is (action == "stop_test")
        return True

    def _unsettable(self) -> bool:
        if self.active == "caps":
            return any(state.cap == self.cap for state in self.view.caps)
        if self.active != "tasks" or self.desk is None or self.fault is not None:
            return False
        return set_by(self.view, self.slot) == "settings"

    # what is done

    def action_edit(self) -> None:
        """Choose who answers, which embedder, or how high a cap is."""
        variable = self.view.environment.get(f"caps.{self.cap}", "") if self.active == "caps" else self.view.variable(self.slot)
        if variable:
            self.say(f"{variable} says so, not settings.toml: unset it and start again.", "bad")
        elif self.active == "caps" and self.cap is not None:
            cap = self.cap
            state = next((one for one in self.view.caps if one.cap == cap), None)
            about = f"{CAP_ABOUT[cap]} Play pauses before the call that would pass it. Empty: no cap."
            value = cap_amount(cap, state.limit).removeprefix("$") if state else ""
            self.app.push_screen(ValueDialog(f"A cap on {CAPS[cap]}", about, value, partial(self.keep_cap, cap)))
        elif self.slot == EMBED:
            about = "hash768, minilm, or what litellm calls an embedding model. Memories are embedded anew for another one."
            now = plain(self.view.settings.models.embed.model)
            self.app.push_screen(ValueDialog("What finds memories", about, now, self.keep_embedder))
        else:
            slot = self.slot
            title = f"Who answers {slot_name(slot)}"
            self.app.push_screen(RouteDialog(title, self.draft_of(slot), self.choices(), partial(self.keep_route, slot)))

    def action_open_file(self) -> None:
        """Open the settings where they are at fault."""
        self.open_file()

    def action_put_aside(self) -> None:
        """Make a comment of the line at fault."""
        if (fault := self.fault) is not None:
            self.put_aside(fault)

    def action_unset(self) -> None:
        """Take a setting back to its default."""
        if self.active == "caps" and self.cap is not None:
            self.write(f"caps.{self.cap}", None, no_cap(self.cap))
        else:
            self.write(f"models.{self.slot}", None, f"Taken back: what answers {slot_name(self.slot)} is as if never set.")

    def action_by(self) -> None:
        """Add calls up by something else."""
        self.by = ORDER[(ORDER.index(self.by) + 1) % len(ORDER)]
        self.look()

    def action_again(self) -> None:
        """Look again for servers, or for settings that could not be read."""
        if self.desk is None:
            self.open()
        elif self.view.broken is not None:
            self.read_again()
        else:
            self.find_servers()

    async def action_leave(self) -> None:
        """Back to where one came from."""
        await self.action_back()

    async def action_back(self) -> None:
        """Back to where one came from, once what was set is written: leaving ends what a screen still does."""
        writing = [worker for worker in self.workers if worker.node is self and worker.group == "write" and not worker.is_finished]
        if writing:
            await self.workers.wait_for_complete(writing)
        self.dismiss(None)
