"""Times as authors write them: the clock's start, and moments before it."""

import re
from datetime import datetime, timedelta

_CLOCK = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})[Tt ]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.0+)?)?")
_ZONE = re.compile(r"(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})$")
_SPAN = re.compile(r"(?:([0-9]{1,4})y)?(?:([0-9]{1,5})w)?(?:([0-9]{1,6})d)?(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?")
_UNITS = (timedelta(days=365), timedelta(weeks=1), timedelta(days=1), timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1))
_LONGEST = 999 * _UNITS[0]


class NotATimeError(ValueError):
    """The text is no time; `str()` says why, `hint` what a time looks like."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.hint = hint


def read_clock(text: str) -> datetime:
    """World time from `1247-03-01T17:40` (seconds optional, a space for the T). Raises `NotATimeError`."""
    shape = "write it like 1247-03-01T17:40"
    match = _CLOCK.fullmatch(text.strip())
    if not match:
        if _ZONE.search(text.strip()) and _CLOCK.match(text.strip()):
            raise NotATimeError("world time has no time zone", "leave out what follows the seconds")
        raise NotATimeError("not a date with a time of day", shape)
    try:
        return datetime(*(int(part or 0) for part in match.groups()))  # type: ignore[arg-type] # six whole numbers
    except ValueError as error:
        raise NotATimeError(f"no such moment: {error}", shape) from error


def read_moment(text: str, start: datetime) -> datetime:
    """A moment not later than `start`: absolute, or before it as in `-10m`, `-3d`, `-2h30m`, `-2w`, `-3y` (of 365 days).

    Raises `NotATimeError`.
    """
    text = text.strip()
    span = _span(text[1:]) if text.startswith("-") else None
    if span is not None:
        try:
            return start - span
        except OverflowError as error:
            raise NotATimeError("before the year 1", "world time runs from year 1 to 9999") from error
    if re.fullmatch(r"\+?(?:[0-9]+[ywdhms])+", text):
        raise NotATimeError("a time after the start", f"for a time before the start write `-{text.lstrip('+')}`")
    try:
        moment = read_clock(text)
    except NotATimeError as error:
        raise NotATimeError(str(error), f"{error.hint}, or before the start like -10m, -2h30m, -3d") from error
    if moment > start:
        raise NotATimeError(f"later than the start of the world, {start.isoformat(timespec='minutes')}", "memories come before the start")
    return moment


def read_later(text: str, start: datetime) -> datetime:
    """A moment that a world comes to: absolute, or after its start as in `+3h`, `+2d`. Raises `NotATimeError`."""
    span = _span(text.strip()[1:]) if text.strip().startswith("+") else None
    if span is not None:
        try:
            return start + span
        except OverflowError as error:
            raise NotATimeError("after the year 9999", "world time runs from year 1 to 9999") from error
    try:
        return read_clock(text)
    except NotATimeError as error:
        raise NotATimeError(str(error), f"{error.hint}, or after the start like +3h, +2d12h") from error


def read_span(text: str) -> timedelta:
    """How long something lasts: `30m`, `2h30m`, `3d`, `1w`, in whole minutes. Raises `NotATimeError`."""
    span = _span(text)
    if span is None or not timedelta(minutes=1) <= span <= _LONGEST:
        raise NotATimeError("not how long something lasts", "write it like 30m, 2h30m, 3d or 1w, no longer than 999 years")
    return span - span % timedelta(minutes=1)


def _span(text: str) -> timedelta | None:
    match = _SPAN.fullmatch("".join(text.split()))
    if not match or not any(match.groups()):
        return None
    return sum((int(n) * unit for n, unit in zip(match.groups(), _UNITS, strict=True) if n), timedelta())
