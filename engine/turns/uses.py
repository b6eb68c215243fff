"""How often memories and knowledge enter prompts, and when lore does: noted when a beat is committed, written down off its path
(DESIGN 8, item 9)."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from engine.errors import OthermindsError
from engine.events import KnowledgeChanged, Listener, Trouble
from engine.memory.knowledge import lifecycle
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, KnowledgeId
from engine.records.prompts import Prompt
from engine.storage.store import Store

_Noted = tuple[datetime, tuple[str, ...]]
_Called = tuple[EntityId, int, _Noted]


class Uses:
    """What entered the prompts of committed beats and is not written down yet."""

    def __init__(self, store: Store, emit: Listener, renewed: Callable[[Sequence[Knowledge]], None] = lambda _: None) -> None:
        """`renewed` is told of knowledge once its uses are written down."""
        self._store, self._emit, self._renewed = store, emit, renewed
        self._memories: list[_Noted] = []
        self._known: list[_Called] = []

    def note(self, prompt: Prompt, now: datetime, round_number: int) -> None:
        """The beat that this prompt led to was committed; `now` is the world's time at which it was drafted."""
        for section in prompt.sections:
            if section.sources and section.key == "memories":
                self._memories.append((now, section.sources))
            elif section.sources and section.key == "knowledge":
                self._known.append((prompt.entity, round_number, (now, section.sources)))

    def forget(self) -> None:
        """What was noted belongs to beats that are no more."""
        self._memories, self._known = [], []

    async def flush(self) -> None:
        """Write down what was noted, in one transaction. A cancellation waits for the end. Trouble with the save is told, not raised:
        a count is not worth a beat."""
        if not self._memories and not self._known:
            return
        writing = asyncio.ensure_future(self._written())
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await writing
            raise

    async def _written(self) -> None:
        memories, known = self._memories, self._known
        self._memories, self._known = [], []

        def run(conn: sqlite3.Connection) -> tuple[list[Knowledge], list[Knowledge]]:
            self._store.journal.note(conn, "upkeep", "What came to mind was counted")
            for now, keys in memories:
                self._store.ledger_archive.used(conn, keys, now)
            for owner, round_number, (now, keys) in known:
                self._store.lore.call(conn, owner, keys, now, round_number)
            return self._reinforced(conn, [noted for _, _, noted in known])

        try:
            rows, lifted = await self._store.db.write(run)
        except OthermindsError as error:
            self._emit(Trouble(text=f"How often memories came to mind was not noted: {error}"))
            return
        if rows:
            self._renewed(rows)
        if lifted:
            self._emit(KnowledgeChanged(changed=tuple(lifted)))

    def _reinforced(self, conn: sqlite3.Connection, known: Iterable[_Noted]) -> tuple[list[Knowledge], list[Knowledge]]:
        """Count the uses of knowledge. What the author wrote and what the world shows are no rows, and are passed over. Returns the rows
        as they are now, and those of them that came nearer."""
        found: dict[KnowledgeId, lifecycle.Uses] = {}
        for now, keys in known:
            for key in keys:
                before = found.get(key)
                found[key] = lifecycle.Uses(1 if before is None else before.times + 1, now if before is None else max(now, before.at))
        tiers = {row.id: row.tier for row in self._store.knowledge.get(conn, found)}
        if not tiers:
            return [], []
        lifecycle.reinforce(conn, self._store, {key: found[key] for key in tiers})
        rows = self._store.knowledge.get(conn, tiers)
        return rows, [row for row in rows if row.tier != tiers[row.id]]
