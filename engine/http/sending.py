"""Replies as they are sent."""

from collections.abc import Mapping

from starlette.responses import Response

from engine.http.faults import RefusedError
from engine.records.base import Record

JSON = "application/json"
_SAFE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""Headers of every reply: minds are nobody else's business."""


def sent(reply: Record, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A success."""
    return Response(reply.model_dump_json().encode(), status, {**_SAFE, **(headers or {})}, JSON)


def refused(refusal: RefusedError) -> Response:
    """A refusal."""
    return Response(refusal.reply, refusal.status, {**_SAFE, **refusal.headers}, JSON)


def plain_bytes(body: bytes, media_type: str) -> Response:
    """Bytes that were made before."""
    return Response(body, 200, dict(_SAFE), media_type)
