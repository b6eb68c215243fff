"""What can be read off the name of a model."""

import re
from typing import Final

SMALL: Final = 4.0
"""Billions of parameters below which a model is small: it wants its work in small pieces."""
_SIZE: Final = re.compile(r"(?:^|[^a-z0-9.])(\d{1,4}(?:\.\d{1,3})?)\s?([bm])(?![a-z0-9])", re.IGNORECASE)
_NO_CHAT: Final = re.compile(r"(?:^|[^a-z])(?:embed|bert|minilm|bge|gte|e5-|rerank)|embedding", re.IGNORECASE)


def billions(name: str) -> float | None:
    """Billions of parameters, where a name says them: 0.5 of `qwen2.5-coder-0.5b-instruct`, 0.27 of `gemma3:270m`."""
    found = _SIZE.search(name)
    if found is None:
        return None
    number = float(found[1])
    return number if found[2].lower() == "b" else number / 1000


def writes_text(name: str) -> bool:
    """Whether a model of this name is one that writes, rather than one that makes vectors or ranks."""
    return _NO_CHAT.search(name) is None


def plain_name(model: str) -> str:
    """What a server itself calls a model: litellm's name without the provider."""
    return model.partition("/")[2] or model
