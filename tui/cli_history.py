"""`otherminds saves history`, `undo`, `redo`: what has happened to a save, taken back and brought again (DESIGN 16)."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.errors import CommandError
from engine.records.base import Record
from engine.records.history import Preview, Step
from tui.cli_games import Json, SavePath, Viewer, agreed, called_or_none, changing, printed, said

if TYPE_CHECKING:
    from engine.records.base import EntityId

Steps = Annotated[int | None, typer.Option("--steps", min=1, help="How many: 1 when left out.")]
ToRound = Annotated[int | None, typer.Option("--to-round", min=0, help="Take back all since the end of this round.")]
Sure = Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")]


class HistoryTold(Record):
    """The steps of a save, as `--json` prints them."""

    done: tuple[Step, ...]
    """What can be taken back, newest first."""
    undone: tuple[Step, ...]
    """What was taken back and can be brought again, in that order."""


def history(
    save: SavePath,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many steps.")] = 30,
    viewer: Viewer = None,
    as_json: Json = False,
) -> None:
    """List what can be taken back, the newest first, and what was and can be brought again."""
    asyncio.run(_history(save, limit, viewer, as_json))


def undo(
    save: SavePath, steps: Steps = None, to_round: ToRound = None, yes: Sure = False, viewer: Viewer = None, as_json: Json = False
) -> None:
    """Take back the last step: a beat, a handoff, a change by hand. Or several, or whole rounds. Says what before it does."""
    if steps is not None and to_round is not None:
        raise typer.BadParameter("give one of --steps and --to-round.", param_hint="--to-round")
    asyncio.run(_turn(save, steps or 1, to_round, back=True, yes=yes, viewer=viewer, as_json=as_json))


def redo(save: SavePath, steps: Steps = None, yes: Sure = False, viewer: Viewer = None, as_json: Json = False) -> None:
    """Bring again what was taken back last, as long as nothing new has happened. Says what before it does."""
    asyncio.run(_turn(save, steps or 1, None, back=False, yes=yes, viewer=viewer, as_json=as_json))


async def _history(save: Path, limit: int, viewer: str | None, as_json: bool) -> None:
    from engine.game import Game

    game = await Game.open(save, read_only=True)
    try:
        who = called_or_none(game, viewer)
        found = HistoryTold(done=tuple(await game.history.done(limit, who)), undone=tuple(await game.history.undone(limit, who)))
    finally:
        await game.close()
    if as_json:
        printed(found)
        return
    for step in reversed(found.undone):
        said(f"  {_line(step)}  (taken back)")
    for step in found.done:
        said(f"  {_line(step)}")
    if not found.done and not found.undone:
        said("Nothing has happened that could be taken back.")


async def _turn(
    save: Path, steps: int, to_round: int | None, *, back: bool, yes: bool, viewer: str | None, as_json: bool
) -> None:
    async with changing(save) as game:
        who: EntityId | None = called_or_none(game, viewer)
        shown: Preview
        if back:
            shown = await game.history.preview(steps, to_round=to_round, viewer=who)
        else:
            shown = await game.history.preview_redo(steps, viewer=who)
        if not shown.steps:
            raise CommandError("There is nothing to take back." if back else "There is nothing to bring again.")
        agreed(f"This {'takes back' if back else 'brings again'} {shown.text}.", yes)
        await game.history.turn(shown)
        if as_json:
            printed(shown)
        else:
            said(f"Done. It is round {game.world.round}, {game.world.now:%H:%M}.")


def _line(step: Step) -> str:
    return f"round {step.main.round:>4}  {step.main.kind:<11} {step.label}"
