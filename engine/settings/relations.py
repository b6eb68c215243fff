"""Whether settings fit each other: names that are meant to be somewhere else, things that go together, names that none can have."""

from collections.abc import Collection, Iterator, Sequence

from engine.settings.keys import Key
from engine.settings.names import likely, misspelt, near, shown
from engine.settings.records import BUILT_IN, STORYTELLER, EndpointSettings, Settings, TaskSettings


def related(settings: Settings, endpoints: Collection[str]) -> Iterator[tuple[Key, str]]:
    """What is wrong with settings that are each well-formed, with the place of it. `endpoints` are the names of all endpoint tables."""
    for name, endpoint in settings.endpoint.items():
        yield from _endpoint(name, endpoint)
    for name in settings.provider:
        if not name.strip() or not name.isprintable() or "/" in name:
            yield ("provider", name), "must be named as in front of a model, `openai`, or by host and port of a server, `127.0.0.1:8080`"
    default = settings.models.default
    for field, info in type(settings.models).model_fields.items():
        task = getattr(settings.models, field)
        if isinstance(task, TaskSettings) and task.model_fields_set & {"model", "fallbacks"}:
            first = task.model if "model" in task.model_fields_set else default.model
            yield from _task(("models", info.alias or field), (first, *task.fallbacks), endpoints)
    embed = settings.models.embed.model
    if embed not in BUILT_IN and not is_litellms(embed):
        yield ("models", "embed", "model"), f"no embedder is called `{shown(embed)}`; built in are {' and '.join(BUILT_IN)}, {_PROVIDER}"


_PROVIDER = "and names of models begin with their provider: `openai/…`, `ollama_chat/…`"


def is_litellms(name: str) -> bool:
    """Whether a name may be one that litellm has for a model: provider first."""
    provider, slash, model = name.partition("/")
    return bool(provider.strip() and slash and model.strip()) and name.isprintable()


def _endpoint(name: str, endpoint: EndpointSettings) -> Iterator[tuple[Key, str]]:
    place: Key = ("endpoint", name)
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > 200:
        yield place, "must have a name of up to 200 characters that can be printed, without white space around it"
    elif name.lower() == STORYTELLER:
        yield place, "must have another name: the storyteller is built in and is reached without an endpoint"
    if endpoint.model.lower() == STORYTELLER:
        yield (*place, "model"), "the storyteller is built in and needs no endpoint: name it in [models]"
    elif endpoint.model and not is_litellms(endpoint.model):
        yield (*place, "model"), _without_provider(endpoint.model)
    elif meant := misspelt(endpoint.model or name):
        yield (*place, "model"), _no_provider(endpoint.model or name, meant)
    elif not endpoint.model and not is_litellms(name):
        meant = likely(name)
        hint = f"as `{meant}`" if meant else "as `openai/gpt-5-mini` or `ollama_chat/llama3.2`"
        yield (*place, "model"), f"needs a `model`: litellm's name of it, {hint}"
    prices = {"input_price": endpoint.input_price, "output_price": endpoint.output_price}
    missing = [key for key, price in prices.items() if price is None]
    if len(missing) == 1:
        yield (*place, missing[0]), f"needs both prices or none: `{missing[0]}` is missing"


def _task(place: Key, names: Sequence[str], endpoints: Collection[str]) -> Iterator[tuple[Key, str]]:
    for index, name in enumerate(names):
        where = (*place, "fallbacks" if index else "model")
        if name in names[:index]:
            if name not in names[index + 1:]:
                yield where, f"`{shown(name)}` is named twice"
        elif name != STORYTELLER and name not in endpoints and not is_litellms(name):
            yield where, _unknown(name, endpoints)
        elif name != STORYTELLER and name not in endpoints and (meant := misspelt(name)):
            yield where, _no_provider(name, meant)


def _no_provider(name: str, meant: str) -> str:
    provider, _, model = name.partition("/")
    return f"no provider is called `{shown(provider)}`; did you mean `{shown(f'{meant}/{model}')}`?"


def _unknown(name: str, endpoints: Collection[str]) -> str:
    meant = near(name, [STORYTELLER, *endpoints])
    full = likely(name)
    if meant:
        names = " or ".join(f"`{shown(one)}`" for one in [*meant, full] if one)
        return f"no endpoint is called `{shown(name)}`; did you mean {names}?"
    return _without_provider(name) if full else f"no endpoint is called `{shown(name)}`, {_PROVIDER}"


def _without_provider(name: str) -> str:
    full = likely(name)
    return f"`{shown(name)}` needs its provider in front of it{f', as in `{shown(full)}`' if full else ': `openai/…`, `ollama_chat/…`'}"
