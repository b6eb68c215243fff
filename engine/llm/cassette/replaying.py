"""Models and embedders that live from a tape alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.llm.cassette.lines import TASKS, EmbedderLine, Facts, Place
from engine.llm.cassette.playback import Playback
from engine.llm.hashing import Hash768
from engine.llm.protocol import Completion, Embedder, Heard, LanguageModel, ModelRequest
from engine.llm.tokens import scaled_tokens
from engine.records.prompts import Task


def replayed(playback: Playback) -> tuple[LanguageModel, dict[Task, LanguageModel]]:
    """Models as they are given to a router, out of a tape."""
    return Replayed(playback, "default"), {task: Replayed(playback, task) for task in TASKS}


def replayed_embedder(playback: Playback) -> Embedder:
    """The embedder of a tape: the built-in one itself, or the vectors of another."""
    said = playback.embedder
    if said is None:
        return Hash768()
    if not said.taped:
        return Hash768(meaning=said.meaning, same=said.same, merge=said.merge)
    return ReplayedEmbedder(playback, said)


class Replayed:
    """Gives the replies, pieces and errors that were recorded, and says of itself what the model said that gave them."""

    def __init__(self, playback: Playback, place: Place) -> None:
        """`place` is the task that it answers, or `default`."""
        self._playback, self._place = playback, place

    @property
    def _facts(self) -> Facts:
        return self._playback.facts(self._place)

    @property
    def name(self) -> str:
        """Id of the model that was recorded."""
        return self._facts.name

    @property
    def context_window(self) -> int:
        """Of the model that was recorded, at this point of the game."""
        return self._facts.context_window

    @property
    def small(self) -> bool:
        """As the model that was recorded."""
        return self._facts.small

    def count_tokens(self, text: str) -> int:
        """As the model that was recorded counted at this point of the game."""
        return scaled_tokens(text, self._facts.scale)

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply that was recorded, without waiting. Raises the recorded `ModelError`, and `NotOnTapeError`, a `ModelError` too."""
        return await self._playback.reply(request, heard)


class ReplayedEmbedder:
    """Gives the vectors that were recorded."""

    def __init__(self, playback: Playback, said: EmbedderLine) -> None:
        self._playback = playback
        self.name, self.dim, self.meaning, self.same, self.merge = said.name, said.dim, said.meaning, said.same, said.merge

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors that were recorded, shape (len(texts), dim). Raises `ModelError`."""
        return await self._playback.vectors(self.name, self.dim, texts)
