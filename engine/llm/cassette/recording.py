"""Models and embedders whose calls are recorded."""

import asyncio
import base64
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.llm.cassette.lines import TASKS, Asked, CallLine, EmbedderLine, Failure, VectorsLine, digest, sound
from engine.llm.cassette.recorder import METERED, Recorder, scale_of
from engine.llm.hashing import Hash768
from engine.llm.observed import Wrapped
from engine.llm.protocol import Completion, Embedder, Heard, LanguageModel, ModelRequest
from engine.records.clean import one_line
from engine.records.models import Call
from engine.records.prompts import Task


def recorded(
    default: LanguageModel, routes: Mapping[Task, LanguageModel], recorder: Recorder
) -> tuple[LanguageModel, dict[Task, LanguageModel]]:
    """Models as they are given to a router, recorded from now on. For each change of models anew."""
    recorder.watch({"default": default, **{task: routes.get(task, default) for task in TASKS}})
    return Recording(default, recorder), {task: Recording(model, recorder) for task, model in routes.items()}


def recorded_embedder(embedder: Embedder, recorder: Recorder) -> Embedder:
    """An embedder as a game uses it, recorded. The built-in one makes the same vectors anywhere: of it only what it says of itself is
    put down."""
    taped = not isinstance(embedder, Hash768)
    said = {"meaning": embedder.meaning, "same": embedder.same, "merge": embedder.merge}
    recorder.append(EmbedderLine(name=embedder.name, dim=embedder.dim, taped=taped, **said))
    return RecordedEmbedder(embedder, recorder) if taped else embedder


class Recording(Wrapped):
    """Puts down every call that ended with a reply or a `ModelError`. Calls that were stopped, or that a cap forbade, leave no trace."""

    def __init__(self, inner: LanguageModel, recorder: Recorder, clock: Callable[[], float] = time.perf_counter) -> None:
        """`clock` counts seconds."""
        super().__init__(inner)
        self._recorder, self._clock = recorder, clock
        self._scale = 0.0

    @property
    def context_window(self) -> int:
        """Of the model within. What is asked of it here and below is put down: prompts are made by it."""
        self._recorder.note()
        return super().context_window

    @property
    def small(self) -> bool:
        """As the model within."""
        self._recorder.note()
        return super().small

    def count_tokens(self, text: str) -> int:
        """As the model within counts."""
        if (scale := scale_of(self._inner)) != self._scale:  # asked often: all the rest is looked at only when this has changed
            self._scale = scale
            self._recorder.note()
        return super().count_tokens(text)

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply, recorded before it is returned. Raises `ModelError`, recorded too, and `CapReachedError`."""
        after, began = self._recorder.lines, self._clock()
        pieces: list[str | None] = []

        def hear(piece: str | None) -> None:
            pieces.append(None if piece is None else sound(piece))
            if heard is not None:
                heard(piece)

        calls: list[Call] = []
        token = METERED.set(calls)
        reply: Completion | None = None
        failure: Failure | None = None
        try:
            reply = await self._inner.complete(request, hear if heard is not None else None)
        except ModelError as error:
            failure = Failure.of(error)
            raise
        else:
            return reply
        finally:
            METERED.reset(token)
            if reply is not None or failure is not None:
                asked, said = Asked.of(request), tuple(pieces) if heard is not None else None
                try:
                    line = CallLine(
                        key=asked.key, after=after, asked=asked, heard=said, reply=reply, failure=failure, calls=tuple(calls),
                        seconds=self._clock() - began,
                    )
                    self._recorder.append(line)
                except ValueError as error:  # tokens or money beyond reason, or half a character
                    self._recorder.end(f"A call of {self.name} cannot be recorded: {one_line(str(error))[:200]}.")


class RecordedEmbedder:
    """An embedder that puts down what it gives."""

    def __init__(self, inner: Embedder, recorder: Recorder, clock: Callable[[], float] = time.perf_counter) -> None:
        """`clock` counts seconds."""
        self._inner, self._recorder, self._clock = inner, recorder, clock
        self.dim, self.meaning, self.same, self.merge = inner.dim, inner.meaning, inner.same, inner.merge

    @property
    def name(self) -> str:
        """Id of the embedder within."""
        return self._inner.name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the embedder within, recorded before they are returned. Raises `ModelError`, recorded too."""
        began = self._clock()

        def put(vectors: str = "", failure: Failure | None = None, given_up: bool = False) -> None:
            if texts:
                self._recorder.append(
                    VectorsLine(
                        texts=tuple(digest(text) for text in texts), dim=self.dim, vectors=vectors, failure=failure, given_up=given_up,
                        seconds=self._clock() - began,
                    )
                )

        try:
            vectors = await self._inner.embed(texts)
        except ModelError as error:
            put(failure=Failure.of(error))
            raise
        except asyncio.CancelledError:
            put(given_up=True)
            raise
        put(base64.b64encode(np.ascontiguousarray(vectors, dtype="<f4").tobytes()).decode("ascii"))
        return vectors
