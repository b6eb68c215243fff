"""What is spent in a day, by all runs on this machine: a file a day to which every call adds a line."""

import json
import os
import threading
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from engine.records.models import Call, Spent

_NOTHING: Final = Spent()
_AT_ONCE: Final = 1 << 20
"""Bytes read at a time."""
_LONGEST: Final = 1 << 16
"""Bytes of a line; our own are a few hundred."""
_MOST: Final = 1_000_000_000
"""Of tokens, dollars or seconds of one call: what is more is no number of ours."""
_APPEND: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


class UsageLog:
    """The day's calls to providers and servers, of this process and of others: `usage/2026-11-30.jsonl` in the data folder.

    A line holds time, task, model, tokens, cost and seconds: no texts, no names of anybody, no keys. Lines are only ever added, each
    in one write, so that processes may add side by side and one that is killed loses nothing that was told it. Days go by the local
    calendar; a call belongs to the day it ends in. May be used by several threads.
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
                self._write(_line(call, now))
            except OSError as error:
                self._unwritten += Spent.of(call)
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
            self._read_on()
            return self._read + self._unwritten

    def _today(self) -> datetime:
        now = self._now()
        if now.date() != self._day:
            self._begin(now.date())
        return now

    def _begin(self, day: date) -> None:
        self._day, self._path = day, self._folder / f"{day.isoformat()}.jsonl"
        self._read = self._unwritten = _NOTHING
        self._offset, self._file = 0, (0, 0)

    def _write(self, line: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, _APPEND, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.lseek(descriptor, -1, os.SEEK_END) >= 0 and os.read(descriptor, 1) != b"\n":
                line = b"\n" + line  # what somebody could not write whole is not to take this line with it
            written = os.write(descriptor, line)
            if written < len(line):
                raise OSError(f"the disk took {written} of {len(line)} bytes")
        finally:
            os.close(descriptor)

    def _read_on(self) -> None:
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_dev, status.st_ino) != self._file or status.st_size < self._offset:  # another file than before
                    self._read, self._offset, self._file = _NOTHING, 0, (status.st_dev, status.st_ino)
                while self._offset < status.st_size:
                    file.seek(self._offset)
                    block = file.read(_AT_ONCE)
                    end = block.rfind(b"\n") + 1 or (len(block) if len(block) > _LONGEST else 0)
                    if not end:
                        break  # somebody is writing it
                    self._read += _sum(block[:end].split(b"\n"))
                    self._offset += end
        except FileNotFoundError:
            self._read, self._offset, self._file = _NOTHING, 0, (0, 0)
        except OSError:
            return  # as far as it was read


def _line(call: Call, now: datetime) -> bytes:
    said = {
        "time": now.isoformat(timespec="seconds"), "task": call.task, "model": call.model, "prompt_tokens": call.prompt_tokens,
        "reply_tokens": call.reply_tokens, "estimated": call.estimated, "cost": call.cost, "seconds": round(call.seconds, 3),
        "failed": bool(call.failed),
    }
    return json.dumps(said).encode() + b"\n"


def _sum(lines: list[bytes]) -> Spent:
    """What the lines say together. What is torn or no line of ours says nothing."""
    calls = failed = prompt = reply = estimated = unpriced = 0
    cost = seconds = 0.0
    for line in lines:
        said = _said(line)
        if said is None:
            continue
        calls, failed, estimated = calls + 1, failed + bool(said.get("failed")), estimated + bool(said.get("estimated"))
        prompt, reply = prompt + int(said["prompt_tokens"]), reply + int(said["reply_tokens"])
        cost, unpriced = cost + (said["cost"] or 0.0), unpriced + (said["cost"] is None)
        seconds += said["seconds"]
    return Spent(
        calls=calls, failed=failed, prompt_tokens=prompt, reply_tokens=reply, estimated=estimated, cost=cost, unpriced=unpriced,
        seconds=seconds,
    )


def _said(line: bytes) -> dict[str, Any] | None:
    """A line whose numbers are numbers; None for any other."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not {"prompt_tokens", "reply_tokens", "cost", "seconds"} <= said.keys():
        return None
    tokens = (said["prompt_tokens"], said["reply_tokens"])
    numbers = (said["seconds"], *(() if said["cost"] is None else (said["cost"],)))
    if not all(type(number) is int and 0 <= number <= _MOST for number in tokens):
        return None
    return said if all(type(number) in (int, float) and 0 <= number <= _MOST for number in numbers) else None
