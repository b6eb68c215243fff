"""The service in a process: one socket, one save, an end that loses nothing."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import uvicorn

from engine.errors import OthermindsError
from engine.game import Game
from engine.http.app import make_app
from engine.http.connections import Connection
from engine.http.guard import LOOPBACK
from engine.http.service import Service

_PATIENCE: Final = 1
"""Seconds that requests have to end when the service does."""
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Where(NamedTuple):
    """Where a service listens."""

    host: str
    port: int
    """0 for any that is free."""

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host.casefold() in LOOPBACK:
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class Listening(NamedTuple):
    """A socket that listens, and the address that people use."""

    socket: socket.socket
    url: str


def listen(where: Where) -> Listening:
    """Take the address. Raises `OthermindsError` when it is taken or there is none such."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise OthermindsError(f"There is no address called {where.host}.", "Use 127.0.0.1, or an address of this machine.") from error
    taken = socket.socket(family, kind, number)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        taken.listen(128)
    except OSError as error:
        taken.close()
        told = f"{where.host}, port {where.port}, cannot be listened on ({error.strerror})."
        raise OthermindsError(told, "Choose another one with --port; 0 takes any that is free.") from error
    taken.setblocking(False)
    port = taken.getsockname()[1]
    host = f"[{where.host}]" if ":" in where.host else where.host
    return Listening(taken, f"http://{host}:{port}")


async def serve(game: Game, listening: Listening, token: str, where: Where, ready: Callable[[], None]) -> None:
    """Serve an open game until the process is told to end, and give back the socket. `ready` is called when requests are taken.

    Requests that wait are answered with what there is; a collapse that is under way is left to the next time the save is opened.
    """
    service = Service(game)
    app = make_app(service, token, () if where.on_loopback else (where.host, socket.gethostname(), socket.getfqdn()))
    config = uvicorn.Config(
        app, loop="asyncio", http=Connection, ws="none", lifespan="off", log_config=None, access_log=False, proxy_headers=False,
        log_level="error",  # what is no HTTP is no news, and anybody on the machine could fill the terminal with it
        server_header=False, timeout_graceful_shutdown=_PATIENCE, timeout_keep_alive=30,
    )
    server = _Server(config, ready)
    loop = asyncio.get_running_loop()
    learning = loop.create_task(service.ready())  # before the first collapse wants to know it

    def end() -> None:
        service.closing.set()
        server.should_exit = True

    for number in _SIGNALS:
        loop.add_signal_handler(number, end)
    try:
        await server.serve(sockets=[listening.socket])
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        learning.cancel()
        listening.socket.close()


class _Server(uvicorn.Server):
    """Leaves signals to us: uvicorn would raise them anew before the save is closed."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take requests, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing."""
        yield
