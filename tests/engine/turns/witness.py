"""A save as it is seen from outside while it is played: what was written when, and that nothing was when something failed."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.events import (
    BeatEnded,
    BeatFailed,
    BeatStarted,
    EngineEvent,
    HandoffCommitted,
    HandoffFailed,
    Happened,
    RoundEnded,
    RoundStarted,
)
from engine.records.memory import BufferEntry

_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
_RUN = frozenset({"handoff_runs", "run_log", "counters of runs"})
"""What the record of a failed handoff adds to."""


class Save:
    """The save as seen from outside, by a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._conn = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.tables = [name for (name,) in self._conn.execute(_TABLES)]
        self._version: list[Any] = []
        self._digests: Mapping[str, int] = {}

    def close(self) -> None:
        self._conn.close()

    def ask(self, query: str) -> list[Any]:
        return self._conn.execute(query).fetchall()

    def cells(self) -> Iterator[tuple[str, str, Any]]:
        """Table, column and value of everything."""
        for table in self.tables:
            found = self._conn.execute(f'SELECT * FROM "{table}"')
            columns = [column for column, *_ in found.description]
            for row in found:
                yield from ((table, column, value) for column, value in zip(columns, row, strict=True))

    def digests(self) -> Mapping[str, int]:
        """What each table of state holds, in short: the journal says how it came to be. The counter behind the ids of runs is told apart:
        every recorded failure takes one."""
        version = self.ask("PRAGMA data_version")  # another one when somebody else has written
        if version != self._version:
            queries = {table: f'SELECT * FROM "{table}"' for table in self.tables if not table.startswith("journal")}
            queries["counters"] = "SELECT * FROM counters WHERE name <> 'run'"
            queries["counters of runs"] = "SELECT * FROM counters WHERE name = 'run'"
            self._digests = {table: hash(tuple(self.ask(query))) for table, query in queries.items()}
            self._version = version
        return self._digests


class Witness:
    """Hears all events and looks at the save whenever one says that something was written, or that nothing was."""

    def __init__(self, save: Save) -> None:
        self.save, self.faults = save, list[str]()
        self.counted: Counter[str] = Counter()
        self.entries: dict[str, BufferEntry] = {}
        self.acts: list[str] = []
        """Prose of the beats that ended."""
        self.known = save.digests()

    def look(self) -> None:
        """Take everything as it is now for known. After a round it is written down, and nobody told, how often memories came to mind."""
        self.known = self.save.digests()

    def __call__(self, event: EngineEvent) -> None:
        self.counted[event.kind] += 1
        match event:
            case BeatFailed():
                self._unchanged("a failed beat")
            case HandoffFailed():
                self._unchanged("a failed handoff", _RUN)
            case Happened():
                self.entries |= {entry.id: entry for entry in event.entries}
            case BeatEnded():
                self.acts.append(event.prose)
        if isinstance(event, RoundStarted | RoundEnded | BeatStarted | BeatEnded | HandoffCommitted | HandoffFailed):
            self.look()

    def changed(self) -> set[str]:
        """Tables that are no longer as they were after the last event that told of a write."""
        now = self.save.digests()
        return {table for table in now if now[table] != self.known[table]}

    def _unchanged(self, after: str, but: frozenset[str] = frozenset()) -> None:
        if touched := self.changed() - but:
            self.faults.append(f"{after} touched {sorted(touched)}")
