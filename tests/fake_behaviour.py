"""What the fake model server does with a request: replies, and the many ways of not replying well."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

FOREVER = 3600.0
Wording = Literal["openai", "llama.cpp", "vllm", "ollama", "anthropic", "gemini"]
_TOKENS = re.compile(r"\w+|[^\w\s]")


def count(text: str) -> int:
    """Tokens of a text as the fake server counts: words and marks."""
    return len(_TOKENS.findall(text))


@dataclass(frozen=True)
class Behaviour:
    """What is done with one request. Everything left alone makes a good reply."""

    text: str | None = None
    """The reply. None: what the server's `answer` gives, else `fine`."""
    pieces: tuple[str, ...] | None = None
    """The reply as it is streamed. None: word by word."""
    thoughts: str = ""
    """Streamed before the reply as `reasoning_content` (Ollama: `thinking`)."""
    finish: str = "stop"
    """`finish_reason`: `length` for a reply that was cut, `content_filter`."""
    refusal: str = ""
    """`message.refusal`; then leave the text empty."""
    usage: tuple[int, int] | Literal["counted"] | None = "counted"
    """Tokens of prompt and reply that are told: numbers, what was counted, or nothing at all."""
    every: float = 0.0
    """Seconds between pieces."""
    stall_at: int | None = None
    """Goes silent before this piece (0: after the headers; -1: before the first byte)."""
    stall: float = FOREVER
    """Seconds of that silence."""
    abort_at: int | None = None
    """The connection breaks before this piece (-1: before the first byte)."""
    end_at: int | None = None
    """The stream ends before this piece as if nothing were amiss: no `finish_reason`, no `[DONE]`."""
    choices: bool = True
    """False: `choices` is an empty list."""
    tool_call: bool = False
    """The text comes as the arguments of a tool call, with no content."""
    status: int = 200
    error: Mapping[str, Any] = field(default_factory=dict)
    """Body of an error, as OpenAI's field `error`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Sent in place of all that, as it is."""
    content_type: str = "application/json"
    """Of `raw` and of errors."""


def says(text: str, **more: Any) -> Behaviour:
    """A reply of this text; every field of `Behaviour` can be given."""
    return Behaviour(text=text, **more)


def fails(status: int, message: str, code: str | None = None, kind: str = "invalid_request_error", **headers: str) -> Behaviour:
    """An error with a body as OpenAI's. Names of headers are written with `_`: `retry_after="2"`."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Behaviour(status=status, error={"message": message, "type": kind, "code": code}, headers=told)


WRONG_KEY = fails(401, "Incorrect API key provided: sk-wrong1234567890. You can find your key in your account.", "invalid_api_key")
FORBIDDEN = fails(403, "You are not allowed to use this model.", "forbidden", "permission_error")
UNKNOWN_MODEL = fails(404, "The model `nope` does not exist or you do not have access to it.", "model_not_found")
BAD_SCHEMA = fails(400, "Invalid schema for response_format 'reply': In context=(), 'maxItems' is not permitted.", "invalid_json_schema")
BAD_REQUEST = fails(400, "Unsupported parameter: 'top_k'.", "unsupported_parameter")
UNPROCESSABLE = fails(422, "Input should be a valid string.")
POLICY = fails(400, "Your request was rejected as a result of our safety system.", "content_policy_violation")
RATE_LIMITED = fails(429, "Rate limit reached for requests.", "rate_limit_exceeded", "rate_limit_error", retry_after="2")
QUOTA = fails(429, "You exceeded your current quota, please check your plan.", "insufficient_quota", "insufficient_quota")
BROKEN = fails(500, "The server had an error while processing your request.", kind="server_error")
DOWN = fails(503, "The engine is currently overloaded, please try again later.", kind="server_error")
OVERLOADED = fails(529, "Overloaded", kind="overloaded_error")
REFUSED = Behaviour(text="", refusal="I'm sorry, but I can't help with that.")
FILTERED = Behaviour(text="", finish="content_filter")
REFUSES_IN_WORDS = says("I'm sorry, but I can't continue with this request.")
EMPTY = says("")
NO_CHOICES = Behaviour(choices=False)
NO_USAGE = Behaviour(usage=None)
HTML = Behaviour(raw=b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>", content_type="text/html")
ERROR_AS_TEXT = says("Error: upstream model is not available (code 503). Please try again later.")
NOT_JSON = Behaviour(raw=b'{"id": "chatcmpl-1", "choices": [{"mess')
JSON_LIST = Behaviour(raw=b"[1, 2]")
WRONG_TYPE = Behaviour(raw=b"hello", content_type="application/octet-stream")
TOOL_CALL = says('{"name": "reply"}', tool_call=True)
SILENT = Behaviour(stall_at=-1)
"""Takes the request and never says a byte."""
HANGS = Behaviour(abort_at=-1)
"""Takes the request and breaks the connection."""


def echo(body: Mapping[str, Any]) -> Behaviour:
    """A behaviour by function: replies with the prompt."""
    return says("\n\n".join(contents(body)))


def contents(body: Mapping[str, Any]) -> list[str]:
    """The texts of a request's messages, or of its prompt or input."""
    if "messages" in body:
        return [text if isinstance(text := message.get("content"), str) else json.dumps(text) for message in body["messages"]]
    given = body.get("prompt", body.get("input", ""))
    return [str(text) for text in given] if isinstance(given, list) else [str(given)]


def too_long(wording: Wording, prompt: int, window: int, wanted: int = 0) -> Behaviour:
    """The error of a prompt that does not fit, in the words of a server, with real numbers."""
    total = prompt + wanted
    openai = (
        f"This model's maximum context length is {window} tokens. However, you requested {total} tokens ({prompt} in the messages, "
        f"{wanted} in the completion). Please reduce the length of the messages or completion."
    )
    vllm = (
        f"This model's maximum context length is {window} tokens. However, you requested {wanted} output tokens and your prompt contains "
        f"at least {prompt} input tokens, for a total of at least {total} tokens. Please reduce the length of the input prompt."
    )
    llama = f"request ({prompt} tokens) exceeds the available context size ({window} tokens), try increasing it"
    made = {
        "openai": fails(400, openai, "context_length_exceeded"),
        "vllm": fails(400, vllm, None, "BadRequestError"),
        "llama.cpp": fails(400, llama, None, "exceed_context_size_error"),
        "ollama": fails(400, f"the input length ({prompt}) exceeds the context length ({window})"),
        "anthropic": fails(400, f"prompt is too long: {prompt} tokens > {window} maximum"),
        "gemini": fails(400, f"The input token count ({prompt}) exceeds the maximum number of tokens allowed ({window})."),
    }[wording]
    if wording == "llama.cpp":
        made = replace(made, error={**made.error, "code": 400, "n_prompt_tokens": prompt, "n_ctx": window})
    return made
