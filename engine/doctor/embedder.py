"""Whether what finds memories by meaning can be loaded, or reached."""

import asyncio
from functools import partial
from typing import Final

from engine.doctor.findings import Finding
from engine.doctor.knocking import takes_connections
from engine.errors import ModelError, ProviderError
from engine.llm.embedders import open_embedder
from engine.settings import BUILT_IN, EmbedSettings

_SET: Final = "otherminds config set models.embed"


async def embedder(settings: EmbedSettings, *, offline: bool, limit: float) -> Finding:
    """One word is embedded, unless a provider would have to be asked `offline`. `limit` is in seconds."""
    name = settings.model
    found = partial(Finding, area="embedder", name=name)
    if offline and name not in BUILT_IN:
        return found(state="ok", text="is behind a provider or a server: not asked")
    if not await takes_connections(settings.api_base):
        text = f"the server {settings.api_base} cannot be reached; memories are found by words alone until it can"
        return found(state="warn", text=text, advice="Start the server if it is yours, or use what is built in:", command=f"{_SET} hash768")
    try:
        async with asyncio.timeout(limit):
            opened = await open_embedder(settings)
            [vector] = await opened.embed(["lantern"])
    except TimeoutError:
        text = f"did not answer within {limit:g} s; memories are found by words alone until it does"
        return found(state="warn", text=text, advice="Try again, or use what is built in:", command=f"{_SET} hash768")
    except ProviderError as error:
        text = f"{error.args[0]} Memories are found by words alone until then."
        return found(state="warn", text=text, advice=error.advice)
    except ModelError as error:
        return found(state="bad", text=str(error.args[0]), advice=error.advice)
    text = f"works; vectors of {len(vector)} numbers"
    if name != "hash768":
        return found(state="ok", text=text)
    advice = "To find by meaning rather than by words, install the extra `embed`, then:"
    return found(state="ok", text=text, advice=advice, command=f"{_SET} minilm")
