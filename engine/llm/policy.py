"""What is done about each trouble with a provider: the one table that waiting, falling back and counting go by."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from engine.errors import ProviderError, Trouble


class Course(NamedTuple):
    """What is done about one kind of trouble."""

    again: int
    """How often the same endpoint is asked once more."""
    others: bool
    """Whether the next endpoint of the route is asked when that did not help. Else the call fails at once, whoever else could be asked:
    a wrong key must not look like a working program."""
    rests: bool
    """Whether the endpoint is left alone for a while after."""
    spent: Literal["nothing", "prompt", "reply"]
    """What it may have cost all the same: nothing, for no model was reached; the prompt; a reply, too, of which nothing came."""
    says: str
    """What it is, after the name of the model."""


COURSES: Final[Mapping[Trouble, Course]] = {
    "rate_limited": Course(2, True, True, "nothing", "is rate limited"),
    "overloaded": Course(2, True, True, "prompt", "has trouble of its own"),
    "unreachable": Course(1, True, True, "nothing", "cannot be reached"),
    "timed_out": Course(1, True, True, "reply", "does not answer"),
    "broken_off": Course(1, True, False, "reply", "broke off in the middle"),
    "bad_output": Course(1, True, False, "prompt", "replies with nothing that can be used"),
    "no_key": Course(0, False, False, "nothing", "takes no call without the right key"),
    "unknown_model": Course(0, False, False, "nothing", "is not known there"),
    "too_long": Course(0, False, False, "nothing", "has no room for the text"),
    "bad_request": Course(0, False, False, "nothing", "takes no such call"),
    "refused": Course(0, False, False, "prompt", "refuses the text"),
}
WAITS: Final = (1.0, 3.0)
"""Seconds before the first and the second time that the same is asked once more, unless the provider asks for others."""
LONGEST_WAIT: Final = 60.0
"""Seconds. A provider that asks for more is not waited for."""
REST: Final = 30.0
"""Seconds that an endpoint is left alone, unless the provider asks for others."""


def wait_before(error: ProviderError, again: int) -> float | None:
    """Seconds to wait until the same is asked once more, when it was so `again` times; None when it is not."""
    if again >= COURSES[error.trouble].again:
        return None
    wait = error.retry_after if error.retry_after is not None else WAITS[again]
    return wait if wait <= LONGEST_WAIT else None


def rest_after(error: ProviderError) -> float:
    """Seconds that an endpoint is left alone after a call failed for good."""
    if not COURSES[error.trouble].rests:
        return 0.0
    return REST if error.retry_after is None else error.retry_after
