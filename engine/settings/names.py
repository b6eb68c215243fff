"""Names in settings: of models, servers and variables. What is wrong with one, what was likely meant, and how it is told to people."""

import difflib
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from engine.records.clean import one_line

_LONGEST: Final = 80
"""Characters of a name that a message shows."""
_SECRET: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk|gsk|xai|hf|r8|nvapi|ghp|glpat|pplx|fw|csk)[-_](?=[\w-]*\d)[\w-]{16,}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w.-]{16,})"
)
"""What keys to services look like, those that have a look of their own."""
_SECRET_NAME: Final = re.compile(r"key$|keys$|token$|secret|passw|credential|authori[sz]ation|bearer", re.IGNORECASE)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RANDOM: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{20,}|[0-9a-f]{32,}")
"""What names of variables do not look like, and keys without a look of their own do."""

_PROVIDERS: Final = (
    (r"gpt-(?!oss)|chatgpt|o[134](-|$)", "openai"),
    (r"claude", "anthropic"),
    (r"gemini", "gemini"),
    (r"(mistral|ministral|codestral|magistral|pixtral)-\w+-(latest|\d{4})", "mistral"),
    (r"deepseek-(chat|reasoner)", "deepseek"),
    (r"grok", "xai"),
    (r"command-", "cohere_chat"),
    (r"(code)?llama|qwen|phi|gemma|mistral|mixtral|smollm|deepseek|granite|olmo|gpt-oss", "ollama_chat"),
)
"""Which provider is most likely meant by a model's name without one: first match counts."""


def plain_name(value: str) -> str:
    """A name of a model without white space around it. Raises `ValueError` for what no name can hold."""
    name = value.strip()
    if not name and value:
        raise ValueError("must not be blank")
    if not name.isprintable():
        raise ValueError("holds characters that cannot be printed")
    return name


def address(value: str) -> str:
    """The address of a server. Raises `ValueError` when it is none, or holds a key."""
    found = value.strip()
    wrong = "must be an address that begins with http:// or https://, as `http://127.0.0.1:8080/v1`"
    try:
        parts = urlsplit(found)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ValueError(wrong) from error
    if not usable or not found.isprintable() or " " in found:
        raise ValueError(wrong)
    if "@" in parts.netloc or any(_SECRET_NAME.search(name) for name, _ in parse_qsl(parts.query)):
        raise ValueError(f"holds a key; {KEYS_ELSEWHERE}")
    return found


def variable(value: str) -> str:
    """The name of a variable of the environment. Raises `ValueError` when it is none, without telling what it was: it may be a key."""
    if looks_like_key(value) or _RANDOM.fullmatch(value):
        raise ValueError("must be the name of a variable that holds the key, as `OPENAI_API_KEY`, and never the key itself")
    if not _VARIABLE.fullmatch(value):
        raise ValueError("must be the name of a variable, as `OPENAI_API_KEY`")
    return value


KEYS_ELSEWHERE: Final = (
    "keys belong in the environment: take it out, and set the provider's own variable, as OPENAI_API_KEY, or one that `key_env` names"
)


def looks_like_key(value: str) -> bool:
    """Whether a text holds what looks like a key to a service."""
    return _SECRET.search(value) is not None


def named_like_key(name: str) -> bool:
    """Whether a setting of this name would hold a key: `api_key`, `OPENAI_API_KEY`, `auth_token`."""
    return _SECRET_NAME.search(name) is not None


def is_variable(value: str) -> bool:
    """Whether a text may be the name of a variable, and is not itself a key."""
    try:
        return variable(value) == value
    except ValueError:
        return False


def without_keys(text: str) -> str:
    """A text without what looks like a key to a service."""
    return _SECRET.sub("…", text)


def shown(text: str) -> str:
    """A text from a file or the environment, fit for a message: one line, not long, nothing in it that looks like a key."""
    line = without_keys(one_line(text))
    return line if len(line) <= _LONGEST else line[:_LONGEST].rstrip() + "…"


def near(name: str, known: Iterable[str], most: int = 2) -> list[str]:
    """Which of the known names may have been meant, the likeliest first."""
    names = list(known)
    folded = {one.lower(): one for one in reversed(names)}
    return [folded[one] for one in difflib.get_close_matches(name[:_LONGEST].lower(), folded, n=most, cutoff=0.6)]


@cache
def providers() -> frozenset[str]:
    """Providers that litellm knows, as they stand in front of its names of models: `providers.txt`."""
    text = resources.files("engine.settings").joinpath("providers.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


def misspelt(name: str) -> str:
    """The provider that was meant by the one in front of a model, when that is unknown and very near a known one; else empty. Others may
    be new."""
    provider = name.partition("/")[0].lower()
    if provider in providers():
        return ""
    return next(iter(difflib.get_close_matches(provider[:_LONGEST], sorted(providers()), n=1, cutoff=0.75)), "")


def likely(name: str) -> str:
    """litellm's name that may have been meant by one without a provider: `openai/gpt-5-mini` for `gpt-5-mini`. Empty when unknown."""
    found = next((provider for pattern, provider in _PROVIDERS if re.match(pattern, name, re.IGNORECASE)), "")
    return f"{found}/{name}" if found else ""
