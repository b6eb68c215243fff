"""Replies from a tape: each found by what is asked, given in the order in which calls ended when they were recorded."""

import asyncio
import base64
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError, ProviderError
from engine.llm.cassette.differing import missing
from engine.llm.cassette.index import TapeError, batch_key, index
from engine.llm.cassette.lines import Asked, CallLine, EmbedderLine, Facts, Place, Title, VectorsLine, digest
from engine.llm.meter import Meter
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.records.clean import one_line
from engine.records.world import World

_PATIENCE: Final = 10.0
"""Seconds that a reply is held back for others that ended before it. They come at once unless the game is another one."""
_DAMAGED: Final = ("Vectors on the tape are damaged.", "Take an unchanged copy of it, or record anew.")
_NOBODY: Final = Facts(name="tape", context_window=8192, small=False, scale=1.0)
"""For a tape that was broken off before its models were named. There are no calls on it."""
_SILENCE: Final = 30.0
"""Seconds that an embedder is silent at most which was given up when it was recorded."""


class Playback:
    """One replay of a tape. What models say of themselves changes with the calls, as it did.

    Calls that were under way side by side end in their old order, so that whoever listens hears the same. That order is given up when
    the game turns out to be another one: something is asked that is not on the tape, or a call that should come does not.
    """

    def __init__(self, path: Path, *, patience: float = _PATIENCE, silence: float = _SILENCE) -> None:
        """Read a tape through. Raises `TapeError`."""
        self.path = path
        self._index = index(path)
        self._patience, self._silence = patience, silence
        self._calls = {key: deque(numbers) for key, numbers in self._index.by_key.items()}
        self._batches = {key: deque(batches) for key, batches in self._index.batches.items()}
        made = [batch for each in self._index.batches.values() for batch in each if batch.made]
        self._vectors = {text: (batch.offset, place) for batch in made for place, text in enumerate(batch.texts)}
        self._ended = bytearray(0 if number in self._index.calls else 1 for number in range(self._index.lines))
        self._moved = asyncio.Event()
        self._in_order = True
        self._first = 0
        self._meter: Meter | None = None
        self._facts: dict[Place, Facts] = {}
        self.missed = 0
        """Calls that were asked for and are not on the tape."""
        self.trouble = ""
        """What is to be said of the first of them."""

    @property
    def title(self) -> Title:
        """What was recorded."""
        return self._index.title

    @property
    def last_round(self) -> int:
        """The last round on the tape; 0 without calls."""
        return self._index.last_round

    def begin(self, world: World, meter: Meter) -> None:
        """Replay the calls after `world.round`; `meter` is told of what they took. Raises `TapeError` for a tape of another game."""
        if other := self.title.other_than(world):
            raise TapeError(f"{self.path} {other}.", "Replay what it was recorded from.")
        later = world.round
        calls = self._index.calls.items()
        self._first = next((number for number, call in calls if not later or call.round > later), self._index.lines)
        self._facts = {}
        for number, facts in self._index.models.items():
            if number < self._first:
                self._facts |= facts
        self._meter = meter

    @property
    def unused(self) -> int:
        """Calls on the tape, from where the game began, that were not asked for."""
        return self._ended.count(0, self._first)

    def facts(self, place: Place) -> Facts:
        """What the model of a task says of itself now."""
        return self._facts.get(place, _NOBODY)

    @property
    def embedder(self) -> EmbedderLine | None:
        """What makes vectors where the game begins; None on a tape that was broken off before."""
        return next((line for number, line in reversed(self._index.embedders.items()) if number < self._first), None)

    async def reply(self, request: ModelRequest, heard: Heard | None) -> Completion:
        """The reply that was recorded, heard in the pieces in which it came. Raises `NotOnTapeError`, the `ModelError` that was
        recorded, and `TapeError`."""
        asked = Asked.of(request)
        waiting = self._calls.get(asked.key)
        if not waiting:
            self._miss(asked)
        number = waiting.popleft()
        try:
            line = self._index.line(self._index.calls[number].offset)
            assert isinstance(line, CallLine)
            await self._turn(number, line.after)
            if heard is not None:
                for piece in _pieces(line):
                    heard(piece)
                    await asyncio.sleep(0)
        except asyncio.CancelledError:
            waiting.appendleft(number)
            raise
        self._end(number, line)
        if line.failure is not None:
            raise line.failure.again()
        assert line.reply is not None
        return line.reply.model_copy(update={"model": one_line(line.reply.model)})

    async def vectors(self, model: str, dim: int, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors that were recorded. Raises `ModelError`."""
        digests = tuple(digest(text) for text in texts)
        batches = self._batches.get(batch_key(digests))
        if batches:
            line = self._batch(batches.popleft().offset)
            if line.given_up:  # whoever asks gives it up again
                await asyncio.sleep(min(self._silence, line.seconds + 5.0))
                raise ProviderError(f"{model} did not answer.", trouble="timed_out")
            if line.failure is not None:
                raise line.failure.again()
            return _rows(line, dim)
        made = np.empty((len(texts), dim), dtype=np.float32)
        for row, text in enumerate(digests):  # the same memories, gathered in another way
            if text not in self._vectors:
                raise ModelError(f"{self.path} holds no vectors of {model} for this.", "They were not asked for when it was recorded.")
            offset, place = self._vectors[text]
            made[row] = _rows(self._batch(offset), dim)[place]
        return made

    def _batch(self, offset: int) -> VectorsLine:
        line = self._index.line(offset)
        assert isinstance(line, VectorsLine)
        return line

    def _miss(self, asked: Asked) -> NoReturn:
        self.missed += 1
        self._in_order = False
        self._wake()
        error = missing(self._index, asked, self._ended, over=not self.unused)
        self.trouble = self.trouble or str(error)
        raise error

    async def _turn(self, number: int, after: int) -> None:
        """Wait until what ended before a call while it was under way has ended."""
        try:
            async with asyncio.timeout(self._patience):
                while self._in_order and self._ended.find(0, after, number) >= 0:
                    await self._moved.wait()
        except TimeoutError:
            self._in_order = False
            self._wake()

    def _end(self, number: int, line: CallLine) -> None:
        self._ended[number] = 1
        self._facts |= self._index.models.get(number, {})
        if self._meter is not None:
            for call in line.calls:
                self._meter.add(call.model_copy(update={"model": one_line(call.model), "failed": one_line(call.failed)}))
        self._wake()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()


def _pieces(line: CallLine) -> Sequence[str | None]:
    if line.heard is not None:
        return line.heard
    return (line.reply.text,) if line.reply is not None and line.reply.text else ()


def _rows(line: VectorsLine, dim: int) -> NDArray[np.float32]:
    """Vectors of a line. Raises `ModelError` when they are not as many and as long as they should be."""
    try:
        flat = np.frombuffer(base64.b64decode(line.vectors, validate=True), dtype="<f4")
        rows = flat.reshape(len(line.texts), dim)
    except ValueError as error:
        raise ModelError(*_DAMAGED) from error
    if not np.isfinite(rows).all():
        raise ModelError(*_DAMAGED)
    return rows.astype(np.float32)
