"""The command line: `otherminds` and its commands. Exit codes: 0 done, 1 failed, 2 wrong use."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from engine.errors import OthermindsError
from engine.records.clean import clean
from tui.cli_config import config
from tui.cli_doctor import doctor
from tui.cli_later import LaterGroup
from tui.cli_memory import audit, embed, recall
from tui.cli_run import run
from tui.cli_serve import serve
from tui.paths import WorldOrSave, WorldPath, is_save, world_path

if TYPE_CHECKING:
    from tui.host import Games

_MANY = 20
"""Differences between saves from which on they are counted before they are listed."""

app = typer.Typer(
    cls=LaterGroup, add_completion=False, no_args_is_help=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Write and play worlds whose characters have minds of their own. Without a command it opens the Home screen.",
)


@app.callback(invoke_without_command=True)
def home(context: typer.Context) -> None:
    """Open the Home screen when no command is given."""
    if context.invoked_subcommand is None:
        raise typer.Exit(_run_app(None))


@app.command()
def play(
    start: WorldOrSave,
    record: Annotated[Path | None, typer.Option(help="Record all model calls on this tape: a new file, or with a save its tape.")] = None,
) -> None:
    """Play a world from its beginning, or go on with a save."""
    goes_on = is_save(start)
    found = start if goes_on else world_path(start)
    if record is None:
        raise typer.Exit(_run_app(found))
    if is_save(record):
        raise OthermindsError(f"{record} is a save.", "Choose another file for --record.")
    from tui.recorded import RecordedGames

    games = RecordedGames(record, going_on=goes_on)
    try:
        raise typer.Exit(_run_app(found, games))
    finally:
        games.close()


@app.command()
def validate(path: WorldPath, as_json: Annotated[bool, typer.Option("--json", help="Print the faults as JSON.")] = False) -> None:
    """Check a world's files and list every fault with file, line and column."""
    from engine.files.reader import check_world

    problems = check_world(world_path(path))
    if as_json:
        typer.echo(json.dumps([problem.model_dump(mode="json") for problem in problems], indent=2, ensure_ascii=False))
    else:
        for problem in problems:
            typer.echo(str(problem))
        typer.echo(f"{len(problems)} {'fault' if len(problems) == 1 else 'faults'} found." if problems else "No faults found.")
    raise typer.Exit(1 if problems else 0)


@app.command()
def diff(a: Path, b: Path) -> None:
    """Compare two saves row for row. Exit code 0 when equal, 1 when they differ. Wall-clock times do not count.

    Of more than 20 differences it first says how many there are in each table.
    """
    from engine.storage.diff import counted, differences

    found = differences(a, b)
    if len(found) > _MANY:
        typer.echo(f"{counted(found)}\n")
    for line in found:
        typer.echo(line)
    typer.echo(f"{len(found)} {'difference' if len(found) == 1 else 'differences'}." if found else "The saves are equal.")
    raise typer.Exit(1 if found else 0)


app.command()(run)
app.command()(recall)
app.command()(audit)
app.command()(embed)
app.command()(serve)
app.add_typer(config, name="config")
app.command()(doctor)


def _run_app(start: Path | None, games: "Games | None" = None) -> int:
    from tui.app import run_app

    return run_app(start, games)


def main() -> NoReturn:
    """Entry point of the console command."""
    try:
        app()  # exits by itself
    except OthermindsError as error:
        typer.echo(clean(str(error)), err=True)  # it may hold words of models, worlds and providers
        sys.exit(1)
    except OSError as error:
        typer.echo(f"{error.filename or 'The disk'}: {error.strerror}. Nothing that was saved is lost.", err=True)
        sys.exit(1)
    except UnicodeEncodeError as error:
        typer.echo(f"{ascii(error.object)[:80]} holds bytes that are no text. Write it in UTF-8.", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


if __name__ == "__main__":
    main()
