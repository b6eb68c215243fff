"""Whether a key is there, looked at before a call: a missing one comes back as a server's error or not at all. And that it goes to nobody
but the service it is for."""

import os
from typing import Final

from engine.errors import ProviderError
from engine.llm.remote.faults import Origin, no_key
from engine.llm.remote.library import Litellm
from engine.llm.remote.providers import has_address, is_providers_own, provider_of

_KEY: Final = "_API_KEY"
NONE: Final = "none"
"""Sent in place of a key."""


def keys_for(litellm: Litellm, origin: Origin, key_env: str | None = None) -> dict[str, object]:
    """What to pass with a call for the key's sake: the one in `key_env`, or one that is none, or nothing, so that litellm takes the
    provider's own.

    The provider's own key is not sent to an address that was set, unless the provider's own variable names that address too: it may be
    anybody's. Raises `ProviderError` when a key is wanted and is not there. Only keys are looked at: other variables have defaults, or the
    provider tells.
    """
    if key_env is not None:
        key = os.environ.get(key_env, "").strip()
        if not key:
            raise no_key(origin, [key_env])
        _check(origin, key_env, key)
        return {"api_key": key}
    provider = provider_of(origin.model)
    if origin.api_base and not is_providers_own(provider, origin.api_base):
        return {"api_key": NONE}
    names = missing_keys(litellm, origin.model)
    if not names:
        for name in origin.key_names:
            _check(origin, name, os.environ.get(name, "").strip())
        return {}
    if origin.api_base or has_address(provider):
        return {"api_key": NONE}
    raise no_key(origin, names)


def _check(origin: Origin, name: str, key: str) -> None:
    """Raise `ProviderError` for what no server can be sent: it was pasted badly."""
    if not key.isascii() or not key.isprintable():
        what = "a line break" if key.isascii() else "a letter that no key has"
        raise ProviderError(
            f"The key for {origin.model} in {name} holds {what}.", f"Set {name} to the key alone, or {origin.instead}.", trouble="no_key"
        )


def missing_keys(litellm: Litellm, model: str) -> list[str]:
    """The variables that the provider of a model wants its key in, when none is set and keys are all it wants."""
    missing = litellm.validate_environment(model).get("missing_keys")
    names = [str(name) for name in missing] if isinstance(missing, list) else []
    return names if all(name.endswith(_KEY) for name in names) else []
