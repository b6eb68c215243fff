"""What a person asks of the journal and does with it: what has happened, take it back, bring it again (DESIGN 16, invariant 7)."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Protocol, TypeVar

from engine.errors import CommandError
from engine.events import HistoryMoved, Listener
from engine.history_steps import grouped, preview, told
from engine.records.base import EntityId
from engine.records.history import Change, Preview, Step
from engine.records.world import World
from engine.storage.store import Store
from engine.views import called

__all__ = ["HistoryDesk", "Play", "Preview", "Step"]

_READ = 400
"""Changes that are read at once to find some steps: more than any step has."""
T = TypeVar("T")


class Play(Protocol):
    """The game around the journal."""

    def still(self) -> AbstractAsyncContextManager[None]:
        """While nothing is played, and nothing is under way beside play: what was is given up. Raises `CommandError` while a round is
        played."""
        ...

    async def turn(self, run: Callable[[sqlite3.Connection], T]) -> T:
        """Write what leads to another moment of the save, in one transaction, and go on from the world as it is then."""
        ...

    async def turned(self) -> None:
        """Rows are not what they were: forget what is held of them."""
        ...


class HistoryDesk:
    """The one stack of all that changed a save: beats, handoffs, what came of sessions, and whatever hands did. It is in the save.

    Looking changes nothing. `viewer` is in whose names things are told: by true names for None.
    """

    def __init__(self, store: Store, world: Callable[[], World], play: Play, emit: Listener) -> None:
        self._store, self._world, self._play, self._emit = store, world, play, emit
        self._at_once: list[int] = []
        """Of what was taken back since this was made: how many steps at a time, the last ones last."""

    # looking; nothing here changes anything
    async def done(self, limit: int = 100, viewer: EntityId | None = None) -> Sequence[Step]:
        """The newest steps that can be taken back, newest first."""
        return self._told(await self._store.db.read(partial(self._grouped, self._store.journal.done, limit)), viewer)

    async def undone(self, limit: int = 100, viewer: EntityId | None = None) -> Sequence[Step]:
        """What was taken back and can be brought again, in the order in which it would be. Nothing once something new has happened."""
        return self._told(await self._store.db.read(partial(self._forth, limit)), viewer)

    async def together(self) -> int:
        """How many of the steps that can be brought again were taken back at once, last of all: 1 where that is not known any more."""
        can = len(await self._store.db.read(partial(self._forth, sum(self._at_once) + 1)))
        return self._at_once[-1] if self._at_once and can == sum(self._at_once) else 1

    async def preview(self, steps: int = 1, *, to_round: int | None = None, viewer: EntityId | None = None) -> Preview:
        """What `undo` would take back: so many steps, or with `to_round` all since the end of that round and of what hands did before the
        next. Raises `CommandError` for a round that the journal does not reach."""
        if to_round is None:
            return await self._previewed(partial(self._grouped, self._store.journal.done, _counted(steps)), viewer, back=True)
        if not 0 <= to_round <= self._world().round:
            raise CommandError(f"There is no round {to_round} to go back to.", f"Choose one from 0 to {self._world().round}.")
        return await self._previewed(lambda conn: grouped(self._store.journal.since(conn, to_round)), viewer, back=True)

    async def preview_redo(self, steps: int = 1, *, viewer: EntityId | None = None) -> Preview:
        """What `redo` would bring again."""
        return await self._previewed(partial(self._forth, _counted(steps)), viewer, back=False)

    # going back and forth
    async def undo(self, steps: int = 1, *, to_round: int | None = None, viewer: EntityId | None = None) -> Preview:
        """Take back the newest steps. Returns what was taken back. Raises as `preview`, and as `turn`."""
        return await self.turn(await self.preview(steps, to_round=to_round, viewer=viewer))

    async def redo(self, steps: int = 1, *, viewer: EntityId | None = None) -> Preview:
        """Bring again what was taken back last. Returns what was brought. Raises as `turn`."""
        return await self.turn(await self.preview_redo(steps, viewer=viewer))

    async def turn(self, shown: Preview) -> Preview:
        """Do what a preview shows: all of it in one transaction, or nothing. What is under way beside play is given up first.

        Raises `CommandError` when there is nothing to do, while a round is played, and when something else has happened since it was
        shown; `SaveError`, also for a save that is only read. A cancellation waits for the end.
        """
        if not shown.steps:
            raise CommandError("There is nothing to take back." if shown.back else "There is nothing to bring again.")
        turning = asyncio.ensure_future(self._turn(shown))
        try:
            await asyncio.shield(turning)
        except asyncio.CancelledError:
            await turning
            raise
        return shown

    async def _turn(self, shown: Preview) -> None:
        journal = self._store.journal
        one = journal.take_back if shown.back else journal.bring_again

        def run(conn: sqlite3.Connection) -> None:
            for step in shown.steps:
                for change in reversed(step.changes) if shown.back else step.changes:
                    one(conn, change)

        async with self._play.still():
            before = len(await self._store.db.read(partial(self._forth, sum(self._at_once) + 1)))
            await self._play.turn(run)
            self._count(len(shown.steps), before, back=shown.back)
            await self._play.turned()
        world = self._world()
        self._emit(HistoryMoved(back=shown.back, text=shown.text, round=world.round, now=world.now))

    def _count(self, steps: int, before: int, *, back: bool) -> None:
        """Keep how many steps went at once. Those are forgotten that something new has made past, or that somebody else took back:
        `before` could be brought again until now."""
        if before != sum(self._at_once):
            self._at_once.clear()
        if back:
            self._at_once.append(steps)
            return
        while steps and self._at_once:
            last = self._at_once.pop()
            if last > steps:
                self._at_once.append(last - steps)
            steps -= min(last, steps)

    def _grouped(
        self, read: Callable[[sqlite3.Connection, int], list[Change]], limit: int, conn: sqlite3.Connection
    ) -> list[tuple[Change, ...]]:
        """The first steps of what `read` gives, newest first. None is cut."""
        size = _READ
        while True:
            changes = read(conn, size)
            steps = grouped(changes)
            if len(changes) < size or len(steps) > limit:
                return steps[:limit]
            size *= 4

    def _forth(self, limit: int, conn: sqlite3.Connection) -> list[tuple[Change, ...]]:
        """The first steps that can be brought again."""
        return list(reversed(grouped(reversed(self._store.journal.undone(conn)))))[:limit]

    async def _previewed(
        self, find: Callable[[sqlite3.Connection], list[tuple[Change, ...]]], viewer: EntityId | None, *, back: bool
    ) -> Preview:
        def read(conn: sqlite3.Connection) -> Preview:
            found = find(conn)
            rows = self._store.journal.rows(conn, [change for step in found for change in step])
            return preview(self._told(found, viewer), rows, back=back)

        return await self._store.db.read(read)

    def _told(self, steps: Sequence[tuple[Change, ...]], viewer: EntityId | None) -> list[Step]:
        world = self._world()
        return [told(step, lambda entity: called(world, entity, viewer) if entity in world.entities else "somebody") for step in steps]


def _counted(steps: int) -> int:
    if steps < 1:
        raise CommandError(f"{steps} steps are none.", "Give a number from 1 on.")
    return steps
