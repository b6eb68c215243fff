"""What the Play screen says and does about calls to models: which are under way, and those that wait for the reader's word."""

from contextlib import suppress
from dataclasses import replace

from textual import getters, work
from textual.widgets import Input, TextArea
from textual.worker import WorkerCancelled

from tui.dialogs.note import NoteDialog
from tui.screens.playbars import StatusLine
from tui.screens.remembering import RememberingScreen
from tui.text import plain
from tui.view import Note


class CallingScreen(RememberingScreen):
    """Follows calls as they are, not at the pace of the story."""

    bottom = getters.query_one(StatusLine)

    _calls_seen = -1
    """Version of the book of calls that is shown."""
    _followed: str | None = None
    """Whose last calls are shown."""
    _put_off = -1
    """A held call that the reader has looked at and not decided on."""
    _cut = False
    """Whether the note at the bottom is cut."""
    _problem_said = Note("")
    """What was wrong last: it can still be read when something else is said."""

    # following

    def start(self) -> None:
        """Show the game, and get the models ready behind it: the first round may have to wait for them, what can be looked at does not."""
        super().start()
        if (tape := self.host.recording) is not None:
            self.view = replace(self.view, note=Note(f"All calls to models are recorded on {plain(str(tape))}."))
        self.call_after_refresh(self.get_ready)

    @work(group="models", exclusive=True)
    async def get_ready(self) -> None:
        """Load what the models want, once all else is there to be looked at: it makes everything slow. Nothing happens for the
        storyteller."""
        reading = [worker for worker in self.workers if worker.node is self and worker.group in ("story", "minds", "waiting")]
        for worker in reading:
            with suppress(WorkerCancelled):
                await worker.wait()
        if (game := self.host.game) is not None:
            await game.models.ready()
            self.view = self.with_models(self.view)

    def tick(self) -> None:
        """Show what is due, then what models are doing now."""
        super().tick()
        game, book = self.host.game, self.host.calls
        if game is None or not self.is_mounted:
            return
        if book.version != self._calls_seen or self.view.chosen != self._followed:
            self._calls_seen, self._followed = book.version, self.view.chosen
            self.prompt.follow(book.live, book.last(self.view.chosen))
            self.view = self.with_models(self.view)
            self.refresh_bindings()
        getting_ready = game.models.getting_ready
        if getting_ready:
            self.prompt.say(getting_ready)
        self.bottom.busy = book.line() or getting_ready
        if self.bottom.cut != self._cut:
            self._cut = self.bottom.cut
            self.refresh_bindings()
        if self.view.note.kind == "bad":
            self._problem_said = self.view.note
        self._ask_for_word()

    # asking before each call

    def action_hold_calls(self) -> None:
        """Let each call wait for the reader's word, or let all go out again."""
        on = not self.host.asks
        self.host.ask_first(on)
        text = "Each call to a model waits for your word from now on. H lets all go out again." if on else "Calls go out without asking."
        self.view = replace(self.with_models(self.view), note=Note(text, "good"))
        self.refresh_bindings()

    def action_show_held(self) -> None:
        """Show the call that waits."""
        self._put_off = -1
        self._ask_for_word(at_once=True)

    def _ask_for_word(self, *, at_once: bool = False) -> None:
        """Show the first call that waits, unless the reader writes, or has put it off."""
        from tui.dialogs.held import HeldDialog

        held, screen = self.host.calls.held, self.app.screen
        if isinstance(screen, HeldDialog):
            if screen.call.key not in [call.key for call in held]:
                screen.dismiss(None)
            return
        fresh = held and held[0].key != self._put_off
        if held and not screen.is_modal and (at_once or (fresh and not _writing(screen.focused))):
            self._put_off = held[0].key
            self.app.push_screen(HeldDialog(held[0], len(held) - 1, self.view.name), self._answered)
            self.bottom.held = 0
        else:
            self.bottom.held = len(held)

    def _answered(self, word: str | None) -> None:
        match word:
            case "send" if (game := self.host.game) is not None:
                game.models.calls.let_go(self._put_off)
            case "all":
                self.action_hold_calls()
            case "stop":
                self.stop_play()
        self.tick()

    @work(group="stop", exclusive=True)
    async def stop_play(self) -> None:
        """Stop at once: the running beat is not played, and no held call goes out."""
        await self.host.stop()
        self.host.pacer.hurry()

    # reading in full

    def action_read_on(self) -> None:
        """Show all of a note that is cut."""
        self.action_whole_note()

    def action_whole_note(self) -> None:
        """Show the note in full; when nothing much is said, what was wrong last."""
        about, note = self.view.model_note, self.view.note
        if about is not None:
            self.app.push_screen(NoteDialog(about.text))
            return
        if note.kind != "bad" and self._problem_said.text and len(note.text) < self.size.width - 4:
            note = self._problem_said
        self.app.push_screen(NoteDialog(note.text, note.advice))


def _writing(focused: object) -> bool:
    """Whether the reader is in the middle of a text: a dialog would take the keys."""
    return (isinstance(focused, Input) and bool(focused.value)) or isinstance(focused, TextArea)
