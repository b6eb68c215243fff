"""What went wrong with a provider, found out from litellm's errors and said with a next step.

litellm's classes alone do not tell: a refused connection and a missing key both come as `InternalServerError` 500, 403 and 529
as bare `APIError`. So the chain of causes is looked at first, then names, then the HTTP status, then the text.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from engine.errors import ProviderError, Trouble
from engine.llm.remote.providers import address_of, is_near, provider_of
from engine.records.clean import one_line

_LONGEST: Final = 200
"""Characters of a provider's own words that are passed on."""
_CONNECTION: Final = frozenset({"ConnectError", "ConnectTimeout", "ClientConnectorError", "ReadError", "WriteError", "RemoteProtocolError"})
_TIMEOUT: Final = frozenset({"Timeout", "APITimeoutError", "ReadTimeout", "WriteTimeout", "PoolTimeout"})
_TOO_LONG: Final = re.compile(
    r"context (length|size|window|limit)|too (large|long)|maximum.{0,20}tokens|maximum model length|cannot exceed \d+ tokens", re.IGNORECASE
)
_TOO_LARGE: Final = re.compile(r"request too large", re.IGNORECASE)
"""Said with the status of a rate limit: a smaller request passes at once, the same one never."""
_USED_UP: Final = re.compile(
    r"insufficient.quota|current quota|billing|out of credits|credit balance|insufficient (?:balance|funds)", re.IGNORECASE
)
_WAIT: Final = re.compile(
    r"(?:try again|retry)(?: your request)? (?:in|after) (?:(\d+)m)?(\d+(?:\.\d+)?)\s*(ms|m(?:in)?|s)?\b", re.IGNORECASE
)
_HOUR: Final = 3600.0
_DAY: Final = 86_400.0
_MID_STREAM: Final = "MidStreamFallbackError"
_LITELLMS_OWN: Final = re.compile(r"Stream ended before a finish_reason|raised a streaming error")
"""Words that say nothing to people."""
_NO_KEY: Final = re.compile(r"missing (credentials|\w+ api key)|unable to locate credentials|no api base", re.IGNORECASE)
_POLICY: Final = re.compile(r"content.?policy|safety system|content.?filter", re.IGNORECASE)
_NO_PROVIDER: Final = "LLM Provider NOT provided"
_PREFIX: Final = re.compile(r"^(?:[\w. ]*(?:Error|Exception|Exceeded\w*)\b\s*[:-]\s*)+(?:Error code: \d+ - )?")
_REPEATED: Final = re.compile(r"Traceback \(most recent call last\)|\s*Original exception: ")
_SECRET: Final = re.compile(r"\b(?:sk|pk|gsk|xai|hf|AIza)[-_\w*]{8,}")
_SHORTEST_SECRET: Final = 8
_SECRET_NAMES: Final = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class Origin(NamedTuple):
    """Whom a call goes to, for messages."""

    model: str
    """litellm's name of it."""
    api_base: str | None = None
    """The address that was set, if any."""
    instead: str = "choose another model"
    """What else a reader can do, as an order without a full stop."""
    key_names: tuple[str, ...] = ()
    """The variables that hold its key, where known."""


def timed_out(origin: Origin, limit: float, began: bool = False) -> ProviderError:
    """A call without an answer, or without another word once it `began`, for `limit` seconds."""
    advice = f"Try again, allow it more time (`timeout`), or {origin.instead}."
    what = f"fell silent for {limit:g} s in the middle of its reply" if began else f"did not answer within {limit:g} s"
    return ProviderError(f"{origin.model} {what}.", advice, trouble="timed_out")


def no_key(origin: Origin, names: list[str]) -> ProviderError:
    """A key is needed, and none of the variables `names` is set."""
    advice = f"Set {' or '.join(names)} in the environment, or {origin.instead}."
    return ProviderError(f"There is no key for {origin.model}.", advice, trouble="no_key")


def bad_output(origin: Origin, what: str, advice: str = "") -> ProviderError:
    """A reply that cannot be used."""
    told = advice or f"See whether {_server(origin)} is what it should be, or {origin.instead}."
    if what == "nothing" and not advice:  # refusals in a field of their own are not passed on by litellm when a reply comes in pieces
        told = f"It may have refused the text: change that, see whether {_server(origin)} is what it should be, or {origin.instead}."
    return ProviderError(f"{origin.model} replied with {what}.", told, trouble="bad_output")


def refused(origin: Origin, said: str) -> ProviderError:
    """A reply that is a refusal, in the model's words or in none."""
    what, advice = _TEXTS["refused"]
    text, words = what.format(model=origin.model), _readable(said, origin)
    return ProviderError(f"{text}: {words}" if words else f"{text}.", advice.format(instead=origin.instead), trouble="refused")


def broken_off(origin: Origin) -> ProviderError:
    """A reply that ended in the middle without a word about it."""
    what, advice = _TEXTS["broken_off"]
    return ProviderError(f"{what.format(model=origin.model)}.", advice.format(instead=origin.instead), trouble="broken_off")


def explained(error: Exception, origin: Origin) -> ProviderError:
    """The error for people. Never raises, holds no key, and no more than a line of the provider's own words."""
    chain = list(_chain(error))
    trouble = _trouble(chain)
    what, advice = _advice(error, trouble, origin)
    untold = trouble == "unreachable" or _NO_PROVIDER in str(error) or _LITELLMS_OWN.search(str(error))
    said = "" if untold else _words(error, origin)
    text = what.format(model=origin.model, server=_server(origin))
    text = text[0].upper() + text[1:] if what.startswith("{server}") else text
    told = advice.format(server=_server(origin), instead=origin.instead)
    return ProviderError(f"{text}: {said}" if said else f"{text}.", told, trouble=trouble, retry_after=_retry_after(error, trouble))


def _advice(error: Exception, trouble: Trouble, origin: Origin) -> tuple[str, str]:
    """What to say of the trouble and what to do, told more closely where more is known."""
    what, advice = _TEXTS[trouble]
    status = getattr(error, "status_code", None)
    address = address_of(provider_of(origin.model), origin.api_base)
    if trouble == "unreachable" and address is not None and is_near(address):
        advice = "Start it if it is yours, see whether address and network are right, or {instead}."
    if trouble == "no_key" and status == 403:
        what = "{model} may not be used with this key"
    if trouble == "no_key" and origin.api_base and not origin.key_names:
        advice = "If {server} wants a key, name the variable that holds it in `key_env`, or {instead}."
    elif trouble == "no_key" and origin.key_names:
        advice = f"Set {' or '.join(origin.key_names)} to a valid key in the environment, or {{instead}}."
    if trouble == "rate_limited" and _USED_UP.search(str(error)) and not _WAIT.search(str(error)):
        what, advice = "The plan for {model} is used up", "See what is left of it at the provider's, or {instead}."
    return what, advice


_TEXTS: Final[dict[Trouble, tuple[str, str]]] = {
    "no_key": ("The key for {model} is missing or was rejected", "Set the provider's key in the environment, or {instead}."),
    "unreachable": ("{server} cannot be reached", "See whether address and network are right, or {instead}."),
    "timed_out": ("{model} took too long", "Try again, or {instead}."),
    "rate_limited": ("{model} takes no more calls for now", "Wait and try again, see what is left of your plan, or {instead}."),
    "unknown_model": ("The model {model} is unknown", "See how it is spelled, provider first (openai/…, ollama/…), or {instead}."),
    "too_long": ("The text is too long for {model}", "Send less of it, give the model a larger window, or {instead}."),
    "refused": ("{model} refused the text", "Change the text, or {instead}."),
    "overloaded": ("{server} has trouble of its own", "Try again in a while, or {instead}."),
    "broken_off": ("{model} broke off in the middle of its reply", "Try again, or {instead}."),
    "bad_request": ("{model} does not take such a call", "See whether the model is of the right kind, or {instead}."),
    "bad_output": ("{model} replied with something that cannot be used", "See whether {server} is what it should be, or {instead}."),
}


def _server(origin: Origin) -> str:
    return f"the server {origin.api_base}" if origin.api_base else f"the provider of {origin.model}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, ten at most: the chain may be a ring."""
    found: BaseException | None = error
    for _ in range(10):
        if found is None:
            return
        yield found
        found = found.__cause__ or found.__context__


def _trouble(chain: list[BaseException]) -> Trouble:
    names = {kind.__name__ for link in chain for kind in type(link).__mro__}
    first = {kind.__name__ for kind in type(chain[0]).__mro__}
    text = str(chain[0])
    status = getattr(chain[0], "status_code", None)
    answered = "HTTPStatusError" in names
    lost = not answered and (bool(names & _CONNECTION) or any(isinstance(link, OSError) for link in chain))
    too_long = _TOO_LARGE.search(text) if status == 429 else _TOO_LONG.search(text)
    checks: tuple[tuple[bool, Trouble], ...] = (
        (bool(names & _TIMEOUT), "timed_out"),
        (lost and _MID_STREAM not in first, "unreachable"),
        ("ContextWindowExceededError" in first or bool(too_long), "too_long"),
        ("ContentPolicyViolationError" in first or bool(_POLICY.search(text)), "refused"),
        (status in (401, 403) or bool(_NO_KEY.search(text)), "no_key"),
        (status == 404 or _NO_PROVIDER in text, "unknown_model"),
        (status == 429, "rate_limited"),
        (status in (408, 504), "timed_out"),
        (status in (400, 422), "bad_request"),
        (answered and isinstance(status, int) and status >= 500, "overloaded"),
        (_MID_STREAM in first, "broken_off"),
    )
    return next((trouble for holds, trouble in checks if holds), "bad_output")


def _words(error: Exception, origin: Origin) -> str:
    """The provider's own words: one line without litellm's names of errors, tracebacks, wrappings and keys; ends in a full stop."""
    text = _REPEATED.split(str(error), maxsplit=1)[0]
    return _readable(_unwrapped(_PREFIX.sub("", one_line(text))), origin)


def _unwrapped(text: str) -> str:
    """The message within a body of JSON, where it is one."""
    try:
        value = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return text
    for key in ("error", "message", "detail"):
        value = value.get(key, value) if isinstance(value, dict) else value
    return value if isinstance(value, str) else text


def _readable(text: str, origin: Origin) -> str:
    """A text as one line of bounded length without keys; ends in a full stop."""
    text = one_line(text)
    for name, value in os.environ.items():
        if (name.endswith(_SECRET_NAMES) or name in origin.key_names) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, "…")
    text = _SECRET.sub("…", text).strip()
    if len(text) > _LONGEST:
        return text[:_LONGEST].rstrip() + "…"
    return text if not text or text[-1] in ".!?…" else text + "."


def _retry_after(error: Exception, trouble: Trouble) -> float | None:
    """Seconds to wait, as the provider says in its headers or its words. A plan that is used up is not refilled by waiting: an hour."""
    for link in _chain(error):
        headers = getattr(getattr(link, "response", None), "headers", None)
        try:
            seconds = float(headers["retry-after"]) if headers is not None else -1.0
        except (KeyError, TypeError, ValueError):
            continue
        if 0 <= seconds < _DAY:
            return seconds
    if trouble != "rate_limited":
        return None
    if said := _WAIT.search(str(error)):
        return 60.0 * float(said[1] or 0) + float(said[2]) * {"ms": 0.001, "m": 60.0, "min": 60.0}.get(said[3] or "s", 1.0)
    return _HOUR if _USED_UP.search(str(error)) else None
