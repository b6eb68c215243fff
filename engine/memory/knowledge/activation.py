"""How present a piece of knowledge is by its uses alone: base-level activation of ACT-R. Pure.

Anderson and Schooler (1991), ACT-R: `B = ln(sum over its uses of t_j ** -0.5)`, `t_j` the age of a use, here in hours of world time. Its
being learned counts as the first use. Keeping the moment of each use would let rows grow without end, so only the first, the last and
their number are kept, and the uses between count as spread evenly over the time between: Petrov (2006), "Computationally efficient
approximation of the base-level learning equation in ACT-R", with the oldest use exact too:

    sum = t_last ** -0.5 + t_first ** -0.5 + (n - 2) * mean,   mean = (t_first ** 0.5 - t_last ** 0.5) / (0.5 * (t_first - t_last))

For one use and for two it is exact.
"""

import math
from datetime import datetime
from typing import Final

from engine.records.knowledge import Knowledge

_DECAY: Final = 0.5
_YOUNGEST: Final = 1 / 60
"""Hours that a use counts as old at least: at once it would count without end."""


def strength(first: datetime, last: datetime, uses: int, now: datetime) -> float:
    """The sum behind the activation: `first` and `last` of so many uses (1 and more), seen from `now`."""
    oldest, newest = _age(first, now), _age(last, now)
    if uses <= 1:
        return float(oldest**-_DECAY)
    between = 0.0
    if uses > 2:
        span = oldest - newest
        mean = (oldest ** (1 - _DECAY) - newest ** (1 - _DECAY)) / ((1 - _DECAY) * span) if span > 1e-9 else newest**-_DECAY
        between = (uses - 2) * mean
    return float(newest**-_DECAY + oldest**-_DECAY + between)


def strength_of(row: Knowledge, now: datetime) -> float:
    """The same of a row, as of `now`."""
    return strength(row.created, row.last_retrieved_at or row.created, row.retrieval_count + 1, now)


def activation_of(row: Knowledge, now: datetime) -> float:
    """How present a row is at a moment, about -4 (a year without use) to 6."""
    return math.log(strength_of(row, now))


def _age(moment: datetime, now: datetime) -> float:
    """Hours of world time."""
    return max(_YOUNGEST, (now - moment).total_seconds() / 3600)
