"""Model servers on this machine, and the command that puts one to use."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from engine.doctor.findings import Finding
from engine.llm.local_kinds import UNNAMED
from engine.llm.local_servers import endpoint_for, facts_of
from engine.llm.loopback import loopback
from engine.llm.model_names import plain_name
from engine.llm.remote.providers import address_of, provider_of
from engine.records.models import LocalServer
from engine.settings import EndpointSettings, Settings
from engine.settings.keys import dotted, quoted

_SHOWN: Final = 5
"""Models of a server that are named."""
_WORDS: Final[Mapping[str, str]] = {"ollama": "Ollama", "lm_studio": "LM Studio", "vllm": "vLLM", "openai-compatible": "a server"}
_MODEL: Final = "NAME"
"""Stands for the name of a model that only a person knows."""


async def servers(found: Sequence[LocalServer], settings: Settings) -> list[Finding]:
    """One finding for each server; one that there is none, else. Asks Ollama about one model."""
    if not found:
        here = [name for name, endpoint in settings.endpoint.items() if (address := _address(endpoint)) and loopback(address)]
        text = f"beside {', '.join(here)}, which is looked at above, no" if here else "no"
        name = "no other" if here else "none"
        return [Finding(area="servers", name=name, state="ok", text=f"{text} model server answers on this machine")]
    return [await _server(server, settings) for server in found]


def title(server: LocalServer) -> str:
    """What people call a server."""
    return f"{_WORDS.get(server.kind, server.kind)} at {server.api_base}"


async def _server(server: LocalServer, settings: Settings) -> Finding:
    names = [name for model in server.models if (name := plain_name(model)) != UNNAMED]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    offers = f": {', '.join(names[:_SHOWN])}{more}" if names else "" if server.note else ", without a model"
    text = f"at {server.api_base}{offers}" + (f". {server.note.rstrip('.')}" if server.note else "")
    used = [name for name, endpoint in settings.endpoint.items() if _is_at(server, endpoint)]
    if server.kind == "busy":
        return _busy(server, used)
    if used:
        return _finding(server, f"{text}. Set up as {', '.join(used)}")
    if not server.models:
        return _finding(server, text)
    model = server.models[0]
    name, endpoint = endpoint_for(server, model, await facts_of(server, model))
    return _finding(server, text, command(name, endpoint))


def _busy(server: LocalServer, used: Sequence[str]) -> Finding:
    """Somebody who says nothing. What it is cannot be known, so that its model has to be named by a person."""
    text = f"something answers at {server.api_base} but is busy: it takes connections and says nothing"
    if used:
        return Finding(area="servers", name="busy", state="warn", text=f"{text}. Set up as {', '.join(used)}", advice="Try again.")
    advice = "Try again when it has come to rest, or set it up with the name of its model:"
    model = f"ollama_chat/{_MODEL}" if server.api_base.endswith(":11434") else f"openai/{_MODEL}"
    endpoint = EndpointSettings(model=model, api_base=server.api_base)
    return Finding(area="servers", name="busy", state="warn", text=text, advice=advice, command=command("home", endpoint))


def command(name: str, endpoint: EndpointSettings) -> str:
    """The command that sets up an endpoint and lets it answer all tasks."""
    values = endpoint.model_dump(exclude_none=True, exclude_defaults=True)
    table = ", ".join(f"{key} = {_toml(value)}" for key, value in values.items())
    return shlex.join(("otherminds", "config", "set", dotted(("endpoint", name)), f"{{{table}}}", "models.default", name))


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else quoted(value) if isinstance(value, str) else str(value)


def _address(endpoint: EndpointSettings) -> str | None:
    return address_of(provider_of(endpoint.model), endpoint.api_base)


def _is_at(server: LocalServer, endpoint: EndpointSettings) -> bool:
    address = _address(endpoint)
    return address is not None and loopback(address) == loopback(server.api_base)


def _finding(server: LocalServer, text: str, command_: str = "") -> Finding:
    advice = "To let it answer:" if command_ else ""
    return Finding(area="servers", name=server.kind.replace("_", " "), state="ok", text=text, advice=advice, command=command_)
