"""What a language model is to the rest of the engine, whoever runs it."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from engine.records.base import EntityId, Record
from engine.records.prompts import Message, Task


class ModelRequest(Record):
    """One call. Everything that leaves the machine is in `messages` and `response`."""

    task: Task
    entity: EntityId
    """On whose behalf. For routing and logs; never sent."""
    round: int
    seed: int
    """The world's seed, for models that can be made repeatable."""
    attempt: int = 0
    """How often the same was asked before. A model that can be made repeatable answers differently for another attempt."""
    messages: tuple[Message, ...]
    response: type[BaseModel] | None = None
    """Shape of the reply when it must be structured."""
    max_tokens: int = 512

    @property
    def text(self) -> str:
        """The full text sent, messages joined by a blank line."""
        return "\n\n".join(message.content for message in self.messages)


class Usage(Record):
    """Tokens of one call, as counted by the provider or estimated by `count_tokens`."""

    prompt_tokens: int = Field(ge=0)
    reply_tokens: int = Field(ge=0)


class Completion(Record):
    """A finished reply."""

    text: str
    model: str
    usage: Usage
    cut: bool = False
    """Whether the model was stopped at `max_tokens`: then the end is missing, however whole the rest looks."""


class LanguageModel(Protocol):
    """Turns a request into text."""

    @property
    def name(self) -> str:
        """Model id, for logs and screens."""
        ...

    @property
    def context_window(self) -> int:
        """Tokens that prompt and reply may fill together."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of a text for this model, perhaps estimated. Never too low by more than a fifth."""
        ...

    async def complete(self, request: ModelRequest) -> Completion:
        """The whole reply. Raises `ModelError`."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """The reply in pieces that join to what `complete` would give. Raises `ModelError`."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Id stored with each vector. Vectors of different ids are never compared."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    @property
    def meaning(self) -> float:
        """Share that its cosine deserves against words in recall's relevance, 0 to 1."""
        ...

    @property
    def same(self) -> float:
        """Cosine from which two memories say the same, so that one of them is left out where both would be read."""
        ...

    @property
    def merge(self) -> float:
        """Cosine from which two memories of one owner are one when written. Like `same` only together with a look at
        what a cosine misses: numbers, negation, names."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dim), float32. Raises `ModelError`."""
        ...
