"""World time: moving it on, the parts of a day, and the present in words.

A subjective day begins at 05:00, because whoever is still up at two in the morning calls that "tonight" (DESIGN 4).
"""

from datetime import date, datetime, timedelta

DAY_BEGINS = 5
"""Hour at which a subjective day begins."""
LAST_MOMENT = datetime(9999, 12, 31, 23, 59)
"""World time stands still here: later years have no fixed-width text."""

_PERIODS = ((5, "morning"), (12, "afternoon"), (17, "evening"), (22, "night"))
_FINE = (
    (3, "midnight, or not long past it"), (5, "late night, before dawn"), (7, "early morning"), (10, "morning"), (12, "late morning"),
    (14, "early afternoon"), (15, "afternoon"), (17, "late afternoon"), (19, "early evening"), (20, "evening"),
    (22, "late evening"), (24, "night"),
)  # fmt: skip
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
    "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second",
    "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth",
    "thirty-first",
)  # fmt: skip


def advance(now: datetime, minutes: int) -> datetime:
    """The time `minutes` later. Time never runs backwards: a negative number counts as none."""
    left = max(0, (LAST_MOMENT - now) // timedelta(minutes=1))
    return now + timedelta(minutes=min(max(0, minutes), left))


def day_number(moment: datetime) -> int:
    """Ordinal of the subjective day, where `date.toordinal` counts; 0 for the small hours of the very first date."""
    return moment.toordinal() - (moment.hour < DAY_BEGINS)


def subjective_day(moment: datetime) -> date:
    """The day that a waking person would call today. The small hours of the first of all dates belong to that date."""
    return date.fromordinal(max(1, day_number(moment)))


def period(moment: datetime) -> str:
    """Part of the day: morning, afternoon, evening; for sleep hours night, midnight or late night."""
    if moment.hour < DAY_BEGINS:
        return "midnight" if moment.hour < 3 else "late night"
    return next(name for hour, name in reversed(_PERIODS) if moment.hour >= hour)


def is_waking(moment: datetime) -> bool:
    """Whether people are commonly up: 05:00 to 21:59."""
    return DAY_BEGINS <= moment.hour < 22


def present_words(now: datetime) -> str:
    """The present for a prompt: `It is early evening, the first day of March.` Never a clock reading."""
    fine = next(name for end, name in _FINE if now.hour < end)
    return f"It is {fine}, the {_ORDINALS[now.day - 1]} day of {_MONTHS[now.month - 1]}."
