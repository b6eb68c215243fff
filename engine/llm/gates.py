"""How many calls are under way at the same time, by provider or by server."""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Final
from urllib.parse import urlsplit

from engine.settings.records import EndpointSettings, ProviderSettings

_USUAL: Final = 4
_OWN: Final = 1
"""Servers of one's own answer one call after the other, or all of them slowly."""
_OWN_SERVERS: Final = frozenset({"ollama", "ollama_chat", "lm_studio", "llamafile"})
_SAME_SERVER: Final = {"ollama_chat": "ollama"}


class Gate:
    """Lets so many calls through at a time, in the order they came. Whoever waits may be cancelled.

        async with gate:
            ...  # under way
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        """Calls at a time."""
        self._places = asyncio.Semaphore(limit)

    async def __aenter__(self) -> None:
        await self._places.acquire()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._places.release()


class Gates:
    """One gate for each provider, and for each server of one's own: endpoints behind the same share it."""

    def __init__(self, providers: Mapping[str, ProviderSettings]) -> None:
        self._providers = providers
        self._gates: dict[str, Gate] = {}

    def of(self, endpoint: EndpointSettings) -> Gate:
        """The gate that calls to an endpoint go through."""
        names = _names(endpoint)
        if names[0] not in self._gates:
            set_ = [found.concurrency for name in names if (found := self._providers.get(name)) and found.concurrency is not None]
            own = endpoint.api_base is not None or names[0] in _OWN_SERVERS
            self._gates[names[0]] = Gate(set_[0] if set_ else _OWN if own else _USUAL)
        return self._gates[names[0]]


def _names(endpoint: EndpointSettings) -> tuple[str, ...]:
    """What settings may call the provider or the server of an endpoint. The first tells it from all others."""
    if endpoint.api_base is not None:
        return (urlsplit(endpoint.api_base).netloc.lower(), endpoint.api_base)
    provider = endpoint.model.partition("/")[0]
    return (_SAME_SERVER.get(provider, provider), provider)
