"""Plays a world with a tape and dies on the way, by a model that answers otherwise in each process.

`python tape_driver.py SAVE TAPE ROUNDS CALLS` plays until so many rounds are over and dies right after so many calls have been put down
(0: never). Nothing here is imported by pytest: the test runs it as a process of its own.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from engine.game import Game
from engine.llm import opening
from engine.llm.cassette import Recorder
from engine.llm.cassette.lines import CallLine, Line
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.llm.storyteller import Storyteller
from engine.setup import Setup

WORLD = Path(__file__).parents[2] / "worlds" / "salt-lantern"


class Fickle(Storyteller):
    """Says something else whenever it is asked by another process."""

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        return await Storyteller.complete(self, request.model_copy(update={"seed": request.seed + os.getpid()}), heard)


class Dying(Recorder):
    """Takes the process with it after some calls."""

    left = 0

    def append(self, line: Line) -> None:
        super().append(line)
        if isinstance(line, CallLine):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


async def play(save: Path, tape: Path, rounds: int, calls: int, *, going_on: bool) -> None:
    recorder = Dying(tape, going_on=going_on)
    recorder.left = calls
    setup = Setup(tape=recorder)
    game = await (Game.open(save, setup=setup) if going_on else Game.create(WORLD, save, 7, setup=setup))
    story, read = game._parts.store.story, game._parts.store.db.read
    while game.world.round < rounds or await read(lambda conn: story.open_round(conn) is not None):
        await game.step()
        await game.settled()
    await game.close()
    recorder.close()


if __name__ == "__main__":
    vars(opening)["Storyteller"] = Fickle  # wherever one is made
    asyncio.run(play(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), going_on=Path(sys.argv[1]).exists()))
