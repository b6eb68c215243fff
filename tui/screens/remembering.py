"""What a reader asks of memories and does to them on the Play screen: write, change, take away, look back, and be asked first."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on, work

from engine.errors import CommandError, OthermindsError
from engine.records.base import EntityId, LedgerId
from engine.records.review import MemoryEdit
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.memory import Draft, MemoryDialog, draft_of
from tui.panes.ledger import LedgerPane
from tui.panes.prompt import PromptPane
from tui.screens.byhand import ByHandScreen
from tui.text import capital, plain
from tui.view import Note

if TYPE_CHECKING:
    from engine.game import Game


class RememberingScreen(ByHandScreen):
    """Memories by hand, their origins, and the ways to Review and Memory."""

    # being asked first

    @work(group="by-hand")
    async def action_ask_first(self) -> None:
        """Let handoffs ask first, or decide alone again."""
        game = self.host.game
        if game is None:
            return
        asks = game.memory.review != "ask"
        with self._telling():
            await game.memory.set_review("ask" if asks else "auto")
            text = "Handoffs ask you first from now on. V lets them decide alone again." if asks else "Handoffs decide alone again."
            if not asks and self.view.waiting:
                text += " What waits still waits: v."
            self.view = replace(self.view, review=asks, note=Note(text, "good"))

    def action_review(self) -> None:
        """Look at what waits for the reader's word."""
        from tui.screens.review import ReviewScreen

        if self.host.game is not None:
            self.host.pacer.hurry()
            self.note_read()
            self.app.push_screen(ReviewScreen(self, self.host.game))

    def action_nothing_waits(self) -> None:
        """Say so, and how something could."""
        how = "" if self.view.review else " V makes handoffs ask you first."
        self.view = replace(self.view, note=Note(f"Nothing waits for your word.{how}"))

    def action_memory(self) -> None:
        """Look at what left the memory of the chosen one."""
        from tui.screens.memory import MemoryScreen

        if self.host.game is not None and self.has_mind(self.view.chosen, "It has no memory."):
            self.host.pacer.hurry()
            self.note_read()
            self.app.push_screen(MemoryScreen(self.host.game, self.view.chosen or "", plain(self.view.name(self.view.chosen))))

    def action_sessions(self) -> None:
        """Look at what the chosen one has gathered of others."""
        from tui.screens.sessions import SessionsScreen

        if self.host.game is not None:
            self.note_read()
            self.app.push_screen(SessionsScreen(self.host, agent=self.view.chosen))

    def action_knowledge(self) -> None:
        """Look at what the chosen one knows, and at what waits for a word."""
        from tui.panes.known_reading import Whose
        from tui.screens.knowledge import KnowledgeScreen

        game, chosen = self.host.game, self.view.chosen
        if game is not None:
            self.note_read()
            minded = chosen is not None and game.world.entities[chosen].agent
            self.app.push_screen(KnowledgeScreen(self.host, Whose("entity", chosen or "") if minded else Whose()))

    def action_audit(self) -> None:
        """Look at every change to sessions and knowledge."""
        from tui.screens.audit import AuditScreen

        if self.host.game is not None:
            self.note_read()
            self.app.push_screen(AuditScreen(self.host))

    # by hand

    @work(group="by-hand")
    async def action_add_memory(self) -> None:
        """Give the chosen one a memory in the reader's words."""
        game, owner = self.host.game, self.view.chosen
        if game is None or owner is None or not self.has_mind(owner, "It has no memory."):
            return

        async def keep(draft: Draft) -> str:
            try:
                people = people_called(game, owner, draft.people, self.view.names)
                await game.memory.add_memory(owner, draft.text, importance=draft.importance, quotes=draft.quotes, involved=people)
            except OthermindsError as error:
                return str(error)
            return ""

        dialog = MemoryDialog(f"A new memory of {self.view.name(owner)}", Draft(), keep)
        if await self.app.push_screen_wait(dialog):
            self._changed(f"{capital(plain(self.view.name(owner)))} remembers it from now on.")

    @on(LedgerPane.EditWanted)
    def _edit(self, event: LedgerPane.EditWanted) -> None:
        self.edit_memory(event)

    @work(group="by-hand")
    async def edit_memory(self, event: LedgerPane.EditWanted) -> None:
        """Ask for other words."""
        game, line = self.host.game, event.line
        if game is None:
            return
        entry, owner = line.entry, line.entry.owner_id
        before = draft_of(line.text, entry.quotes, entry.importance, ", ".join(line.people))

        async def keep(draft: Draft) -> str:
            try:
                edit = MemoryEdit(
                    content=draft.text if draft.text != before.text else None,
                    quotes=draft.quotes if draft.quotes != before.quotes else None, importance=draft.importance,
                    involved=people_called(game, owner, draft.people, self.view.names) if draft.people != before.people else None,
                )
                await game.memory.edit_memory(entry.id, edit)
            except OthermindsError as error:
                return str(error)
            return ""

        dialog = MemoryDialog(f"A memory of {self.view.name(owner)}", before, keep)
        if await self.app.push_screen_wait(dialog):
            self._changed("Changed. What it said before is kept: enter shows it.")

    @on(LedgerPane.RemovalWanted)
    def _remove(self, event: LedgerPane.RemovalWanted) -> None:
        self.remove_memory(event)

    @work(group="by-hand")
    async def remove_memory(self, event: LedgerPane.RemovalWanted) -> None:
        """Take a memory away, once the reader has said so."""
        game, line = self.host.game, event.line
        question = f"{plain(line.text)}\n\nIt leaves the ledger and no longer comes to mind. f can put it back."
        if game is None or not await self.app.push_screen_wait(ConfirmDialog("Remove this memory?", question, "remove it")):
            return
        with self._telling():
            await game.memory.remove_memory(line.entry.id)
            self._changed("Removed from the ledger. f shows it and can put it back.")

    def _changed(self, text: str) -> None:
        self.host.pacer.hurry()
        self.view = replace(self.view, note=Note(text, "good"))
        self._stale |= {"ledger", "prompt"}

    # origins

    @on(LedgerPane.OriginWanted)
    def _origin(self, event: LedgerPane.OriginWanted) -> None:
        self.read_origin(event.entry)

    @work(group="origin", exclusive=True)
    async def read_origin(self, entry: LedgerId) -> None:
        """Read where a memory comes from."""
        game = self.host.game
        if game is not None:
            with self._telling():
                self.ledger.show_origin(await game.memory.provenance(entry))

    @on(PromptPane.PoolWanted)
    def _pool(self, event: PromptPane.PoolWanted) -> None:
        self.read_pool(event.owner)

    @work(group="origin", exclusive=True)
    async def read_pool(self, owner: EntityId) -> None:
        """Read what the memories say that were looked at for the prompt."""
        game = self.host.game
        if game is not None:
            with self._telling():
                self.prompt.show_pool({line.entry.id: line.text for line in await game.ledger(owner)})


def people_called(game: "Game", owner: EntityId, names: str, others: Mapping[EntityId, str]) -> tuple[EntityId, ...]:
    """Those whom `owner` calls by these names, which stand with commas between them, or who are called so in `others`: by the reader.
    Raises `CommandError`."""
    known: dict[str, EntityId] = {}
    for entity in sorted(game.world.entities):
        for name in (game.name(entity, owner), others.get(entity, "")):
            known.setdefault(plain(name).casefold(), entity)
    found = []
    for name in (part.strip() for part in names.split(",")):
        if name and name.casefold() not in known:
            raise CommandError(f"Nobody is called “{name}”.", "Write names as the owner of the memory uses them, with commas between.")
        if name:
            found.append(known[name.casefold()])
    return tuple(dict.fromkeys(found))
