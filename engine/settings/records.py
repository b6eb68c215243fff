"""What a person sets for all worlds, as values (DESIGN 12). Keys to paid services are no part of it."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from engine.records.base import Record
from engine.records.models import Structured
from engine.records.prompts import Task
from engine.settings.names import address, plain_name, variable

STORYTELLER: Final = "storyteller"
"""Name of the model that is built in."""
FOLDER: Final = "folder"
"""Key of the validation context: the folder that paths in settings are relative to."""
BUILT_IN: Final = ("hash768", "minilm")
"""Embedders that run in this process. Any other name is looked up by litellm."""

Name = Annotated[str, Field(strict=True, min_length=1, max_length=200), AfterValidator(plain_name)]
Address = Annotated[str, Field(strict=True, max_length=2000), AfterValidator(address)]
Tokens = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000_000)]
Dollars = Annotated[float, Field(strict=True, gt=0, le=1_000_000_000)]


class Part(Record):
    """A table of the settings. TOML's `inf` and `nan` are no numbers here."""

    model_config = ConfigDict(allow_inf_nan=False)


class EmbedSettings(Part):
    """Which embedder makes vectors: in the file a name alone (`embed = "minilm"`) or a table (`[models.embed]`)."""

    model: Name = "hash768"
    """`hash768`, `minilm`, or what litellm calls a model: `openai/text-embedding-3-small`, `ollama/nomic-embed-text`."""
    file: Path | None = None
    """An ONNX graph to use instead of the one in the extra `embed`; minilm only. Relative to the settings file."""
    dim: int | None = Field(default=None, strict=True, ge=1, le=65_536)
    """Length of the vectors of a model behind a provider, where known: saves asking it."""
    api_base: Address | None = None
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
        near = difflib.get_close_matches(value.lower(), BUILT_IN, n=1, cutoff=0.7)
        if near and value not in BUILT_IN and "/" not in value:
            raise ValueError(f"no embedder is called `{value}`; did you mean `{near[0]}`?")
        return value

    @field_validator("file", mode="after")
    @classmethod
    def _from_where_it_is_written(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is None:
            return None
        plain_name(str(value))
        folder = (info.context or {}).get(FOLDER, Path())
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


class EndpointSettings(Part):
    """One model with the facts about it: a table `[endpoint.NAME]`. All of it has defaults that suit most models."""

    model: Annotated[str, Field(strict=True, max_length=200), AfterValidator(plain_name)] = ""
    """litellm's name of it: `openai/gpt-5-mini`, `ollama_chat/llama3.2`. The table's own name when left out."""
    api_base: Address | None = None
    """Address of a server of one's own: `http://127.0.0.1:8080/v1`."""
    key_env: Annotated[str, Field(strict=True), AfterValidator(variable)] | None = None
    """The variable of the environment that holds the key, when it is not the provider's own."""
    context_window: int | None = Field(default=None, strict=True, ge=512, le=100_000_000)
    """Tokens that prompt and reply may fill together, where neither the server nor the price list knows, or less is wanted."""
    thinking: int | None = Field(default=None, strict=True, ge=0, le=200_000)
    """Tokens allowed beyond a reply's own, for models that think before they answer."""
    small: bool | None = Field(default=None, strict=True)
    """Whether tasks are split into smaller calls. None goes by the size in its name: below 4 billion parameters it is small."""
    structured: Structured | None = None
    """How it is made to reply with JSON. None goes by the provider."""
    temperature: float | None = Field(default=None, strict=True, ge=0, le=2)
    timeout: float | None = Field(default=None, strict=True, gt=0, le=3600)
    """Seconds that it may be silent. None means 60, and 300 for a server on one's own machine, which may take long to read a prompt."""
    input_price: float | None = Field(default=None, strict=True, ge=0, le=1_000_000)
    """US dollars per million tokens of prompts, where the price list is silent or wrong. Goes with `output_price`."""
    output_price: float | None = Field(default=None, strict=True, ge=0, le=1_000_000)


class TaskSettings(Part):
    """Who answers a task: in the file a name alone, a list of names in order of preference, or a table.

    A table that names no model changes only what it says: the rest is the default's.
    """

    model: Name = STORYTELLER
    """`storyteller`, the name of an `[endpoint.NAME]`, or what litellm calls a model."""
    fallbacks: tuple[Name, ...] = ()
    """Who is asked, in this order, when the one before is away, overloaded or silent."""
    temperature: float | None = Field(default=None, strict=True, ge=0, le=2)
    timeout: float | None = Field(default=None, strict=True, gt=0, le=3600)

    @model_validator(mode="before")
    @classmethod
    def _a_name_or_names(cls, value: object) -> object:
        if isinstance(value, str):
            return {"model": value}
        if isinstance(value, list | tuple):
            if not value:
                raise ValueError("must name a model")
            return {"model": value[0], "fallbacks": tuple(value[1:])}
        return value

    @property
    def names(self) -> tuple[str, ...]:
        """The model and its fallbacks, in the order in which they are asked."""
        return (self.model, *self.fallbacks)


class ModelSettings(Part):
    """Which model does what: `[models]`, a line per task. A task without a line goes to the default."""

    default: TaskSettings = TaskSettings()
    actor: TaskSettings | None = None
    decode: TaskSettings | None = None
    referee: TaskSettings | None = None
    alias: TaskSettings | None = None
    handoff: TaskSettings | None = None
    collapse: TaskSettings | None = None
    validate_: TaskSettings | None = Field(default=None, alias="validate")
    """The task `validate`."""
    narrate: TaskSettings | None = None
    hints: bool = Field(default=False, strict=True)
    """Whether models that a world suggests are used where nothing else is set. The player pays for them, so it is no default."""
    embed: EmbedSettings = EmbedSettings()

    def of(self, task: Task) -> TaskSettings | None:
        """What is set for a task itself, filled up by the default's where it names no model. None for `embed`, which is another matter."""
        found = getattr(self, "validate_" if task == "validate" else task)
        if not isinstance(found, TaskSettings) or "model" in found.model_fields_set:
            return found if isinstance(found, TaskSettings) else None
        return self.default.model_copy(update={name: getattr(found, name) for name in found.model_fields_set})

    def answering(self, task: Task) -> TaskSettings:
        """Who answers a task, be it set for itself or for all."""
        return self.of(task) or self.default


class ProviderSettings(Part):
    """What holds for all models of a provider, or of one server: `[provider.openai]`, `[provider."127.0.0.1:8080"]`."""

    concurrency: int | None = Field(default=None, strict=True, ge=1, le=1000)
    """Calls under way at the same time. None means 4, and 1 for a server of one's own."""


class CapSettings(Part):
    """What may be spent: `[caps]`. Play pauses before the call that would pass one."""

    run_tokens: Tokens | None = None
    """Tokens, of prompts and replies, from opening a save to closing it. The storyteller's count too."""
    run_money: Dollars | None = None
    """US dollars."""
    day_tokens: Tokens | None = None
    """Tokens of all runs of a day, by the local calendar. Only calls to providers and servers count."""
    day_money: Dollars | None = None


class Settings(Part):
    """All of `settings.toml`."""

    models: ModelSettings = ModelSettings()
    endpoint: Mapping[str, EndpointSettings] = {}
    provider: Mapping[str, ProviderSettings] = {}
    caps: CapSettings = CapSettings()

    def resolved(self, name: str) -> EndpointSettings:
        """The endpoint of this name with its model filled in; a name without a table of its own is litellm's name of a model."""
        found = self.endpoint.get(name, EndpointSettings())
        return found if found.model else found.model_copy(update={"model": name})
