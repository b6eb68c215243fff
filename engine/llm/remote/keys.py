"""Whether a provider's key is there, looked at before a call: a missing one comes back as a server's error or not at all."""

import os
from typing import Final

from engine.llm.remote.faults import Origin, no_key
from engine.llm.remote.library import Litellm

_KEY: Final = "_API_KEY"
_ADDRESSES: Final = ("_API_BASE", "_BASE_URL")


def keys_for(litellm: Litellm, origin: Origin) -> dict[str, object]:
    """What to pass with a call for the provider's sake: nothing, or a key that is none for a server of one's own.

    Raises `ProviderError` when the provider wants a key and no server was set that may do without, whether in the settings or
    by the provider's own variable. Only keys are looked at: other variables have defaults, or the provider tells.
    """
    missing = litellm.validate_environment(origin.model).get("missing_keys")
    names = [str(name) for name in missing] if isinstance(missing, list) else []
    if not names or not all(name.endswith(_KEY) for name in names):
        return {}
    providers = [name.removesuffix(_KEY) for name in names]
    if origin.api_base or any(os.environ.get(provider + ending) for provider in providers for ending in _ADDRESSES):
        return {"api_key": "none"}
    raise no_key(origin, names)
