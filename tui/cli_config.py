"""`otherminds config`: what is set, where it comes from, what is wrong with it, and changes to it. No value of a key is ever printed."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import JsonValue

from engine.errors import SettingsError
from engine.records.base import Record
from tui.text import count, plain

if TYPE_CHECKING:
    from engine.settings import Settings, TaskSettings

config = typer.Typer(
    add_completion=False, rich_markup_mode=None,
    help="Show, check and change settings: which models answer, and what they may cost. Without a command it shows what holds.",
)
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
_KEY_HELP = "A setting: models.default, models.actor.temperature, endpoint.home.api_base, caps.run_tokens."


@config.callback(invoke_without_command=True)
def overview(context: typer.Context, as_json: Json = False) -> None:
    """Show what holds when no command is given."""
    if context.invoked_subcommand is None:
        show(as_json)
    elif as_json:
        raise typer.BadParameter("--json goes behind the command.")


@config.command()
def show(as_json: Json = False) -> None:
    """Show what holds and where it comes from. Of each task its models, in order."""
    from engine.settings import load_settings, settings_path

    path = settings_path()
    found = _shown(path, load_settings())
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
        return
    typer.echo(plain(str(path)) if path.exists() else f"{plain(str(path))} (not there yet: `otherminds config init` writes it)")
    _echo_table(("task", "models, in order", "from"), [
        (task, ", then ".join(line.models), _chosen_by(task, line)) for task, line in found.tasks.items()
    ])
    _echo_table(("setting", "value", "from"), [
        (key, _told(key, one.value), one.variable or {"settings": "the file"}.get(one.set_by, "built in"))
        for key, one in found.settings.items() if one.value not in (None, [])
    ])


@config.command()
def check(as_json: Json = False) -> None:
    """List all that is wrong, and what is odd. Exit code 1 when something is wrong."""
    from engine.settings import load_settings, oddities, settings_path

    faults: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    advice = ""
    try:
        odd = oddities(load_settings())
    except SettingsError as error:
        faults, advice = error.faults or (str(error.args[0]),), error.advice
    if as_json:
        found = {"path": str(settings_path()), "faults": faults, "advice": advice, "warnings": odd}
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for line in faults:
            typer.echo(f"wrong: {plain(line)}")
        for line in odd:
            typer.echo(f"note: {plain(line)}")
        typer.echo(f"{count(len(faults), 'fault')} found. {advice}" if faults else "No faults found.")
    raise typer.Exit(1 if faults else 0)


@config.command(name="set")
def set_(
    key: Annotated[str, typer.Argument(metavar="KEY", help=_KEY_HELP)],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Its value. Several models: with commas between them, or as TOML.")],
    more: Annotated[list[str] | None, typer.Argument(metavar="[KEY VALUE]", help="Further settings that are to be set with it.")] = None,
) -> None:
    """Set a setting, or several that only fit together.

    For instance: otherminds config set models.actor openai/gpt-5-mini,storyteller

    Or: otherminds config set endpoint.home.model openai/qwen2.5 endpoint.home.api_base http://127.0.0.1:8080/v1
    """
    from engine.settings import change_all, settings_path
    from engine.settings.keys import dotted, parsed_key
    from engine.settings.values import parts_of, value_from

    words = [key, value, *(more or [])]
    if len(words) % 2:
        raise typer.BadParameter(f"there is no value for `{plain(words[-1])}`.", param_hint="KEY VALUE")
    changes: dict[str, object | None] = {}
    try:
        for name, text in zip(words[::2], words[1::2], strict=True):
            place = parsed_key(name)
            changes |= {dotted(part): one for part, one in parts_of(place, value_from(place, text)).items()}
    except SettingsError as error:
        raise typer.BadParameter(plain(str(error)), param_hint="KEY VALUE") from error
    change_all(settings_path(), changes)
    _tell_changes(settings_path(), [parsed_key(name) for name in words[::2]])


@config.command()
def unset(keys: Annotated[list[str], typer.Argument(metavar="KEY", help=_KEY_HELP)]) -> None:
    """Take settings out of the file. What is built in holds again. Also for what is misspelt there."""
    from engine.settings import change_all, settings_path
    from engine.settings.faults import Fault, no_setting
    from engine.settings.keys import annotation_at, dotted, parsed_key
    from engine.settings.writing import is_written

    try:
        places = [parsed_key(key) for key in keys]
    except SettingsError as error:
        raise typer.BadParameter(plain(str(error)), param_hint="KEY") from error
    path = settings_path()
    there = [place for place in places if is_written(path, dotted(place))]
    for place in places:
        if place not in there and annotation_at(place) is None:
            raise typer.BadParameter(plain(Fault(place, no_setting(place, None)).told()), param_hint="KEY")
    change_all(path, {dotted(place): None for place in there})
    for place in places:
        name = plain(dotted(place))
        typer.echo(f"{name} is no longer set in {plain(str(path))}." if place in there else f"{name} was not set in {plain(str(path))}.")


@config.command(name="path")
def path_() -> None:
    """Print where the settings file is, or would be."""
    from engine.settings import settings_path

    typer.echo(str(settings_path()))


@config.command()
def init() -> None:
    """Write a file that explains all settings. When there is one already, nothing happens."""
    from engine.settings import begin, settings_path

    path = settings_path()
    typer.echo(f"Written: {plain(str(path))}" if begin(path) else f"{plain(str(path))} is there already. Nothing was changed.")


class TaskLine(Record):
    """Who answers a task."""

    models: tuple[str, ...]
    """In the order in which they are asked."""
    temperature: float | None
    timeout: float | None
    set_by: str
    """`settings` for a line of its own, `default` for that of all, `environment`, or `built in`."""
    variable: str | None = None
    """The variable of the environment that names them."""


class Value(Record):
    """A setting that holds."""

    value: JsonValue
    set_by: str
    """`environment`, `settings` or `default`."""
    variable: str | None = None
    """The variable of the environment that sets it."""


class Shown(Record):
    """All that holds, for people and for scripts."""

    path: str
    exists: bool
    tasks: dict[str, TaskLine]
    settings: dict[str, Value]


def _shown(path: Path, settings: "Settings") -> Shown:
    from engine.settings import choosers
    from engine.settings.environment import overridden
    from engine.settings.hints import CALLED
    from engine.settings.keys import dotted
    from engine.settings.sources import leaves, sources

    chosen, variables = choosers(settings), overridden(os.environ)
    lines = {"default": settings.models.default, **{str(task): settings.models.answering(task) for task in CALLED}}
    set_by = sources(settings)

    def line_of(task: str, line: "TaskSettings") -> TaskLine:
        by = chosen[f"models.{task}"]
        variable = variables.get(("models", task, "model"), variables.get(("models", "default", "model"))) if by == "environment" else None
        return TaskLine(models=line.names, temperature=line.temperature, timeout=line.timeout, set_by=by, variable=variable)

    return Shown(
        path=str(path), exists=path.exists(), tasks={task: line_of(task, line) for task, line in lines.items()},
        settings={
            dotted(key): Value(value=_simple(value), set_by=set_by[dotted(key)], variable=variables.get(key))
            for key, value, _ in leaves(settings)
        },
    )


def _simple(value: object) -> JsonValue:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _told(key: str, value: JsonValue) -> str:
    if key.endswith(".key_env"):
        return f"{value}, which is {'set' if os.environ.get(str(value)) else 'not set'}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _chosen_by(task: str, line: TaskLine) -> str:
    if line.set_by == "default" and task != "default":
        return "the default"
    return line.variable or {"settings": "the file", "default": "the file"}.get(line.set_by, line.set_by)


def _echo_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    clean = [heads, *(tuple(plain(cell) for cell in row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
    typer.echo()
    for row in clean:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _tell_changes(path: Path, places: Iterable[tuple[str, ...]]) -> None:
    """Say what was set, and which of it the environment stands over."""
    from engine.settings.environment import overridden
    from engine.settings.keys import dotted

    variables = overridden(os.environ)
    for place in places:
        typer.echo(f"{plain(dotted(place))} is set in {plain(str(path))}.")
        for variable in sorted({variable for key, variable in variables.items() if key[: len(place)] == place}):
            typer.echo(f"{variable} in the environment stands over it.", err=True)
