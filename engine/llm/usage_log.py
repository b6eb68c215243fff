"""What is spent in a day, by all runs on this machine, and by one save in all its sittings: files to which every call adds a line."""

import hashlib
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path

from engine.llm.call_file import CallFile
from engine.records.models import Call, Spent


class UsageLog:
    """The day's calls to providers and servers, of this process and of others: `usage/2026-11-30.jsonl` in the data folder.

    Days go by the local calendar; a call belongs to the day it ends in. May be used by several threads.
    """

    def __init__(self, folder: Path, now: Callable[[], datetime] = datetime.now) -> None:
        """Files are kept in `usage` within `folder`. `now` gives local time."""
        self._folder, self._now = folder / "usage", now
        self._lock = threading.Lock()
        self._complained = False
        self._begin(now().date())

    def add(self, call: Call) -> str:
        """Add a call that has just ended. Returns what is wrong when it could not be written, once; else nothing.

        A call that could not be written still counts in this process.
        """
        with self._lock:
            now = self._today()
            try:
                self._file.add(call, now)
            except OSError as error:
                if self._complained:
                    return ""
                self._complained = True
                reason = error.strerror or error
                return f"What is spent cannot be written to {self._folder}: {reason}. Caps by day need it; see that it can be."
        return ""

    def today(self) -> Spent:
        """What the day has taken so far, in all processes. Reads only what was added since it was last asked."""
        with self._lock:
            self._today()
            return self._file.sum()

    def _today(self) -> datetime:
        now = self._now()
        if now.date() != self._day:
            self._begin(now.date())
        return now

    def _begin(self, day: date) -> None:
        self._day, self._file = day, CallFile(self._folder / f"{day.isoformat()}.jsonl")


class SaveLog:
    """Calls to providers and servers for one save, in all its sittings on this machine: a file in `usage/saves` of the data folder, by
    where the save is. May be used by several threads. The save itself says nothing of it: equal runs are equal saves, whatever they cost.
    """

    def __init__(self, folder: Path, save: Path, now: Callable[[], datetime] = datetime.now) -> None:
        """`folder` is the data folder. `now` gives local time."""
        place = save.resolve()
        name = hashlib.sha256(str(place).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._path, self._now = folder / "usage" / "saves" / f"{name}.jsonl", now
        self._file, self._lock = CallFile(self._path), threading.Lock()

    def begin(self) -> None:
        """A new save begins at this place: what one before it took is forgotten. Where that cannot be done it counts on."""
        with self._lock, suppress(OSError):
            self._path.unlink(missing_ok=True)

    def add(self, call: Call) -> None:
        """Add a call that has just ended. One that cannot be written counts in this process all the same."""
        with self._lock, suppress(OSError):  # the day's log, which lies beside it, complains
            self._file.add(call, self._now())

    def sum(self) -> Spent:
        """What the save has taken so far."""
        with self._lock:
            return self._file.sum()
