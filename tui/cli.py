"""The command line: `otherminds` and its commands. Exit codes: 0 done, 1 failed, 2 wrong use."""

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TextIO

import typer

from engine.errors import OthermindsError
from tui.cli_memory import audit, embed, recall

if TYPE_CHECKING:
    from engine.events import EngineEvent
    from engine.game import Game

app = typer.Typer(
    add_completion=False, no_args_is_help=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Write and play worlds whose characters have minds of their own. Without a command it opens the Home screen.",
)

WorldOrSave = Annotated[Path, typer.Argument(help="A world folder, a world.yaml, the name of a bundled world, or a save.")]
WorldPath = Annotated[Path, typer.Argument(help="A world folder, a world.yaml, or the name of a bundled world.")]


@app.callback(invoke_without_command=True)
def home(context: typer.Context) -> None:
    """Open the Home screen when no command is given."""
    if context.invoked_subcommand is None:
        raise typer.Exit(_run_app(None))


@app.command()
def play(start: WorldOrSave) -> None:
    """Play a world from its beginning, or go on with a save."""
    raise typer.Exit(_run_app(start if _is_save(start) else _world_path(start)))


@app.command()
def validate(path: WorldPath, as_json: Annotated[bool, typer.Option("--json", help="Print the faults as JSON.")] = False) -> None:
    """Check a world's files and list every fault with file, line and column."""
    from engine.files.reader import check_world

    problems = check_world(_world_path(path))
    if as_json:
        typer.echo(json.dumps([problem.model_dump(mode="json") for problem in problems], indent=2, ensure_ascii=False))
    else:
        for problem in problems:
            typer.echo(str(problem))
        typer.echo(f"{len(problems)} {'fault' if len(problems) == 1 else 'faults'} found." if problems else "No faults found.")
    raise typer.Exit(1 if problems else 0)


@app.command()
def run(
    world: WorldPath,
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds to run.")] = 10,
    seed: Annotated[int | None, typer.Option(help="Seed of chance; the world's own when left out.")] = None,
    save: Annotated[Path | None, typer.Option(help="Keep the save here. The file must not exist yet.")] = None,
    prompts: Annotated[Path | None, typer.Option(help="Write one JSON line for each model call to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary on standard output.")] = False,
) -> None:
    """Run a world without a screen. Tells the story as it goes on, or with --json prints a summary only."""
    import tempfile

    if prompts is not None and _is_save(prompts):
        raise OthermindsError(f"{prompts} is a save.", "Choose another file for --prompts.")
    with tempfile.TemporaryDirectory(prefix="otherminds-") as folder:
        target = save or Path(folder) / "run.db"
        summary = asyncio.run(_headless(_world_path(world), rounds, seed, target, prompts, quiet=as_json))
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        for key, value in summary.items():
            typer.echo(f"{key}: {value}")


@app.command()
def diff(a: Path, b: Path) -> None:
    """Compare two saves row for row. Exit code 0 when equal, 1 when they differ. Wall-clock times do not count."""
    from engine.storage.diff import differences

    found = differences(a, b)
    for line in found:
        typer.echo(line)
    typer.echo(f"{len(found)} {'difference' if len(found) == 1 else 'differences'}." if found else "The saves are equal.")
    raise typer.Exit(1 if found else 0)


app.command()(recall)
app.command()(audit)
app.command()(embed)


def _run_app(start: Path | None) -> int:
    from tui.app import run_app

    return run_app(start)


def _is_save(path: Path) -> bool:
    """Whether a file is a save, whatever its name; one named as a save is taken for one, so that opening it can say what is wrong."""
    if not path.is_file():
        return path.suffix == ".db"
    with path.open("rb") as file:
        return path.suffix == ".db" or file.read(6) == b"SQLite"


def _world_path(path: Path) -> Path:
    """The path as given, or that of the bundled world of this name."""
    if path.exists():
        return path
    from engine.files.bundled import bundled_worlds

    worlds = {info.slug: info.path for info in bundled_worlds()}
    slug = path.name if len(path.parts) == 1 or path.parts[0] == "worlds" else ""
    if slug in worlds:
        return worlds[slug]
    raise OthermindsError(f"There is no world at {path}.", f"Bundled worlds: {', '.join(sorted(worlds))}.")


async def _headless(
    world: Path, rounds: int, seed: int | None, save: Path, prompts: Path | None, quiet: bool
) -> dict[str, object]:
    from engine.events import AliasLearned, EngineEvent, HandoffCommitted, HandoffFailed
    from engine.game import Game
    from engine.llm.protocol import Completion, ModelRequest

    counts: Counter[str] = Counter()
    began = time.monotonic()

    def count(event: EngineEvent) -> None:
        if isinstance(event, HandoffCommitted | HandoffFailed) and event.run.kind == "compression":
            counts.update(compressions=int(event.run.status == "committed"))
        elif isinstance(event, HandoffCommitted):
            counts.update(runs=1, promoted=event.run.promoted, forgotten=event.run.forgotten, pinned=event.run.pinned)
        elif isinstance(event, HandoffFailed):
            counts.update(runs=1, failed=1)
        elif isinstance(event, AliasLearned) and event.change.cause in ("introduction", "overheard"):
            counts.update(names=1)

    log: TextIO | None = None
    if prompts is not None:
        try:
            log = prompts.open("w", encoding="utf-8")
        except OSError as error:
            raise OthermindsError(f"Cannot write {prompts}: {error.strerror}.", "Choose another file for --prompts.") from error

    def record(request: ModelRequest, completion: Completion) -> None:
        if log is not None:
            line = {"task": request.task, "entity": request.entity, "round": request.round, "prompt": request.text,
                    "reply": completion.text}
            log.write(json.dumps(line, ensure_ascii=False) + "\n")

    beats = 0
    try:
        game = await Game.create(world, save, seed, sink=record if log else None)
        try:
            game.listen(count)
            if not quiet:
                game.listen(lambda event: _tell(game, event))
            for number in range(rounds):
                beats += (await game.step()).beats
                if quiet and sys.stderr.isatty():
                    sys.stderr.write(f"\rround {number + 1} of {rounds}")
            sizes, waiting = await game.sizes(), len(await game.memory.pending())
            calls = {task: spent.calls for task, spent in sorted(game.meter.by_task.items())}
            clock, entities, reached = game.world.now.isoformat(), len(game.world.entities), game.world.round
        finally:
            await game.close()
    finally:
        if log is not None:
            log.close()
    if quiet and sys.stderr.isatty():
        sys.stderr.write("\n")
    if waiting:
        what = f"{waiting} handoff{'s wait' if waiting > 1 else ' waits'} for a person"
        typer.echo(f"{what}: this world lets handoffs ask first. Keep the save with --save and play it to judge them.", err=True)
    handoffs = {key: counts[key] for key in ("runs", "failed", "promoted", "forgotten", "pinned")}
    return {
        "rounds": reached, "beats": beats, "clock": clock, "entities": entities, "buffer_entries": sizes.buffer,
        "ledger_entries": sizes.ledger, "handoffs": handoffs, "compressions": counts["compressions"],
        "names_learned": counts["names"], "model_calls": calls,
        "seconds": round(time.monotonic() - began, 3),
    }


def _tell(game: "Game", event: "EngineEvent") -> None:
    """One line of the story, as the narrator tells it."""
    line = game.tell(event, None)
    if line is not None:
        typer.echo(f"{line.round:>3}  {line.when}  {line.place}: {line.text}")


def main() -> NoReturn:
    """Entry point of the console command."""
    try:
        app()  # exits by itself
    except OthermindsError as error:
        typer.echo(str(error), err=True)
        sys.exit(1)
    except OSError as error:
        typer.echo(f"{error.filename or 'The disk'}: {error.strerror}. Nothing that was saved is lost.", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


if __name__ == "__main__":
    main()
