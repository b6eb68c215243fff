"""Values of settings as people write them on a command line, read by what the setting is."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, get_origin

from engine.errors import SettingsError
from engine.settings.amounts import dollars, tokens
from engine.settings.faults import Fault, no_setting, told
from engine.settings.keys import Key, annotation_at, dotted, settings_of
from engine.settings.names import shown
from engine.settings.records import EmbedSettings, TaskSettings

_YES: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def value_from(place: Key, text: str) -> object:
    """The value that a text stands for at a key: lists with commas between names or as TOML has them, numbers, true or false.

    Raises `SettingsError`, with an example, for a key that is none and a text that is no such value. Whether the value suits the rest
    of the settings is seen when it is written.
    """
    kind = annotation_at(place)
    if kind is None:
        raise SettingsError(told([Fault(place, no_setting(place, text)).told()]))
    if kind is TaskSettings:
        return _toml(text, "[{\"'") or _names(text)
    if kind is EmbedSettings:
        return _toml(text, "{\"'") or text.strip()
    if get_origin(kind) is tuple:
        return _listed(_toml(text, "[") or _names(text))
    if kind is str or kind is Path or get_origin(kind) is Literal:
        return _toml(text, "\"'") or text.strip()
    if isinstance(kind, type) and kind in _SIMPLE:
        if place[0] == "caps" and (amount := tokens(text) if kind is int else dollars(text)) is not None:
            return amount
        read, what = _CAPS[kind] if place[0] == "caps" else _SIMPLE[kind]
        try:
            return read(text.strip())
        except (KeyError, ValueError) as error:
            raise SettingsError(f"`{shown(dotted(place))}` must be {what}, not `{shown(text)}`.") from error
    return _table(place, text)


def parts_of(place: Key, value: object) -> Mapping[Key, object | None]:
    """The settings that a value comes to when what else is known of a task, its temperature and its time limit, is to stay."""
    if annotation_at(place) is not TaskSettings or isinstance(value, Mapping):
        return {place: value}
    first, *others = _listed(value)
    return {(*place, "model"): first, (*place, "fallbacks"): others or None}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) and value else [value]


def _names(text: str) -> object:
    names = [name.strip() for name in text.split(",")]
    return names if len(names) > 1 else names[0]


def _toml(text: str, opening: str) -> object | None:
    """The value, where a text is TOML and begins as such a value does."""
    if text.strip()[:1] not in opening:
        return None
    try:
        return tomllib.loads(f"value = {text.strip()}").get("value")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _table(place: Key, text: str) -> object:
    found = _toml(text, "{")
    if not isinstance(found, Mapping):
        name = (*place, "home") if not settings_of(place) else place
        known = settings_of(name)
        raise SettingsError(
            f"`{shown(dotted(place))}` is a table, not a value.",
            f"Set what is in it, one by one: `{shown(dotted((*name, known[0])))}`. It may hold {', '.join(known)}.",
        )
    return found


def _whole(text: str) -> int:
    return int(text.replace(",", "_") if _grouped(text) else text)


def _grouped(text: str) -> bool:
    first, *groups = text.split(",")
    return bool(groups) and 0 < len(first) <= 3 and all(len(group) == 3 for group in groups)


def _yes_or_no(text: str) -> bool:
    return _YES[text.lower()]


_SIMPLE: Final[Mapping[type, tuple[Callable[[str], object], str]]] = {
    bool: (_yes_or_no, "true or false"),
    int: (_whole, "a whole number, as `200000`"),
    float: (float, "a number, as `0.8`"),
}
_CAPS: Final[Mapping[type, tuple[Callable[[str], object], str]]] = {
    int: (_whole, "a whole number, as `200000`, `200k` or `1.5M`"), float: (float, "a sum in US dollars, as `2` or `0.50`"),
}
"""Of caps, which may also be written shorter."""
