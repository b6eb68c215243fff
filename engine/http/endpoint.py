"""One way into the service: its address, what it reads, what it replies, and what can go wrong. Description and service are made of it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from engine.http.bodies import Body, NoBody, NoQuery, Query
from engine.http.service import Service
from engine.records.base import Record

B = TypeVar("B", bound=Body)
Q = TypeVar("Q", bound=Query)


class Answer(NamedTuple):
    """A success."""

    reply: Record
    status: int = 200
    headers: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Endpoint(Generic[Q, B]):
    """A method on an address. `answer` gets the service, the key in the address (empty without one), query and body."""

    method: str
    path: str
    name: str
    """Its `operationId`."""
    title: str
    answer: Callable[[Service, str, Q, B], Awaitable[Answer]]
    reply: type[Record]
    query: type[Q] = NoQuery  # type: ignore[assignment]
    body: type[B] = NoBody  # type: ignore[assignment]
    success: Mapping[int, str] | None = None
    """Statuses of success and what they mean."""
    faults: tuple[int, ...] = ()
    """Statuses of its own refusals, apart from those that any request can meet."""
    fields: Mapping[str, str] | None = None
    """In which field a kind of fault is that the engine finds."""
    about: str = ""

    @property
    def successes(self) -> Mapping[int, str]:
        """Statuses of success and what they mean."""
        return self.success or {200: "Done."}


Way: TypeAlias = Endpoint[Any, Any]
"""Any endpoint."""
