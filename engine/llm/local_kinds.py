"""How each kind of model server is known by what it says of itself. None is taken for another: several answer as others do."""

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, Literal

from engine.llm.loopback import Address, Answer, ask, table
from engine.llm.model_names import plain_name, writes_text
from engine.records.models import LocalServer

Kind = Literal["ollama", "llama.cpp", "lm_studio", "vllm", "openai-compatible"]

Asked = Callable[[str], Awaitable[Answer]]
"""Asks the server at a place for a path."""

_PREFIXES: Final[dict[Kind, str]] = {
    "ollama": "ollama_chat/", "llama.cpp": "openai/", "lm_studio": "lm_studio/", "vllm": "hosted_vllm/", "openai-compatible": "openai/",
}
_KEYS: Final[dict[Kind, str]] = {"llama.cpp": "LLAMA_API_KEY", "lm_studio": "LM_API_TOKEN", "vllm": "VLLM_API_KEY"}
"""The variables that servers themselves have their keys from. Not those of paid services, whose keys they must not get."""
UNNAMED: Final = "model"
"""What a llama.cpp server's model is called when the server does not tell; it takes any name for the only one it has."""
_MOST_MODELS: Final = 200
_LONGEST_NAME: Final = 200
_LEAST_WINDOW: Final = 512
_MOST_WINDOW: Final = 100_000_000


async def told_by(place: Address, limit: float, key: str | None = None) -> LocalServer | None:
    """The server at a place. It is asked as each kind in turn, so that a stranger hears as few questions as possible.

    Each question has `limit` seconds. `key` is only for a place that it was set for. Raises `UnansweredError` when nobody is there who
    answers in HTTP.
    """

    async def asked(path: str) -> Answer:
        return await ask(place, path, limit, key=key)

    for told in (_llama_cpp, _lm_studio, _ollama, _openai):
        server = await told(place, asked)
        if server is not None:
            return server
    return None


def is_elsewhere(model: str) -> bool:
    """Whether an Ollama server only passes calls of the model on to its maker's service: then texts leave this machine."""
    return model.startswith("ollama") and model.endswith(("-cloud", ":cloud"))


def window(value: object) -> int | None:
    """A window as a server tells it; None when it is none, or none that anything fits into."""
    return value if isinstance(value, int) and _LEAST_WINDOW <= value <= _MOST_WINDOW else None


async def _llama_cpp(place: Address, asked: Asked) -> LocalServer | None:
    """Asked first, for it also answers as Ollama does and as OpenAI does."""
    answer = await asked("/props")
    props = answer.fields
    settings = props.get("default_generation_settings")
    if answer.status == 200 and props.get("role") == "router":  # it starts models as they are asked for
        return _server("llama.cpp", place, (row.get("id") for row in (await asked("/v1/models")).rows("data")))
    if answer.status == 200 and isinstance(settings, dict):
        name = _file_name(props.get("model_alias") or props.get("model_path"))
        return _server("llama.cpp", place, [name], window(settings.get("n_ctx")))
    if answer.status == 503 and "oading model" in _complaint(props):
        return _server("llama.cpp", place, [], note="It is still loading its model.")
    if answer.status == 401 and answer.server.startswith("llama.cpp"):
        rows = (await asked("/v1/models")).rows("data")  # which earlier releases tell without a key
        return _server("llama.cpp", place, [_file_name(row.get("id")) for row in rows] or [_file_name(None)], locked=True)
    return None


async def _lm_studio(place: Address, asked: Asked) -> LocalServer | None:
    answer = await asked("/api/v0/models")
    if "LM Studio API token" in _complaint(answer.fields):
        return _server("lm_studio", place, [], locked=True)
    if answer.status != 200 or not isinstance(answer.fields.get("data"), list):
        return None
    rows = [row for row in answer.rows("data") if row.get("type") in ("llm", "vlm")]
    loaded = [row for row in rows if row.get("state") == "loaded"]
    context = window(loaded[0].get("loaded_context_length")) if len(loaded) == 1 else None
    return _server("lm_studio", place, (row.get("id") for row in (*loaded, *rows)), context)


async def _ollama(place: Address, asked: Asked) -> LocalServer | None:
    answer = await asked("/api/tags")
    if answer.status != 200 or "models" not in answer.fields or "data" in answer.fields:
        return None
    rows = [row for row in answer.rows("models") if "bert" not in str(table(row.get("details")).get("family"))]
    server = _server("ollama", place, (row.get("name") for row in rows))
    away = [plain_name(model) for model in server.models if is_elsewhere(model)]
    note = f"Not on this machine but at a service of Ollama's: {', '.join(away[:3])}{' …' if away[3:] else ''}." if away else ""
    return server.model_copy(update={"note": note})


async def _openai(place: Address, asked: Asked) -> LocalServer | None:
    """vLLM, which says so in its list of models, and whoever else keeps such a list."""
    answer = await asked("/v1/models")
    if answer.status == 401:
        version = await asked("/version")
        locked = version.status == 200 and set(version.fields) == {"version"}
        return _server("vllm", place, [], locked=True) if locked else None
    if answer.status != 200 or not isinstance(answer.fields.get("data"), list):
        return None
    rows = answer.rows("data")
    vllm = bool(rows) and all(row.get("owned_by") == "vllm" for row in rows)
    windows = {window(row.get("max_model_len")) for row in rows}
    names = (row.get("id") for row in rows)
    return _server("vllm" if vllm else "openai-compatible", place, names, windows.pop() if len(windows) == 1 else None)


def _server(
    kind: Kind, place: Address, names: Iterable[object], context_window: int | None = None, *, locked: bool = False, note: str = ""
) -> LocalServer:
    base = place.base if kind == "ollama" else f"{place.base}/v1"
    kept = dict.fromkeys(_PREFIXES[kind] + name for name in names if isinstance(name, str) and _usable(name))
    key_env = _KEYS.get(kind) if locked else None
    if key_env:
        note = f"It wants a key: the variable {key_env} is for it."
    return LocalServer(
        kind=kind, api_base=base, models=tuple(kept)[:_MOST_MODELS], context_window=context_window, key_env=key_env, note=note,
    )


def _usable(name: str) -> bool:
    """Whether a name can be shown and said again as it is, and is that of a model that writes."""
    return name.isprintable() and name == name.strip() and 0 < len(name) <= _LONGEST_NAME and writes_text(name)


def _file_name(path: object) -> str:
    """llama.cpp calls a model by its file."""
    return re.split(r"[/\\]", str(path or UNNAMED))[-1].removesuffix(".gguf")


def _complaint(fields: dict[str, object]) -> str:
    return str(table(fields.get("error")).get("message", ""))
