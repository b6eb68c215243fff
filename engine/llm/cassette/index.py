"""A tape as it is found: read through once from end to end, every line checked, and of each only kept what it is found by."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from pydantic import ValidationError

from engine.errors import OthermindsError
from engine.llm.cassette.lines import (
    FORMAT,
    LONGEST,
    VERSION,
    CallLine,
    EmbedderLine,
    Facts,
    Line,
    ModelsLine,
    Place,
    Title,
    VectorsLine,
    digest,
    read,
)
from engine.records.base import EntityId
from engine.records.clean import one_line
from engine.records.prompts import Task

_MOST: Final = 5_000_000
"""Lines of a tape that are taken up into memory, at some hundred bytes each."""
_RECORD_IT = "Choose a file that --record has written."


class TapeError(OthermindsError):
    """A tape cannot be read, written, or used for this game."""


class Call(NamedTuple):
    """Where a call stands."""

    offset: int
    after: int
    task: Task
    entity: EntityId
    round: int
    part: int
    """Which title it stands under, counted from 1."""


class Batch(NamedTuple):
    """Where vectors stand."""

    offset: int
    texts: tuple[str, ...]
    made: bool
    """Whether there are any: the call may have failed."""


@dataclass
class Index:
    """What there is on a tape, by the number of its line."""

    path: Path
    titles: list[Title] = field(default_factory=list)
    calls: dict[int, Call] = field(default_factory=dict)
    by_key: dict[str, list[int]] = field(default_factory=dict)
    """Calls that ask the same, in their order."""
    batches: dict[str, list[Batch]] = field(default_factory=dict)
    """Calls of the embedder for the same texts, in their order."""
    models: dict[int, dict[Place, Facts]] = field(default_factory=dict)
    """What models say anew, after each call or, under -1, from the beginning."""
    embedders: dict[int, EmbedderLine] = field(default_factory=dict)
    """What makes vectors, after each call or, under -1, from the beginning."""
    lines: int = 0
    size: int = 0
    """Bytes of all whole lines. What follows is one that was not written to its end."""

    @property
    def title(self) -> Title:
        """What was recorded first."""
        return self.titles[0]

    @property
    def last_round(self) -> int:
        """The highest round that was asked in; 0 for none."""
        return max((call.round for call in self.calls.values()), default=0)

    def line(self, offset: int) -> Line:
        """A line read again. Raises `TapeError`."""
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                return read(file.readline(LONGEST))
        except (OSError, ValueError) as error:
            raise TapeError(f"{self.path} was changed while it is replayed.", "Begin the replay again.") from error


def batch_key(texts: tuple[str, ...]) -> str:
    """What the vectors of several texts, given by their digests, are found by."""
    return digest(" ".join(texts))


def is_tape(path: Path) -> bool:
    """Whether a file begins as a tape does. Raises `OSError`."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(200)
    return head.startswith(b'{"kind": "tape"')


def index(path: Path) -> Index:
    """Read a tape. A last line that is not whole is left out: the program may have been killed while it wrote. Raises `TapeError`."""
    found, latest = Index(path), -1
    if path.exists() and not path.is_file():  # opening a pipe would wait for somebody to write
        raise TapeError(f"{path} is no file.", _RECORD_IT)
    try:
        with path.open("rb") as file:
            for number, data, last in _lines(file):
                line = _checked(path, number, data, last)
                if line is None:
                    break
                _take(found, number, line, latest)
                latest = number if isinstance(line, CallLine) else latest
                found.lines, found.size = number + 1, found.size + len(data)
    except OSError as error:
        raise TapeError(f"The tape {path} cannot be read: {error.strerror}.", _RECORD_IT) from error
    if not found.titles:
        raise TapeError(f"{path} is no tape.", _RECORD_IT)
    return found


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Lines with their numbers, and whether each is the last."""
    number, data = 0, file.readline(LONGEST)
    while data:
        following = file.readline(LONGEST)
        yield number, data, not following
        number, data = number + 1, following


def _checked(path: Path, number: int, data: bytes, last: bool) -> Line | None:
    """A line, or None for a last one that is not whole."""
    if number >= _MOST:
        raise TapeError(f"{path} has more than {_MOST:,} lines.", _RECORD_IT)
    try:
        line = read(data)
    except ValueError as error:
        if last and number:
            return None
        if number == 0:
            raise TapeError(_no_tape(path, data), _RECORD_IT) from error
        raise TapeError(f"{path}, line {number + 1}: {_fault(error)}.", "Take an unchanged copy of it, or record anew.") from error
    if number == 0 and not isinstance(line, Title):
        raise TapeError(f"{path} is no tape.", _RECORD_IT)
    return line


def _take(found: Index, number: int, line: Line, latest: int) -> None:
    match line:
        case Title():
            found.titles.append(line)
        case EmbedderLine():
            found.embedders[latest] = line
        case ModelsLine():
            found.models.setdefault(latest, {}).update(line.models)
        case CallLine(asked=asked):
            part, numbers = len(found.titles), found.by_key.setdefault(line.key, [])
            # Asked again when the save was gone on with: what came of it before did not get into the save.
            for number_before in [each for each in numbers if found.calls[each].part < part]:
                numbers.remove(number_before)
                del found.calls[number_before]
            found.calls[number] = Call(found.size, line.after, asked.task, asked.entity, asked.round, part)
            numbers.append(number)
        case VectorsLine():
            found.batches.setdefault(batch_key(line.texts), []).append(Batch(found.size, line.texts, bool(line.vectors)))


def _no_tape(path: Path, data: bytes) -> str:
    try:
        title = json.loads(data)
    except (ValueError, RecursionError):
        title = None
    if isinstance(title, dict) and title.get("format") == FORMAT and isinstance(title.get("version"), int) and title["version"] > VERSION:
        return f"{path} was recorded by a newer version of Otherminds."
    return f"{path} is no tape."


def _fault(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return one_line(f"{where}: {first['msg']}" if where else str(first["msg"]))
    return str(error)
