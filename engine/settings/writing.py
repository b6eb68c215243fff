"""Changes to `settings.toml`: one setting or several at once, checked before anything is written, and written wholly or not at all."""

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Final

from engine.errors import SettingsError
from engine.settings.faults import Fault, examined, no_setting, told
from engine.settings.keys import Key, annotation_at, parsed_key
from engine.settings.reading import MARK, parsed, placed, read_text
from engine.settings.records import EmbedSettings, Settings, TaskSettings
from engine.settings.toml_text import put, taken, with_value, without

_PATIENCE: Final = 10.0
"""Seconds to wait for another writer, which needs milliseconds."""
_TEMPLATE: Final = Path(__file__).with_name("template.toml")
_TABLES: Final = frozenset((name,) for name in Settings.model_fields)
"""The outermost tables. They stay when all that is in them goes, for comments stand there."""
_NOTHING: Final = "Nothing was changed."


def change(path: Path, key: str, value: object | None) -> Settings:
    """Set one setting in a settings file, or take it out with None. As `change_all`."""
    return change_all(path, {key: value})


def change_all(path: Path, changes: Mapping[str, object | None]) -> Settings:
    """Set settings in a file by their keys, or take out those whose value is None; returns what the file says then, the environment aside.

    A value stands for all that was at its key: a name for the whole table of a task, a mapping for a whole table. A part of a task,
    `models.actor.temperature`, makes a table of a name. Comments, order and line ends stay as they are. When there is no file, one
    with comments that explain it comes to be. Others who change the file at the same time wait for each other.
    Raises `SettingsError`, and then the file is as before: a key is none, the result would not hold (with all faults), the file
    cannot be read or written.
    """
    wanted = [(parsed_key(key), value) for key, value in changes.items()]
    for place, value in wanted:
        if value is not None and annotation_at(place) is None:
            raise SettingsError(told([Fault(place, no_setting(place, value)).told()]), _NOTHING)
    if all(value is None for _, value in wanted) and not os.path.lexists(path):
        return Settings()
    with _locked(path) as target:
        text = read_text(target) if os.path.lexists(target) else _TEMPLATE.read_text(encoding="utf-8")
        tables = parsed(text, path)
        new, bare = tables, text.removeprefix(MARK)
        steps: list[tuple[Key, object | None]] = []
        for place, value in wanted:
            for step in _steps(new, place, value):
                if repr(_at(new, step[0])) != repr(step[1]):
                    steps.append(step)
                    new = taken(new, step[0]) if step[1] is None else put(new, *step)
        _must_fit(new, tables, path, text)
        for place, value in steps:
            bare = without(bare, place) if value is None else with_value(bare, place, value)
        held = parsed(bare, path)
        if _without_the_empty(held) != _without_the_empty(new):
            raise SettingsError(f"{path} is written in a way that leaves no place for the change.", f"{_NOTHING} Make it by hand.")
        if steps:
            _replace(target, (MARK if text.startswith(MARK) else "") + bare)
    return examined(held, path.parent).settings


def is_written(path: Path, key: str) -> bool:
    """Whether a settings file sets anything at a key, which need not be that of a setting. Raises `SettingsError`."""
    tables = parsed(read_text(path), path)
    return any(repr(_at(tables, place)) != repr(value) for place, value in _steps(tables, parsed_key(key), None))


def begin(path: Path) -> bool:
    """Write a settings file that sets nothing and explains everything in comments. False when there is one already.

    Raises `SettingsError`.
    """
    with _locked(path) as target:
        if os.path.lexists(target):
            return False
        _replace(target, _TEMPLATE.read_text(encoding="utf-8"))
    return True


def rewrite(path: Path, change_text: Callable[[str], str]) -> None:
    """Give a settings file the text that `change_text` makes of what stands there, wholly or not at all; nobody else changes it meanwhile.
    For what is not TOML, or not yet: the text is not checked. Raises `SettingsError`, also that of `change_text`."""
    with _locked(path) as target:
        text = read_text(target, must_exist=True)
        if (new := change_text(text)) != text:
            _replace(target, new)


def _must_fit(new: Mapping[str, object], old: Mapping[str, object], path: Path, text: str) -> None:
    """Raise `SettingsError` for changed tables with faults, which tells apart what the change does and what was wrong before."""
    found = examined(new, path.parent)
    if found.faults:
        before = examined(old, path.parent).faults
        here = [fault.told() for fault in found.faults if fault not in before]
        there = placed(path, text, [fault for fault in found.faults if fault in before])
        parts = [f"This does not fit: {told(here)}"] if here else []
        parts += [f"In {path} stood already: {told(there)}"] if there else []
        raise SettingsError(" ".join(parts), _NOTHING, (*here, *there))


def _steps(tables: Mapping[str, object], place: Key, value: object | None) -> Iterator[tuple[Key, object | None]]:
    """The plain changes that a change comes to: which keys get which values, None for those that go."""
    value = _plain(value)
    owner = place[:2]
    present = _at(tables, place)
    if annotation_at(owner) in (TaskSettings, EmbedSettings) and len(place) <= 3:
        yield owner, _line(_at(tables, owner), place[2:], value)
    elif (isinstance(value, Mapping) and value) or (place in _TABLES and value in (None, {}) and isinstance(present, Mapping)):
        wanted = value if isinstance(value, Mapping) else {}
        for name in present if isinstance(present, Mapping) else ():
            if name not in wanted:
                yield (*place, name), None
        for name, inner in wanted.items():
            yield from _steps(tables, (*place, name), inner)
    else:
        yield place, None if place in _TABLES and value == {} else value


def _line(old: object, part: Key, value: object | None) -> object | None:
    """What a task, or the embedder, is set to: a name alone, names, or a table, whichever is shortest. None for nothing."""
    if value == []:
        return value
    table = _as_table(old if part else value)
    if part:
        table = taken(table, part) if value is None else put(table, part, value)
    fallbacks = table.get("fallbacks") or []
    is_table = (part and isinstance(old, Mapping)) or set(table) - {"model", "fallbacks"}
    if is_table or "model" not in table or not isinstance(fallbacks, list):
        return table or None
    return [table["model"], *fallbacks] if fallbacks else table["model"]


def _as_table(value: object) -> dict[str, object]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list):
        return {"model": value[0], "fallbacks": value[1:]} if value[1:] else {"model": value[0]} if value else {}
    return {} if value is None else {"model": value}


def _plain(value: object) -> object:
    """A value as TOML has it: lists for all sequences, text for paths, nothing that is None."""
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, PurePath) else value


def _without_the_empty(tables: Mapping[str, object]) -> dict[str, object]:
    """Tables without those that hold nothing: of a table written line by line nothing is left with its last line."""
    whole = {name: _without_the_empty(value) if isinstance(value, Mapping) else value for name, value in tables.items()}
    return {name: value for name, value in whole.items() if value != {}}


def _at(tables: object, place: Key) -> object:
    for step in place:
        tables = tables.get(step) if isinstance(tables, Mapping) else None
    return tables


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """The file that a path leads to, through links, while nobody else changes it. Its folder comes to be."""
    target = Path(os.path.realpath(path))
    lock = target.with_name(target.name + ".lock")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _lock(lock)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield target
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(descriptor)


def _lock(lock: Path) -> int:
    deadline = time.monotonic() + _PATIENCE
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                return descriptor
        except (BlockingIOError, FileNotFoundError):  # held by another, or taken away by who held it before
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise TimeoutError(0, f"another program has held {lock.name} for {_PATIENCE:g} s") from None
            time.sleep(0.01)
        os.close(descriptor)


def _replace(target: Path, text: str) -> None:
    """Give a file new content in one step; also after a power cut it is the old or the new one."""
    temporary = target.with_name(f".{target.name}.new")
    try:
        before = target.stat() if os.path.lexists(target) else None
        if before is not None and not (before.st_mode & 0o222 and os.access(target, os.W_OK)):
            raise PermissionError(0, "it may be read only")
        temporary.unlink(missing_ok=True)
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
                if before is not None:
                    with suppress(PermissionError):
                        os.fchown(file.fileno(), before.st_uid, before.st_gid)
                    os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _unwritable(target, error) from error


def _unwritable(path: Path, error: OSError) -> SettingsError:
    return SettingsError(f"The settings file {path} cannot be written: {error.strerror or error}.", _NOTHING)
