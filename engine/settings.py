"""What a person sets for all worlds: `settings.toml` in the config folder, with the environment over it (DESIGN 12).

Keys to paid services are never read from here: they come from the environment only, where the provider's library finds them.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self, TypeVar

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from engine.errors import SettingsError
from engine.records.base import Record

R = TypeVar("R", bound=Record)

BUILT_IN: Final = ("hash768", "minilm")
"""Embedders that run in this process. Any other name is looked up by litellm."""

_FILE: Final = "settings.toml"
_FOLDER: Final = "folder"
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


class EmbedSettings(Record):
    """Which embedder makes vectors: in the file a name alone (`embed = "minilm"`) or a table (`[models.embed]`)."""

    model: str = Field(default="hash768", min_length=1, strict=True)
    """`hash768`, `minilm`, or what litellm calls a model: `openai/text-embedding-3-small`, `ollama/nomic-embed-text`."""
    file: Path | None = None
    """An ONNX graph to use instead of the one in the extra `embed`; minilm only. Relative to the settings file."""
    dim: int | None = Field(default=None, strict=True, ge=1, le=65_536)
    """Length of the vectors of a model behind a provider, where known: saves asking it."""
    api_base: str | None = Field(default=None, min_length=1, strict=True)
    """Address of a server, for a model behind a provider: `http://localhost:8080/v1`."""
    timeout: float = Field(default=60.0, strict=True, gt=0, le=3600)
    """Seconds that one call to a provider may take."""
    meaning: float | None = Field(default=None, strict=True, ge=0, le=1)
    """Share of its cosine against words in recall, in place of what suits the embedder."""
    same: float | None = Field(default=None, strict=True, gt=0, le=1)
    """Cosine from which two memories count as one when read, in place of what suits the embedder."""
    merge: float | None = Field(default=None, strict=True, gt=0, le=1)
    """Cosine from which two memories of one owner become one when written, in place of what suits the embedder."""

    @model_validator(mode="before")
    @classmethod
    def _a_name_alone(cls, value: object) -> object:
        return {"model": value} if isinstance(value, str) else value

    @field_validator("model", mode="after")
    @classmethod
    def _no_misspelling(cls, value: str) -> str:
        name = value.strip()
        near = difflib.get_close_matches(name.lower(), BUILT_IN, n=1, cutoff=0.7)
        if near and name not in BUILT_IN and "/" not in name:
            raise ValueError(f"no embedder is called `{name}`; did you mean `{near[0]}`?")
        return name

    @field_validator("file", mode="after")
    @classmethod
    def _from_where_it_is_written(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is None:
            return None
        folder = (info.context or {}).get(_FOLDER, Path())
        try:
            return Path(folder, value.expanduser())
        except RuntimeError as error:  # `~nobody`
            raise ValueError(f"no home folder is known for `{value}`") from error

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.file is not None and self.model != "minilm":
            raise ValueError(f"`file` goes with the model `minilm`, not with `{self.model}`")
        given = [name for name in ("dim", "api_base") if getattr(self, name) is not None]
        if given and self.model in BUILT_IN:
            raise ValueError(f"`{given[0]}` goes with a model behind a provider, not with `{self.model}`")
        return self


class ModelSettings(Record):
    """Which model does what."""

    embed: EmbedSettings = EmbedSettings()


class Settings(Record):
    """All of `settings.toml`."""

    models: ModelSettings = ModelSettings()


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
        return kind.model_validate(said, context={_FOLDER: folder})
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
