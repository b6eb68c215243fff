"""Prompt templates: text files with a version in their name, `actor.1.txt`, and those that a world has of its own."""

from functools import cache
from importlib import resources
from typing import Final

from engine.records.templates import PARTS, Kind, Template, parts_of
from engine.records.world import World

_CURRENT: Final[dict[Kind, int]] = dict.fromkeys(PARTS, 1)
"""The version of each template that is in use."""


def load(kind: Kind, world: World) -> Template:
    """The template in use in a world: its own, or the one built in."""
    return world.templates.get(kind) or built_in(kind)


@cache
def built_in(kind: Kind) -> Template:
    """The template of this name that comes with the program."""
    name = f"{kind}.{_CURRENT[kind]}"
    text = resources.files("engine.prompts").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")
    return Template(name=name, parts=parts_of(text))
