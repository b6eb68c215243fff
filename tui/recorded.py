"""Interactive games whose model calls are recorded."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from tui.host import EngineGames, engine_parts

if TYPE_CHECKING:
    from engine.game import Game
    from engine.llm.cassette import Recorder


class RecordedGames(EngineGames):
    """The engine's games. The first one is recorded on a tape, also when it is left and opened again; others that are opened
    meanwhile are not: a tape holds one game."""

    def __init__(self, tape: Path, *, going_on: bool) -> None:
        """`going_on` is whether the first game goes on with a save. Raises `TapeError` for a file that cannot be recorded on."""
        from engine.llm.cassette import Recorder

        self._tape = tape
        self._recorder: Recorder | None = Recorder(tape, going_on=going_on)
        self._save: Path | None = None
        """Of the game that is recorded."""

    @property
    def recording(self) -> Path | None:
        """The tape, while the game opened last is the one to record and the tape can be written."""
        return self._tape if self._recorder is not None and not self._recorder.fault else None

    async def create(self, world: Path, save: Path, seed: int | None) -> "Game":
        """Start a new save."""
        engine, setup = await asyncio.to_thread(engine_parts)
        game = await engine.create(world, save, seed, setup=setup(tape=self._for(save), stand_in=self.stand_in, asks=self.asks))
        self._opened(save)
        return game

    async def open(self, save: Path) -> "Game":
        """Go on with a save."""
        engine, setup = await asyncio.to_thread(engine_parts)
        game = await engine.open(save, setup=setup(tape=self._for(save), stand_in=self.stand_in, asks=self.asks))
        self._opened(save)
        return game

    def close(self) -> None:
        """Give the tape back."""
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    def _opened(self, save: Path) -> None:
        if self._save is None:
            self._save = save.resolve()

    def _for(self, save: Path) -> "Recorder | None":
        """The tape when this is the game to record, for a game that is opened anew: the one before has been closed."""
        if self._save is None:
            return self._recorder
        self.close()
        if self._save == save.resolve():
            from engine.llm.cassette import Recorder

            self._recorder = Recorder(self._tape, going_on=True)
        return self._recorder
