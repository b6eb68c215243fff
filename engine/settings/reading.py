"""What a person sets for all worlds: `settings.toml` in the config folder, with the environment over it (DESIGN 12).

Keys to paid services are never read from here: they come from the environment only, where the provider's library finds them.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar

from pydantic import ValidationError

from engine.errors import SettingsError
from engine.records.base import Record
from engine.settings.records import FOLDER, EmbedSettings, Settings

R = TypeVar("R", bound=Record)

_FILE: Final = "settings.toml"
_WORDS: Final = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "string_type": "must be text in quotation marks",
    "path_type": "must be a path in quotation marks",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "string_too_short": "must not be empty",
}
"""What pydantic's kinds of error are called in a file that people write. Others keep pydantic's own words."""


def settings_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where `settings.toml` belongs: the folder `OTHERMINDS_CONFIG`, or the user's config folder."""
    if chosen := environ.get("OTHERMINDS_CONFIG"):
        return Path(chosen).expanduser() / _FILE
    from platformdirs import user_config_path

    return user_config_path("otherminds", appauthor=False) / _FILE


def load_settings(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of `path`, or of `settings_path()` where a missing file means the defaults; then the environment.

    `OTHERMINDS_EMBED` names another embedder, and then nothing the file says of its own embedder applies;
    `OTHERMINDS_EMBED_FILE` a graph for minilm. Raises `SettingsError`, which names file, key and fault.
    """
    source = path or settings_path(environ)
    tables = _tables(source, must_exist=path is not None)
    settings = _checked(Settings, tables, source.parent, str(source))
    chosen, file = environ.get("OTHERMINDS_EMBED", "").strip(), environ.get("OTHERMINDS_EMBED_FILE", "").strip()
    if not chosen and not file:
        return settings
    embed = settings.models.embed
    said: dict[str, object] = {"model": chosen} if chosen and chosen != embed.model else embed.model_dump(exclude_unset=True)
    if file:
        said["file"] = file
    embed = _checked(EmbedSettings, said, Path(), "the environment (OTHERMINDS_EMBED, OTHERMINDS_EMBED_FILE)")
    return settings.model_copy(update={"models": settings.models.model_copy(update={"embed": embed})})


def _tables(path: Path, must_exist: bool) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        if not must_exist:
            return {}
        raise SettingsError(f"There is no settings file {path}.", "Name one that exists, or leave it out.") from error
    except OSError as error:
        reason = error.strerror or error
        raise SettingsError(f"The settings file {path} cannot be read: {reason}.", "Make it a file you may read.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"The settings file {path} is not UTF-8 text.", "Save it as UTF-8.") from error
    except RecursionError as error:
        raise SettingsError(f"The settings file {path} is nested too deep.", "Write it plainly.") from error
    except ValueError as error:  # `TOMLDecodeError`, and numbers of thousands of digits
        raise SettingsError(f"The settings file {path} is not TOML: {error}.", 'Texts stand in quotes: embed = "minilm".') from error


def _checked(kind: type[R], said: Mapping[str, object], folder: Path, where: str) -> R:
    try:
        return kind.model_validate(said, context={FOLDER: folder})
    except ValidationError as error:
        faults = "; ".join(_fault(found["loc"], found["type"], found["msg"], kind) for found in error.errors(include_url=False))
        raise SettingsError(f"In {where}: {faults}.", "Correct it or take it out.") from error


def _fault(location: tuple[int | str, ...], kind: str, message: str, root: type[Record]) -> str:
    key = ".".join(map(str, location))
    if kind == "extra_forbidden":
        known = _known(root, location[:-1])
        near = difflib.get_close_matches(str(location[-1]), known, n=2, cutoff=0.6)
        hint = f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else f"known are {', '.join(known)}"
        return f"`{key}` is not a setting ({hint})"
    text = _WORDS.get(kind, message.removeprefix("Value error, "))
    text = text.replace("Input should be", "must be")
    return f"`{key}` {text}" if text.startswith("must") else f"`{key}`: {text}" if key else text


def _known(root: type[Record], location: tuple[int | str, ...]) -> list[str]:
    """The settings of the table at `location`."""
    for step in location:
        field = root.model_fields.get(str(step))
        if field is None or not isinstance(field.annotation, type) or not issubclass(field.annotation, Record):
            return []
        root = field.annotation
    return list(root.model_fields)
