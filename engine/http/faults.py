"""What goes wrong over HTTP: one shape for all of it, and one table from its kind to a status."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from engine.errors import (
    CapReachedError,
    CommandError,
    KnowledgeError,
    ModelError,
    OthermindsError,
    SaveError,
    SessionError,
)
from engine.records.base import Record
from engine.records.clean import clean

STATUS: Final[Mapping[str, int]] = {
    # the request
    "bad_json": 400, "no_token": 401, "wrong_token": 401, "unknown_path": 404, "wrong_method": 405, "too_slow": 408, "too_large": 413,
    "wrong_type": 415, "wrong_host": 421, "bad_value": 422,
    # sessions
    "unknown_session": 404, "unknown_turn": 404, "unknown_entity": 422, "closed_session": 409, "already_open": 409, "bad_role": 422,
    "bad_text": 422, "bad_key": 422,
    # knowledge
    "unknown_knowledge": 404, "unknown_item": 404, "unknown_faction": 422, "known_already": 409, "nothing_to_do": 409, "unclear": 422,
    # models and the save
    "cap_reached": 402, "model_failed": 502, "save": 503, "failed": 500,
}  # fmt: skip
"""Kinds of faults and their statuses."""


class Fault(Record):
    """What went wrong and what to do about it."""

    kind: str
    """A word that programs can go by."""
    message: str
    """For people."""
    advice: str
    """What to do next; may be empty."""
    field: str | None = None
    """Where in the body or the query the fault is: `policy.max_turns`. Left out when it is not in one place."""


class FaultReply(Record):
    """The body of every reply that is no success."""

    error: Fault


class RefusedError(OthermindsError):
    """A request that is refused. `status` comes from `STATUS` by its kind."""

    def __init__(
        self, kind: str, message: str, advice: str = "", *, field: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, advice)
        self.fault = Fault(kind=kind, message=clean(message), advice=clean(advice), field=field)
        self.status = STATUS[kind]
        self.headers = dict(headers or {})

    @property
    def reply(self) -> bytes:
        """The body, as JSON."""
        return FaultReply(error=self.fault).model_dump_json(exclude_none=True).encode()


def refusal_of(error: OthermindsError, fields: Mapping[str, str] | None = None) -> RefusedError:
    """The refusal that an error of the engine comes to. `fields` says in which field of the request a kind of fault is."""
    if isinstance(error, RefusedError):
        return error
    kind: str
    match error:
        case SessionError() | KnowledgeError():
            kind = error.kind
        case CapReachedError():
            kind = "cap_reached"
        case ModelError():
            kind = "model_failed"
        case SaveError():
            kind = "save"
        case CommandError():
            kind = "bad_value"
        case _:
            kind = "failed"
    return RefusedError(kind, str(error.args[0]), error.advice, field=(fields or {}).get(kind))


def invalid(error: ValidationError) -> RefusedError:
    """The refusal of a body or a query that does not fit its description: its first fault, and how many there are."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    first, others = found[0], len(found) - 1
    if first["type"] == "json_invalid":
        return RefusedError("bad_json", f"The body is no JSON: {first['msg'].removeprefix('Invalid JSON: ')}.", "Send one JSON object.")
    more = f" There {'is one more fault' if others == 1 else f'are {others} more faults'}." if others else ""
    field = _place(first)
    about = "It is not described." if first["type"] == "extra_forbidden" else f"{first['msg']}."
    return RefusedError("bad_value", f"{field or 'The body'}: {about}{more}", "See /v1/openapi.json.", field=field or None)


def _place(fault: ErrorDetails) -> str:
    words = [str(part) for part in fault["loc"]]
    return clean(".".join(word if len(word) <= 60 else word[:59] + "\u2026" for word in words[:6]))


def phrase(status: int) -> str:
    """The name of a status."""
    return HTTPStatus(status).phrase
