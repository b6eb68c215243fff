"""How the Play screen reads the game: it shows what has happened as it happens, and reads panes anew when play rests."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import getters, work
from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer

from engine.errors import OthermindsError
from engine.events import (
    AliasLearned,
    BeatFailed,
    Called,
    EngineEvent,
    HandoffCommitted,
    HandoffFailed,
    Happened,
    MemoryChanged,
    Paused,
    Trouble,
)
from engine.records.base import EntityId
from tui.host import GameHost
from tui.minds import Mind
from tui.pace import Heard, Refused, Rested
from tui.panes.ledger import LedgerPane
from tui.panes.prompt import PromptPane
from tui.panes.story import Aside, StoryPane
from tui.resting import rest_note
from tui.standing import standing
from tui.text import plain
from tui.view import Note, WorldView, aside, fold, resting, settled
from tui.weave import woven
from tui.wording import capped, named, tally

if TYPE_CHECKING:
    from engine.game import StoryLine

_RATE = 1 / 15
NOTE_SECONDS = {"plain": 8.0, "good": 8.0, "bad": 20.0}
"""For which a note is shown that does not last."""
FRESH_SECONDS = 6.0
"""Seconds for which a new memory is marked."""
_LINES = 500
"""Lines of the story that are read when a game is opened."""
_MINDS = 60
"""Agents whose minds are read when a game is opened; others when they are chosen."""


class ReadingScreen(Screen[None]):
    """Holds the view and keeps it true. What it draws on and which keys there are is its subclass's matter."""

    view: reactive[WorldView] = reactive(WorldView(), repaint=False)
    story = getters.query_one(StoryPane)
    ledger = getters.query_one(LedgerPane)
    prompt = getters.query_one(PromptPane)

    def __init__(self, host: GameHost) -> None:
        super().__init__()
        self.host = host
        self._stale: set[str] = set()
        self._tallies: list[str] = []
        self._rested_at: object = None
        """The round at which play came to rest last."""
        self._settling = 0
        self._shown = 0
        """How many things that happened have been shown."""
        self.ticker: Timer | None = None
        """Calls `tick`. Pictures and tests may stop it and tick by hand."""

    # opening

    def start(self) -> None:
        """Show the game that is open, and follow it."""
        game = self.host.game
        if game is None:
            return
        agents = game.world.agents()
        chosen = game.played or (agents[0].id if agents else None)
        view = WorldView(game.world, self._names(game.played), {}, chosen, game.played is not None, played=game.played)
        self.view = replace(self.with_models(view), note=resting(view))
        self.host.chosen = chosen
        self.host.pacer.interest = lambda entity, starting: self.view.follows(entity, starting)
        self.ticker = self.set_interval(_RATE, self.tick)
        self.read_story()
        self.read_minds()
        self.read_waiting()
        self.read({"ledger", "prompt"})

    def _names(self, viewer: EntityId | None) -> dict[EntityId, str]:
        game = self.host.game
        if game is None:
            return {}
        return {entity: game.name(entity, None if entity == viewer else viewer) for entity in game.world.entities}

    def with_models(self, view: WorldView) -> WorldView:
        """The view with who speaks, what was spent and how far caps are used up, as it is now."""
        return standing(view, self.host)

    # what is said

    def watch_view(self, old: WorldView, new: WorldView) -> None:
        """A note that does not last gives way after a while."""
        if new.note is not old.note and not new.note.lasting:
            self.set_timer(NOTE_SECONDS[new.note.kind], partial(self._give_way, new.note))

    def _give_way(self, note: Note) -> None:
        """Say what to do next instead of this note, unless something else is said already."""
        if self.view.note is note and not self.host.running:
            self.view = replace(self.view, note=resting(self.view))

    def note_read(self) -> None:
        """The reader goes on to something else: what was said of the last action gives way."""
        if not self.view.note.lasting:
            self._give_way(self.view.note)

    # following

    def tick(self) -> None:
        """Show what is due. About 15 times a second."""
        items = self.host.take()
        self._shown += len(items)
        view = self.view
        lines: list[StoryLine | Aside] = []
        for item in items:
            match item:
                case Heard():
                    view = self._heard(view, item, lines)
                case Rested():
                    view = self._rested(view, item)
                case Refused(text=text, reason=reason, capped=at_cap, advice=advice):
                    self.story.say.give_back(text)
                    words = f"{capped(playing=True)} {reason}" if at_cap else reason
                    view = replace(view, acting=None, prose="", model_note=None, note=self.problem_note(words, at_cap, advice))
        if any(isinstance(item, Heard) and isinstance(item.event, Called) for item in items):
            view = self.with_models(view)
        running = self.host.running
        if items or running != view.running:
            old = self.view
            self.view = replace(view, running=running)
            if lines:
                self.story.extend(lines)
            if old.chosen != view.chosen:
                self.host.chosen = view.chosen
                self._stale |= {"ledger"}
            if old.running != running or bool(old.waiting) != bool(view.waiting):
                self.refresh_bindings()
            self._stale |= {"mind", "prompt"}
            if "names" in self._stale and not len(self.host.pacer):
                self._stale = self._stale - {"names"} | {"ledger"}
            if "ledger" in self._stale and items:
                self._stale.discard("ledger")
                self.read_ledger()
        if not len(self.host.pacer):
            self._read_stale()

    def _read_stale(self) -> None:
        """Read anew what has changed. Nothing waits to be shown: what is read now is what has been shown."""
        if self.host.pacer.lost:
            self.host.pacer.lost = False
            self._stale.add("story")
            self.read_minds()
        stale, self._stale = self._stale, set()
        if "story" in stale:
            self.read_story()
        if "waiting" in stale:
            self.read_waiting()
        if stale - {"story"}:
            self.read(stale)

    def _heard(self, view: WorldView, item: Heard, lines: "list[StoryLine | Aside]") -> WorldView:
        event = item.event
        if isinstance(event, Happened) and (line := item.told.get(view.played)) is not None:
            lines.append(line)
        elif self._concerns(view, item) and (found := _said(view, event))[0]:
            world = view.world
            number, when = (world.round, f"{world.now:%H:%M}") if world else (0, "")
            lines.append(Aside(number, when, *found, bad=isinstance(event, BeatFailed | HandoffFailed | Paused | Trouble)))
        view = fold(view, event, item.told)
        if isinstance(event, HandoffCommitted):
            if self._concerns(view, item):
                self._tallies.append(tally(view.name(event.entity), event.run))
            if event.entity == view.chosen:
                self._settle_later()
                self.on_memories(len(event.ledger))
                self._stale.add("ledger")
        if event.kind in ("knowledge_changed", "promotion_committed", "history_moved"):  # other knowledge may wait now
            self._stale.add("waiting")
        if isinstance(event, MemoryChanged) and event.entity == view.chosen:
            self._settle_later()
            self._stale.add("ledger")
        if isinstance(event, AliasLearned) and event.change.viewer_id == view.chosen:
            self._stale.add("names")
        return view

    def _concerns(self, view: WorldView, item: Heard) -> bool:
        """Playing somebody, one reads of one's own mind only."""
        event = item.event
        owner = event.change.viewer_id if event.kind == "alias" else getattr(event, "entity", None)
        return view.played is None or owner is None or owner == view.played

    def on_memories(self, number: int) -> None:
        """Called when a handoff of the chosen entity that wrote `number` memories is shown."""

    def _rested(self, view: WorldView, item: Rested) -> WorldView:
        at = (view.world.round, view.world.now) if view.world else None  # a round that was gone on with has the number it had
        tallies, self._tallies = self._tallies, []
        self.story.say.give_back(item.text)
        note = rest_note(view, item, tallies, idle=at == self._rested_at)
        if note.lasting and note.kind == "bad" and not (self.is_current and self.story.display):  # the story tells all of it
            self.problem_note(note.text)
        self._rested_at = at
        return replace(view, acting=None, prose="", model_note=None, note=note)

    def problem_note(self, text: str, lasting: bool = False, advice: str = "") -> Note:
        """A note about what is wrong. When it is too long for its line, all of it is shown over the panes for a while."""
        if len(text) > self.size.width - 4:
            self.notify(plain(text), severity="warning", markup=False)
        return Note(text, "bad", lasting, advice)

    def say_problem(self, text: str) -> None:
        """Show what is wrong."""
        self.view = replace(self.view, note=self.problem_note(text))

    def _settle_later(self) -> None:
        self._settling += 1
        self.set_timer(FRESH_SECONDS, partial(self._settle, self._settling))

    def _settle(self, number: int) -> None:
        if number == self._settling:
            self.view = settled(self.view)

    # reading anew

    @work(group="read", exclusive=True)
    async def read(self, what: set[str]) -> None:
        """Read the world and the chosen mind as they are now, and of the ledger and the prompt what is asked for."""
        game, chosen = self.host.game, self.view.chosen
        if game is None or chosen is None:
            return
        with self._telling():
            seen = await game.buffer(chosen)
            if len(self.host.pacer):  # play has gone on: what is shown is behind it
                return
            mind = replace(Mind.of(seen), fresh=self.view.minds.get(chosen, Mind()).fresh)
            self.view = replace(self.view, world=game.world, minds={**self.view.minds, chosen: mind})
            if "ledger" in what:
                self.ledger.draw(chosen, await game.ledger(chosen))
            if "prompt" in what:
                await self.read_prompt()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Expected trouble is shown and play goes on; a bug still stops the app."""
        try:
            yield
        except OthermindsError as error:
            self.say_problem(str(error))

    def stop_reading(self) -> None:
        """Read no more: the game is about to be closed."""
        if self.ticker is not None:
            self.ticker.stop()
        for group in ("read", "ledger", "minds", "story", "waiting", "origin", "by-hand"):
            self.workers.cancel_group(self, group)

    async def read_prompt(self) -> None:
        """Preview the prompt, when its pane is in sight."""
        game, chosen = self.host.game, self.view.chosen
        if game is None or chosen is None:
            return
        if not self.prompt.display or chosen not in game.world.entities or not game.world.entities[chosen].agent:
            self._stale_prompt = True
            return
        self._stale_prompt = False
        prompt = await game.preview(chosen)
        self.prompt.draw(prompt, lambda entity: game.name(entity, chosen))
        problems, self._problems = self._problems, prompt.report.problems
        if new := [problem for problem in self._problems if problem not in problems]:
            self.say_problem(f"Left out of the prompt: {new[0]}")

    _stale_prompt = True
    _problems: tuple[str, ...] = ()
    """What was left out of the prompt that is shown."""

    @work(group="ledger", exclusive=True)
    async def read_ledger(self) -> None:
        """Read the ledger as far as its handoffs have been shown."""
        game, chosen = self.host.game, self.view.chosen
        if game is None or chosen is None:
            return
        with self._telling():
            lines = await game.ledger(chosen)
            unseen = self.host.pacer.unseen_memories()
            self.ledger.draw(chosen, [line for line in lines if line.entry.id not in unseen])

    @work(group="minds", exclusive=True)
    async def read_minds(self) -> None:
        """Read the minds of all agents once, so that a handoff can be watched from its first moment."""
        game = self.host.game
        if game is None:
            return
        with self._telling():
            for agent in game.world.agents()[:_MINDS]:
                seen = await game.buffer(agent.id)
                if not len(self.host.pacer):
                    self.view = replace(self.view, minds={**self.view.minds, agent.id: Mind.of(seen)})
                await asyncio.sleep(0)

    @work(group="waiting", exclusive=True)
    async def read_waiting(self) -> None:
        """Read what waits for the reader's word, and say so at once: an opened save may hold some."""
        game = self.host.game
        if game is None:
            return
        with self._telling():
            waiting = {one.proposal.owner_id: one for one in await game.memory.pending()}
            flagged = len(await game.knowledge.queue())
            view = replace(self.view, review=game.memory.review == "ask", waiting=waiting, flagged=flagged)
            self.view = replace(view, note=resting(view)) if waiting and not self.view.waiting else view
            self.refresh_bindings()

    @work(group="story", exclusive=True)
    async def read_story(self) -> None:
        """Read the story as the narrator or the played entity tells it."""
        game = self.host.game
        if game is None:
            return
        with self._telling():
            played, shown = self.view.played, self._shown
            lines = await game.story(played, _LINES)
            asides = await game.asides(played, lines[0].round if len(lines) == _LINES else 0)
            if len(self.host.pacer) or self._shown != shown:  # play has gone on: some of it is still to be shown, or was not read
                self._stale.add("story")
            else:
                self.story.restart(woven(lines, asides))


def _said(view: WorldView, event: EngineEvent) -> tuple[str, str]:
    """What the story tells of an event that is no story, and for whom it is so."""
    if isinstance(event, AliasLearned):
        return named(view.name(event.change.viewer_id), view.name(event.change.target_id), event.change) or ("", "")
    return aside(view, event), ""
