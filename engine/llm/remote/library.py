"""litellm itself: how it is imported so that it stays quiet, and the part of it that is used here."""

import gc
import importlib
import logging
import os
import warnings
from collections.abc import Awaitable, Mapping, Sequence
from types import ModuleType
from typing import Final, Protocol, cast

from engine.errors import ModelError

_BEFORE: Final = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else the import fetches a price list, three times, with warnings
    "LITELLM_MODE": "PRODUCTION",  # else the import loads `.env` of the current folder into our environment
    "LITELLM_LOG": "CRITICAL",  # else warnings and tracebacks are written over the screen
}
_AFTER: Final[dict[str, object]] = {
    "suppress_debug_info": True,  # else each error prints a banner
    "disable_hf_tokenizer_download": True,  # else some model names make a stream fetch a tokenizer
    "DEFAULT_MAX_RETRIES": 0,  # embeddings read `max_retries=0` as not given and try three times
}
_LOGGERS: Final = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_BENEATH: Final = ("aiohttp", "botocore", "httpcore", "httpx", "huggingface_hub", "openai", "urllib3")


class Litellm(Protocol):
    """The part of litellm that is used here. Calls take what litellm's own do."""

    @property
    def model_cost(self) -> Mapping[str, Mapping[str, object]]:
        """The list of models with prices and limits, by name."""
        ...

    def acompletion(self, **request: object) -> Awaitable[object]:
        """A reply, or with `stream=True` an asynchronous iterator of its parts."""
        ...

    def get_llm_provider(self, model: str) -> Sequence[object]:
        """The model's name at its provider, the provider, a key and an address. Raises for a model that nobody provides."""
        ...

    def supports_reasoning(self, model: str) -> bool:
        """Whether a model is known to think before it replies. Asks an Ollama server, and nobody else."""
        ...

    def aembedding(self, **request: object) -> Awaitable[object]:
        """Vectors of the texts `input`; the reply's `data` holds a row for each, with `index` and `embedding`."""
        ...

    def validate_environment(self, model: str) -> dict[str, object]:
        """`missing_keys`: the variables that the provider of a model wants and that are not set."""
        ...


def load_litellm() -> Litellm:
    """litellm, set up to write nothing anywhere and to try each call once. Two seconds and more the first time.

    Meant for a thread. Garbage collections would stop all threads for 100 to 200 ms each while three thousand modules come to
    be, so there are none meanwhile, and what exists after is never looked at again. Raises `ModelError`.
    """
    os.environ.update(_BEFORE)
    collecting = gc.isenabled()
    gc.disable()
    try:
        library = importlib.import_module("litellm")
        gc.freeze()
    except ImportError as error:
        raise ModelError(f"The package litellm cannot be loaded: {error}.", "Install Otherminds anew with pip.") from error
    finally:
        if collecting:
            gc.enable()
    _silence(library)
    return cast(Litellm, library)


def _silence(library: ModuleType) -> None:
    for name, value in _AFTER.items():
        setattr(library, name, value)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False
    for name in _BENEATH:
        logging.getLogger(name).addHandler(logging.NullHandler())
    warnings.filterwarnings("ignore", module=r"(litellm|openai|httpx|httpcore|aiohttp|pydantic)(\.|$)")
    given_up = r"coroutine '\w+\.a\w+' was never awaited"  # a call that was stopped while litellm prepared it in another thread
    warnings.filterwarnings("ignore", message=given_up, category=RuntimeWarning)
