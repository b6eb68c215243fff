"""The app: two screens over a game host that outlives it."""

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.segment import Segments
from textual import on
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.filter import LineFilter
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from tui.host import GameHost, Games
from tui.screens.home import HomeScreen
from tui.terminal import lasting, leave_on_signals, leave_when_gone, unfit
from tui.text import ControlFilter, plain
from tui.theme import LANTERN, THEMES, variables

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.driver import Driver
    from textual.theme import Theme

    from engine.files.bundled import WorldInfo


def bundled() -> "Sequence[WorldInfo]":
    """The worlds that come with the program. Imports the file readers when called."""
    from engine.files.bundled import bundled_worlds

    return bundled_worlds()


def _commands() -> "type[Provider]":
    from tui.commands import Commands

    return Commands


def _system_commands() -> "type[Provider]":
    from textual.system_commands import SystemCommandsProvider

    return SystemCommandsProvider


class OthermindsApp(App[None]):
    """Home and Play. Owns no game: `host` does, and is closed by whoever made it, after the app."""

    CSS_PATH = ["app.tcss", "screens/home.tcss"]  # one reading of styles less before the first paint
    TITLE = "Otherminds"
    DEFAULT_MODE = "home"
    BINDINGS = [Binding("ctrl+q", "quit", "Quit", show=False, priority=True, tooltip="Leave Otherminds; all is saved")]
    COMMANDS = {_system_commands, _commands}
    theme: Reactive[str] = Reactive(LANTERN.name)
    _all_themes: "dict[str, Theme] | None" = None

    def __init__(self, host: GameHost, worlds: "Callable[[], Sequence[WorldInfo]]" = bundled, start: Path | None = None) -> None:
        super().__init__()
        self.host = host
        self._control_filter = ControlFilter()
        self.add_mode("home", lambda: HomeScreen(host, worlds, start))

    def get_driver_class(self) -> "type[Driver]":
        """Textual's driver, made to outlive its terminal."""
        return lasting(super().get_driver_class())

    # looks

    @property
    def available_themes(self) -> "dict[str, Theme]":
        """Our own themes, then Textual's."""
        if self._all_themes is None:
            self._all_themes = {theme.name: theme for theme in THEMES} | super().available_themes
        return self._all_themes

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our colour names for themes that do not set them."""
        return variables(self.current_theme.to_color_system().generate())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The last guard: nothing that is drawn holds a control character."""
        return [*super().get_line_filters(), self._control_filter]

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Commands that are there on every screen."""
        yield SystemCommand("Theme", "Choose other colours", self.search_themes)
        yield SystemCommand("Picture", "Save a picture of this screen as SVG", lambda: self.set_timer(0.1, self.keep_picture))
        yield SystemCommand("Quit", "Leave Otherminds; all is saved", self.action_quit)

    def keep_picture(self) -> None:
        """Save what is on the screen as a picture, and say where; in a browser it is handed to the browser instead."""
        if self.is_web:
            self.deliver_screenshot()
            return
        try:
            path = self.host.shelf.keep_picture(self.export_screenshot())
        except OSError as error:
            cause = error.strerror or str(error)
            text = f"The picture could not be saved in {self.host.shelf.pictures}: {cause}."
            self.notify(plain(f"{text} Set OTHERMINDS_HOME to a folder you can write to."), severity="error", markup=False)
        else:
            self.notify(plain(f"Saved as {path}"), title="Picture", markup=False)

    # screens

    @on(HomeScreen.Opened)
    def _play(self) -> None:
        from tui.screens.play import PlayScreen

        self.push_screen(PlayScreen(self.host))

    async def on_play_screen_left(self) -> None:
        """Back to Home, past whatever was opened on top meanwhile; a second word to the same effect finds nothing to do."""
        while len(self.screen_stack) > 1:
            await self.pop_screen()

    def action_show_help(self) -> None:
        """Help for what is focused, then for its screen, and the keys in force."""
        from tui.screens.help import HelpScreen, keys_of

        texts: list[str] = []
        title = "Help"
        node: Widget = self.screen.focused or self.screen
        for one in node.ancestors_with_self:
            if isinstance(one, Widget) and (text := getattr(one, "HELP", None)):
                texts.append(text)
                title = getattr(one, "TITLE", None) or title if len(texts) == 1 else title
        self.push_screen(HelpScreen(str(title), "\n\n".join(texts), keys_of(self.screen)))

    # trouble

    def _fatal_error(self) -> None:
        """Report an unexpected error without the values of variables: they may hold keys and private text."""
        from rich.traceback import Traceback

        self.bell()
        traceback = Traceback(show_locals=False, width=None, suppress=[asyncio])
        self._exit_renderables.append(Segments(self.console.render(traceback, self.console.options)))
        self._close_messages_no_wait()


def run_app(start: Path | None = None, games: Games | None = None) -> int:
    """Run the program in this terminal until it is left. `start` is a world's folder or a save to play at once, `games` how games come
    to be when not as usual. Returns the exit code."""
    if reason := unfit():
        print(reason, file=sys.stderr)
        return 2
    return asyncio.run(_run(start, games))


async def _run(start: Path | None, games: Games | None) -> int:
    host = GameHost(games=games)
    app = OthermindsApp(host, start=start)

    def leave(code: int) -> None:
        app.exit(return_code=code)

    leave_on_signals(leave)
    watch = asyncio.create_task(leave_when_gone(leave))
    try:
        await app.run_async()
    finally:
        watch.cancel()
        await host.close()
    return app.return_code or 0
