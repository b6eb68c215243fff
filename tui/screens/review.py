"""Review: a person decides what a mind keeps, memory by memory, before anything is written."""

from collections.abc import Awaitable

from textual import work
from textual.binding import Binding

from engine.errors import OthermindsError
from engine.records.review import ChunkEdit, Verdict
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.memory import Draft, MemoryDialog, draft_of
from tui.glyphs import CANDIDATE, REFUSED
from tui.panes.chunks import Reviewed
from tui.panes.rows import STYLES
from tui.screens.proposals import HOW, WIDE, ProposalsScreen
from tui.text import capital, count, plain
from tui.view import Note

_ALL_KEYS = 140
"""Columns in which all keys stand in one line."""


class ReviewScreen(ProposalsScreen):
    """One proposal at a time, those that wait side by side in the first line. Each word is kept at once: leaving loses nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "review.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide"), (_ALL_KEYS, "-broad")]
    AUTO_FOCUS = "#chunks"
    TITLE = "Review"
    HELP = f"""\
A handoff has read old moments of a mind and proposes what to keep. Nothing is written yet; you have the last word.

Each block is one memory as it would stand in the ledger: importance, account, what was said word for word, who was there, and
the moments it was made of. `{CANDIDATE}` open · `✓` you keep it · `{REFUSED}` you do not: its moments are forgotten with the rest.
What would stay as it is comes last, marked `=` *unchanged*: there is nothing to decide.

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
        Binding("right,l", "other(1)", "Next mind", key_display="→", tooltip="The next mind that waits", id="review-next"),
        Binding("A", "accept_open", "Accept all", tooltip="Accept all that are still open", id="review-accept-open"),
        Binding("left,h", "other(-1)", "Mind before", show=False, tooltip="The mind before", id="review-previous"),
        Binding("R", "reroll_all", "All anew", tooltip="Ask the model anew for the whole proposal", id="review-reroll-all"),
        Binding("X", "reject_all", "Reject all", tooltip="Reject the proposal: every moment stays", id="review-reject-all"),
        Binding("escape", "back", "Back", tooltip="Back to play; everything stays as it is", id="review-back"),
        Binding("question_mark,f1", "app.show_help", "Help", id="help"),
        Binding("ctrl+q", "app.quit", "Quit", show=False, tooltip="Leave Otherminds; all is saved"),
    ]

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
        shown = [line.index for line in reviewed.in_order()]
        after = shown.index(at) + 1 if at in shown else 0
        order = [*shown[after:], *shown[:after]]
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
        dialog = MemoryDialog(f"Memory {at + 1} of {self._called(owner)}", before, keep, people=False, retain=pins)
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
        name = capital(plain(self._called(reviewed.pending.proposal.owner_id)))
        self._busy = "It is being written."
        if await self._did(self._game.memory.finish(reviewed.pending.proposal.owner_id)):
            self.say(f"{name}: written. This one waits next.", "good")

    def _to_open(self, reviewed: Reviewed) -> None:
        self.chunks.cursor = str(reviewed.first_open)

    @work(group="by-hand")
    async def action_reject_all(self) -> None:
        """Reject the whole proposal, once the reader has said so."""
        if (reviewed := self._ready()) is None:
            return
        proposal = reviewed.pending.proposal
        number = count(len(proposal.candidates), "moment") if proposal.candidates else count(len(proposal.memories), "memory", "memories")
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
        self.note = Note(HOW)
        self.read()
