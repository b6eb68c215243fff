"""Requests as they are read: no more than is allowed, no longer than is allowed, and only what is described."""

import asyncio
from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request

from engine.http.bodies import Body, Query
from engine.http.faults import RefusedError, invalid
from engine.http.sending import JSON

B = TypeVar("B", bound=Body)
Q = TypeVar("Q", bound=Query)

LARGEST_BODY: Final = 1024 * 1024
"""Bytes."""
_PATIENCE: Final = 10.0
"""Seconds that a body may take to come."""


async def read_body(request: Request, model: type[B]) -> B:
    """The body of a request as its description has it. Nothing at all is an empty object. Raises `RefusedError`.

    JSON that is nested deeper than 200 is no JSON here.
    """
    raw = await _bytes(request)
    if raw.strip() and (sent := request.headers.get("content-type", JSON).partition(";")[0].strip().casefold()) != JSON:
        raise RefusedError("wrong_type", f"A body of the type {sent[:60]} is not read.", f"Send {JSON}.")
    try:
        return model.model_validate_json(raw if raw.strip() else b"{}")
    except ValidationError as error:
        raise invalid(error) from error


def read_query(request: Request, model: type[Q]) -> Q:
    """The query of a request as its description has it. Raises `RefusedError`."""
    given: dict[str, object] = {}
    for name in dict.fromkeys(request.query_params):
        values = request.query_params.getlist(name)
        if name in model.lists():
            given[name] = values
        elif len(values) > 1:
            raise RefusedError("bad_value", f"{name[:60]} is given {len(values)} times.", "Give it once.", field=name[:60])
        else:
            given[name] = values[0]
    return _fitted(model, given)


def _fitted(model: type[Q], given: Mapping[str, object]) -> Q:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise invalid(error) from error


async def _bytes(request: Request) -> bytes:
    said = request.headers.get("content-length", "")
    if said.isascii() and said.isdigit() and int(said[:20]) > LARGEST_BODY:
        raise _too_large()
    body = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE):
            async for piece in request.stream():
                body += piece
                if len(body) > LARGEST_BODY:
                    raise _too_large()
    except TimeoutError as error:
        raise RefusedError("too_slow", f"The body did not come within {_PATIENCE:g} seconds.", "Send it at once.") from error
    except ClientDisconnect as error:  # nobody reads the reply
        raise RefusedError("too_slow", "The body broke off.", "Send it anew.") from error
    return bytes(body)


def _too_large() -> RefusedError:
    return RefusedError("too_large", "The body is too large.", f"Keep it to {LARGEST_BODY:,} bytes.", headers={"connection": "close"})
