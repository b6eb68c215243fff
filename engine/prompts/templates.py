"""Prompt templates: text files with a version in their name, `actor.1.txt`."""

from functools import cache
from importlib import resources

from engine.records.base import Record
from engine.records.prompts import Task

_CURRENT: dict[Task, int] = {"actor": 1, "decode": 1, "referee": 1, "handoff": 1}


class Template(Record):
    """The fixed words of a prompt. Parts of one file are divided by lines of `---`."""

    name: str
    """Task and version: `actor.1`. Runs record it."""
    parts: tuple[str, ...]


@cache
def load(task: Task) -> Template:
    """The template in use for `task`. Raises KeyError for a task that has none."""
    name = f"{task}.{_CURRENT[task]}"
    text = resources.files("engine.prompts").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")
    return Template(name=name, parts=tuple(part.strip() for part in text.split("\n---\n")))
