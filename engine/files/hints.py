"""What `world.yaml` suggests about models, and nothing that would send a prompt anywhere."""

import re
from typing import Final, cast, get_args

from engine.files import yamltree
from engine.files.fields import Fields, Hints, scalar_of
from engine.files.problems import Report, quoted
from engine.files.references import Known
from engine.records.hints import HintKey, ModelHints
from engine.records.prompts import Task

_KEYS: Final = ("default", *(task for task in get_args(Task) if task != "embed"))
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+@~-]*(?:/[A-Za-z0-9][A-Za-z0-9._:+@~-]*)*")
_LONGEST_NAME: Final = 200
_HOTTEST: Final = 2.0
_PLAYERS: Final = "prompts go where the player's own settings say: a world names a model and no more"
_NOT_HERE: Hints = dict.fromkeys(
    ("api_base", "base_url", "url", "address", "host", "api_key", "key", "key_env", "token", "secret", "headers", "endpoint"), _PLAYERS
)
_NO_EMBEDDER: Hints = {"embed": "the embedder is the player's: the vectors of a save belong to one"}


def read_hints(fields: Fields, known: Known) -> ModelHints:
    """The key `models`, without what was reported."""
    node = fields.mapping("models")
    if node is None:
        return ModelHints()
    tasks = Fields(node, "models", known.report, _KEYS, "`models`", _NOT_HERE | _NO_EMBEDDER)
    models: dict[HintKey, str] = {}
    temperatures: dict[HintKey, float] = {}
    for key in _KEYS:
        found, task = tasks.get(key), cast(HintKey, key)
        if found is None:
            continue
        if isinstance(found, yamltree.Mapping):
            one = Fields(found, tasks.at(key), known.report, ("suggest", "temperature"), "a suggestion", _NOT_HERE)
            name = one.scalar("suggest")
            temperature = _temperature(one, known.report)
            if temperature is not None:
                temperatures[task] = temperature
        else:
            name = scalar_of(found, tasks.at(key), known.report)
        if name is not None and (model := _model(name, tasks.at(key), known.report)):
            models[task] = model
    return ModelHints(models=models, temperatures=temperatures)


def _model(scalar: yamltree.Scalar, path: str, report: Report) -> str:
    """A name of a model, or nothing after reporting why it is none."""
    text = scalar.text.strip()
    if "://" in text:
        report.add(scalar.mark, path, f"{quoted(text)} is an address", _PLAYERS)
    elif len(text) > _LONGEST_NAME or not _NAME.fullmatch(text):
        report.add(scalar.mark, path, f"{quoted(text)} is no name of a model", "for instance `openai/gpt-5-mini`")
    else:
        return text
    return ""


def _temperature(fields: Fields, report: Report) -> float | None:
    scalar = fields.scalar("temperature")
    if scalar is None:
        return None
    if re.fullmatch(r"\d{1,3}(?:\.\d{1,6})?", scalar.text.strip()) and float(scalar.text) <= _HOTTEST:
        return float(scalar.text)
    report.add(scalar.mark, fields.at("temperature"), f"{quoted(scalar.text)} is not a number from 0 to 2")
    return None
