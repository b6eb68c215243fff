"""What requests are about: one open game, and whether the service is about to end."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from engine.errors import CapReachedError
from engine.game import Game
from engine.http.faults import RefusedError
from engine.records.base import EntityId
from engine.records.sessions import SessionId

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Service:
    """One open game, served."""

    game: Game
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the service is about to end: nobody waits any longer."""

    def viewer(self, viewer: EntityId | None, name: str = "viewer") -> EntityId | None:
        """The same, once it is known that there is such an entity. Raises `RefusedError`."""
        if viewer is not None and viewer not in self.game.world.entities:
            raise RefusedError("unknown_entity", "Nobody here has that id.", "Use the id of somebody in this world.", field=name)
        return viewer

    async def ready(self) -> None:
        """Before a model is asked: let settings hold that were changed meanwhile, caps among them, and know how much the models read."""
        await self._unless_closing(self._ready())

    async def over(self, session: SessionId, seconds: float) -> CapReachedError | None:
        """Wait until a collapse is over, for so long at the most. Returns the cap that keeps a model from being asked."""
        return await self._unless_closing(self.game.sessions.over(session), seconds)

    async def _ready(self) -> None:
        await self.game.models.refresh()
        await self.game.models.ready()

    async def _unless_closing(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T | None:
        """What the work comes to; None when that takes too long, or the service is about to end."""
        doing, closing = asyncio.create_task(work), asyncio.create_task(self.closing.wait())
        try:
            await asyncio.wait((doing, closing), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return doing.result() if doing.done() else None
        finally:
            doing.cancel()
            closing.cancel()
