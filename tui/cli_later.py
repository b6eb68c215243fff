"""Groups of commands that are loaded when one of them is asked for: what others do not need does not slow them."""

from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup

_LATER: Final = ("sessions", "knowledge", "saves")
"""Each is a `typer.Typer` of its name in the module `tui.cli_` and its name."""


class LaterGroup(TyperGroup):
    """The commands of the program, some of them loaded late."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, for the help."""
        return list(dict.fromkeys([*super().list_commands(ctx), *_LATER]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name; None when there is none."""
        if cmd_name in _LATER and cmd_name not in self.commands:
            group = getattr(import_module(f"tui.cli_{cmd_name}"), cmd_name)
            self.commands[cmd_name] = typer.main.get_command(group)
        return super().get_command(ctx, cmd_name)
