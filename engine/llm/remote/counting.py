"""What a provider says that a call took, as far as it can be believed."""

from collections.abc import Callable
from typing import Final, NamedTuple

from engine.llm.protocol import Usage
from engine.llm.tokens import estimate_tokens

_MOST: Final = 10**9
"""Tokens beyond which a number is no count."""
_DEAREST: Final = 10_000.0
"""US dollars from which a number is no price of one call."""
_SHARE: Final = 3
"""A count below this part of what is estimated is none: some proxies send 0 or 1 for what they did not count."""
_TELLING: Final = 64
"""Estimated tokens from which an estimate says something."""


class Counted(NamedTuple):
    """Tokens of one call."""

    usage: Usage
    prompt: int
    """The prompt's as the provider counted them; 0 when it did not, or not in earnest."""
    cached: int
    """How many of them were kept from earlier."""
    cost: float | None
    """US dollars, when the provider says so itself."""


def counted(told: object, sent: str, said: str, count: Callable[[str], int]) -> Counted:
    """Read a provider's `usage` for a prompt that was `sent` and all that was `said`, thoughts too. Each of the two numbers that is
    missing or cannot be is estimated by `count`, which errs on the high side."""
    prompt = _believed(getattr(told, "prompt_tokens", None), sent)
    reply = _believed(getattr(told, "completion_tokens", None), said)
    usage = Usage(
        prompt_tokens=prompt or count(sent), reply_tokens=count(said) if reply is None else reply, estimated=not prompt or reply is None
    )
    cost = getattr(told, "cost", None)
    if usage.estimated or isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost < _DEAREST:
        cost = None
    cached = _whole(getattr(getattr(told, "prompt_tokens_details", None), "cached_tokens", None))
    return Counted(usage, prompt or 0, min(cached or 0, prompt or 0), None if cost is None else float(cost))


def _believed(told: object, text: str) -> int | None:
    number, estimate = _whole(told), estimate_tokens(text)
    if number is None or (number == 0 and text.strip()) or (estimate >= _TELLING and number * _SHARE < estimate):
        return None
    return number


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None
