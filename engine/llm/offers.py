"""Which models could be asked in place of one that nobody knows: those of the server it was looked for at, or of the provider."""

from typing import Final

from engine.errors import ModelError
from engine.llm.local_servers import server_at
from engine.llm.remote.bridge import LitellmBridge
from engine.llm.remote.faults import Origin
from engine.llm.remote.library import Litellm
from engine.llm.remote.providers import address_of, provider_of
from engine.settings import EndpointSettings

_CHATS: Final = ("chat", "completion", "responses")
_LIMIT: Final = 2.0


async def offered_instead(endpoint: EndpointSettings, bridge: LitellmBridge) -> tuple[str, ...]:
    """litellm's names of models that are where the endpoint's is looked for; none when nobody tells. The network is not asked, only
    this machine is."""
    provider = provider_of(endpoint.model)
    address = address_of(provider, endpoint.api_base)
    if address is not None:
        server = await server_at(address, _LIMIT)
        return server.models if server else ()

    async def listed(litellm: Litellm) -> tuple[str, ...]:
        return tuple(
            name if name.startswith(f"{provider}/") else f"{provider}/{name}"
            for name, facts in litellm.model_cost.items() if facts.get("litellm_provider") == provider and facts.get("mode") in _CHATS
        )

    try:
        return await bridge.call(listed, Origin(endpoint.model), _LIMIT)
    except ModelError:
        return ()
