"""Review: a person decides what a mind keeps, memory by memory, before anything is written."""

from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import OthermindsError
from engine.records.base import EntityId
from engine.records.review import ChunkEdit, PendingProposal, Verdict
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.memory import Draft, MemoryDialog, draft_of
from tui.glyphs import CANDIDATE, REFUSED
from tui.keybar import KeyBar
from tui.panes.chunks import Reviewed, chunk_rows, moment_rows
from tui.panes.rows import STYLES, RowList
from tui.text import capital, count, plain, short_name
from tui.view import Note, WorldView

if TYPE_CHECKING:
    from engine.game import Game
    from tui.screens.reading import ReadingScreen

_WIDE = 110
_OPEN = "a keeps a memory, x does not. Nothing is written before you say so with enter."


class ReviewScreen(Screen[None]):
    """One proposal at a time, those that wait side by side in the first line. Each word is kept at once: leaving loses nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "review.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]
    AUTO_FOCUS = "#chunks"
    TITLE = "Review"
    HELP = f"""\
A handoff has read old moments of a mind and proposes what to keep. Nothing is written yet; you have the last word.

Each block is one memory as it would stand in the ledger: importance, account, what was said word for word, who was there, and
the moments it was made of. `{CANDIDATE}` open · `✓` you keep it · `{REFUSED}` you do not: its moments are forgotten with the rest.

**a** accept, **x** reject, **e** change it in your words, **r** ask the model anew for this memory, **R** for all of them.
When all are decided, **enter** writes them. **X** rejects the whole proposal: every moment stays in mind. **esc** goes back and
keeps your words as they are, also when you leave the program. left and right go to other minds that wait.
"""
    BINDINGS = [
        Binding("a", "judge('accepted')", "Accept", tooltip="Keep this memory", id="review-accept"),
        Binding("x", "judge('rejected')", "Reject", tooltip="Do not keep this memory: its moments are forgotten", id="review-reject"),
        Binding("e", "edit", "Edit", tooltip="Put this memory into your own words", id="review-edit"),
        Binding("enter,c", "finish", "Write", tooltip="Write what you accepted, once all is decided", id="review-finish"),
        Binding("r", "reroll", "Anew", tooltip="Ask the model anew for this memory", id="review-reroll"),
        Binding("A", "accept_open", "All", tooltip="Accept all that are still open", id="review-accept-open"),
        Binding("escape", "back", "Back", tooltip="Back to play; everything stays as it is", id="review-back"),
        Binding("right,l", "other(1)", "Next mind", key_display="→", tooltip="The next mind that waits", id="review-next"),
        Binding("left,h", "other(-1)", "Mind before", show=False, tooltip="The mind before", id="review-previous"),
        Binding("R", "reroll_all", "All anew", show=False, tooltip="Ask the model anew for the whole proposal", id="review-reroll-all"),
        Binding("X", "reject_all", "Reject all", show=False, tooltip="Reject the proposal: every moment stays", id="review-reject-all"),
        Binding("question_mark,f1", "app.show_help", "Help", id="help"),
        Binding("ctrl+q", "app.quit", "Quit", show=False),
    ]
    chunks = getters.query_one("#chunks", RowList)
    moments = getters.query_one("#moments", RowList)

    def __init__(self, play: "ReadingScreen", game: "Game") -> None:
        super().__init__()
        self._play, self._game = play, game
        self._waiting: list[PendingProposal] = []
        self._owner: EntityId | None = play.view.chosen
        self._reviewed: Reviewed | None = None
        self._busy = ""
        self.note = Note(_OPEN)

    def compose(self) -> ComposeResult:
        """Who waits, what would be kept, from what."""
        yield Static(id="review-head", markup=False)
        with Horizontal(id="review-body"):
            yield RowList(id="chunks", classes="pane")
            yield RowList(id="moments", classes="pane")
        yield Static(id="review-note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Read what waits, and again when it becomes something else."""
        self.chunks.border_title = Content("Would be kept")
        self.moments.border_title = Content("From these moments")
        self.watch(self._play, "view", self._followed, init=False)
        self.read()

    def _followed(self, old: WorldView, new: WorldView) -> None:
        if old.waiting != new.waiting and not self._busy:
            self.read()

    def on_resize(self) -> None:
        """Sources stand beside the memories where there is room, below them where there is none."""
        self.moments.display = self.size.width >= _WIDE
        self._show()

    # reading

    @work(group="review", exclusive=True)
    async def read(self) -> None:
        """Read all that waits and show the proposal one was at."""
        await self._read()

    async def _read(self) -> None:
        game = self._game
        try:
            waiting = list(await game.memory.pending())
            if not waiting:
                self.action_back()
                return
            pending = next((one for one in waiting if one.proposal.owner_id == self._owner), waiting[0])
            owner = pending.proposal.owner_id
            lines = await game.memory.chunk_lines(pending)
            buffer = await game.buffer(owner)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        involved = {one for chunk in pending.proposal.chunks for one in chunk.involved_entity_ids}
        names = {one: game.name(one, owner) for one in involved if one in game.world.entities}
        self._waiting, self._owner = waiting, owner
        self._reviewed = Reviewed(pending, lines, buffer, names)
        self._show()

    def _show(self) -> None:
        reviewed = self._reviewed
        if reviewed is None or not self.is_mounted:
            return
        self.query_one("#review-head", Static).update(self._head(), layout=False)
        beside = bool(self.moments.display)
        self.chunks.show(chunk_rows(reviewed, sources=not beside))
        if not self.chunks.cursor.isdigit() and reviewed.lines:
            self.chunks.cursor = "0"
        self._show_moments()
        self._show_note()

    def _show_moments(self) -> None:
        if self._reviewed is not None and self.moments.display:
            self.moments.show(moment_rows(self._reviewed, self.at))
            self.moments.reveal("lit")

    def _head(self) -> Content:
        """Who waits, the one that is shown always in sight, and why it was proposed."""
        minds = []
        for one in self._waiting:
            decided = len(one.verdicts) - one.verdicts.count("open")
            label = f"{capital(short_name(self._game.name(one.proposal.owner_id)))} {decided}/{len(one.verdicts)}"
            here = one.proposal.owner_id == self._owner
            minds.append(Content.styled(f"[{label}]" if here else f" {label} ", ".key" if here else ".quiet"))
            if here:
                while len(minds) > 1 and sum(mind.cell_length for mind in minds) > self.size.width - 14:
                    del minds[0]
        parts = [Content.styled("Review ", ".head"), *minds]
        if self._reviewed is not None:
            pending = self._reviewed.pending
            why = f"  {pending.proposal.kind} of round {pending.round}: {plain(pending.proposal.report.reason)}"
            parts.append(Content.styled(why, ".quiet"))
        return Content("").join(parts)

    def _show_note(self) -> None:
        sign = {"plain": "", "good": "✓ ", "bad": f"{REFUSED} "}[self.note.kind]
        style = {"plain": ".quiet", "good": ".good", "bad": ".bad"}[self.note.kind]
        self.query_one("#review-note", Static).update(Content.styled(sign + plain(self.note.text), style), layout=False)

    def say(self, text: str, kind: str = "plain") -> None:
        """Say it in the last line but one; over the screen too when it is too long for that."""
        self.note = Note(text, "good" if kind == "good" else "bad" if kind == "bad" else "plain")
        if kind == "bad" and len(text) > self.size.width - 4:
            self.notify(plain(text), severity="warning", markup=False)
        self._show_note()

    @property
    def at(self) -> int:
        """Number of the memory under the cursor, from 0; -1 when there is none."""
        return int(self.chunks.cursor) if self.chunks.cursor.isdigit() else -1

    @on(RowList.Moved, "#chunks")
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        self._show_moments()
        if not self.moments.display:
            self.chunks.reveal(event.key)

    # deciding

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are there when they can do something."""
        if action == "other":
            return len(self._waiting) > 1
        return True

    @work(group="by-hand")
    async def action_judge(self, verdict: Verdict) -> None:
        """Accept or reject the memory under the cursor, and go on to the next that is open."""
        if (reviewed := self._ready()) is None or self.at < 0:
            return
        at = self.at
        if await self._did(self._game.memory.judge(reviewed.pending.proposal.owner_id, at, verdict)):
            self._go_on(at)

    @work(group="by-hand")
    async def action_accept_open(self) -> None:
        """Accept all that nobody has decided on."""
        if (reviewed := self._ready()) is None:
            return
        for index, verdict in enumerate(reviewed.pending.verdicts):
            if verdict == "open" and not await self._did(self._game.memory.judge(reviewed.pending.proposal.owner_id, index, "accepted")):
                return
        self._go_on(self.at)

    def _go_on(self, at: int) -> None:
        """The cursor goes to the next open memory; when there is none, the way to the end is said."""
        reviewed = self._reviewed
        if reviewed is None:
            return
        number = len(reviewed.pending.verdicts)
        order = [index % number for index in range(at + 1, at + 1 + number)] if number else []
        following = next((index for index in order if reviewed.pending.verdicts[index] == "open"), None)
        if following is not None:
            self.chunks.cursor = str(following)
            self.say(f"{count(reviewed.open, 'memory is', 'memories are')} still open.")
        else:
            self.say("All are decided: enter writes them.", "good")
        self.refresh_bindings()

    @work(group="by-hand")
    async def action_edit(self) -> None:
        """Put the memory under the cursor into one's own words. Counts as accepting it."""
        reviewed, at = self._ready(), self.at
        if reviewed is None or at < 0:
            return
        owner, line = reviewed.pending.proposal.owner_id, reviewed.lines[at]
        before = draft_of(line.text, line.quotes, line.importance, retain=line.retain)

        async def keep(draft: Draft) -> str:
            edit = ChunkEdit(
                content=draft.text if draft.text != before.text else None, quotes=draft.quotes if draft.quotes != before.quotes else None,
                importance=draft.importance, retain=draft.retain,
            )
            try:
                await self._game.memory.edit_chunk(owner, at, edit)
            except OthermindsError as error:
                return str(error)
            return ""

        pins = reviewed.pending.proposal.kind == "handoff"
        dialog = MemoryDialog(f"Memory {at + 1} of {self._game.name(owner)}", before, keep, people=False, retain=pins)
        if await self.app.push_screen_wait(dialog):
            await self._read()
            self._go_on(at)

    def action_reroll(self) -> None:
        """Ask the model anew for the memory under the cursor."""
        if self._ready() is not None and self.at >= 0:
            self.ask_anew(self.at)

    def action_reroll_all(self) -> None:
        """Ask the model anew for the whole proposal."""
        if self._ready() is not None:
            self.ask_anew(None)

    @work(group="by-hand")
    async def ask_anew(self, index: int | None) -> None:
        """A model call: it may take a while, and can be left."""
        if (reviewed := self._ready()) is None:
            return
        what = f"memory {index + 1}" if index is not None else "all of it"
        self.say(f"Asking the model anew for {what}…")
        self._busy = "The model is being asked anew."
        if await self._did(self._game.memory.reroll(reviewed.pending.proposal.owner_id, index)):
            number = count(self._reviewed.open if self._reviewed else 0, "memory is", "memories are")
            self.say(f"The model has decided anew: {number} open.")

    @work(group="by-hand")
    async def action_finish(self) -> None:
        """Write what was accepted."""
        if (reviewed := self._ready()) is None:
            return
        if reviewed.open:
            self.say(f"{count(reviewed.open, 'memory is', 'memories are')} still open: a accepts, x rejects, A accepts all of them.", "bad")
            self._to_open(reviewed)
            return
        name = capital(plain(self._game.name(reviewed.pending.proposal.owner_id)))
        self._busy = "It is being written."
        if await self._did(self._game.memory.finish(reviewed.pending.proposal.owner_id)):
            self.say(f"{name}: written. This one waits next.", "good")

    def _to_open(self, reviewed: Reviewed) -> None:
        self.chunks.cursor = str(reviewed.pending.verdicts.index("open"))

    @work(group="by-hand")
    async def action_reject_all(self) -> None:
        """Reject the whole proposal, once the reader has said so."""
        if (reviewed := self._ready()) is None:
            return
        number = count(len(reviewed.pending.proposal.candidates or reviewed.pending.proposal.memories), "moment")
        question = f"Nothing is written and all {number} stay where they are. They are judged again when enough new ones have joined them."
        if await self.app.push_screen_wait(ConfirmDialog("Reject the whole proposal?", question, "reject it")):
            self._busy = "It is being rejected."
            if await self._did(self._game.memory.reject(reviewed.pending.proposal.owner_id)):
                self.say("Rejected: every moment stays in mind. This one waits next.")

    def _ready(self) -> Reviewed | None:
        """The proposal, unless something is being done to it."""
        if self._busy:
            self.say(f"{self._busy} A moment, please.")
            return None
        return self._reviewed

    async def _did(self, doing: Awaitable[object]) -> bool:
        """Whether it could be done. What is shown is read anew in either case: a proposal that no longer fits is gone."""
        done = True
        try:
            await doing
        except OthermindsError as error:
            done = False
            self.say(str(error), "bad")
        self._busy = ""
        self._play.host.pacer.hurry()
        await self._read()
        return done

    # leaving

    def action_other(self, by: int) -> None:
        """Another mind that waits."""
        owners = [one.proposal.owner_id for one in self._waiting]
        if self._busy or self._owner not in owners:
            return
        self._owner = owners[(owners.index(self._owner) + by) % len(owners)]
        self.chunks.cursor = ""
        self.note = Note(_OPEN)
        self.read()

    def action_back(self) -> None:
        """Back to play. A question to the model that runs is dropped."""
        if self.is_current:
            if self.note.kind == "bad":
                self._play.view = replace(self._play.view, note=self.note)
            self.dismiss(None)
