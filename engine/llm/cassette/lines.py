"""What stands on a tape: one JSON object a line, of one of five kinds. Reading trusts nothing: a tape may come from a stranger."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from engine.errors import BadOutputError, ModelError, ProviderError, Trouble
from engine.llm.protocol import Completion, ModelRequest
from engine.records.base import EntityId, Record
from engine.records.clean import clean, one_line
from engine.records.models import Call
from engine.records.prompts import Message, Task
from engine.records.world import World

FORMAT: Final = "otherminds tape"
VERSION: Final = 1
"""Of the format. Higher ones are refused."""
LONGEST: Final = 64 * 1024 * 1024
"""Bytes of a line."""

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""What JSON need not escape and a terminal may obey."""
_BROKEN = re.compile("[\ud800-\udfff]")
_MOST: Final = 1_000_000_000_000
"""Of anything that is counted or measured."""
_WORDS: Final = 20_000
"""Characters of an error that are kept."""

Key = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A digest."""
Name = Annotated[str, Field(max_length=2000), AfterValidator(one_line)]
"""Words for people, on one line."""
Words = Annotated[str, Field(max_length=_WORDS), AfterValidator(clean)]
"""Words for people."""
Count = Annotated[int, Field(ge=0, le=_MOST)]
Number = Annotated[float, Field(ge=0, le=_MOST, allow_inf_nan=False)]
TASKS: Final[tuple[Task, ...]] = ("actor", "decode", "referee", "alias", "handoff", "collapse", "validate", "narrate")
Place = Task | Literal["default"]
"""A task with a model of its own, or all others."""


class Title(Record):
    """What was recorded. The first line, and another one wherever a save is gone on with."""

    kind: Literal["tape"] = "tape"
    format: Literal["otherminds tape"] = FORMAT
    version: int = Field(default=VERSION, ge=1, le=VERSION)
    program: Name
    """Version of Otherminds."""
    world: Name
    """The slug."""
    name: Name
    seed: int
    round: Count
    """The last round begun before."""

    def other_than(self, world: World) -> str:
        """In what the game of this tape is not that of a world; empty when it is. Of another world the seed says nothing: it may have
        been set to the tape's."""
        if self.world != world.slug:
            here = one_line(world.name)
            here, there = (f"{here} ({world.slug})", f"{self.name} ({self.world})") if here == self.name else (here, self.name)
            return f"is a tape of {there}, and this is {here}"
        return f"is a tape of {self.name} with seed {self.seed}, and this game has seed {world.seed}" if self.seed != world.seed else ""


class Facts(Record):
    """What a model says of itself."""

    name: Name
    context_window: int = Field(ge=1, le=1_000_000_000)
    small: bool
    scale: float = Field(gt=0, le=10_000, allow_inf_nan=False)
    """Tokens that it counts for each that is estimated."""


class ModelsLine(Record):
    """What models say of themselves from here on; those that say what they said are left out."""

    kind: Literal["models"] = "models"
    models: Mapping[Place, Facts]


class EmbedderLine(Record):
    """What makes vectors from here on."""

    kind: Literal["embedder"] = "embedder"
    name: Name
    dim: int = Field(ge=1, le=65_536)
    meaning: float = Field(ge=0, le=1, allow_inf_nan=False)
    same: float = Field(gt=0, le=1, allow_inf_nan=False)
    merge: float = Field(gt=0, le=1, allow_inf_nan=False)
    taped: bool
    """Whether its vectors are on the tape. Those of the built-in one are made anew."""


class Asked(Record):
    """All of a request that its reply depends on."""

    task: Task
    entity: EntityId
    round: int
    seed: int
    attempt: int
    template: str
    messages: tuple[Message, ...]
    response: str
    """Name of the shape that the reply must have; empty for prose."""
    choices: Mapping[str, tuple[str, ...]]
    max_tokens: int
    temperature: float | None

    @classmethod
    def of(cls, request: ModelRequest) -> Self:
        """What a request asks."""
        return cls(
            task=request.task, entity=request.entity, round=request.round, seed=request.seed, attempt=request.attempt,
            template=request.template, messages=request.messages, response=request.response.__name__ if request.response else "",
            choices=request.choices, max_tokens=request.max_tokens, temperature=request.temperature,
        )

    @property
    def key(self) -> str:
        """What it is found by: a digest of all of it."""
        return digest(json.dumps(self.model_dump(mode="json"), sort_keys=True))

    @property
    def text(self) -> str:
        """The messages for people, each with its role."""
        return "\n\n".join(f"{message.role}: {message.content}" for message in self.messages)


class Failure(Record):
    """An error that a call ended with."""

    error: Literal["ModelError", "BadOutputError", "ProviderError"]
    message: Words
    advice: Words = ""
    trouble: Trouble | None = None
    retry_after: Number | None = None
    reply: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.error == "ProviderError" and self.trouble is None:
            raise ValueError("a ProviderError has its trouble")
        return self

    @classmethod
    def of(cls, error: ModelError) -> Self:
        """An error as it is kept."""
        message, advice = sound(str(error.args[0]) if error.args else "")[:_WORDS], sound(error.advice)[:_WORDS]
        match error:
            case ProviderError():
                return cls(error="ProviderError", message=message, advice=advice, trouble=error.trouble, retry_after=error.retry_after)
            case BadOutputError():
                return cls(error="BadOutputError", message=message, advice=advice, reply=sound(error.reply))
        return cls(error="ModelError", message=message, advice=advice)

    def again(self) -> ModelError:
        """The error anew, in the same words."""
        if self.error == "ProviderError" and self.trouble is not None:
            return ProviderError(self.message, self.advice, trouble=self.trouble, retry_after=self.retry_after)
        if self.error == "BadOutputError":
            return BadOutputError(self.message, self.reply, self.advice)
        return ModelError(self.message, self.advice)


class CallLine(Record):
    """One call as the engine makes it, whatever it took to answer it, written when it has ended."""

    kind: Literal["call"] = "call"
    key: Key
    after: Count
    """How many lines the tape had when it was asked: those in between ended while it was under way."""
    asked: Asked
    heard: tuple[str | None, ...] | None = None
    """The pieces in their order, null where they became void; null altogether when nobody listened."""
    reply: Completion | None = None
    failure: Failure | None = None
    calls: tuple[Call, ...] = ()
    """What was metered meanwhile, one for each time that a model was reached."""
    seconds: Number

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (self.reply is None) == (self.failure is None):
            raise ValueError("a call ends with either a reply or a failure")
        numbers = [n for call in self.calls for n in (call.prompt_tokens, call.reply_tokens, call.cost or 0.0, call.seconds)]
        if self.reply is not None:
            numbers += [self.reply.usage.prompt_tokens, self.reply.usage.reply_tokens, self.reply.cost or 0.0]
        if not all(0 <= number <= _MOST for number in numbers):
            raise ValueError("tokens, money and seconds are numbers within reason")
        return self


class VectorsLine(Record):
    """One call of an embedder."""

    kind: Literal["vectors"] = "vectors"
    texts: tuple[Key, ...] = Field(min_length=1)
    """Digests of the texts."""
    dim: int = Field(default=1, ge=1, le=65_536)
    vectors: str = Field(default="", pattern=r"^[A-Za-z0-9+/=]*$")
    """Little-endian float32, one text after the other, in base64."""
    failure: Failure | None = None
    given_up: bool = False
    """Whoever asked did not wait for an answer."""
    seconds: Number


Line = Title | ModelsLine | EmbedderLine | CallLine | VectorsLine

_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sound(text: str) -> str:
    """A text as it can be kept: half a character becomes U+FFFD."""
    return _BROKEN.sub("\N{REPLACEMENT CHARACTER}", text)


def written(line: Line) -> bytes:
    """A line with its end. Nothing in it is a control character, so that it can be looked at in a terminal."""
    text = json.dumps(line.model_dump(mode="json"), ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode() + b"\n"


def read(data: bytes) -> Line:
    """A line of a tape. Raises `ValueError` that says what is wrong with it."""
    if not data.endswith(b"\n"):
        raise ValueError("it is not written to its end, or too long")
    return _LINE.validate_json(data)
