"""Work beside play: sessions are collapsed, knowledge is promoted and sinks. No beat waits for any of it (DESIGN 9, 10).

Drafting runs at any time, for it writes nothing; what it comes to is written between two rounds, in the order in which it was begun. A
model that is slow or away holds up nothing but what it was asked for.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import ExitStack, asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Final

from engine.errors import CapReachedError, ChangedError, CommandError, OthermindsError
from engine.events import KnowledgeChanged, Listener, PromotionCommitted, SessionCollapsed, SessionsChanged, Trouble
from engine.memory.knowledge.engine import KnowledgeEngine, Placed
from engine.memory.sessions.collapse import Collapse, Collapser
from engine.memory.sessions.committing import commit, record_failure
from engine.memory.sessions.triggers import sessions_due
from engine.records.sessions import CollapseReport, CollapseRun, Session, SessionId
from engine.records.world import World
from engine.storage.store import Store

_AGAIN: Final = 3
"""Drafts of one collapse when what it is made of changes meanwhile."""
_LONGEST_WAIT: Final = 64
"""Rounds between two attempts of what keeps failing."""
_AT_ONCE: Final = 4
"""Collapses that are drafted side by side."""


class Beside:
    """Keeps the work of one open game. `world` gives the world as of the last commit."""

    def __init__(
        self, store: Store, world: Callable[[], World], collapser: Collapser, knowledge: KnowledgeEngine, emit: Listener
    ) -> None:
        self._store, self._world, self._collapser, self._knowledge, self._emit = store, world, collapser, knowledge, emit
        self._round = asyncio.Lock()
        """Held while a round is played, and while something is written between two."""
        self._limit = asyncio.Semaphore(_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking = asyncio.Lock()
        """Held while it is looked what is due, so that nothing is begun twice."""
        self._under_way: dict[SessionId, asyncio.Event] = {}
        """Sessions that are being collapsed, each with what tells that it is no more."""
        self._held: dict[SessionId, CapReachedError] = {}
        """Sessions that a cap keeps from being collapsed."""
        self._drafts: dict[SessionId, asyncio.Task[Collapse | None]] = {}
        """What models are being asked about."""
        self._wanted: set[SessionId] = set()
        """Sessions that a person wants collapsed now: they rest no longer, though they failed."""
        self._promoting = False
        self._playing = False
        self._since = datetime.min
        self._told = ""

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """A round: nothing of this work is written meanwhile. What is due is begun after it."""
        with ExitStack() as end:
            async with self._round:
                self._playing = True
                end.callback(setattr, self, "_playing", False)
                began = self._world().now
                yield
            await self.begin(began)

    @asynccontextmanager
    async def still(self) -> AsyncIterator[None]:
        """While nothing is played and nothing is under way: what was is given up, and begun anew after the next round if it is due then.
        Raises `CommandError` while a round is played."""
        if self._playing:
            raise CommandError("A round is being played.", "Stop it, or wait for its end.")
        await self.close()
        async with self._round:
            await self.close()
            self._wanted.clear()
            self._held.clear()
            yield

    async def begin(self, since: datetime | None = None) -> None:
        """Begin what is due and not under way, and do at once what asks no model. `since` is the world time of the oldest change that was
        not looked at yet; without it all is looked at."""
        world = self._world()
        await self._begin_collapses(world, since)
        if not self._promoting and await self._knowledge.promotion_due(world):
            self._promoting = True
            self.start(self._promotion())
        if await self._knowledge.sweep_due(world):
            async with self._round:
                sunk = await self._store.db.write(partial(self._knowledge.sweep, world=world))
            if sunk:
                self._emit(KnowledgeChanged(changed=sunk))

    async def _begin_collapses(self, world: World, since: datetime | None = None, only: SessionId | None = None) -> None:
        async with self._looking:
            wanted, self._wanted = self._wanted, set()
            due = await self._store.db.read(partial(sessions_due, store=self._store, now=world.now, since=since or datetime.min))
            fresh = [(session, report) for session, report in due if session.id not in self._under_way and only in (None, session.id)]
            ready = [(session, report) for session, report in fresh if session.id in wanted or await self._rested(session)]
            if not ready:
                return
            ready = await self._store.db.write(partial(_marked, store=self._store, world=world, due=ready))
            self._emit(SessionsChanged(session_ids=tuple(session.id for session, _ in ready)))
            self._under_way.update((session.id, asyncio.Event()) for session, _ in ready)
            self.start(self._collapses(world, ready))

    def asked(self, session: SessionId) -> None:
        """A person's word on a session: it is looked at at once, also when it failed a moment ago."""
        self._wanted.add(session)
        self.grown(session)

    def grown(self, session: SessionId) -> None:
        """A session may hold more than its policy allows: it is looked at at once."""
        self.start(self._begin_collapses(self._world(), only=session))

    def given_up(self, session: SessionId) -> None:
        """A session was ended otherwise: no model is asked about it any more, and nobody waits for it."""
        self._wanted.discard(session)
        self._held.pop(session, None)
        if (draft := self._drafts.pop(session, None)) is not None:
            draft.cancel()
        self._ended_with(session)

    async def over(self, session: SessionId) -> CapReachedError | None:
        """Wait until a session that was asked for is no longer being collapsed. Returns the cap that keeps it from that, if one does."""
        while session in self._wanted and self._tasks:
            await asyncio.wait(set(self._tasks), return_when=asyncio.FIRST_COMPLETED)
        async with self._looking:
            pass
        while (going := self._under_way.get(session)) is not None:
            await going.wait()
        return self._held.get(session)

    async def settled(self) -> None:
        """Wait until nothing is under way any more."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Give up what is under way: what is marked in the save is begun anew when it is opened again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # collapses
    async def _collapses(self, world: World, due: Sequence[tuple[Session, CollapseReport]]) -> None:
        drafts = [asyncio.create_task(self._draft(world, session, report)) for session, report in due]
        self._drafts.update((session.id, draft) for (session, _), draft in zip(due, drafts, strict=True))
        try:
            for (session, report), draft in zip(due, drafts, strict=True):
                await asyncio.wait((draft,))
                collapse = None if draft.cancelled() else draft.result()
                self._drafts.pop(session.id, None)
                if collapse is not None:
                    await self._write(session, report, collapse)
                self._ended_with(session.id)
        finally:
            for draft in drafts:
                draft.cancel()
            await asyncio.gather(*drafts, return_exceptions=True)
            for (session, _), draft in zip(due, drafts, strict=True):
                if self._drafts.get(session.id) is draft:
                    del self._drafts[session.id]
                self._ended_with(session.id)

    def _ended_with(self, session: SessionId) -> None:
        if (going := self._under_way.pop(session, None)) is not None:
            going.set()

    async def _draft(self, world: World, session: Session, report: CollapseReport) -> Collapse | None:
        async with self._limit:
            try:
                self._held.pop(session.id, None)
                return await self._collapser.propose(world, session, report)
            except CapReachedError as error:  # it stays marked, and is begun again when the cap is raised
                self._held[session.id] = error
                self._tell(str(error))
                return None

    async def _write(self, session: Session, report: CollapseReport, collapse: Collapse) -> None:
        """Write a collapse between two rounds; drafted anew when something that it was made of has changed meanwhile."""
        for _ in range(_AGAIN):
            try:
                async with self._round:
                    world = self._world()
                    if collapse.run.status == "failed":
                        run = await self._store.db.write(partial(record_failure, store=self._store, world=world, collapse=collapse))
                        self._emit(SessionCollapsed(run=run))
                        return
                    done = await self._store.db.write(
                        partial(commit, store=self._store, knowledge=self._knowledge, world=world, collapse=collapse)
                    )
            except ChangedError:
                now = await self._store.db.read(partial(self._store.sessions.get, key=session.id))
                if now is None or now.status not in ("open", "collapsing"):
                    return  # somebody ended it: no model is asked about it any more
                again = await self._draft(self._world(), session, report)
                if again is None:
                    return
                collapse = again.after(collapse.tokens)
                continue
            self._told_of(done.run, done.placed, (session.id, *([done.following.id] if done.following else [])))
            return

    def _told_of(self, run: CollapseRun, placed: Placed, sessions: tuple[SessionId, ...]) -> None:
        self._emit(SessionCollapsed(run=run))
        self._emit(SessionsChanged(session_ids=sessions))
        changed = (*placed.added, *placed.merged, *placed.retired, *placed.flagged)
        if changed:
            self._emit(KnowledgeChanged(changed=changed))

    async def _rested(self, session: Session) -> bool:
        """Whether a session may be tried: at once, or so many rounds after its last failure, twice as many each time."""
        runs = await self._store.db.read(partial(self._store.sessions.runs, session=session.id))
        failures = 0
        for run in reversed(runs):
            if run.status != "failed" or run.part != session.parts:
                break
            failures += 1
        return not failures or self._world().round - runs[-1].round >= min(_LONGEST_WAIT, 2 ** (failures - 1))

    # promotion
    async def _promotion(self) -> None:
        try:
            promotion = await self._knowledge.propose(self._world())
            if promotion is None:
                return
            async with self._round:
                run = await self._store.db.write(partial(self._knowledge.commit, world=self._world(), promotion=promotion))
            keys = (*run.promoted, *run.merged, *run.retired, *run.flagged)
            rows = await self._store.db.read(partial(self._store.knowledge.get, keys=keys))
            self._emit(PromotionCommitted(run=run))
            if rows or run.discarded:
                self._emit(KnowledgeChanged(changed=tuple(rows), gone_ids=run.discarded))
        finally:
            self._promoting = False

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Do something beside play. It is given up when play ends, or goes back to an earlier moment."""
        task = asyncio.create_task(work, name="otherminds-beside")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not isinstance(error, OthermindsError):
            raise error
        self._tell(f"Sessions and knowledge could not be looked after: {error}")

    def _tell(self, text: str) -> None:
        if text != self._told:
            self._told = text
            self._emit(Trouble(text=text))


def _marked(
    conn: sqlite3.Connection, store: Store, world: World, due: Sequence[tuple[Session, CollapseReport]]
) -> list[tuple[Session, CollapseReport]]:
    """The sessions that are still to be collapsed, marked so: a process that dies finds them again, for the same reason."""
    marked = []
    store.journal.note(conn, "upkeep", "Sessions are being collapsed")
    for session, report in due:
        now = store.sessions.get(conn, session.id)
        if now is None or now.status not in ("open", "collapsing"):
            continue
        if not report.partial and (now.status != "collapsing" or now.asked is None):
            now = now.model_copy(update={"status": "collapsing", "asked": report.reason, "promotion_state": "pending"})
            store.sessions.update(conn, now)
        marked.append((now, report))
    return marked
