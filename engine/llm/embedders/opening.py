"""From the settings to an embedder that works."""

from collections.abc import Mapping

from engine.errors import ProviderError
from engine.llm.embedders.absent import Absent
from engine.llm.embedders.minilm import open_minilm
from engine.llm.embedders.remote import RemoteEmbedder, embedding_origin, vectors_of
from engine.llm.hashing import Hash768
from engine.llm.protocol import Embedder
from engine.llm.remote.bridge import LitellmBridge, shared_bridge
from engine.settings import EmbedSettings


async def open_embedder(
    settings: EmbedSettings, known_dims: Mapping[str, int] | None = None, *, bridge: LitellmBridge | None = None
) -> Embedder:
    """The embedder of the settings: `hash768`, `minilm`, or a model behind a provider, by litellm's name of it.

    `known_dims` are the lengths of vectors that a save holds already, by embedder. Where neither it nor the settings know
    the length of a provider's vectors, one word is embedded to learn it. Raises `ModelError` with what to do: a package or
    a file is missing, or that one call failed.
    """
    given = {"meaning": settings.meaning, "same": settings.same, "merge": settings.merge}
    thresholds = {name: value for name, value in given.items() if value is not None}
    if settings.model == "hash768":
        return Hash768(**thresholds)
    if settings.model == "minilm":
        return await open_minilm(settings.file, **thresholds)
    bridge = bridge or shared_bridge()
    dim = (known_dims or {}).get(settings.model) or settings.dim
    if dim is None:
        origin = embedding_origin(settings.model, settings.api_base)
        dim = (await vectors_of(bridge, origin, settings.timeout, ["word"])).shape[1]
    return RemoteEmbedder(bridge, settings.model, dim, api_base=settings.api_base, limit=settings.timeout, **thresholds)


async def open_embedder_or_stand_in(settings: EmbedSettings, known_dims: Mapping[str, int] | None = None) -> Embedder:
    """As `open_embedder`, but a provider that cannot be reached gives a stand-in: it costs meaning, never the game.

    Raises `ModelError` when a package or a file of a model on this machine is missing.
    """
    try:
        return await open_embedder(settings, known_dims)
    except ProviderError as error:
        return Absent(settings.model, error)
