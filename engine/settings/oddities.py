"""What is legal in settings and still hardly meant."""

import os
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from engine.settings.hints import CALLED
from engine.settings.keys import dotted
from engine.settings.names import near, shown
from engine.settings.records import BUILT_IN, STORYTELLER, Settings, TaskSettings

_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "cerebras": ("CEREBRAS_API_KEY",), "cohere": ("COHERE_API_KEY",),
    "cohere_chat": ("COHERE_API_KEY",), "deepseek": ("DEEPSEEK_API_KEY",), "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",), "mistral": ("MISTRAL_API_KEY",), "openai": ("OPENAI_API_KEY",), "openrouter": ("OPENROUTER_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY",), "xai": ("XAI_API_KEY",),
}
"""The variables of well-known providers, any of which will do. Of others the doctor knows, who asks the library."""
_ADDRESSES: Final = ("_API_BASE", "_BASE_URL")


def oddities(settings: Settings, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """What a person should know about settings that can be used, a sentence each. Keys are told by the names of their variables."""
    return (*_unreachable(settings), *_unpaid(settings), *_keyless(settings, environ), *_idle(settings))


def _lines(settings: Settings) -> dict[str, TaskSettings]:
    """The lines of `[models]` that count, by their keys."""
    own = {f"models.{task}": line for task in CALLED if (line := settings.models.of(task)) is not None}
    return {"models.default": settings.models.default, **own}


def _used(settings: Settings) -> list[str]:
    """The models that answer tasks, as settings call them."""
    names = [name for line in _lines(settings).values() for name in line.names]
    return [name for name in dict.fromkeys(names) if name != STORYTELLER]


def _unreachable(settings: Settings) -> Iterator[str]:
    for key, line in _lines(settings).items():
        if STORYTELLER in line.names[:-1]:
            never = " and ".join(f"`{shown(name)}`" for name in line.names[line.names.index(STORYTELLER) + 1:])
            yield f"`{key}`: the storyteller always answers, so that {never} will never be asked."
    caps = settings.caps
    for what, run, day in (("tokens", caps.run_tokens, caps.day_tokens), ("money", caps.run_money, caps.day_money)):
        if run is not None and day is not None and run > day:
            yield f"`caps.run_{what}` is above `caps.day_{what}`, which stops play first."


def _unpaid(settings: Settings) -> Iterator[str]:
    caps = [f"`caps.{name}`" for name in ("run_money", "day_money") if getattr(settings.caps, name) is not None]
    for name in _used(settings) if caps else ():
        endpoint = settings.resolved(name)
        if not endpoint.input_price and not endpoint.output_price and endpoint.input_price is not None:
            yield f"`{dotted(('endpoint', name))}` costs nothing by its prices, so that {' and '.join(caps)} will never stop it."


def _keyless(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    for name in _used(settings):
        endpoint = settings.resolved(name)
        provider = endpoint.model.partition("/")[0]
        if endpoint.key_env is not None:
            if not environ.get(endpoint.key_env):
                yield f"`{shown(name)}` has no key: {endpoint.key_env} is not set in the environment."
        elif message := _no_key(name, provider, endpoint.api_base, environ):
            yield message
    embed = settings.models.embed
    if embed.model not in BUILT_IN and (message := _no_key(embed.model, embed.model.partition("/")[0], embed.api_base, environ)):
        yield message


def _no_key(name: str, provider: str, api_base: str | None, environ: Mapping[str, str]) -> str:
    keys = _KEYS.get(provider, ())
    elsewhere = api_base is not None or any(environ.get(provider.upper() + ending) for ending in _ADDRESSES)
    if not keys or elsewhere or any(environ.get(key) for key in keys):
        return ""
    return f"`{shown(name)}` has no key: {' or '.join(keys)} is not set in the environment."


def _idle(settings: Settings) -> Iterator[str]:
    """Tables for providers that no model is of."""
    endpoints = [settings.resolved(name) for name in {*_used(settings), *settings.endpoint}]
    there = {urlsplit(one.api_base).netloc.lower() if one.api_base else one.model.partition("/")[0] for one in endpoints}
    there |= {"ollama"} if "ollama_chat" in there else set()
    for name in settings.provider:
        if name not in there:
            meant = near(name, there)
            hint = f"; did you mean {' or '.join(f'`{one}`' for one in meant)}?" if meant else "."
            yield f"`{dotted(('provider', name))}` counts for no model that is named here{hint}"
