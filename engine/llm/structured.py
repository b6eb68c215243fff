"""Structured replies: found in whatever a model wraps around them, validated, asked for once more, else refused."""

import json
import re
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from engine.errors import BadOutputError
from engine.llm.protocol import Completion, LanguageModel, ModelRequest
from engine.llm.thoughts import thoughts_begin, without_thoughts
from engine.records.prompts import Message

T = TypeVar("T", bound=BaseModel)

_DECODER = json.JSONDecoder(strict=False)  # models put raw line breaks into strings
_MAX_STARTS = 200
_MAX_ERRORS = 8
_MAX_ECHO = 4000
_UNFINISHED = re.compile(r"[\w.+\\-]{0,10}")
"""What may stand where JSON cannot be read on because its text ends: nothing, or half a word, number or escape."""
_CUT = "The reply was cut off before its JSON ended."
_SCHEMA_KEYS = frozenset({"$defs", "$schema", "properties"})


async def ask(model: LanguageModel, request: ModelRequest, shape: type[T]) -> tuple[T, Completion]:
    """A reply of the given shape, and the completion it was read from.

    A reply that does not fit is sent back once with the faults found in it. A reply that was cut off is never patched
    up: what its end would have said is unknown, and in a handoff silence means forgetting. Raises `BadOutputError`
    with the last raw reply when the second one does not fit either, and `ModelError` when a call fails.
    """
    request = request.model_copy(update={"response": shape})
    completion = await model.complete(request)
    try:
        return _read(completion, shape), completion
    except BadOutputError as fault:
        completion = await model.complete(_again(request, completion.text, str(fault)))
    try:
        return _read(completion, shape), completion
    except BadOutputError as fault:
        what = f"The reply of {completion.model} cannot be used: {str(fault).rstrip('.')}."
        advice = f"Try again, or choose another model for the task {request.task}."
        raise BadOutputError(what, reply=fault.reply, advice=advice) from fault


def _read(completion: Completion, shape: type[T]) -> T:
    if completion.cut:
        raise BadOutputError(_CUT, reply=completion.text)
    return read_reply(completion.text, shape)


def read_reply(text: str, shape: type[T]) -> T:
    """The largest part of a text that is JSON of the given shape: in fences, amid prose, after think blocks.

    A text that breaks off within JSON, or within thoughts, is no reply, whatever stood before: it may have been a draft.
    Raises `BadOutputError`, whose message lists the faults of the likeliest part.
    """
    best: tuple[int, T] | None = None
    faults = ""
    values, broken_off = _values(without_thoughts(text))
    if broken_off and values:
        raise BadOutputError(_CUT, reply=text)
    for size, value in values:
        for candidate in _unwrapped(value, shape):
            if isinstance(candidate, dict) and candidate.keys() & _SCHEMA_KEYS:
                faults = faults or "That is the schema itself. Reply with an object that follows it."
                continue
            try:
                found = shape.model_validate(candidate)
            except ValidationError as error:
                faults = faults or _listed(error)
                continue
            if best is None or size > best[0]:
                best = size, found
            break
    if best is None:
        raise BadOutputError(faults or _shapeless(text), reply=text)
    return best[1]


def _values(text: str) -> tuple[list[tuple[int, object]], bool]:
    """Every outermost JSON object or array in a text, with its length, and whether the text breaks off within one or within thoughts.

    What stands within one that the text ends in the middle of is no reply of its own.
    """
    found: list[tuple[int, object]] = []
    position = 0
    for _ in range(_MAX_STARTS):
        start = min((at for at in (text.find("{", position), text.find("[", position)) if at >= 0), default=-1)
        thought = thoughts_begin(text, position)
        if thought is not None and (start < 0 or thought < start):  # it never ends: those that do are taken out before
            return found, True
        if start < 0:
            return found, False
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if _cut(text, start, error):
                return found, True
            position = start + 1
            continue
        except (RecursionError, ValueError):  # too deep, or a number too long to read
            return found, False
        found.append((end - start, value))
        position = end
    return found, False


def _cut(text: str, start: int, error: json.JSONDecodeError) -> bool:
    """Whether JSON that begins at `start` cannot be read because the text ends too soon."""
    begun = re.match(r'[\[{]\s*(?:["\[{\]}]|$)', text[start : start + 40]) is not None
    return begun and (error.msg.startswith("Unterminated string") or _UNFINISHED.fullmatch(text[error.pos :].rstrip()) is not None)


def _unwrapped(value: object, shape: type[BaseModel]) -> Iterator[object]:
    """A value as it is, then as models like to wrap it: `{"result": {...}}`, or the bare list of the only field."""
    yield value
    if isinstance(value, dict) and len(value) == 1:
        [inner] = value.values()
        if isinstance(inner, dict):
            yield inner
    fields = list(shape.model_fields)
    if isinstance(value, list) and value and len(fields) == 1 and all(isinstance(item, dict) for item in value):
        yield {fields[0]: value}


def _listed(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in fault['loc']) or 'reply'}: {fault['msg']}" for fault in faults]
    more = [f"and {len(lines) - _MAX_ERRORS} more"] if len(lines) > _MAX_ERRORS else []
    return "; ".join(lines[:_MAX_ERRORS] + more)


def _shapeless(text: str) -> str:
    if not text.strip():
        return "The reply was empty."
    spoken = without_thoughts(text)
    if thoughts_begin(spoken) is not None or not spoken.strip():
        return "The reply was thoughts only."
    if "{" in text and text.rstrip()[-1:] not in "}`]":
        return _CUT
    return "The reply held no readable JSON."


def _again(request: ModelRequest, reply: str, fault: str) -> ModelRequest:
    """The same request with the bad reply and its faults, and room for a longer answer."""
    retry = (
        Message(role="assistant", content=reply[:_MAX_ECHO] or "(nothing)"),
        Message(
            role="user",
            content=f"That reply cannot be used. {fault}\nReply once more with the whole JSON object and nothing else.",
        ),
    )
    return request.model_copy(update={"messages": (*request.messages, *retry), "max_tokens": request.max_tokens * 2})
