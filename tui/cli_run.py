"""The command `run`: rounds without a screen."""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from engine.errors import OthermindsError
from tui.paths import WorldOrSave, is_save, world_path


def _tokens(text: str) -> int:
    from engine.settings.amounts import tokens

    if not (found := tokens(text)):
        raise typer.BadParameter("a whole number of tokens above 0, please: 200000, 200k or 1.5M.")
    return found


def _dollars(text: str) -> float:
    from engine.settings.amounts import dollars

    found = dollars(text)
    return float(text) if found is None else found


def run(
    start: WorldOrSave,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="How many rounds to run; with a save, how many more. 10 when left out, or all of the tape.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of chance; the world's own, or the tape's, when left out.")] = None,
    save: Annotated[Path | None, typer.Option(help="Keep the save here. The file must not exist yet.")] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(help="Write a JSON line for each reply of a model to this file: task, entity, round, template, model, prompt, reply."),
    ] = None,
    record: Annotated[Path | None, typer.Option(help="Record all model calls on this tape: a new file, or with a save its tape.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Take all replies from this tape, and ask no model.")] = None,
    model: Annotated[str | None, typer.Option(help="Who answers all tasks in this run, named as in settings.")] = None,
    cap_tokens: Annotated[
        int | None, typer.Option(parser=_tokens, metavar="TOKENS", help="Stop before the call that could pass so many: 200000, 200k.")
    ] = None,
    cap_money: Annotated[
        float | None, typer.Option(parser=_dollars, metavar="DOLLARS", help="Stop before the call that could pass so many US dollars.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary on standard output instead of the story.")] = False,
) -> None:
    """Run a world from its beginning, or go on with a save in place, without a screen. Tells the story as it goes on.

    It stops before a model call that a cap forbids, when a model cannot be used, and after a round in which nobody could act: then it
    says on standard error why and what to do, and the exit code is 1. Ctrl+C stops it the same way, with exit code 130.

    Keys of the JSON summary: rounds (of the save), rounds_played, beats, clock, entities, buffer_entries, ledger_entries, handoffs,
    compressions, names_learned, model_calls (by task), failed_calls, tokens, prompt_tokens, reply_tokens, estimated_calls, cost (US
    dollars, null when a price is unknown), known_cost (of the calls that have a price), unpriced_calls, model_seconds, unused_calls (of a
    tape that was replayed, else null), paused (why it stopped early, else null), seconds.
    """
    from tui.headless import Order, complain, in_words, run_rounds

    goes_on = is_save(start)
    if goes_on and (seed is not None or save is not None):
        raise typer.BadParameter(f"{'--seed' if seed is not None else '--save'} goes with a new game, and {start} is a save.")
    if record is not None and replay is not None:
        raise typer.BadParameter("--record and --replay do not go together.")
    _check_files({"--save": save, "--prompts": prompts, "--record": record, "--replay": replay, "the save": start if goes_on else None})
    order = Order(
        start=start if goes_on else world_path(start), rounds=rounds, seed=seed, save=save, prompts=prompts, record=record, replay=replay,
        model=model, cap_tokens=cap_tokens, cap_money=cap_money, quiet=as_json,
    )
    with tempfile.TemporaryDirectory(prefix="otherminds-") as folder:
        outcome = asyncio.run(run_rounds(order, save or Path(folder) / "run.db"))
    typer.echo(json.dumps(outcome.summary, indent=2, ensure_ascii=False) if as_json else "\n".join(in_words(outcome.summary)))
    if outcome.stopped:
        complain(outcome.stopped)
        raise typer.Exit(130 if outcome.interrupted else 1)


def _check_files(named: Mapping[str, Path | None]) -> None:
    """Raise `OthermindsError` when a save is named as something else, or two are one file."""
    files = {name: path.resolve() for name, path in named.items() if path is not None}
    for name, path in files.items():
        if name.startswith("--") and name != "--save" and is_save(path):
            raise OthermindsError(f"{path} is a save.", f"Choose another file for {name}.")
        same = next((other for other in files if other != name and files[other] == path), None)
        if same is not None:
            raise OthermindsError(f"{name} and {same} are one file, {path}.", "Choose another one.")
