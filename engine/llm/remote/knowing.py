"""What can be found out of a model before it is called: from litellm's list, and from a server on this machine or near it."""

import asyncio
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from engine.llm.local_kinds import told_by
from engine.llm.local_servers import facts_of
from engine.llm.loopback import Address, UnansweredError, ask, loopback
from engine.llm.model_names import plain_name
from engine.llm.remote.library import Litellm
from engine.llm.remote.pricing import Listed, listed
from engine.llm.remote.providers import is_near, is_server

_LIMIT: Final = 2.0
"""Seconds that a server is asked about itself."""
_NEVER_UNASKED: Final = "claude"
"""Models that can think, and do only when a call says so. None of ours does."""


class Known(NamedTuple):
    """What was found out."""

    provider: str
    listed: Listed = Listed()
    window: int | None = None
    """As the server tells it."""
    billions: float | None = None
    """Parameters, as the server tells or the name says."""
    thinks: bool = False
    answered: bool = True
    """False when there should be a server and none spoke."""


async def known_of(litellm: Litellm, model: str, address: str | None, key: str | None = None) -> Known:
    """All of it, in two seconds and a bit. `key` is the one that was set for the very address. Raises what litellm raises for a model
    that nobody provides."""
    provider = str(litellm.get_llm_provider(model)[1])
    own = address is not None and (is_server(provider) or is_near(address))
    if not own:
        thinks = _NEVER_UNASKED not in model and litellm.supports_reasoning(model)
        return Known(provider, listed(litellm, model, provider), thinks=thinks)
    try:
        async with asyncio.timeout(_LIMIT):
            return await _told(Known(provider), model, address or "", key)
    except (TimeoutError, UnansweredError, ValueError):  # the last for a port that is none
        return Known(provider, answered=False)


async def _told(known: Known, model: str, address: str, key: str | None) -> Known:
    """Raises `UnansweredError` when nobody answers who can be understood."""
    place = _place(address)
    server = await told_by(place, _LIMIT, key) if place is not None else None
    if place is None or server is None:
        raise UnansweredError
    facts = await facts_of(server, model, _LIMIT, key=key)
    thinks = False
    if server.kind == "ollama":
        capabilities = (await ask(place, "/api/show", _LIMIT, {"model": plain_name(model)}, key=key)).fields.get("capabilities")
        thinks = isinstance(capabilities, list) and "thinking" in capabilities
    return known._replace(window=facts.context_window, billions=facts.billions, thinks=thinks)


def _place(address: str) -> Address | None:
    """Where to ask: on this machine, or elsewhere in a private network without TLS."""
    if (here := loopback(address)) is not None:
        return here
    parts = urlsplit(address if "//" in address else f"//{address}")
    if not parts.hostname or parts.scheme not in ("", "http") or not is_near(address):
        return None
    return Address(parts.hostname, parts.port or 80)
