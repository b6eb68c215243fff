"""How the fake model server puts things into bytes: OpenAI's chat and embeddings, Ollama's chat, what servers tell of themselves."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from tests.fake_behaviour import Behaviour, contents

Usage = tuple[int, int] | None
_WORD = re.compile(r"\s*\S+\s*|\s+")


class Form(Protocol):
    """A protocol that a request speaks."""

    streams: bool
    """Whether replies are streamed where the request says nothing."""
    stream_type: str

    def pieces(self, text: str) -> tuple[str, ...]: ...
    def max_tokens(self, body: Mapping[str, Any]) -> int: ...
    def thoughts(self, body: Mapping[str, Any], behaviour: Behaviour) -> Iterable[bytes]: ...
    def piece(self, body: Mapping[str, Any], piece: str, behaviour: Behaviour) -> bytes: ...
    def end(self, body: Mapping[str, Any], behaviour: Behaviour, usage: Usage) -> bytes: ...
    def whole(self, body: Mapping[str, Any], text: str, behaviour: Behaviour, usage: Usage) -> object: ...
    def error(self, behaviour: Behaviour) -> object: ...


def form_of(path: str) -> Form | None:
    """The protocol of a path that models are called by."""
    found: dict[str, Form] = {"/chat/completions": OpenAiChat(), "/embeddings": OpenAiEmbeddings(), "/api/chat": OllamaChat()}
    return next((form for ending, form in found.items() if path.endswith(ending)), None)


class OpenAiChat:
    """`/v1/chat/completions`."""

    streams = False
    stream_type = "text/event-stream"

    def pieces(self, text: str) -> tuple[str, ...]:
        return tuple(_WORD.findall(text))

    def max_tokens(self, body: Mapping[str, Any]) -> int:
        return int(body.get("max_completion_tokens") or body.get("max_tokens") or 0)

    def thoughts(self, body: Mapping[str, Any], behaviour: Behaviour) -> Iterable[bytes]:
        yield self._chunk(body, [self._choice({"role": "assistant", "content": ""})])
        for piece in self.pieces(behaviour.thoughts):
            yield self._chunk(body, [self._choice({"reasoning_content": piece})])

    def piece(self, body: Mapping[str, Any], piece: str, behaviour: Behaviour) -> bytes:
        if not behaviour.choices:
            return self._chunk(body, [])
        if behaviour.tool_call:
            call = {"index": 0, "id": "call-1", "type": "function", "function": {"name": "reply", "arguments": piece}}
            return self._chunk(body, [self._choice({"tool_calls": [call]})])
        return self._chunk(body, [self._choice({"content": piece})])

    def end(self, body: Mapping[str, Any], behaviour: Behaviour, usage: Usage) -> bytes:
        finish = "tool_calls" if behaviour.tool_call else behaviour.finish
        data = b"".join(self._chunk(body, [self._choice({"refusal": piece})]) for piece in self.pieces(behaviour.refusal))
        data += self._chunk(body, [self._choice({}, finish)] if behaviour.choices else [])
        if usage is not None and (body.get("stream_options") or {}).get("include_usage"):
            data += self._chunk(body, [], usage=_tokens(usage))
        return data + b"data: [DONE]\n\n"

    def whole(self, body: Mapping[str, Any], text: str, behaviour: Behaviour, usage: Usage) -> object:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        finish = behaviour.finish
        if behaviour.refusal:
            message |= {"content": None, "refusal": behaviour.refusal}
        if behaviour.thoughts:
            message |= {"reasoning_content": behaviour.thoughts}
        if behaviour.tool_call:
            finish = "tool_calls"
            message |= {
                "content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": {"name": "reply", "arguments": text}}],
            }
        choices = [{"index": 0, "message": message, "finish_reason": finish}] if behaviour.choices else []
        made = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body.get("model", ""), "choices": choices}
        return made if usage is None else {**made, "usage": _tokens(usage)}

    def error(self, behaviour: Behaviour) -> object:
        return {"error": dict(behaviour.error)}

    def _choice(self, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"index": 0, "delta": dict(delta), "finish_reason": finish}

    def _chunk(self, body: Mapping[str, Any], choices: Sequence[Mapping[str, Any]], **more: Any) -> bytes:
        model = body.get("model", "")
        made = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": list(choices), **more}
        return b"data: " + json.dumps(made).encode() + b"\n\n"


class OpenAiEmbeddings(OpenAiChat):
    """`/v1/embeddings`: a vector of three numbers a text, told by its length."""

    def pieces(self, text: str) -> tuple[str, ...]:
        return ()

    def whole(self, body: Mapping[str, Any], text: str, behaviour: Behaviour, usage: Usage) -> object:
        rows = [
            {"object": "embedding", "index": place, "embedding": [float(len(each)), 1.0, -2.0]} for place, each in enumerate(contents(body))
        ]
        made = {"object": "list", "model": body.get("model", ""), "data": rows}
        return made if usage is None else {**made, "usage": _tokens(usage)}


class OllamaChat:
    """`/api/chat`: a line of JSON a piece."""

    streams = True
    stream_type = "application/x-ndjson"

    def pieces(self, text: str) -> tuple[str, ...]:
        return tuple(_WORD.findall(text))

    def max_tokens(self, body: Mapping[str, Any]) -> int:
        return int((body.get("options") or {}).get("num_predict") or 0)

    def thoughts(self, body: Mapping[str, Any], behaviour: Behaviour) -> Iterable[bytes]:
        for piece in self.pieces(behaviour.thoughts):
            yield self._line(body, {"role": "assistant", "content": "", "thinking": piece}, done=False)

    def piece(self, body: Mapping[str, Any], piece: str, behaviour: Behaviour) -> bytes:
        return self._line(body, {"role": "assistant", "content": piece}, done=False)

    def end(self, body: Mapping[str, Any], behaviour: Behaviour, usage: Usage) -> bytes:
        return self._line(body, {"role": "assistant", "content": ""}, done=True, done_reason=behaviour.finish, **_counts(usage))

    def whole(self, body: Mapping[str, Any], text: str, behaviour: Behaviour, usage: Usage) -> object:
        message = {"role": "assistant", "content": text}
        if behaviour.thoughts:
            message["thinking"] = behaviour.thoughts
        return {
            "model": body.get("model", ""), "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True,
            "done_reason": behaviour.finish, **_counts(usage),
        }

    def error(self, behaviour: Behaviour) -> object:
        return {"error": behaviour.error.get("message", "")}

    def _line(self, body: Mapping[str, Any], message: Mapping[str, Any], **more: Any) -> bytes:
        made = {"model": body.get("model", ""), "created_at": "2026-01-01T00:00:00Z", "message": dict(message), **more}
        return json.dumps(made).encode() + b"\n"


def _tokens(usage: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}


def _counts(usage: Usage) -> dict[str, int]:
    return {} if usage is None else {"prompt_eval_count": usage[0], "eval_count": usage[1]}


def told_of_itself(
    kind: str, path: str, models: Sequence[str], window: int, body: Mapping[str, Any], thinks: bool = False
) -> object | None:
    """What a kind of server answers to questions about itself; None for a path it does not know."""
    listed = [{"id": name, "object": "model", "created": 1, "owned_by": kind} for name in models]
    answers: dict[tuple[str, str], object] = {
        ("llama.cpp", "/props"): {
            "default_generation_settings": {"id": 0, "n_ctx": window, "params": {}}, "total_slots": 1, "model_path": f"/models/{models[0]}",
        },
        ("llama.cpp", "/health"): {"status": "ok"},
        ("ollama", "/api/version"): {"version": "0.12.6"},
        ("ollama", "/api/tags"): {"models": [
            {"name": name, "model": name, "size": 2019393189, "details": {"family": "llama", "parameter_size": "3.2B"}} for name in models
        ]},
        ("ollama", "/api/show"): {
            "parameters": "stop    \"<|eot|>\"", "details": {"family": "llama", "parameter_size": "3.2B"},
            "model_info": {"general.architecture": "llama", "llama.context_length": window},
            "capabilities": ["completion", "thinking"] if thinks else ["completion"],
        },
        ("lm_studio", "/api/v0/models"): {"object": "list", "data": [
            {"id": name, "type": "llm", "state": "loaded", "max_context_length": 4 * window, "loaded_context_length": window}
            for name in models
        ]},
        ("vllm", "/version"): {"version": "0.11.0"},
        ("vllm", "/v1/models"): {"object": "list", "data": [{**each, "max_model_len": window} for each in listed]},
        ("ollama", "/v1/models"): {"object": "list", "data": listed},
        ("lm_studio", "/v1/models"): {"object": "list", "data": listed},
        ("openai", "/v1/models"): {"object": "list", "data": listed},
        ("llama.cpp", "/v1/models"): {"object": "list", "data": [{**each, "meta": {"n_ctx_train": 4 * window}} for each in listed]},
    }
    if kind == "ollama" and path == "/api/show" and body.get("model", body.get("name")) not in models:
        return None
    return answers.get((kind, path))
