"""Questions to services on this machine, over HTTP/1.1, asked of whoever happens to listen there.

Nothing is known of a service before it has answered: it may stall, flood, redirect or speak another language. So each question
has a limit in time and in bytes, redirects are not followed, and no key is sent but one that was set for that very address.
"""

import asyncio
import json
from contextlib import suppress
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

_HEAD: Final = 16_384
"""Bytes of status line and headers, at most."""
_BODY: Final = 2_000_000
"""Bytes of a body, at most. A thousand models of an Ollama server take a third of it."""
_ANYWHERE: Final = frozenset({"", "localhost", "0.0.0.0", "::"})
"""Names by which a server that listens at all addresses, or at loopback, is called in settings."""


class Address(NamedTuple):
    """A place on this machine where a service may listen."""

    host: str
    """A loopback address in digits."""
    port: int

    @property
    def base(self) -> str:
        """The address as the beginning of a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class UnansweredError(Exception):
    """Nobody was there, or nobody who answered in HTTP within the limits."""


class Answer(NamedTuple):
    """What a service said."""

    status: int
    """HTTP's number: 200 for a proper answer."""
    value: object
    """The body read as JSON; None when it is none."""
    server: str = ""
    """What the service calls itself in the header `Server`."""

    @property
    def fields(self) -> dict[str, object]:
        """The fields of a JSON object, whatever the status; none of anything else."""
        return table(self.value)

    def rows(self, field: str) -> list[dict[str, object]]:
        """The objects listed in a field of a proper answer; none when there is no such list."""
        listed = self.fields.get(field) if self.status == 200 else None
        return [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []


def table(value: object) -> dict[str, object]:
    """A JSON object; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def loopback(text: str, port: int = 80) -> Address | None:
    """The place that an address names, as people and programs write it: `http://127.0.0.1:8080/v1`, `localhost:11434`, `0.0.0.0`.

    None when it is not on this machine, wants TLS, or cannot be read. `port` is what is meant where none is named.
    """
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
        host, named = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    number = port if named is None else named
    if parts.scheme not in ("", "http") or not 0 < number < 65_536:
        return None
    if host in _ANYWHERE:
        return Address("127.0.0.1", number)
    try:
        return Address(host, number) if ip_address(host).is_loopback else None
    except ValueError:
        return None


async def takes_connections(address: Address, limit: float) -> bool:
    """Whether anybody listens there, who takes a connection within `limit` seconds."""
    try:
        async with asyncio.timeout(limit):
            _, writer = await asyncio.open_connection(address.host, address.port)
    except (OSError, TimeoutError):
        return False
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()
    return True


async def ask(address: Address, path: str, limit: float, send: object = None, *, key: str | None = None) -> Answer:
    """What the service answers to GET, or to POST when there is something to `send` as JSON.

    `limit` is in seconds, `key` what the service asks of callers. Raises `UnansweredError`.
    """
    try:
        async with asyncio.timeout(limit):
            reader, writer = await asyncio.open_connection(address.host, address.port, limit=_HEAD)
            try:
                writer.write(_question(address, path, send, key))
                await writer.drain()
                return await _answer(reader)
            finally:
                writer.transport.abort()  # what else it has to say is of no interest
                with suppress(OSError):
                    await writer.wait_closed()
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
        raise UnansweredError from error


def _question(address: Address, path: str, send: object, key: str | None) -> bytes:
    """Raises `ValueError` for a key that no header can hold."""
    body = b"" if send is None else json.dumps(send).encode()
    lines = [
        f"{'GET' if send is None else 'POST'} {path} HTTP/1.1", f"Host: {address.base.removeprefix('http://')}",
        "Accept: application/json", "Connection: close", "User-Agent: otherminds",
    ]
    if key is not None:
        if not key.isascii() or not key.isprintable():
            raise ValueError("a key of other characters")
        lines.append(f"Authorization: Bearer {key}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def _answer(reader: asyncio.StreamReader) -> Answer:
    """Raises `ValueError` for what is no HTTP, and what streams raise."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *rest = head.split("\r\n")
    version, _, status = first.partition(" ")
    if not version.startswith("HTTP/1.") or not status[:3].isdecimal():
        raise ValueError(first)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    body = await _body(reader, headers)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    return Answer(int(status[:3]), value, headers.get("server", ""))


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _chunks(reader)
    told = headers.get("content-length")
    if told is not None:
        return await reader.readexactly(_bounded(int(told), 0))
    body = bytearray()
    while piece := await reader.read(_HEAD):
        body += piece
        _bounded(len(body), 0)
    return bytes(body)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := _bounded(int((await reader.readuntil(b"\r\n")).split(b";")[0], 16), len(body)):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    return bytes(body)


def _bounded(size: int, held: int) -> int:
    """The size. Raises `ValueError` for more than is read of anybody."""
    if size < 0 or size + held > _BODY:
        raise ValueError(f"{size} bytes")
    return size
