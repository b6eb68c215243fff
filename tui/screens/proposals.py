"""What waits for a person's word, as it is shown: minds side by side, memories as they would be kept, the moments they are made of."""

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from textual import getters, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import OthermindsError
from engine.records.base import EntityId
from engine.records.review import PendingProposal
from tui.keybar import KeyBar
from tui.panes.chunks import Reviewed, chunk_rows, moment_rows
from tui.panes.rows import RowList
from tui.screens.playbars import said
from tui.text import capital, plain, short_name
from tui.view import Note, WorldView

if TYPE_CHECKING:
    from engine.game import Game
    from tui.screens.reading import ReadingScreen

WIDE = 110
"""Columns from which the moments stand beside the memories."""
HOW = "a keeps a memory, x does not. Nothing is written before you say so with enter."
"""What is said before the first word."""


class ProposalsScreen(Screen[None]):
    """Shows one proposal at a time and follows what becomes of it. What is done to it is its subclass's matter."""

    chunks = getters.query_one("#chunks", RowList)
    moments = getters.query_one("#moments", RowList)

    def __init__(self, play: "ReadingScreen", game: "Game") -> None:
        super().__init__()
        self._play, self._game = play, game
        self._waiting: list[PendingProposal] = []
        self._owner: EntityId | None = play.view.chosen
        self._reviewed: Reviewed | None = None
        self._busy = ""
        self.note = Note(HOW)

    def compose(self) -> ComposeResult:
        """Who waits, what would be kept, from what."""
        yield Static(id="review-head", markup=False)
        yield Static(id="review-why", markup=False)
        with Horizontal(id="review-body"):
            yield RowList(id="chunks", classes="pane")
            yield RowList(id="moments", classes="pane")
        yield Static(id="review-note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Read what waits, and again when it becomes something else."""
        self.chunks.border_title = Content("Would be kept")
        self.moments.border_title = Content("From these moments, newest first")
        self.watch(self._play, "view", self._followed, init=False)
        self.read()

    def _followed(self, old: WorldView, new: WorldView) -> None:
        if old.waiting != new.waiting and not self._busy:
            self.read()

    def on_resize(self) -> None:
        """Sources stand beside the memories where there is room, below them where there is none."""
        self.moments.display = self.size.width >= WIDE
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
        another = self._reviewed is None or self._reviewed.pending.id != pending.id
        self._reviewed = Reviewed(pending, lines, buffer, names)
        self._show()
        if another:
            self._begin()

    def _begin(self) -> None:
        """Another proposal: the cursor goes to the first memory that is open."""
        if self._reviewed is not None and self._reviewed.first_open >= 0:
            self.chunks.scroll_home(animate=False)
            self.chunks.cursor = str(self._reviewed.first_open)

    def _show(self) -> None:
        reviewed = self._reviewed
        if reviewed is None or not self.is_mounted:
            return
        self.query_one("#review-head", Static).update(self._head(), layout=False)
        proposal = reviewed.pending.proposal
        why = f"{capital(proposal.kind)} of round {reviewed.pending.round}: {plain(proposal.report.reason)}"
        self.query_one("#review-why", Static).update(Content.styled(why, ".quiet"), layout=False)
        beside = bool(self.moments.display)
        self.chunks.show(chunk_rows(reviewed, sources=not beside))
        if not self.chunks.cursor.isdigit() and reviewed.lines:
            self.chunks.cursor = str(reviewed.first_open)
        self._show_moments()
        self._show_note()

    def _show_moments(self) -> None:
        if self._reviewed is not None and self.moments.display:
            self.moments.show(moment_rows(self._reviewed, self.at))
            self.moments.reveal("lit")

    def _head(self) -> Content:
        """Who waits, the one that is shown always in sight."""
        minds = []
        for one in self._waiting:
            decided = len(one.verdicts) - one.verdicts.count("open")
            label = f"{capital(short_name(self._called(one.proposal.owner_id)))} {decided}/{len(one.verdicts)}"
            here = one.proposal.owner_id == self._owner
            minds.append(Content.styled(f"[{label}]" if here else f" {label} ", ".key" if here else ".quiet"))
            if here:
                while len(minds) > 1 and sum(mind.cell_length for mind in minds) > self.size.width - 14:
                    del minds[0]
        return Content("").join([Content.styled("Review ", ".head"), *minds])

    def _called(self, entity: EntityId) -> str:
        """What the reader calls somebody: a player knows no true names."""
        return self._play.view.name(entity)

    def _show_note(self) -> None:
        self.query_one("#review-note", Static).update(said(self.note), layout=False)

    def say(self, text: str, kind: Literal["plain", "good", "bad"] = "plain") -> None:
        """Say it in the last line but one; over the screen too when it is too long for that."""
        self.note = Note(text, kind)
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

    def action_back(self) -> None:
        """Back to play. A question to the model that runs is dropped."""
        if self.is_current:
            if self.note.kind == "bad":
                self._play.view = replace(self._play.view, note=self.note)
            self.dismiss(None)
