"""How long ago something was, as people say it (DESIGN 4)."""

from bisect import bisect_right
from datetime import datetime, timedelta

from engine.world.clock import day_number, is_waking, period

_MINUTES = (
    (1, "just now"), (3, "moments ago"), (10, "a few minutes ago"), (30, "several minutes ago"), (45, "about half an hour ago"),
    (90, "about an hour ago"), (180, "a couple hours ago"), (360, "a few hours ago"),
)  # fmt: skip
_DAYS = (
    (3, "a couple days ago"), (7, "a few days ago"), (14, "about a week ago"), (21, "a couple weeks ago"), (30, "a few weeks ago"),
    (60, "about a month ago"), (90, "a couple months ago"), (180, "a few months ago"), (365, "many months ago"),
    (730, "about a year ago"),
)  # fmt: skip
_MINUTE_ENDS, _DAY_ENDS = [timedelta(minutes=end) for end, _ in _MINUTES], [timedelta(days=end) for end, _ in _DAYS]
_BY_DAY = timedelta(hours=48)
_YESTERNIGHT = {"night": "last night", "midnight": "around midnight", "late night": "late last night"}

FRESH = frozenset(words for _, words in _MINUTES[:4])
"""Time words of what has only just happened: `just now` to `several minutes ago` (the watermark of DESIGN 7)."""


def naturalize_time(now: datetime, past: datetime) -> str:
    """Words for the time from `past` to `now`. Total: the present and the future are "just now"."""
    gone = now - past
    if gone < _MINUTE_ENDS[-1]:
        return _MINUTES[bisect_right(_MINUTE_ENDS, gone)][1]
    if gone < _BY_DAY:
        return _by_day(now, past)
    return _DAYS[bisect_right(_DAY_ENDS, gone)][1] if gone < _DAY_ENDS[-1] else "years ago"


def _by_day(now: datetime, past: datetime) -> str:
    days, part = day_number(now) - day_number(past), period(past)
    if days == 0:
        return f"earlier today, in the {part}" if is_waking(past) else "last night"
    if days == 1:
        return f"yesterday {part}" if is_waking(past) else _YESTERNIGHT[part]
    return "the day before yesterday" if is_waking(past) else "the night before last"
