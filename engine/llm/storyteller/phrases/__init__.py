"""The storyteller's words, as data: lists of phrases and of verbs, read once."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml


@cache
def lines(name: str) -> tuple[str, ...]:
    """Lines of a text file beside this module, without comments and blank ones."""
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for raw in text.splitlines() if (line := raw.strip()) and not line.startswith("#"))


@cache
def lists(name: str) -> Mapping[str, tuple[str, ...]]:
    """A YAML file beside this module: lists of phrases by key."""
    text = files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    loaded = yaml.load(text, Loader=yaml.CSafeLoader)
    return {str(key): tuple(str(item) for item in items) for key, items in loaded.items()}
