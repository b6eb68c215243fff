"""The service as an ASGI application: endpoints on their addresses behind the guard."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from engine.errors import OthermindsError
from engine.http.bodies import NoBody
from engine.http.endpoint import Way
from engine.http.faults import RefusedError, refusal_of
from engine.http.guard import OPEN_PATH, Guard
from engine.http.knowledge_ways import KNOWLEDGE_WAYS
from engine.http.openapi import OPENAPI_PATH, described
from engine.http.reading import read_body, read_query
from engine.http.sending import JSON, plain_bytes, refused, sent
from engine.http.service import Service
from engine.http.session_ways import SESSION_WAYS

WAYS: Final[Sequence[Way]] = (*SESSION_WAYS, *KNOWLEDGE_WAYS)
"""All endpoints."""
_SEE: Final = f"See {OPENAPI_PATH}."


def make_app(service: Service, token: str, hosts: Collection[str] = ()) -> ASGIApp:
    """The application over one open game, for requests that bear `token`. `hosts` are names and addresses by which it may be asked for
    besides those of this machine itself."""
    places: dict[str, dict[str, Way]] = {}
    for way in sorted(WAYS, key=lambda way: "{" in way.path):  # an address that is spelled out goes before one with a key
        places.setdefault(way.path, {})[way.method] = way
    routes = [Route(path, _place(service, ways), methods=list(ways)) for path, ways in places.items()]
    routes += [Route(OPENAPI_PATH, _description, methods=["GET"]), Route(OPEN_PATH, _alive, methods=["GET"])]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_here, Exception: _broken})
    app.router.redirect_slashes = False
    return Guard(app, token, hosts)


def _place(service: Service, ways: Mapping[str, Way]) -> Callable[[Request], Awaitable[Response]]:
    """Answers all methods of one address."""

    async def answer(request: Request) -> Response:
        way = ways["GET" if request.method == "HEAD" else request.method]
        try:
            query = read_query(request, way.query)
            body = await read_body(request, way.body) if way.method != "GET" else NoBody()
            answer = await way.answer(service, request.path_params.get("id", ""), query, body)
        except OthermindsError as error:
            return refused(refusal_of(error, way.fields))
        return sent(answer.reply, answer.status, answer.headers)

    return answer


async def _description(request: Request) -> Response:
    return plain_bytes(await asyncio.to_thread(described, WAYS), JSON)


async def _alive(request: Request) -> Response:
    return plain_bytes(b"ok\n", "text/plain")


async def _not_here(request: Request, error: Exception) -> Response:
    headers = error.headers if isinstance(error, HTTPException) else None
    if isinstance(error, HTTPException) and error.status_code == 405:
        return refused(RefusedError("wrong_method", f"{request.method} is no method of this address.", _SEE, headers=headers))
    return refused(RefusedError("unknown_path", "There is nothing at this address.", _SEE, headers=headers))


async def _broken(request: Request, error: Exception) -> Response:
    """A fault of the program: told without what it was; the terminal that serves says more."""
    advice = "The terminal in which it is served says more. Nothing that was saved is lost."
    return refused(RefusedError("failed", "The service has a fault.", advice))
