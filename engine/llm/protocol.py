"""What a language model is to the rest of the engine, whoever runs it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from engine.records.base import EntityId, Record
from engine.records.prompts import Message, Task

Heard = Callable[[str | None], None]
"""Given each piece of a reply as it comes, on the event loop; None when all that was heard is void and the reply begins anew. Must be
quick and must not raise."""


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
    template: str = ""
    """Name and version of the template that the messages were made from, for logs; never sent."""
    messages: tuple[Message, ...]
    response: type[BaseModel] | None = None
    """Shape of the reply when it must be structured."""
    choices: Mapping[str, tuple[str, ...]] = {}
    """What fields of the reply may hold, by their names on the wire, wherever they stand in it: handles of this very prompt, words that
    may be quoted. An engine that enforces a grammar is held to them; everybody else's replies are checked against them later."""
    max_tokens: int = 512
    """Tokens that the reply itself may take; what a model thinks before it is not counted."""
    temperature: float | None = None
    """None leaves it to the endpoint."""
    timeout: float | None = None
    """Seconds that the model may be silent. None leaves it to the endpoint."""

    @property
    def text(self) -> str:
        """The full text sent, messages joined by a blank line."""
        return "\n\n".join(message.content for message in self.messages)


class Usage(Record):
    """Tokens of one call, as counted by the provider or estimated by `count_tokens`."""

    prompt_tokens: int = Field(ge=0)
    reply_tokens: int = Field(ge=0)
    estimated: bool = False
    """Nobody counted them."""


class Completion(Record):
    """A finished reply."""

    text: str
    model: str
    usage: Usage
    cut: bool = False
    """Whether the model was stopped at `max_tokens`: then the end is missing, however whole the rest looks."""
    cost: float | None = None
    """US dollars; None when the price is unknown."""
    added: str = ""
    """What was sent after the request's own text: the shape of the reply, for a model that takes no schema. Empty otherwise."""


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

    @property
    def small(self) -> bool:
        """Whether it wants its work in small pieces: tasks that can be split into two calls are."""
        ...

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The whole reply; given `heard`, its pieces as they come, which join to the reply's text.

        Cancelling ends the call at once, at the provider too. Raises `ModelError`, and `CapReachedError` before a call is made.
        """
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
