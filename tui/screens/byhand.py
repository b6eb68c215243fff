"""What a reader does by hand on the Play screen: choose a mind, take somebody over, pin, rename."""

from dataclasses import replace

from textual import getters, on, work

from engine.errors import OthermindsError
from engine.records.base import EntityId
from tui.dialogs.alias import AliasDialog
from tui.panes.buffer import BufferPane
from tui.panes.people import PeoplePane
from tui.screens.reading import ReadingScreen
from tui.text import capital, plain
from tui.view import Note


class ByHandScreen(ReadingScreen):
    """Actions on minds. Each goes through the game and is then read anew."""

    people = getters.query_one(PeoplePane)

    def action_write(self) -> None:
        """Go to the line one writes in."""
        self.story.say.focus()

    def choose(self, entity: EntityId) -> None:
        """Show this mind from now on, whoever has a handoff."""
        self.note_read()
        self.host.chosen = entity
        self.view = replace(self.view, chosen=entity, by_hand=True)
        self.read({"ledger", "prompt"}) if not len(self.host.pacer) else self.read_ledger()

    @on(PeoplePane.Chosen)
    def _chosen(self, event: PeoplePane.Chosen) -> None:
        if self.has_mind(event.entity, "It has no mind to show."):
            self.choose(event.entity)

    def has_mind(self, entity: EntityId | None, otherwise: str) -> bool:
        """Whether it is somebody who perceives, remembers and acts. If not, this is said, and `otherwise`."""
        game = self.host.game
        if game is None or entity is None:
            return False
        if game.world.entities[entity].agent:
            return True
        self.view = replace(self.view, note=Note(f"{capital(plain(self.view.name(entity)))} is a thing. {otherwise}", "bad"))
        return False

    def action_take_over(self) -> None:
        """Play whom the cursor is on, or the chosen one."""
        game = self.host.game
        wanted = self.people.cursor if self.people.has_focus_within else self.view.chosen
        if game is None or wanted is None:
            return
        if self.has_mind(wanted, "It cannot act: choose one of the people."):
            self.play_as(wanted)

    def action_let_go(self) -> None:
        """Watch again."""
        self.play_as(None)

    @work(group="play-as", exclusive=True)
    async def play_as(self, entity: EntityId | None) -> None:
        """Take over an entity, or let go, once the running round is over."""
        game = self.host.game
        if game is None:
            return
        if self.host.running:
            self.view = replace(self.view, note=Note("After this round…"))
            await self.host.rest()
        was = self.view.played
        game.play_as(entity)
        self.view = replace(
            self.view, played=entity, chosen=entity or self.view.chosen, by_hand=True, names=self._names(entity),
            note=Note(
                f"You are {plain(game.name(entity))}. Write what you do; escape leaves the line." if entity
                else f"{plain(game.name(was)) if was else 'Everybody'} acts alone again. You are watching."
            ),
        )
        self.host.chosen = self.view.chosen
        self.read_story()
        self.read({"ledger", "prompt"})
        self.refresh_bindings()
        if entity is not None:
            self.action_write()
        elif self.story.say.has_focus:
            self.set_focus(self.story.rows)

    @on(BufferPane.PinToggled)
    def _pin(self, event: BufferPane.PinToggled) -> None:
        self.set_pin(event.entry, event.on)

    @work(group="by-hand")
    async def set_pin(self, entry: str, on: bool) -> None:
        """Pin an entry or let go of it."""
        game = self.host.game
        self.host.pacer.hurry()
        if game is None:
            return
        try:
            await game.set_pin(entry, on)
        except OthermindsError as error:
            self._problem(error)
        else:
            text = "Pinned: it stays until you let go." if on else "Let go: the next handoff may take it."
            self.view = replace(self.view, note=Note(text, "good"))
        self._stale |= {"mind", "prompt"}

    @work(group="by-hand")
    async def action_alias(self) -> None:
        """Ask what the chosen one shall call the entity under the cursor."""
        game, viewer, target = self.host.game, self.view.chosen, self.people.cursor
        if game is None or viewer is None or target is None or not self.has_mind(viewer, "It calls nobody anything."):
            return
        if viewer == target:
            self.view = replace(self.view, note=Note("Everybody is “you” to themselves. Choose somebody else.", "bad"))
            return
        who, whom = plain(self.view.name(viewer)), plain(self.view.name(target))  # as the reader knows them: a player hears no true names
        changes, alias = await game.alias_changes(viewer, target), game.world.entities[viewer].aliases.get(target, "")
        dialog = AliasDialog(who, whom, alias, game.name(target, viewer), changes)
        answer = await self.app.push_screen_wait(dialog)
        if answer is None or answer == alias or self.host.game is not game:
            return
        self.host.pacer.hurry()
        try:
            await game.set_alias(viewer, target, answer)
        except OthermindsError as error:
            self._problem(error)
        else:
            text = f"{capital(who)} calls {whom} “{plain(game.name(target, viewer))}” from now on."
            self.view = replace(self.view, note=Note(text, "good"))
        self.view = replace(self.view, world=game.world, names=self._names(self.view.played))
        self._stale |= {"mind", "ledger", "prompt"}
        self.read_story()

    def _problem(self, error: OthermindsError) -> None:
        self.say_problem(str(error))
