"""Model servers on this machine: found where they usually listen, and set up with what they know of their models."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Final, NamedTuple

from engine.llm.local_kinds import is_elsewhere, told_by, window
from engine.llm.loopback import Address, Answer, UnansweredError, ask, loopback, table, takes_connections
from engine.llm.model_names import SMALL, billions, plain_name
from engine.records.models import LocalServer
from engine.settings import EndpointSettings

PORTS: Final = (11434, 8080, 1234, 8000)
"""Where servers listen when nobody says otherwise: Ollama, llama.cpp, LM Studio, vLLM."""
PATIENCE: Final = 2.0
"""Seconds that a server is given to say what it is. One that is at work, or is loading a model, takes its time."""
_CONNECT: Final = 0.4
"""Seconds to take a connection on one's own machine."""
_SILENT: Final = "It takes connections and says nothing: it may be at work or loading a model. Look again when it has come to rest."
_USUAL: Final = {"ollama": 11434, "llama.cpp": 8080, "lm_studio": 1234, "vllm": 8000}
_VARIABLES: Final = {
    "OLLAMA_HOST": 11434, "OLLAMA_API_BASE": 11434, "LM_STUDIO_API_BASE": 1234, "HOSTED_VLLM_API_BASE": 8000, "LLAMAFILE_API_BASE": 8080,
    "OPENAI_API_BASE": 80, "OPENAI_BASE_URL": 80,
}
"""Variables of the environment that may name a server, and the port meant where they name none."""
_MODEST: Final = 8192
"""Tokens of window to ask an Ollama server for: memory for all that a model could take is seldom there, and its own default is 4096."""
_UNLOADED: Final = 4096
"""Tokens that LM Studio loads a model with when nobody says otherwise."""


class ModelFacts(NamedTuple):
    """What a server knows of one of its models."""

    context_window: int | None
    """Tokens that prompt and reply may fill together."""
    billions: float | None
    """Billions of parameters."""


async def find_servers(
    ports: Iterable[int] | None = None, *, limit: float = PATIENCE, environ: Mapping[str, str] = os.environ
) -> tuple[LocalServer, ...]:
    """The model servers on this machine, in the order they are looked for: at `ports`, or at the usual ones and where the environment
    says that one is. All are asked side by side and given `limit` seconds once they take a connection. One that takes it and says
    nothing is told as `busy`: it may be at work. Whoever else listens there is left out."""
    places = _places(environ) if ports is None else [Address("127.0.0.1", port) for port in ports]
    found = await asyncio.gather(*(_at(place, limit) for place in places))
    return tuple(server for server in found if server is not None)


async def server_at(api_base: str, limit: float = PATIENCE) -> LocalServer | None:
    """The model server at an address. None when the address is not on this machine, or no such server answers there in time."""
    place = loopback(api_base)
    server = await _at(place, limit) if place else None
    return None if server is not None and server.kind == "busy" else server


async def facts_of(server: LocalServer, model: str, limit: float = 2.0, *, key: str | None = None) -> ModelFacts:
    """What is known of one of the server's models; it is asked, where that tells more, and given `limit` seconds.

    `key` is what the server asks of callers.
    """
    name, place = plain_name(model), loopback(server.api_base)
    known = ModelFacts(server.context_window, billions(name))
    try:
        return await _asked(server, name, partial(ask, place, limit=limit, key=key), known) if place else known
    except UnansweredError:
        return known


def endpoint_for(server: LocalServer, model: str, facts: ModelFacts | None = None) -> tuple[str, EndpointSettings]:
    """A name for one of the server's models and how to set it up: `ollama-llama3-2`. `facts` is what `facts_of` gave, if it was asked.

    The same server and model give the same name each time. It needs no quotation marks in keys of settings.
    """
    facts = facts or ModelFacts(server.context_window, billions(plain_name(model)))
    place = loopback(server.api_base)
    unusual = str(place.port) if place and place.port != _USUAL.get(server.kind) else ""
    title = plain_name(model).removesuffix(":latest").rsplit("/", 1)[-1]
    name = re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, (server.kind, unusual, title))).lower()).strip("-")
    structured = None if server.kind == "openai-compatible" else "prompt" if is_elsewhere(model) else "grammar"
    small = None if facts.billions is None else facts.billions < SMALL
    return name, EndpointSettings(
        model=model, api_base=server.api_base, key_env=server.key_env, context_window=facts.context_window, small=small,
        structured=structured,
    )


def _places(environ: Mapping[str, str]) -> list[Address]:
    named = [loopback(text, port) for name, port in _VARIABLES.items() if (text := environ.get(name, "").strip())]
    if own := environ.get("LLAMA_ARG_PORT", "").strip():
        named.append(loopback(f":{own}"))
    places = [*(Address("127.0.0.1", port) for port in PORTS), *(place for place in named if place)]
    return list(dict.fromkeys(places))


async def _at(place: Address, limit: float) -> LocalServer | None:
    if not await takes_connections(place, min(_CONNECT, limit)):
        return None
    try:
        async with asyncio.timeout(limit):
            return await told_by(place, 2 * limit)  # so that it is known for sure who came to the end of patience
    except TimeoutError:
        base = place.base if place.port == _USUAL["ollama"] else f"{place.base}/v1"
        return LocalServer(kind="busy", api_base=base, models=(), note=_SILENT)
    except UnansweredError:
        return None


async def _asked(server: LocalServer, name: str, asked: Callable[..., Awaitable[Answer]], known: ModelFacts) -> ModelFacts:
    """Raises `UnansweredError`."""
    if server.kind == "ollama":
        shown = (await asked("/api/show", send={"model": name})).fields
        size = billions(str(table(shown.get("details")).get("parameter_size")))
        return ModelFacts(_ollama_window(shown), size or known.billions)
    if server.kind == "lm_studio":
        row = _row((await asked("/api/v0/models")).rows("data"), name)
        most = window(row.get("max_context_length"))
        return known._replace(context_window=window(row.get("loaded_context_length")) or (most and min(most, _UNLOADED)))
    if server.kind in ("vllm", "openai-compatible"):
        row = _row((await asked("/v1/models")).rows("data"), name)
        return known._replace(context_window=window(row.get("max_model_len")))
    return known


def _row(rows: list[dict[str, object]], name: str) -> dict[str, object]:
    return next((row for row in rows if row.get("id") == name), {})


def _ollama_window(shown: dict[str, object]) -> int | None:
    """The window that the model was set up with, else a modest part of what it can take."""
    set_up = re.search(r"^num_ctx\s+(\d{1,9})\s*$", str(shown.get("parameters")), re.MULTILINE)
    if set_up and (chosen := window(int(set_up[1]))):
        return chosen
    told = (window(value) for key, value in table(shown.get("model_info")).items() if key.endswith(".context_length"))
    most = [length for length in told if length]
    return min([_MODEST, *most]) if most else None
