"""What is wrong with a world's files: where, in which field, and what was probably meant."""

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

from pydantic import Field

from engine.records.base import Record
from engine.records.clean import one_line

LIMIT = 1000
"""Problems kept of one world. A file made to be wrong a million times must not fill memory."""
_HINTED = 200
"""Problems that get near names: looking for them costs time for each."""
_COMPARED = 500
"""Known names that a wrong one is compared with."""


class Problem(Record):
    """One fault in a world file."""

    file: str
    """The file as a person would open it."""
    line: int = Field(ge=1)
    column: int = Field(ge=1)
    """Counted in characters, from 1."""
    path: str = ""
    """The field: `entities.bob.at`, `entities.bob.buffer[2].text`. Items count from 1."""
    message: str
    """What is wrong, with the wrong text in backticks."""
    hint: str = ""
    """What to do about it: ``did you mean `tavern`?``."""

    def __str__(self) -> str:
        field = f"{self.path}: " if self.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {field}{self.message}{hint}"


class Mark(Record):
    """A position in a file, line and column from 1."""

    file: str
    line: int
    column: int


class Report:
    """Gathers the problems of one world. Reading goes on after each, so that all are found at once."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def add(self, at: Mark, path: str, message: str, hint: str = "") -> None:
        """Note a problem. Beyond `LIMIT` they are no longer kept."""
        if not self.full:
            self._problems.append(Problem(file=at.file, line=at.line, column=at.column, path=path, message=message, hint=hint))

    def take(self, other: "Report", *, but_line: int = 0) -> None:
        """Add the problems of another report, without those on one line."""
        self._problems += [problem for problem in other._problems if problem.line != but_line][: LIMIT - len(self._problems)]

    @property
    def full(self) -> bool:
        """Whether nothing more is kept: finding out where a problem is would be wasted."""
        return len(self._problems) >= LIMIT

    def near(self, wrong: str, known: Iterable[str]) -> str:
        """A hint that names what `wrong` was probably meant to be, or nothing."""
        return meant(near(wrong, known)) if len(self._problems) < _HINTED else ""

    def __len__(self) -> int:
        return len(self._problems)

    def sorted(self, files: Sequence[str]) -> list[Problem]:
        """All problems, in the order of `files`, then by place in the file."""
        rank = {name: number for number, name in enumerate(files)}
        return sorted(self._problems, key=lambda p: (rank.get(p.file, len(rank)), p.file, p.line, p.column))


def quoted(text: str, limit: int = 60) -> str:
    """A wrong text as it stands in a message: one short line in backticks."""
    line = one_line(text[: 4 * limit])
    return f"`{line if len(line) <= limit else line[: limit - 1] + '…'}`"


def near(wrong: str, known: Iterable[str]) -> list[str]:
    """At most three of `known` that look like `wrong`, best first, case aside."""
    word = wrong.casefold()
    alike = islice((name for name in known if abs(len(name) - len(wrong)) <= 3 or name.casefold().startswith(word)), _COMPARED)
    by_case: dict[str, str] = {}
    for name in alike:
        by_case.setdefault(name.casefold(), name)
    if word in by_case:
        return [by_case[word]]
    found = difflib.get_close_matches(word, by_case, n=3, cutoff=0.6)
    if not found and len(word) >= 3:  # the first word of a longer id: `bryn` for `bryn_harrow`
        found = [name for name in by_case if name.startswith(word)][:3]
    return [by_case[name] for name in found]


def meant(names: Sequence[str]) -> str:
    """The hint for near names: ``did you mean `a` or `b`?``."""
    return f"did you mean {' or '.join(f'`{name}`' for name in names)}?" if names else ""
