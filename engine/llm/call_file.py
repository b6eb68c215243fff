"""A file to which calls to models are added, a line each, and their sum. Several processes may add to it side by side."""

import json
import os
from datetime import datetime
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


class CallFile:
    """A line holds time, task, model, tokens, cost and seconds: no texts, no names of anybody, no keys. Lines are only ever added, each
    in one write, so that one that is killed loses nothing that was told it. To be used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        """The file, and its folder, come to be with the first call."""
        self._path = path
        self._read = self._unwritten = _NOTHING
        self._offset, self._file = 0, (0, 0)

    def add(self, call: Call, now: datetime) -> None:
        """Add a call that ended at a moment of local time. Raises `OSError`; the call counts in this process all the same."""
        try:
            self._write(_line(call, now))
        except OSError:
            self._unwritten += Spent.of(call)
            raise

    def sum(self) -> Spent:
        """What all calls have taken so far. Reads only what was added since it was last asked."""
        self._read_on()
        return self._read + self._unwritten

    def _write(self, line: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._check()
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

    def _check(self) -> None:
        """Raise `OSError` for a pipe: opening it would wait for somebody."""
        if self._path.is_fifo():
            raise OSError(f"{self._path.name} is no file")

    def _read_on(self) -> None:
        try:
            self._check()
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
