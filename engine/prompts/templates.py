"""Prompt templates: text files with a version in their name, `actor.1.txt`."""

from functools import cache
from importlib import resources
from typing import Literal

from engine.records.base import Record
from engine.records.prompts import Task

Kind = Task | Literal["compress"]
"""What a template is for: a task, or a second use of one. Compression is a call of task `handoff` with words of its own."""

_CURRENT: dict[Kind, int] = {"actor": 1, "decode": 1, "referee": 1, "handoff": 1, "compress": 1}


class Template(Record):
    """The fixed words of a prompt. Parts of one file are divided by lines of `---`."""

    name: str
    """What it is for and its version: `actor.1`. Runs record it."""
    parts: tuple[str, ...]


@cache
def load(task: Kind) -> Template:
    """The template in use for `task`. Raises KeyError for a task that has none."""
    name = f"{task}.{_CURRENT[task]}"
    text = resources.files("engine.prompts").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")
    return Template(name=name, parts=tuple(part.strip() for part in text.split("\n---\n")))
