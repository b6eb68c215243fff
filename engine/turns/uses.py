"""How often memories enter prompts: noted when a beat is committed, written down off its path (DESIGN 8, item 9)."""

import asyncio
import sqlite3
from datetime import datetime

from engine.errors import OthermindsError
from engine.events import Listener, Trouble
from engine.records.base import LedgerId
from engine.records.prompts import Prompt
from engine.storage.store import Store


class Uses:
    """The memories that entered the prompts of committed beats and are not written down yet."""

    def __init__(self, store: Store, emit: Listener) -> None:
        self._store, self._emit = store, emit
        self._noted: list[tuple[datetime, tuple[LedgerId, ...]]] = []

    def note(self, prompt: Prompt, now: datetime) -> None:
        """The beat that this prompt led to was committed; `now` is the world's time at which it was drafted."""
        self._noted += [(now, section.sources) for section in prompt.sections if section.key == "memories" and section.sources]

    async def flush(self) -> None:
        """Write down what was noted, in one transaction. A cancellation waits for the end. Trouble with the save is told, not raised:
        a count is not worth a beat."""
        if not self._noted:
            return
        writing = asyncio.ensure_future(self._written())
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await writing
            raise

    async def _written(self) -> None:
        noted, self._noted = self._noted, []

        def run(conn: sqlite3.Connection) -> None:
            for now, keys in noted:
                self._store.ledger_archive.used(conn, keys, now)

        try:
            await self._store.db.write(run)
        except OthermindsError as error:
            self._emit(Trouble(text=f"How often memories came to mind was not noted: {error}"))
