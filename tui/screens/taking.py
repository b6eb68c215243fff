"""Trying models and taking them into use: those that are set up, those that were found, and those that the world suggests."""

from textual import getters, work

from engine.errors import OthermindsError
from engine.records.models import CapName, Proposal
from tui.dialogs.suggestions import Answer, SuggestionsDialog
from tui.models_view import CAP_NAMES, DEFAULT, Slot
from tui.panes.mending import FAULT
from tui.panes.routes import ENDPOINT, TASK, found, slot_name
from tui.panes.rows import RowList
from tui.panes.spending import CAP
from tui.screens.mending import MendingScreen


class TakingScreen(MendingScreen):
    """What is under the cursors, and what the keys do with it."""

    models = getters.query_one("#endpoints", RowList)
    caps = getters.query_one("#caps", RowList)

    active = "tasks"
    """The pane one is in."""

    @property
    def slot(self) -> Slot:
        """The task under the cursor of Tasks."""
        cursor = self.tasks.cursor
        return DEFAULT if cursor.startswith(FAULT) else cursor.removeprefix(TASK) or DEFAULT

    @property
    def cap(self) -> CapName | None:
        """The cap under the cursor of Caps."""
        return next((cap for cap in CAP_NAMES if self.caps.cursor == CAP + cap), None)

    @property
    def tested(self) -> str:
        """The model that `t` would try: the one under the cursor, set up or only found, or the first of the task under it."""
        if self.active == "tasks" and self.fault is None:
            chain = self.view.chain(self.slot)
            return chain[0].name if chain else ""
        if self.active == "endpoints":
            pair = found(self.view, self.models.cursor)
            known = self.view.known(*pair) if pair else self.view.endpoint(self.models.cursor.removeprefix(ENDPOINT))
            return known.name if known else pair[1] if pair else ""
        return ""

    def action_test(self) -> None:
        """Try the model under the cursor."""
        pair = found(self.view, self.models.cursor) if self.active == "endpoints" else None
        if pair is not None and self.view.known(*pair) is None:
            self.try_found(*pair)
        else:
            self.try_model(self.tested)

    def action_stop_test(self) -> None:
        """Stop the call that is being tried."""
        self.workers.cancel_group(self, "test")

    def action_use(self) -> None:
        """Let the model under the cursor answer everything."""
        self._use_for(DEFAULT)

    def action_use_for(self) -> None:
        """Let the model under the cursor answer the task chosen in Tasks."""
        self._use_for(self.slot)

    def _use_for(self, slot: Slot) -> None:
        pair = found(self.view, self.models.cursor)
        if pair is not None:
            self.use(*pair, slot)
        elif name := self.tested:
            self.write(f"models.{slot}", name, f"{name} answers {slot_name(slot)} from now on. x at the task takes that back.")

    def action_suggested(self) -> None:
        """Take what the world suggests for the task under the cursor."""
        if (name := self.view.suggested.get(self.slot)) is not None:
            self.write(f"models.{self.slot}", name, f"{name} answers {slot_name(self.slot)} from now on, as the world suggests.")

    @work(group="proposal", exclusive=True)
    async def action_all_suggested(self) -> None:
        """Show all that the world suggests, with what it costs; then take it, or leave it."""
        if self.desk is None:
            return
        self.say("Finding out what they would cost…")
        try:
            proposal = await self.desk.proposal()
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        self.say("")
        if not self.alive:
            return

        def answered(answer: Answer | None) -> None:
            if answer is not None:
                self.take_all(proposal, answer)

        self.app.push_screen(SuggestionsDialog(proposal, capped=bool(self.view.caps)), answered)

    @work(group="write")
    async def take_all(self, proposal: Proposal, answer: Answer) -> None:
        """Write what the reader said of all suggestions."""
        if answer == "write":
            changes: dict[str, object | None] = {f"models.{one.task}": one.endpoint.name for one in proposal.suggestions}
            problem = await self.all_written(changes, "The models that the world suggests answer from now on. x at a task takes that back.")
        else:
            problem = await self.written("models.hints", True, "Worlds choose models from now on, wherever you have set nothing.")
        if problem:
            self.say(problem, "bad")
