"""Faults of settings: all of them at once, each with the key, what is wrong, and what was likely meant."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from engine.settings.keys import Key, dotted, is_task, unknown
from engine.settings.names import KEYS_ELSEWHERE, looks_like_key, named_like_key, shown
from engine.settings.records import FOLDER, Settings
from engine.settings.relations import related

MOST: Final = 100
"""Faults that are told. Who makes more has made one of another kind."""
_DEEPEST: Final = 20
_ROUNDS: Final = 4
_WORDS: Final = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "string_unicode": "holds characters that cannot be printed",
    "string_type": "must be text in quotation marks",
    "path_type": "must be a path in quotation marks",
    "tuple_type": "must be a list of names",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "dict_type": "must be a table",
    "mapping_type": "must be a table",
    "string_too_short": "must not be empty",
}
"""What pydantic's kinds of error are called in a file that people write. Others keep pydantic's own words."""
_ON_ITS_OWN: Final = ("must", "is", "holds", "needs")
"""How texts begin that go on with the key as their subject."""


class Fault(NamedTuple):
    """Something wrong with a setting."""

    path: Key
    """Where, as far as it is written there."""
    text: str

    def told(self, name: str = "") -> str:
        """The fault for people, with the key in front, or another name for it."""
        subject = f"`{name or shown(dotted(self.path))}`"
        return f"{subject} {self.text}" if self.text.split(" ", 1)[0] in _ON_ITS_OWN else f"{subject}: {self.text}"


class Examined(NamedTuple):
    """What was found in tables."""

    settings: Settings
    """What they hold, without what is not well-formed: for nothing but further checks when there is a fault."""
    faults: list[Fault]
    sound: dict[str, object]
    """The tables without what is not well-formed."""


def examined(tables: Mapping[str, object], folder: Path) -> Examined:
    """The settings that tables hold, and all that is wrong with them. Paths in them are relative to `folder`."""
    if too_deep(tables):
        return Examined(Settings(), [Fault((), "must not be nested so deep")], {})
    sound = _copied(tables, 4)
    faults = [Fault(place, f"holds what looks like a key; {KEYS_ELSEWHERE}") for place in dict.fromkeys(_keys(tables))]
    told_already = {fault.path for fault in faults}
    settings = Settings()
    for _ in range(_ROUNDS):
        try:
            settings = Settings.model_validate(sound, context={FOLDER: folder})
        except ValidationError as error:
            for found in error.errors(include_url=False):
                place = _written(found["loc"], tables)
                if len(faults) <= MOST and not _within(place, told_already):
                    faults.append(Fault(place, _text(place, found["type"], found["msg"], found["input"])))
                _remove(sound, place)
            told_already = {fault.path for fault in faults}
        else:
            break
    endpoints = tables.get("endpoint")
    names = [str(name) for name in endpoints] if isinstance(endpoints, Mapping) else []
    faults += [Fault(_written(at, tables), text) for at, text in related(settings, names) if not _within(at, told_already)]
    return Examined(settings, list(dict.fromkeys(faults)), sound)


def no_setting(place: Key, value: object) -> str:
    """What to say of a value at a place where there is no setting."""
    if named_like_key(place[-1]) and isinstance(value, str) and value:
        return f"is a key; {KEYS_ELSEWHERE}"
    return unknown(place)


def told(faults: Iterable[str]) -> str:
    """Faults in one sentence, as far as anybody reads them."""
    listed = list(faults)
    more = [f"and {len(listed) - MOST} more"] if len(listed) > MOST else []
    text = "; ".join([*listed[:MOST], *more])
    return text if text.endswith("?") else f"{text}."


def too_deep(value: object) -> bool:
    """Whether tables and lists are nested deeper than any settings."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()


def _copied(tables: Mapping[str, object], depth: int) -> dict[str, object]:
    return {key: _copied(value, depth - 1) if depth and isinstance(value, Mapping) else value for key, value in tables.items()}


def _keys(tables: Mapping[str, object]) -> Iterator[Key]:
    """Where texts are that look like keys to services."""
    waiting: list[tuple[Key, object]] = [((), tables)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [((*place, str(name)), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(place, inner) for inner in value]
        elif isinstance(value, str) and looks_like_key(value):
            yield place


def _written(location: Iterable[int | str], tables: Mapping[str, object]) -> Key:
    """A location as far as the tables have it: `models.actor` for the second name in a list of names."""
    place: list[str] = []
    at: object = tables
    for step in location:
        if not isinstance(at, Mapping) or step not in at:
            break
        place.append(str(step))
        at = at[step]
    return tuple(place)


def _remove(tables: dict[str, object], place: Key) -> None:
    at: object = tables
    for step in place[:-1]:
        at = at.get(step) if isinstance(at, dict) else None
    if isinstance(at, dict) and place:
        at.pop(place[-1], None)


def _within(place: Key, known: Collection[Key]) -> bool:
    """Whether something is known to be wrong at a place or above it, so that more about it would only repeat it."""
    return any(place[:length] in known for length in range(1, len(place) + 1))


def _text(place: Key, kind: str, message: str, value: object) -> str:
    if kind == "extra_forbidden":
        return no_setting(place, value)
    if is_task(place) and kind in ("model_type", "model_attributes_type", "string_type"):
        return "must be the name of a model, a list of names, or a table"
    text = _WORDS.get(kind, message.removeprefix("Value error, "))
    return text.replace("Input should be", "must be").replace("String should", "must")
