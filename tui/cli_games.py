"""Games that one command opens: to look into a save, or to do one thing in it and nothing else."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.errors import OthermindsError
from engine.records.base import EntityId, Record
from tui.text import plain

if TYPE_CHECKING:
    from engine.events import EngineEvent
    from engine.game import Game

WHO = "an id, or a name"
SavePath = Annotated[Path, typer.Argument(help="A save.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Viewer = Annotated[str | None, typer.Option("--as", help="In whose names it is told: an id, or a name. By true names when left out.")]
PieceKey = Annotated[str, typer.Argument(metavar="PIECE", help="A piece of knowledge: kno-000001.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask whether others are to come to know it.")]


@asynccontextmanager
async def changing(save: Path) -> AsyncIterator["Game"]:
    """A game in which one thing is done: nothing that is due is begun. Troubles are told on standard error. Raises `SaveError`."""
    from engine.events import ModelNote, Trouble
    from engine.game import Game
    from engine.setup import Setup

    def tell(event: "EngineEvent") -> None:
        if isinstance(event, ModelNote | Trouble):
            typer.echo(plain(event.text), err=True)

    game = await Game.open(save, setup=Setup(resting=True), listener=tell)
    try:
        yield game
    finally:
        await game.close()


def called_or_none(game: "Game", who: str | None) -> EntityId | None:
    """The id of somebody given by id or name, if anybody is given. Raises `CommandError`."""
    from tui.cli_memory import entity_called

    return None if who is None else entity_called(game, who)


def printed(record: Record) -> None:
    """A record as JSON."""
    typer.echo(record.model_dump_json(indent=2))


def said(text: str) -> None:
    """A line for people, with nothing in it that a terminal obeys."""
    typer.echo(plain(text))


def agreed(question: str, yes: bool) -> None:
    """Say what will happen and ask whether it is meant. Without a terminal `--yes` has to be given. Exits with 1 after a no."""
    typer.echo(plain(question), err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked here. Give it if that is meant.", param_hint="--yes")
    if not typer.confirm("Is that meant?", err=True):
        typer.echo("Nothing was changed.", err=True)
        raise typer.Exit(1)


def words_of(text: str) -> str:
    """A text that was given, or with `-` what stands on standard input."""
    if text != "-":
        return text
    if sys.stdin.isatty():
        raise OthermindsError("`-` takes the words from standard input, and there are none.", "Write them instead of it.")
    return sys.stdin.read()
