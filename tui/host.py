"""Keeps the open game and the round that is being played, outside of the app, so that no way of leaving it cuts a beat short."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.errors import OthermindsError
from engine.folders import data_folder
from tui.calls import CallBook
from tui.pace import Heard, Pacer, Refused, Rested
from tui.run import Run
from tui.saves import SaveNote, SaveShelf

if TYPE_CHECKING:
    from engine.events import EngineEvent
    from engine.game import Game, StoryLine
    from engine.records.base import EntityId
    from engine.records.history import Preview
    from engine.setup import Setup
    from tui.models_view import Desk

_TOLD_LIMIT = 12
"""Perceivers of one event that get their own telling at once. Those of larger crowds are told when somebody looks."""


class Games(Protocol):
    """How games come to be."""

    stand_in: bool
    """Whether the next one is played by what is built in while settings cannot be used."""
    asks: bool
    """Whether in the next one each call to a model waits for the reader's word, those too that are begun because it is opened."""

    @property
    def recording(self) -> Path | None:
        """The tape that the game opened last is recorded on."""

    async def create(self, world: Path, save: Path, seed: int | None) -> "Game":
        """A new game."""

    async def open(self, save: Path) -> "Game":
        """A game that goes on."""

    async def models(self) -> "Desk":
        """A desk of models without a game."""


class EngineGames:
    """The engine's games. The engine is imported at the first one, in a thread: the screen is already there."""

    stand_in = asks = False

    @property
    def recording(self) -> Path | None:
        """None: they are not recorded."""
        return None

    async def create(self, world: Path, save: Path, seed: int | None) -> "Game":
        """Start a new save."""
        game, setup = await asyncio.to_thread(engine_parts)
        return await game.create(world, save, seed, setup=setup(stand_in=self.stand_in, asks=self.asks, backups=True))

    async def open(self, save: Path) -> "Game":
        """Go on with a save."""
        game, setup = await asyncio.to_thread(engine_parts)
        return await game.open(save, setup=setup(stand_in=self.stand_in, asks=self.asks, backups=True))

    async def models(self) -> "Desk":
        """The settings of models, as they are now."""
        return await asyncio.to_thread(_open_desk)


def engine_parts() -> "tuple[type[Game], type[Setup]]":
    """What games are opened with, imported when it is called."""
    from engine.game import Game
    from engine.setup import Setup

    return Game, Setup


def _open_desk() -> "Desk":
    from engine.model_desk import ModelDesk
    from engine.setup import Setup

    return ModelDesk(setup=Setup(stand_in=True))


class GameHost:
    """Owner of the game. Lives as long as the program; screens come and go."""

    def __init__(
        self, folder: Path | None = None, games: Games | None = None, speed: float = 0.25, clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.shelf = SaveShelf(folder if folder is not None else data_folder())
        self.pacer = Pacer(speed)
        self.game: Game | None = None
        self.stand_in = False
        """Whether games that are opened from now on are played by what is built in while settings cannot be used."""
        self._desk: Desk | None = None
        """Of models, while no game is open that has one of its own."""
        self.chosen: EntityId | None = None
        """Whose mind is on the screen: it is told what happens even in a crowd."""
        self.bug: BaseException | None = None
        """An error that nobody expected. The screen raises it."""
        self.asks = False
        """Whether each call to a model waits for the reader's word."""
        self.calls = CallBook(clock)
        """Calls to models, as they are now."""
        self._games: Games = games or EngineGames()
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._run: Run | None = None
        self._asked: set[str] = set()
        """Proposals that were told of: one of which a part has changed is no news."""
        self._shown = asyncio.Event()
        self._shown.set()

    # models

    async def models(self) -> "Desk":
        """The desk of models: that of the open game, or one without a game, made when it is first asked for. Raises `SettingsError`."""
        if self.game is not None:
            return self.game.models
        if self._desk is None:
            self._desk = await self._games.models()
        return self._desk

    # opening and closing

    async def open_new(self, world: Path, seed: int | None = None) -> "Game":
        """Start a new save of a world in the saves folder. Closes what was open. Raises `OthermindsError`."""
        return await self._open(lambda: self._games.create(world, self.shelf.new_path(world), seed))

    async def open_save(self, save: Path) -> "Game":
        """Go on with a save, as whom one played last. Closes what was open. Raises `OthermindsError`."""
        game = await self._open(lambda: self._games.open(save))
        played = self.shelf.note(save).played
        if game.played is None and played in game.world.entities and game.world.entities[played].agent:
            game.play_as(played)
        return game

    async def _open(self, start: "Callable[[], Awaitable[Game]]") -> "Game":
        await self.close()
        self._games.stand_in, self._games.asks = self.stand_in, self.asks
        try:
            game = await start()
        except OSError as error:
            raise OthermindsError(f"The save cannot be written: {error}.", "Set OTHERMINDS_HOME to a folder you can write to.") from error
        try:
            self._asked = {pending.id for pending in await game.memory.pending()}
        except BaseException:
            await game.close()
            raise
        self.calls.clear()
        for call in game.models.calls.now:  # what was begun because it was opened
            self.calls.hear(call)
        game.listen(self._hear)
        self.game = game
        if self._desk is not None:  # the game's desk may change settings that this one has read
            self._desk.close()
            self._desk = None
        return game

    async def close(self) -> None:
        """Stop what runs, let its transaction end, and give the save back. Safe to call twice and after a crash."""
        await self.stop()
        if self._desk is not None:
            self._desk.close()
        game, self.game = self.game, None
        self.pacer.hurry()
        self.pacer.take(self._clock())
        self._shown.set()
        if game is not None:
            await self._note(game)
            await game.close()

    # playing

    @property
    def running(self) -> bool:
        """Whether a round is being played or shown."""
        return self._task is not None

    @property
    def recording(self) -> Path | None:
        """The tape that the open game is recorded on."""
        return self._games.recording if self.game is not None else None

    @property
    def left(self) -> int:
        """Rounds still to begin after this one."""
        return self._run.left if self._run else 0

    @property
    def waits(self) -> tuple[str, ...]:
        """What each text waits for that was written and is not done yet."""
        return self._run.waits if self._run else ()

    def start_step(self, text: str = "", rounds: int = 1) -> None:
        """Play rounds. `text` is what the played entity does in the first. While rounds run they are added; a text then waits for one."""
        if self.game is None:
            return
        if self._task is not None and self._run is not None:
            self._run.left += rounds
            self._run.wanted += rounds
            if text:
                self._run.texts.append(text)
            return
        self._run = Run.of(rounds, text)
        self._task = asyncio.create_task(self._play(self.game, self._run), name="otherminds-rounds")
        self._task.add_done_callback(self._ended)

    def pause(self) -> None:
        """Come to rest after the round that runs."""
        if self._run is not None and self._run.left:
            self._run.left, self._run.paused = 0, True

    async def stop(self) -> None:
        """Stop at once. The beat that runs is not consumed; a transaction under way is finished first."""
        if (task := self._task) is not None:
            if self._run is not None:
                self._run.stopped = True
            task.cancel()
            await asyncio.wait({task})
        if self.game is not None:
            self.game.models.calls.decline()  # those that are made beside play

    async def undo(self, shown: "Preview | None" = None) -> None:
        """Take back what a preview shows, else the last step. Raises `OthermindsError`, also while a round is played."""
        if (game := self.game) is not None:
            await self._turn(game, shown or await game.history.preview())

    async def redo(self, shown: "Preview | None" = None) -> None:
        """Bring again what a preview shows, else what was taken back last. Raises as `undo`."""
        if (game := self.game) is not None:
            await self._turn(game, shown or await game.history.preview_redo())

    async def _turn(self, game: "Game", shown: "Preview") -> None:
        await game.history.turn(shown)
        self._asked = {pending.id for pending in await game.memory.pending()}
        await self._note(game)

    def ask_first(self, on: bool) -> None:
        """Let each call to a model wait for the reader's word, or let all go out. It holds for games that are opened later too."""
        self.asks = on
        if self.game is not None:
            self.game.models.calls.ask_first(on)

    async def rest(self) -> None:
        """Come to rest after the running round, without waiting for the reader's eye."""
        self.pause()
        if (task := self._task) is not None:
            speed, self.pacer.speed = self.pacer.speed, 0.0
            try:
                await asyncio.wait({task})
            finally:
                self.pacer.speed = speed

    async def _play(self, game: "Game", run: Run) -> None:
        try:
            while run.left > 0:
                report = await game.step(run.begin())
                run.done += not report.paused
                run.promoted += report.handoffs
                run.failed += report.failed_beats
                await self._until_shown()
                if (rested := run.barred(report)) is not None:
                    self.pacer.put(rested)
                    break
            else:
                self.pacer.put(run.rested("asked" if run.asked else "paused" if run.paused else "done"))
        except OthermindsError as error:
            self.pacer.put(run.refused(error))
        except asyncio.CancelledError:
            self.pacer.put(run.rested("stopped"))
            if not run.stopped:
                raise
        await self._note(game)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._task = self._run = None
        if not task.cancelled() and (error := task.exception()) is not None:
            self.bug = error

    async def _until_shown(self) -> None:
        """Wait for the reader's eye: play is never more than a round ahead of what is shown."""
        if len(self.pacer):
            self._shown.clear()
            await self._shown.wait()

    async def _note(self, game: "Game") -> None:
        """Write what Home shows of this save."""
        try:
            lines = await game.story(game.played, limit=8)
            waiting = len(await game.memory.pending())
        except OthermindsError:
            return
        world = game.world
        note = SaveNote(
            world=world.name, round=world.round, now=date_words(world.now), played=game.played or "",
            played_name=game.name(game.played) if game.played else "", lines=tuple(line.text for line in lines),
            waiting=waiting,
        )
        self.shelf.write_note(game.path, note)

    # hearing
    def take(self) -> list[Heard | Rested | Refused]:
        """What may be shown now. An unexpected error of a round is raised here, on the screen's side."""
        if self.bug is not None:
            error, self.bug = self.bug, None
            raise error
        items = self.pacer.take(self._clock())
        if not len(self.pacer):
            self._shown.set()
        return items

    def _hear(self, event: "EngineEvent") -> None:
        if event.kind == "call_changed":
            self.calls.hear(event.call)
            if event.call.state == "held":
                self.pacer.hurry()  # one judges a prompt by what has happened
            return
        if self._run is not None and self.game is not None:
            self._run.hear(event, self.game.played)
        if event.kind == "handoff_proposed" and event.pending.id not in self._asked:
            self._asked.add(event.pending.id)
            if self._run is not None:
                self._run.left, self._run.asked = 0, True
        told: dict[EntityId | None, StoryLine] = {}
        if self.game is not None and event.kind == "happened":
            owners = [entry.owner_id for entry in event.entries]
            if len(owners) > _TOLD_LIMIT:
                owners = [owner for owner in owners if owner in (self.chosen, self.game.played)]
            for viewer in (None, *owners):
                if (line := self.game.tell(event, viewer)) is not None:
                    told[viewer] = line
        self.pacer.put(Heard(event, told))


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)


def date_words(now: datetime) -> str:
    """World time for people: `1 March 1247, 18:05`. Not by locale."""
    return f"{now.day} {_MONTHS[now.month - 1]} {now.year}, {now.hour:02}:{now.minute:02}"
