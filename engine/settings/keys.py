"""Keys of settings as people write them: `models.actor.temperature`, `endpoint.home.model`, `provider."127.0.0.1:8080".concurrency`."""

import re
import tomllib
import types
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Union, get_args, get_origin

from engine.errors import SettingsError
from engine.records.base import Record
from engine.settings.names import near, shown
from engine.settings.records import Settings, TaskSettings

Key = tuple[str, ...]
"""A key, part by part."""

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_PART: Final = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\x00-\x08\n-\x1f]|\\.)*"|'[^'\x00-\x08\n-\x1f]*')[ \t]*(\.|$)""")
_NAMED: Final = ("endpoint", "provider")
"""Tables whose tables have names that people choose."""
_EXAMPLES: Final = "for instance models.default, models.actor.temperature, endpoint.home.api_base, caps.run_tokens"


def dotted(path: Iterable[str | int]) -> str:
    """The key of a path, with parts in quotation marks where they need them."""
    return ".".join(part if _BARE.fullmatch(part) else quoted(part) for part in map(str, path))


def quoted(text: str) -> str:
    """A text as TOML writes it on one line."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text) + '"'


def parsed_key(text: str) -> Key:
    """The path that a key stands for. Raises `SettingsError` for what is no key.

    Names of endpoints and providers need no quotation marks where no doubt is possible, for shells take them away:
    `endpoint.openai/gpt-4.1.small`.
    """
    path = split_key(text)
    if path is not None and (annotation_at(path) is not None or len(path) <= 3 or path[0] not in _NAMED):
        return path
    table, _, rest = text.strip().partition(".")
    if table in _NAMED and rest and not {'"', "'"} & set(rest):
        name, _, field = rest.rpartition(".")
        return (table, name, field) if name and near(field, settings_of((table, name))) else (table, rest)
    if path is None:
        raise SettingsError(f"`{shown(text)}` is not a key of a setting.", f"A key is names with dots between them, {_EXAMPLES}.")
    return path


def split_key(text: str) -> Key | None:
    """The parts of a key written as TOML has it; None for what is no key."""
    parts: list[str] = []
    position = 0
    while True:
        found = _PART.match(text, position)
        if found is None:
            return None
        part = _unquoted(found[1])
        parts.append(part)
        position = found.end()
        if not found[2]:
            return tuple(parts)


def _unquoted(part: str) -> str:
    if len(part) < 2 or part[0] not in "\"'" or part[-1] != part[0]:
        return part
    try:
        return str(tomllib.loads(f"x = {part}")["x"])
    except tomllib.TOMLDecodeError:  # an escape that is none
        return part[1:-1]


def annotation_at(path: Key) -> object | None:
    """The type of the setting at a path, without `None`; nothing for what is no setting."""
    kind: object = Settings
    for part in path:
        if isinstance(kind, type) and issubclass(kind, Record):
            field = next((field for name, field in kind.model_fields.items() if (field.alias or name) == part), None)
            if field is None:
                return None
            kind = _without_none(field.annotation)
        elif get_origin(kind) is not None and issubclass(_class(kind), Mapping):
            kind = get_args(kind)[1]
        else:
            return None
    return kind


def _class(kind: object) -> type:
    found = get_origin(kind)
    return found if isinstance(found, type) else object


def _without_none(kind: object) -> object:
    if get_origin(kind) in (Union, types.UnionType):
        [kind] = [one for one in get_args(kind) if one is not type(None)]
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def settings_of(path: Key) -> list[str]:
    """The names of what the table at a path may hold; empty for what is no table, or has names that people choose."""
    kind = annotation_at(path)
    if isinstance(kind, type) and issubclass(kind, Record):
        return [field.alias or name for name, field in kind.model_fields.items()]
    return []


def is_task(path: Key) -> bool:
    """Whether a path is that of a task's line: `models.actor`."""
    return annotation_at(path) is TaskSettings


def unknown(path: Key) -> str:
    """What to say of a path that is no setting: `is not a setting (did you mean `models.actor`?)`."""
    at = next(length for length in range(len(path)) if annotation_at(path[: length + 1]) is None)
    known = settings_of(path[:at])
    meant = near(str(path[at]), known)
    if meant:
        return f"is not a setting (did you mean {' or '.join(f'`{name}`' for name in meant)}?)"
    return f"is not a setting (known are {', '.join(known)})" if known else "is not a setting: there is nothing below it"
