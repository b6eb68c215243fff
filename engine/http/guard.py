"""Who may speak with the service at all: the right Host, the right token. Comes before everything else (DESIGN 9)."""

import ipaddress
import secrets
from collections.abc import Collection
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.errors import OthermindsError
from engine.http.faults import RefusedError
from engine.http.sending import refused

OPEN_PATH: Final = "/healthz"
"""Needs no token, and says nothing."""
SHORTEST_TOKEN: Final = 16
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def checked_token(text: str, source: str) -> str:
    """A token that somebody chose. Raises `OthermindsError` for one that is too short or cannot stand in a header."""
    token = text.strip()
    if len(token) < SHORTEST_TOKEN:
        advice = f"Use {SHORTEST_TOKEN} or more, so that nobody can guess it."
        raise OthermindsError(f"The token in {source} has {len(token)} characters.", advice)
    if not token.isascii() or not token.isprintable() or " " in token:
        raise OthermindsError(f"The token in {source} cannot stand in a header.", "Use letters, digits, `-` and `_`.")
    return token


class Guard:
    """Lets nothing through to `app` but requests to a known host that bear the token.

    A page in a browser that has its own name point here (DNS rebinding) is found out by its Host; no header lets other origins read a
    reply. Tokens are compared in constant time.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = LOOPBACK | {host.casefold() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or hand it on."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refusal = self._host_refused(headers) or (None if scope["path"] == OPEN_PATH else self._token_refused(headers))
        await (self._app if refusal is None else refused(refusal))(scope, receive, send)

    def _host_refused(self, headers: Headers) -> RefusedError | None:
        given = headers.getlist("host")
        name = host_name(given[0]) if len(given) == 1 else ""
        if name in self._hosts or (name and len(self._hosts) > len(LOOPBACK) and _is_address(name)):
            return None
        return RefusedError("wrong_host", "This host is not served here.", "Use the address that the service said when it began.")

    def _token_refused(self, headers: Headers) -> RefusedError | None:
        given = headers.getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.casefold() != "bearer":
            challenge = 'Bearer realm="otherminds"'
            return RefusedError("no_token", "A token is needed.", _SEND, headers={"www-authenticate": challenge})
        if not secrets.compare_digest(token.strip().encode(), self._token):
            challenge = 'Bearer realm="otherminds", error="invalid_token"'
            return RefusedError("wrong_token", "The token is not that of this service.", _SEND, headers={"www-authenticate": challenge})
        return None


_SEND: Final = "Send the header `Authorization: Bearer TOKEN` with the token that the service said when it began."


def host_name(host: str) -> str:
    """The name in a Host header, without port, brackets and the dot of a full name; empty for what is none."""
    text = host.strip().casefold()
    if text.startswith("["):
        name, bracket, rest = text[1:].partition("]")
        return name if bracket and (not rest or _is_port(rest)) else ""
    name, colon, port = text.partition(":")
    return name.removesuffix(".") if not colon or _is_port(":" + port) else ""


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()


def _is_address(name: str) -> bool:
    """Whether it is an address in numbers: no name that somebody else could have point here."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
