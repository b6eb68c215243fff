"""What the environment says over the settings file: `OTHERMINDS_MODEL`, `OTHERMINDS_MODEL_ACTOR`, `OTHERMINDS_CAP_TOKENS` and so on."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, get_args

from engine.records.prompts import Task
from engine.settings.amounts import dollars, tokens
from engine.settings.keys import Key
from engine.settings.names import near
from engine.settings.records import STORYTELLER

MODEL: Final = "OTHERMINDS_MODEL"
API_BASE: Final = "OTHERMINDS_API_BASE"
EMBED: Final = "OTHERMINDS_EMBED"
EMBED_FILE: Final = "OTHERMINDS_EMBED_FILE"
TASKS: Final[Mapping[str, str]] = {
    MODEL: "default", **{f"{MODEL}_{task.upper()}": task for task in get_args(Task) if task != "embed"},
}
"""Variables that say which models answer a task, in order, with commas between them."""
CAPS: Final[Mapping[str, str]] = {"OTHERMINDS_CAP_TOKENS": "run_tokens", "OTHERMINDS_CAP_MONEY": "run_money"}
VARIABLES: Final = (*TASKS, API_BASE, *CAPS, EMBED, EMBED_FILE)
"""All variables that stand over settings."""
_FAMILIES: Final = (f"{MODEL}_", "OTHERMINDS_CAP_", f"{EMBED}_")


def overridden(environ: Mapping[str, str]) -> dict[Key, str]:
    """Which settings the environment sets, and by which variable. A blank variable sets nothing."""
    said = _said(environ)
    found: dict[Key, str] = {}
    for variable in said:
        if variable in TASKS:
            found |= {("models", TASKS[variable], part): variable for part in ("model", "fallbacks")}
        elif variable in CAPS:
            found["caps", CAPS[variable]] = variable
    if API_BASE in said and MODEL in said:
        found["endpoint", _names(said[MODEL])[0], "api_base"] = API_BASE
    if EMBED in said:
        found["models", "embed", "model"] = EMBED
    if EMBED_FILE in said:
        found["models", "embed", "file"] = EMBED_FILE
    return found


def over(tables: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
    """Tables of well-formed settings with what the environment says over them.

    Of a task only the models are the environment's, its temperature and time limit stay. Another embedder than the file's comes with
    nothing that the file says of its own.
    """
    said = _said(environ)
    models, caps, endpoint = (dict(_table(tables.get(name))) for name in ("models", "caps", "endpoint"))
    for variable, task in TASKS.items():
        if variable in said:
            first, *others = _names(said[variable])
            models[task] = {**_table(models.get(task)), "model": first, "fallbacks": others}
    for variable, cap in CAPS.items():
        if variable in said:
            short = dollars(said[variable]) if cap.endswith("money") else tokens(said[variable])
            caps[cap] = _number(said[variable]) if short is None else short
    if API_BASE in said and MODEL in said:
        name = _names(said[MODEL])[0]
        endpoint[name] = {**_table(endpoint.get(name)), "api_base": said[API_BASE]}
    if EMBED in said or EMBED_FILE in said:
        models["embed"] = _embed(models.get("embed"), said)
    merged = {"models": models, "caps": caps, "endpoint": endpoint}
    return {**tables, **{name: table for name, table in merged.items() if table or name in tables}}


def faults(environ: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with variables themselves, whatever they hold."""
    said = _said(environ)
    for variable in sorted(said):
        if variable == f"{MODEL}_EMBED":
            yield f"`{variable}` is not a setting (the embedder is named by `{EMBED}`)"
        elif variable.startswith(_FAMILIES) and variable not in VARIABLES:
            meant = near(variable, [known for known in VARIABLES if known.startswith(_FAMILIES)])
            yield f"`{variable}` is not a setting (did you mean {' or '.join(f'`{name}`' for name in meant)}?)"
    if API_BASE in said and MODEL not in said:
        yield f"`{API_BASE}` is the address of the model that `{MODEL}` names, and `{MODEL}` is not set"
    elif API_BASE in said and _names(said[MODEL])[0] == STORYTELLER:
        yield f"`{API_BASE}` is the address of the model that `{MODEL}` names, and the storyteller has none"


def _said(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value.strip() for name, value in environ.items() if name.startswith("OTHERMINDS_") and value.strip()}


def _names(value: str) -> list[str]:
    return [name.strip() for name in value.split(",")]


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _number(value: str) -> object:
    """A number, or the text as it is, to be found at fault."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _embed(written: object, said: Mapping[str, str]) -> dict[str, object]:
    table = {"model": written} if isinstance(written, str) else _table(written)
    chosen = said.get(EMBED)
    kept: dict[str, object] = {"model": chosen} if chosen and chosen != table.get("model", "hash768") else dict(table)
    if file := said.get(EMBED_FILE):
        kept["file"] = file if file.startswith("~") else str(Path.cwd() / file)
    return kept
