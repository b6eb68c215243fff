"""How a request is put to litellm: what stands in the call, and the ways to get JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from engine.llm.protocol import ModelRequest
from engine.llm.schemas import closed_schema, flat_schema, form
from engine.records.models import Structured
from engine.records.prompts import Message

NEXT_WAY: Final[Mapping[Structured, Structured]] = {"grammar": "schema", "schema": "object", "object": "prompt"}
"""What is tried when a provider does not take a way to get JSON."""
_MOST_SEED: Final = 2**31 - 1


class Sent(NamedTuple):
    """What goes out for a request."""

    messages: tuple[Message, ...]
    added: str = ""
    """The end of the last message, which is no part of the request."""
    response_format: dict[str, Any] | None = None
    schema: str = ""
    """A schema that the model reads: providers count it as part of the prompt."""

    @property
    def read(self) -> str:
        """All that the model reads."""
        return "\n\n".join([*(message.content for message in self.messages), *filter(None, [self.schema])])


def sent_for(request: ModelRequest, way: Structured, own_server: bool) -> Sent:
    """The messages and the format of the reply, by the way to get JSON. Prose has none."""
    shape = request.response
    if shape is None:
        return Sent(request.messages)
    if way in ("grammar", "schema"):
        schema = closed_schema(shape, request.choices) if way == "grammar" else flat_schema(shape, request.choices)
        named = {"name": shape.__name__, "schema": schema, "strict": True}
        wanted = {"type": "json_schema", "json_schema": named}
        return Sent(request.messages, response_format=wanted, schema=json.dumps(schema) if way == "schema" else "")
    messages, added = _with_form(request.messages, form(shape, request.choices))
    if way == "prompt":
        return Sent(messages, added)
    held = {"schema": closed_schema(shape, request.choices)} if own_server else {}  # some of them enforce it nevertheless
    return Sent(messages, added, {"type": "json_object", **held})


def call_of(request: ModelRequest, sent: Sent, model: str, max_tokens: int, temperature: float | None, stream: bool) -> dict[str, object]:
    """What litellm is given, but for where to and with which key. One attempt; parameters that a provider does not know are left out."""
    call: dict[str, object] = {
        "model": model, "messages": [{"role": message.role, "content": message.content} for message in sent.messages],
        "max_tokens": max_tokens, "seed": seed_of(request), "num_retries": 0, "max_retries": 0, "drop_params": True,
    }
    if temperature is not None:
        call["temperature"] = temperature
    if sent.response_format is not None:
        call["response_format"] = sent.response_format
    if stream:
        call |= {"stream": True, "stream_options": {"include_usage": True}}
    return call


def seed_of(request: ModelRequest) -> int:
    """Another one for another attempt, within what all providers take."""
    return (request.seed * 1_000_003 + request.attempt) % _MOST_SEED


def _with_form(messages: Sequence[Message], line: str) -> tuple[tuple[Message, ...], str]:
    """The messages with a line at their very end, and what was added to the text of the request."""
    added = f"\n\n{line}"
    if messages and messages[-1].role == "user":
        last = messages[-1]
        return (*messages[:-1], last.model_copy(update={"content": last.content + added})), added
    return (*messages, Message(role="user", content=line)), added
