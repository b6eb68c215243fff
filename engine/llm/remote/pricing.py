"""What models cost and how much they take by the list that comes with litellm."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from engine.llm.remote.library import Litellm

_MILLION: Final = 1_000_000


class Price(NamedTuple):
    """US dollars a million tokens."""

    prompt: float
    reply: float
    cached: float | None = None
    """Of prompts that the provider still had from an earlier call; None when it is as any other."""

    def of(self, prompt_tokens: int, reply_tokens: int, cached_tokens: int = 0) -> float:
        """US dollars of a call."""
        cached = min(cached_tokens, prompt_tokens) if self.cached is not None else 0
        return ((prompt_tokens - cached) * self.prompt + cached * (self.cached or 0.0) + reply_tokens * self.reply) / _MILLION


class Listed(NamedTuple):
    """What the list says of a model; None where it says nothing."""

    window: int | None = None
    """Tokens of the longest prompt."""
    longest_reply: int | None = None
    price: Price | None = None


def listed(litellm: Litellm, model: str, provider: str) -> Listed:
    """The model's line in the list. Nobody is asked for it."""
    line = _line(litellm.model_cost, model, provider)
    prompt, reply = _dollars(line.get("input_cost_per_token")), _dollars(line.get("output_cost_per_token"))
    price = None if prompt is None or reply is None else Price(prompt, reply, _dollars(line.get("cache_read_input_token_cost")))
    return Listed(_whole(line.get("max_input_tokens")), _whole(line.get("max_output_tokens")), price)


def _line(lines: Mapping[str, Mapping[str, object]], model: str, provider: str) -> Mapping[str, object]:
    name = model.partition("/")[2] if model.startswith(f"{provider}/") else model
    for key in (f"{provider}/{name}", name):
        line = lines.get(key, {})
        if str(line.get("litellm_provider", "")).startswith(provider):
            return line
    return {}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _dollars(a_token: object) -> float | None:
    """Of a million tokens."""
    number = _number(a_token)
    return None if number is None else round(number * _MILLION, 6)


def _whole(value: object) -> int | None:
    number = _number(value)
    return int(number) if number else None
