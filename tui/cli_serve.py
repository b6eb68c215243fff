"""`otherminds serve`: the sessions and the knowledge of a save over HTTP, for programs."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from engine.errors import OthermindsError
from tui.text import plain

if TYPE_CHECKING:
    from engine.http.server import Listening, Where

TOKEN_VARIABLE = "OTHERMINDS_TOKEN"
_LIMIT = 4096
"""Bytes of a token file."""


def serve(
    save: Annotated[Path, typer.Argument(help="A save. It is open here, and nowhere else, until the service ends.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes any that is free.")] = 8765,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    network: Annotated[bool, typer.Option("--allow-network", help="Let other machines in, by a --host that they reach.")] = False,
    token_file: Annotated[Path | None, typer.Option(help=f"A file that holds the token; else {TOKEN_VARIABLE}, else one is made.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say as one line of JSON where it is served.")] = False,
) -> None:
    """Serve the sessions and the knowledge of a save over HTTP, on this machine, until Ctrl+C or SIGTERM.

    Programs start sessions, add turns, pin, write on the scratchpad, collapse and discard, and read sessions, knowledge and the audit
    trail. /v1/openapi.json describes it all. Every request bears the token: Authorization: Bearer TOKEN. No rounds are played meanwhile.

    Keys of the JSON line: url, token (null when you gave it), save, pid.
    """
    try:
        from engine.http.server import Where, listen
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise OthermindsError(f"Serving needs the package {error.name}.", "Install the extra: pip install 'otherminds[serve]'.") from error

    where = Where(host, port)
    if not where.on_loopback and not network:
        raise typer.BadParameter(
            "whoever reaches it over the network and has the token can read and change the save, and what is sent is not encrypted. "
            "Add --allow-network if that is meant.", param_hint="--host",
        )  # fmt: skip
    token = _token(token_file)
    listening = listen(where)
    try:
        asyncio.run(_served(save, where, listening, token, as_json))
    finally:
        listening.socket.close()


class _Token(NamedTuple):
    text: str
    made: bool
    """Whether it was made here, so that it has to be told."""


def _token(file: Path | None) -> _Token:
    from engine.http.guard import checked_token, new_token

    if file is not None:
        with file.open("rb") as opened:
            if stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
                typer.echo(f"Others on this machine can read {plain(str(file))}: chmod 600 keeps it yours.", err=True)
            text = opened.read(_LIMIT).decode("utf-8", "replace")
        return _Token(checked_token(text, plain(str(file))), made=False)
    if given := os.environ.get(TOKEN_VARIABLE, "").strip():
        return _Token(checked_token(given, TOKEN_VARIABLE), made=False)
    return _Token(new_token(), made=True)


async def _served(save: Path, where: "Where", listening: "Listening", token: _Token, as_json: bool) -> None:
    from engine.events import EngineEvent, ModelNote, Trouble
    from engine.game import Game
    from engine.http.server import serve

    def tell(event: EngineEvent) -> None:
        if isinstance(event, ModelNote | Trouble):
            typer.echo(plain(event.text), err=True)

    game = await Game.open(save, listener=tell)
    try:
        await serve(game, listening, token.text, where, _greeting(save, where, listening, token, as_json))
    finally:
        await game.close()
    if not as_json:
        typer.echo("The service has ended. All is saved.")


def _greeting(save: Path, where: "Where", listening: "Listening", token: _Token, as_json: bool) -> Callable[[], None]:
    """Says where it is served, once requests are taken."""

    def greet() -> None:
        if as_json:
            said = {"url": listening.url, "token": token.text if token.made else None, "save": str(save), "pid": os.getpid()}
            typer.echo(json.dumps(said, ensure_ascii=False))
        else:
            typer.echo(f"{plain(str(save))} is served at {listening.url} until Ctrl+C.")
            typer.echo(f"Token, shown this once: {token.text}" if token.made else "The token is the one you gave.")
            typer.echo("What can be asked is described there at /v1/openapi.json.")
        if not where.on_loopback:
            typer.echo("Other machines can reach it. Nothing is encrypted: all can be read on the way.", err=True)
        sys.stdout.flush()

    return greet
