"""What is known of providers by litellm's names of them: where their servers are, whose those are, which variables hold their keys."""

import os
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from engine.records.models import Structured

_SERVERS: Final = {
    "ollama": "http://localhost:11434", "ollama_chat": "http://localhost:11434", "llamafile": "http://127.0.0.1:8080/v1",
    "lm_studio": "http://localhost:1234/v1", "hosted_vllm": "http://localhost:8000/v1",
}
"""Servers that people run themselves, and where they are when nobody says otherwise."""
_SCHEMAS: Final = frozenset({
    "anthropic", "azure", "azure_ai", "cerebras", "cohere", "cohere_chat", "deepseek", "fireworks_ai", "gemini", "groq", "mistral",
    "openai", "openrouter", "together_ai", "vertex_ai", "xai",
})
"""Providers that take JSON schema, for some of their models at least."""
_ENDINGS: Final = ("_API_BASE", "_BASE_URL")
_KEYS: Final[dict[str, tuple[str, ...]]] = {
    **{name: (f"{name.upper()}_API_KEY",) for name in (
        "anthropic", "azure", "azure_ai", "cerebras", "cohere", "deepinfra", "deepseek", "fireworks_ai", "groq", "huggingface", "mistral",
        "moonshot", "nvidia_nim", "openai", "openrouter", "replicate", "sambanova", "xai",
    )},
    "cohere_chat": ("COHERE_API_KEY",), "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "perplexity": ("PERPLEXITYAI_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY",),
}  # fmt: skip
_BEGINNINGS: Final = {"gpt-": "openai", "chatgpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude-": "anthropic"}
_AT_HOME: Final = (".local", ".lan", ".home", ".internal", ".localhost", ".home.arpa")


def provider_of(model: str) -> str:
    """The provider in litellm's name of a model; a good guess where none is named, and empty when there is none."""
    named, slash, _ = model.partition("/")
    if slash:
        return named
    return next((provider for beginning, provider in _BEGINNINGS.items() if model.startswith(beginning)), "")


def address_of(provider: str, api_base: str | None) -> str | None:
    """Where the server is: as set, else as the provider's own variable says, else where such servers are by default.

    None for a service that litellm knows the address of.
    """
    return api_base or next(iter(_named(provider)), None) or _SERVERS.get(provider)


def is_providers_own(provider: str, api_base: str) -> bool:
    """Whether the provider's own variable names this very address: then the provider's own key is meant for it."""
    return api_base.rstrip("/") in [named.rstrip("/") for named in _named(provider)]


def has_address(provider: str) -> bool:
    """Whether the provider's own variable names an address."""
    return bool(_named(provider))


def is_server(provider: str) -> bool:
    """Whether it is a kind of server that people run themselves."""
    return provider in _SERVERS


def is_near(address: str) -> bool:
    """Whether an address is on this machine or in a private network, by how it is written: names are not looked up."""
    try:
        host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    except ValueError:
        return False
    try:
        found = ip_address(host)
    except ValueError:
        return "." not in host.rstrip(".") or host.rstrip(".").endswith(_AT_HOME)
    return found.is_loopback or found.is_private or found.is_unspecified


def usual_way(provider: str, near: bool) -> Structured:
    """How models of a provider are best made to reply with JSON, as far as can be said beforehand."""
    if provider in _SERVERS or (provider == "openai" and near):
        return "grammar"
    return "schema" if provider in _SCHEMAS else "prompt"


def key_names(provider: str) -> tuple[str, ...]:
    """Variables that may hold the provider's key; none when it is not known."""
    return _KEYS.get(provider, ())


def _named(provider: str) -> list[str]:
    prefix = provider.removesuffix("_chat").upper()
    found = (os.environ.get(prefix + ending, "").strip() for ending in _ENDINGS)
    return [address for address in found if address]
