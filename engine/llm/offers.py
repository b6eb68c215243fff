"""Which models could be asked in place of one that nobody knows: those of the server it was looked for at, or of the provider."""

import os
from collections.abc import Mapping
from typing import Final

from engine.errors import ModelError
from engine.llm.local_servers import server_at
from engine.llm.remote.bridge import LitellmBridge
from engine.llm.remote.faults import Origin
from engine.llm.remote.library import Litellm
from engine.settings import EndpointSettings

_AT_HOME: Final = {
    "ollama": ("OLLAMA_API_BASE", "http://127.0.0.1:11434"), "ollama_chat": ("OLLAMA_API_BASE", "http://127.0.0.1:11434"),
    "lm_studio": ("LM_STUDIO_API_BASE", "http://127.0.0.1:1234/v1"), "hosted_vllm": ("HOSTED_VLLM_API_BASE", "http://127.0.0.1:8000/v1"),
}
"""Providers that are servers on this machine: the variable that may say where, and where they are when nobody does."""
_CHATS: Final = ("chat", "completion", "responses")
_LIMIT: Final = 2.0


def home_of(endpoint: EndpointSettings, environ: Mapping[str, str] = os.environ) -> str | None:
    """The address that an endpoint's calls go to, where it is set or known to be a server of one's own. None for paid services."""
    variable, usual = _AT_HOME.get(endpoint.model.partition("/")[0], ("", None))
    return endpoint.api_base or environ.get(variable, "").strip() or usual


async def offered_instead(endpoint: EndpointSettings, bridge: LitellmBridge) -> tuple[str, ...]:
    """litellm's names of models that are where the endpoint's is looked for; none when nobody tells. The network is not asked, only
    this machine is."""
    base = home_of(endpoint)
    if base is not None:
        server = await server_at(base, _LIMIT)
        return server.models if server else ()
    provider = endpoint.model.partition("/")[0]

    async def listed(litellm: Litellm) -> tuple[str, ...]:
        known = getattr(litellm, "model_cost", {})
        return tuple(
            name if name.startswith(f"{provider}/") else f"{provider}/{name}"
            for name, facts in known.items() if facts.get("litellm_provider") == provider and facts.get("mode") in _CHATS
        )

    try:
        return await bridge.call(listed, Origin(endpoint.model), _LIMIT)
    except ModelError:
        return ()
