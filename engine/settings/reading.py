"""What a person sets for all worlds: `settings.toml` in the config folder, with the environment over it (DESIGN 12).

Keys to paid services are never read from here: they come from the environment only, where the provider's library finds them.
"""

import os
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from engine.errors import SettingsError
from engine.settings import environment
from engine.settings.faults import Fault, examined, told, too_deep
from engine.settings.keys import Key
from engine.settings.names import shown
from engine.settings.places import lines_at, marked, unreadable
from engine.settings.records import Settings

_FILE: Final = "settings.toml"
MARK: Final = "\ufeff"
"""What some editors begin a text with."""
_LARGEST: Final = 1_000_000
"""Bytes. Nobody writes so many settings."""


def settings_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where `settings.toml` belongs: the folder `OTHERMINDS_CONFIG`, or the user's config folder."""
    if chosen := environ.get("OTHERMINDS_CONFIG"):
        return Path(chosen).expanduser() / _FILE
    from platformdirs import user_config_path

    return user_config_path("otherminds", appauthor=False) / _FILE


def load_settings(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of `path`, or of `settings_path()` where a missing file means the defaults; then the environment.

    `OTHERMINDS_MODEL` names the models of all tasks that have no line of their own, in order and with commas between them, and
    `OTHERMINDS_MODEL_ACTOR` those of one task; `OTHERMINDS_API_BASE` is the address of the first of `OTHERMINDS_MODEL`.
    `OTHERMINDS_CAP_TOKENS` and `OTHERMINDS_CAP_MONEY` are caps of a run. `OTHERMINDS_EMBED` names another embedder, and then
    nothing the file says of its own embedder applies; `OTHERMINDS_EMBED_FILE` a graph for minilm.
    Raises `SettingsError`, which names file, key and fault, for all faults at once.
    """
    source = path or settings_path(environ)
    text = read_text(source, must_exist=path is not None)
    found = examined(parsed(text, source), source.parent)
    said = list(environment.faults(environ))
    settings = found.settings
    if variables := environment.overridden(environ):
        under = examined(environment.over(found.sound, environ), source.parent)
        said += [_by_variable(fault, variables) for fault in under.faults if fault not in found.faults]
        settings = under.settings
    if found.faults or said:
        raise _error(source, text, found.faults, said)
    return settings


def load_or_stand_in(environ: Mapping[str, str] = os.environ) -> tuple[Settings, SettingsError | None]:
    """The settings; or those that are built in, with what is wrong, where they cannot be used: then the storyteller answers everything."""
    try:
        return load_settings(environ=environ), None
    except SettingsError as error:
        return Settings(), error


def read_text(path: Path, *, must_exist: bool = False) -> str:
    """The text of a settings file with its own line ends; empty when there is none. Raises `SettingsError`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # at the other end of a pipe there may be nobody
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise SettingsError(f"The settings file {path} cannot be read: it is no file.", "Make it a file you may read.", path=path)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                found = file.read(_LARGEST + 1)
        finally:
            os.close(descriptor)
        if len(found) > _LARGEST:
            raise SettingsError(f"The settings file {path} is larger than a million bytes.", "See whether it is the right file.", path=path)
        return found.decode("utf-8")
    except FileNotFoundError as error:
        if not must_exist:
            return ""
        raise SettingsError(f"There is no settings file {path}.", "Name one that exists, or leave it out.") from error
    except OSError as error:
        reason = error.strerror or error
        raise SettingsError(f"The settings file {path} cannot be read: {reason}.", "Make it a file you may read.", path=path) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"The settings file {path} is not UTF-8 text.", "Save it as UTF-8.", path=path) from error


def parsed(text: str, path: Path) -> dict[str, object]:
    """The tables of a settings file. Raises `SettingsError`."""
    try:
        tables = tomllib.loads(text.removeprefix(MARK))
    except RecursionError as error:
        raise SettingsError(f"The settings file {path} is nested too deep.", "Write it plainly.", path=path) from error
    except ValueError as error:  # `TOMLDecodeError`, and numbers of thousands of digits
        line, reason, remedy = unreadable(str(error), text)
        fault = f"is not TOML: {shown(reason)}"
        where = f"The settings file {path}{f', line {line},' if line else ''}"
        raise SettingsError(f"{where} {fault}.", remedy, (marked(path.name, line, fault),), path=path, lines=(line,)) from error
    if too_deep(tables):
        raise SettingsError(f"The settings file {path} is nested too deep.", "Write it plainly.", path=path)
    return tables


def placed(path: Path, text: str, faults: Sequence[Fault]) -> tuple[str, ...]:
    """Faults in the text of a file, for people, each with its line in front: `settings.toml:12: …`."""
    bare = text.removeprefix(MARK)
    return tuple(marked(path.name, line, fault.told()) for line, fault in zip(lines_at(bare, faults), faults, strict=True))


def _error(path: Path, text: str, found: Sequence[Fault], said: Sequence[str]) -> SettingsError:
    places = lines_at(text.removeprefix(MARK), found)
    faults = [fault for _, fault in sorted(zip(places, found, strict=True), key=lambda pair: pair[0] or _LARGEST)]
    written = placed(path, text, faults)
    parts = [f"In {path}: {told(written)}"] if written else []
    parts += [f"In the environment: {told(said)}"] if said else []
    lines = (*lines_at(text.removeprefix(MARK), faults), *(0 for _ in said))
    return SettingsError(" ".join(parts), "Correct it or take it out.", (*written, *said), path=path, lines=lines)


def _by_variable(fault: Fault, variables: Mapping[Key, str]) -> str:
    """A fault that came with the environment, called by the variable that it came with."""
    for place, variable in variables.items():
        length = min(len(place), len(fault.path))
        if place[:length] == fault.path[:length]:
            return fault.told(variable)
    return fault.told()
