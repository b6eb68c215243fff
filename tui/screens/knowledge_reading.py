"""How the Knowledge screen reads and shows: three shelves, the piece under the cursor in full, all anew when something changes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from textual import getters, on, work
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from engine.errors import KnowledgeError, OthermindsError
from engine.records.base import EntityId
from tui.host import GameHost
from tui.panes.known import MORE, ORDER, SHELVES, Item, KnownList, Shelf, key_of, row_of
from tui.panes.known_ask import AskBox, asked_who, nearest
from tui.panes.known_detail import detail_rows
from tui.panes.known_reading import Asked, Page, Whose, read
from tui.panes.known_source import known_in_full
from tui.panes.paragraphs import quiet
from tui.panes.rows import Row, RowList
from tui.screens.knowledge_words import empty_words, how_to_ask, problem_words, title_words
from tui.screens.playbars import said
from tui.text import capital, plain
from tui.view import Note

if TYPE_CHECKING:
    from engine.events import EngineEvent
    from engine.game import Game
    from engine.knowledge_views import BeliefLine, ReviewLine
    from engine.memory.knowledge.history import Question

PAGE = 100
"""Rows that are shown before one asks for more: as many as are divided into lines within a few hundredths of a second."""
_NEWS = frozenset({"knowledge_changed", "promotion_committed", "session_collapsed", "factions_changed", "history_moved", "alias"})
_REST = 0.2
"""Seconds in which events are gathered before the shelves are read anew."""
_KEYS = 0.1
"""Seconds without a key after which what was typed is looked for."""


class ShelvesScreen(Screen[None]):
    """Holds what was read and shows it. What can be done with it is its subclasses' matter."""

    entries = getters.query_one("#shelf", KnownList)
    detail = getters.query_one("#detail", RowList)
    line = getters.query_one("#filter", Input)
    box = getters.query_one(AskBox)

    def __init__(self, host: GameHost, whose: Whose | None = None) -> None:
        """`whose` knowledge is looked at first: that of the chosen entity when it is None."""
        super().__init__()
        self.host = host
        self.narrated = False
        """Whether one reads true names though one plays somebody."""
        chosen = host.chosen
        self.asked = Asked(whose or (Whose("entity", chosen) if chosen else Whose()))
        self.shelf: Shelf = "known"
        self.page = Page(())
        self.queue: Sequence[ReviewLine] = ()
        self.answer: Sequence[BeliefLine] = ()
        self.question: Question | None = None
        self.problem = ""
        """Why there is no answer."""
        self._shown = PAGE
        self._reading = True
        self._from_top = False
        """Whether something else is looked for: its list begins at its top."""
        self._made: dict[str, tuple[Item, Row]] = {}
        self._cursors: dict[Shelf, str] = {}
        self.wanted = ""
        """The key of a piece to go to once it has been read."""
        self._told = ""
        """The key of the piece that is shown in full."""
        self._due = False
        self._unlisten: Callable[[], None] | None = None

    @property
    def alive(self) -> bool:
        """Whether there is anything to draw on: leaving takes the panes away before it ends what the screen still does."""
        return self.is_attached and len(self.query("#known-head, #shelf, #detail, #whose, #known-note")) == 5

    # who looks

    @property
    def game(self) -> "Game":
        """The game that is open for as long as this screen is."""
        assert self.host.game is not None
        return self.host.game

    @property
    def viewer(self) -> EntityId | None:
        """In whose names things are told: of whom one plays, unless one looks as the narrator."""
        return None if self.narrated else self.game.played

    def called(self, entity: EntityId) -> str:
        """What the reader calls somebody."""
        if entity not in self.game.world.entities:
            return entity
        return self.game.name(entity, None if entity == self.viewer else self.viewer)

    def names(self) -> Mapping[EntityId, str]:
        """What the reader calls everybody and everything."""
        return {entity: self.called(entity) for entity in self.game.world.entities}

    # hearing

    def listen(self) -> None:
        """Follow the game from now on."""
        self._unlisten = self.game.listen(self.hear)

    def on_unmount(self) -> None:
        """Follow it no more."""
        if self._unlisten is not None:
            self._unlisten()
            self._unlisten = None

    def hear(self, event: "EngineEvent") -> None:
        """Read anew in a moment when knowledge has changed: a collapse tells of many pieces at once."""
        if event.kind == "history_moved" and self.is_mounted:
            told = f"Taken back: {event.text}. U brings it again." if event.back else f"Brought again: {event.text}."
            self.call_later(self.say, told, "good")
        if event.kind in _NEWS and not self._due and self.is_mounted:
            self._due = True
            self.set_timer(_REST, self._catch_up)

    def _catch_up(self) -> None:
        self._due = False
        self.read()

    # reading

    @work(group="known", exclusive=True)
    async def read(self, typing: bool = False) -> None:
        """Read what the reader looks at anew, as far as it was shown. While one is `typing`, once no further key follows."""
        if typing:
            await asyncio.sleep(_KEYS)
        try:
            page = await read(self.game.knowledge, self.asked, self.viewer, self._shown)
            queue = await self.game.knowledge.queue(self.viewer)
            if self.question is not None:
                self.answer = await self._answered(self.question)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        self.page, self.queue, self._reading = page, queue, False
        self.draw_shelf()
        if self._from_top and self.alive:
            self._from_top = False
            self.entries.action_first()

    @work(group="known", exclusive=True)
    async def read_on(self) -> None:
        """Read the next page and go on there."""
        page = self.page
        try:
            more = await read(self.game.knowledge, self.asked, self.viewer, PAGE, page.after)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        self.page = Page((*page.items, *more.items), more.after, more.more)
        self._shown = len(self.page.items)
        self.draw_shelf()
        if more.items and self.alive:
            self.entries.bring(key_of(more.items[0]))

    async def _answered(self, asked: "Question") -> "Sequence[BeliefLine]":
        return await self.game.knowledge.answer(asked, self.viewer)

    @work(group="asking", exclusive=True)
    async def ask(self, text: str) -> None:
        """Look for the answer to a question in words."""
        self.problem = ""
        try:
            asked = self.game.knowledge.question(text, self.viewer)
            self.question, self.answer = asked, await self._answered(asked)
        except OthermindsError as error:
            self.question, self.answer = None, ()
            self.problem = f"{error.args[0]} {how_to_ask(self)}" if getattr(error, "kind", "") == "unclear" else str(error)
            if isinstance(error, KnowledgeError) and error.kind == "unknown_entity":
                self.problem = f"{error.args[0]} {nearest(asked_who(text), [self.called(one.id) for one in self.game.world.agents()])}"
        else:
            if not self.alive:
                return
            who = self.called(asked.entity) if asked.entity else "anybody"
            self.box.fill(who, self.called(asked.about) if asked.about else asked.query, asked.round)
            self.problem = problem_words(self)
        self.draw_shelf()
        if self.answer and self.shelf == "asked" and self.alive:
            self.entries.focus()
            self.entries.action_first()

    # showing

    def items(self) -> Sequence[Item]:
        """What stands on the shelf in sight."""
        return {"known": self.page.items, "review": self.queue, "asked": self.answer}[self.shelf]

    @property
    def under(self) -> Item | None:
        """What is under the cursor."""
        known = self._made.get(self.entries.cursor)
        return known[0] if known else None

    def draw_shelf(self) -> None:
        """Show the shelf as it was read."""
        if not self.alive:
            return
        self._head()
        self._made = {key_of(item): self._row(item) for item in self.items()}
        rows = [row for _, row in self._made.values()]
        if self.shelf == "known" and self.page.more:
            rows.append(Row(Content.styled(f"more below, after {len(self.page.items):,}", ".key"), key=MORE, lead=Content("     ")))
        if not rows:
            words = "Looking…" if self._reading else self.problem if self.shelf == "asked" and self.problem else empty_words(self)
            rows = [quiet(words)]
        self.entries.show(rows)
        if self.wanted in self._made:
            self.entries.bring(self.wanted)
            self.wanted = ""
        if self.entries.has_focus:
            self.entries.begin()
        self.entitle()
        self.describe(anew=True)
        self.refresh_bindings()

    def _row(self, item: Item) -> tuple[Item, Row]:
        """An item with its row, the one made before if it still says the same."""
        known = self._made.get(key_of(item))
        return known if known is not None and known[0] == item else (item, row_of(item, self._holder()))

    def _holder(self) -> str:
        """Whose all of the shelf is, unless something else is said of a piece."""
        whose = self.asked.whose
        if self.shelf == "asked" and self.question is not None:
            return self._holding(self.question.entity) if self.question.entity else ""
        return {"entity": self._holding(whose.key), "faction": f"the faction {whose.key}", "world": "everybody"}.get(whose.scope, "")

    def _holding(self, entity: EntityId) -> str:
        """How pieces call somebody who holds them."""
        return "you" if entity == self.viewer else self.called(entity)

    def asking_names(self) -> list[str]:
        """By which names somebody can be asked about, "you" first when one plays."""
        return [*(["you"] if self.viewer else []), *self.names().values()]

    def _head(self) -> None:
        parts = [Content.styled("Knowledge  ", ".head")]
        plus = "+" if self.page.more else ""
        held = {"known": f"{len(self.page.items):,}{plus}", "review": f"{len(self.queue):,}", "asked": f"{len(self.answer):,}"}
        for number, shelf in enumerate(ORDER, 1):
            label = f"{number} {SHELVES[shelf]}{'' if self._reading or (shelf == 'asked' and self.question is None) else f' {held[shelf]}'}"
            here = shelf == self.shelf
            parts.append(Content.styled(f"[{label}]" if here else f" {label} ", ".key" if here else ".quiet"))
        if self.game.played:
            who = "in true names" if self.narrated else f"in the names that {plain(self.game.name(self.game.played))} has for people"
            parts.append(Content.styled(f"  {who}", ".quiet"))
        self.query_one("#known-head", Static).update(Content("").join(parts), layout=False)

    def entitle(self) -> None:
        """Say in the frame whose knowledge it is and what is left out."""
        number = len(self.items())
        self.entries.border_title = Content(title_words(self))
        self.entries.border_subtitle = Content(f"{number:,}{'+' if self.shelf == 'known' and self.page.more else ''}" if number else "")

    # in full

    @on(RowList.Moved, "#shelf")
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.key == MORE:
            self.read_on()
            return
        self.describe()
        self.refresh_bindings()

    def describe(self, anew: bool = False) -> None:
        """Tell what is under the cursor in full."""
        item = self.under
        key = key_of(item) if item is not None else ""
        if item is None:
            self._told = ""
            self.workers.cancel_group(self, "in-full")
            self.detail.border_title = Content("In full")
            self.detail.show([])
        elif anew or key != self._told:
            self.read_detail(key, anew and key == self._told)

    @work(group="in-full", exclusive=True)
    async def read_detail(self, key: str, stay: bool) -> None:
        """Read a piece in full; with `stay` the place one has come to is kept."""
        game, viewer = self.game, self.viewer
        try:
            known = await known_in_full(game, key, viewer, self.called)
        except OthermindsError as error:
            if self.alive:
                self.detail.show([quiet(capital(plain(str(error))))])
            return
        if not self.alive:
            return
        self._told = key
        self.detail.border_title = Content("In full" if known.past.line else "No more")
        self.detail.show([*self.before_detail(), *detail_rows(known, game.policies.lifecycle, game.world.now)])
        if not stay:
            self.detail.cursor = ""
            self.detail.scroll_home(animate=False)

    def before_detail(self) -> list[Row]:
        """What is told before the piece itself: why it waits, how it read at the round asked for."""
        return []

    # shelves and words

    def go_to(self, shelf: Shelf) -> None:
        """Another shelf, where one was on it."""
        self._cursors[self.shelf] = self.entries.cursor
        self.shelf, self._made, self._told = shelf, {}, ""
        self.box.display = shelf == "asked"
        self.query_one("#filter-line").display = shelf == "known" and bool(self.line.value)
        self.say("")
        self.entries.show([])
        self.entries.set_reactive(KnownList.cursor, self._cursors.get(shelf, ""))
        self.draw_shelf()
        if shelf == "asked" and not self.answer:
            self.box.line.focus()
        else:
            self.entries.focus()

    def look_for(self, asked: Asked, typing: bool = False) -> None:
        """Look for something else."""
        if asked != self.asked:
            self._made = {} if asked.whose != self.asked.whose else self._made
            self.asked, self._shown, self._from_top = asked, PAGE, True
            self.read(typing)

    def say(self, text: str, kind: Literal["plain", "good", "bad"] = "plain") -> None:
        """Say it in the last line but one; over the screen too when it is too long for that."""
        if not self.alive:
            return
        if len(text) > self.size.width - 4:
            self.notify(plain(text), severity="warning" if kind == "bad" else "information", markup=False)
        self.query_one("#known-note", Static).update(said(Note(text, kind)), layout=False)
