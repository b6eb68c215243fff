"""Games over saves that are only looked into, as they are or as they were at the end of an earlier round."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from engine.game import Game
from engine.storage.opening import version_in
from engine.storage.rewind import copy_save, rewind
from engine.storage.schema import newest_version


class Past(NamedTuple):
    """A game to look into, and what of an earlier round is not known, for people."""

    game: Game
    unknown: tuple[str, ...] = ()


@asynccontextmanager
async def looking_into(save: Path, at_round: int | None = None) -> AsyncIterator[Past]:
    """A game that reads `save` and changes nothing in it; the save may be in use.

    An earlier round, and a save of an earlier version, is looked into through a copy in the folder for temporary files.
    Raises `SaveError`, and `CommandError` for a round that never was.
    """
    if at_round is None and await asyncio.to_thread(version_in, save) == newest_version():
        game = await Game.open(save, read_only=True)
        try:
            yield Past(game)
        finally:
            await game.close()
        return
    with tempfile.TemporaryDirectory(prefix="otherminds-") as folder:
        copy = Path(folder) / "copy.db"
        await asyncio.to_thread(copy_save, save, copy)
        unknown = () if at_round is None else await asyncio.to_thread(rewind, copy, at_round)
        game = await Game.open(copy)
        try:
            await game.embedded()
            yield Past(game, unknown)
        finally:
            await game.close()
