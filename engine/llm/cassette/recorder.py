"""The file that a game's calls are recorded on."""

import fcntl
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from engine.llm.cassette.index import Index, TapeError, index
from engine.llm.cassette.lines import Facts, Line, ModelsLine, Place, Title, written
from engine.llm.cassette.program import program
from engine.llm.meter import Meter
from engine.llm.protocol import LanguageModel
from engine.llm.tokens import SCALE_STEPS, estimate_tokens
from engine.records.models import Call
from engine.records.world import World

_OTHER_FILE: Final = "Choose another file for the tape."
_LONGEST_NAME: Final = 200
_SAMPLE: Final = "a" * 4 * SCALE_STEPS
"""So long that its count tells the scale of a model to the last step."""
_SAMPLE_TOKENS: Final = estimate_tokens(_SAMPLE)

METERED: ContextVar[list[Call] | None] = ContextVar("metered", default=None)
"""The metered calls of the call that is being recorded."""


class Recorder:
    """Writes line after line, each to its end before the game goes on: when the process dies, the last line is lost at most.

    Nothing on the tape is secret but the story: keys and addresses of services are no part of a call.
    """

    def __init__(self, path: Path, *, going_on: bool = False) -> None:
        """`going_on` is whether the game goes on with a save: then a tape of it goes on too. Otherwise the file must not exist yet, or
        be empty. Raises `TapeError` and changes nothing when it is anything else."""
        self.path = path
        self.fault = ""
        """Why nothing is recorded any more; empty while all is well."""
        self.tell: Callable[[str], None] = lambda text: None
        """Hears it when the file cannot be written any more, which is no reason for a game to end."""
        self._models: Mapping[Place, LanguageModel] = {}
        self._said: dict[Place, Facts] = {}
        try:
            self._found = _found(path)
            if self._found is not None and not going_on:
                raise TapeError(f"{path} is a tape of {self._found.title.name} already.", _OTHER_FILE)
            self._file = path.open("ab")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TapeError(f"Another run records on {path}.", _OTHER_FILE) from error
        except OSError as error:
            raise TapeError(f"The tape {path} cannot be written: {error.strerror}.", _OTHER_FILE) from error
        self.lines = self._found.lines if self._found else 0
        """How many there are on the tape."""

    def begin(self, world: World, meter: Meter) -> None:
        """Write what is recorded from now on; `meter` tells what calls take. Raises `TapeError` for a tape of another game."""
        if self._found is not None:
            self._check(self._found.title, self._found.last_round, world)
            self._file.truncate(self._found.size)  # a last line that was not written to its end
        meter.listen(_metered)
        self.append(Title(program=program(), world=world.slug, name=world.name[:_LONGEST_NAME], seed=world.seed, round=world.round))

    def _check(self, title: Title, last_round: int, world: World) -> None:
        if other := title.other_than(world):
            raise TapeError(f"{self.path} {other}.", _OTHER_FILE)
        if last_round > world.round:
            raise TapeError(f"{self.path} goes on to round {last_round} already, and this save is in round {world.round}.", _OTHER_FILE)

    def watch(self, models: Mapping[Place, LanguageModel]) -> None:
        """From now on these are the models. What they say of themselves is put down now and whenever it has changed."""
        self._models = models
        self.note()

    def note(self) -> None:
        """Put down what models say of themselves, where it is news."""
        each = {id(model): _facts(model) for model in dict.fromkeys(self._models.values())}
        said = {place: each[id(model)] for place, model in self._models.items()}
        news = {place: facts for place, facts in said.items() if self._said.get(place) != facts}
        if news:
            self._said |= news
            self.append(ModelsLine(models=news))

    def append(self, line: Line) -> None:
        """Write a line to its end. When that fails nothing is recorded any more."""
        if self.fault:
            return
        try:
            self._file.write(written(line))
            self._file.flush()
        except OSError as error:
            self.end(f"The tape {self.path} cannot be written: {error.strerror}.")
        else:
            self.lines += 1

    def end(self, why: str) -> None:
        """Record nothing any more, for a reason that is told."""
        self.fault = f"{why} Nothing is recorded from here on."
        self.tell(self.fault)

    def close(self) -> None:
        """Give the file back; one that nothing was recorded on is taken away. Safe to call twice."""
        if self._file.closed:
            return
        if not self.lines and not self.path.stat().st_size:
            self.path.unlink(missing_ok=True)
        self._file.close()


def _found(path: Path) -> Index | None:
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return None
    try:
        return index(path)
    except TapeError as error:
        raise TapeError(str(error.args[0]), _OTHER_FILE) from error


def _metered(call: Call) -> None:
    calls = METERED.get()
    if calls is not None:
        calls.append(call)


def scale_of(model: LanguageModel) -> float:
    """Tokens that a model counts for each that is estimated."""
    return model.count_tokens(_SAMPLE) / _SAMPLE_TOKENS


def _facts(model: LanguageModel) -> Facts:
    return Facts(name=model.name, context_window=model.context_window, small=model.small, scale=scale_of(model))
