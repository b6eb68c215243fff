"""Home: worlds to begin, saves to go on with, and what each is about."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import OthermindsError, SettingsError, WorldFileError
from tui.glyphs import CANDIDATE, REFUSED
from tui.host import GameHost
from tui.keybar import KeyBar
from tui.panes.about import about_save, about_settings, about_world
from tui.panes.rows import STYLES, Row, RowList
from tui.saves import SaveInfo
from tui.text import count, plain

if TYPE_CHECKING:
    from engine.files.bundled import WorldInfo
    from engine.settings import Broken
    from tui.screens.models import ModelsScreen

DEMO = "salt-lantern"
_SETTINGS = "settings"
"""Key of the row for settings that cannot be used."""
_TITLE = "O T H E R M I N D S"
_LINE = "worlds whose people remember, overhear and forget"


class HomeScreen(Screen[None]):
    """The first screen. One key starts the demo."""

    COMPONENT_CLASSES = STYLES
    HELP = """\
Choose on the left, read about it on the right.

**Worlds** come with the program; `otherminds play FOLDER` plays one of your own. Each new game is a save of its own.
**Saves** are written all the time: there is nothing to save by hand, and leaving loses nothing.

A built-in storyteller speaks for everybody, and needs nothing. **M** chooses other models, tries them and caps what they may take.
"""
    BINDINGS = [
        Binding("enter", "start", "Start", tooltip="Start the world, or go on with the save, under the cursor", id="home-start"),
        Binding("d", "demo", "Demo", tooltip="Start the bundled demo: no key and no network needed", id="home-demo"),
        Binding("n", "new", "New game", tooltip="A new game of the world under the cursor", id="home-new", show=False),
        Binding("M,f2", "models", "Models", tooltip="Which models answer, what calls took, and caps", id="home-models"),
        Binding("x,delete", "delete", "Delete save", tooltip="Delete the save under the cursor", id="home-delete"),
        Binding("question_mark", "app.show_help", "Help", id="help"),
        Binding("ctrl+q,q", "app.quit", "Quit", key_display="ctrl+q", tooltip="Leave Otherminds; all is saved"),
    ]
    class Opened(Message):
        """A game has been opened: time to play it."""

    choices = getters.query_one("#choices", RowList)
    body = getters.query_one("#home-body", Horizontal)
    status = getters.query_one("#home-status", Static)

    def __init__(self, host: GameHost, worlds: "Callable[[], Sequence[WorldInfo]]", start: Path | None = None) -> None:
        super().__init__()
        self._host = host
        self._find_worlds = worlds
        self._start = start
        self._worlds: Sequence[WorldInfo] | None = None
        self._saves: Sequence[SaveInfo] = ()
        self._broken: Broken | None = None
        """Why settings cannot be used, if they cannot."""
        self._opening = False
        self._preview: RowList | None = None
        self._moved_on = False
        """Whether the reader has moved the cursor."""

    def compose(self) -> ComposeResult:
        """Title and the one key that is needed; choices and preview come right after the first paint."""
        yield Static(Content.assemble((_TITLE, ".head"), "\n", (_LINE, ".quiet")), id="masthead")
        yield Horizontal(id="home-body")
        yield Static(id="home-status", markup=False)

    @property
    def cursor(self) -> str:
        """Key of the choice under the cursor; the demo until there are choices."""
        return (self.choices.cursor if self._preview is not None and self._preview.is_attached else None) or "demo"

    def on_mount(self) -> None:
        """Say what to press at once, read the rest behind it."""
        self.status.update(Content("Press d for the demo: it needs no key and no network."))
        self.call_after_refresh(self.load)

    def on_screen_resume(self) -> None:
        """Back from a game: its save has changed."""
        if self._worlds is not None:
            self.load()

    @work(group="load", exclusive=True)
    async def load(self) -> None:
        """Read worlds and saves, off the loop: reading worlds imports the engine's file readers."""
        if self._preview is None:  # not before the first paint, which would come a third later
            choices, self._preview = RowList(id="choices", classes="pane"), RowList(id="preview", classes="pane")
            choices.border_title, self._preview.border_title = Content("Begin"), Content("About")
            await self.body.mount(choices, self._preview)
            await self.mount(KeyBar())
            self._show()
            if self.focused is None:
                choices.focus()
        work_worlds = self._find_worlds if self._worlds is None else None
        self._saves = await asyncio.to_thread(self._host.shelf.all)
        was, self._broken = self._broken, await asyncio.to_thread(_settings_at_fault)
        if self._broken is not None:
            self.problem(f"{self._broken.short}. M shows it; d plays with the storyteller meanwhile.")
        elif was is not None:
            self.status.update(Content("The settings are right again."))
        if work_worlds is not None:
            self._worlds = await asyncio.to_thread(work_worlds)
        self._show()
        if self._saves and self.cursor == "demo" and not self._moved_on:  # one who comes back goes on with the game left last
            self.choices.cursor = f"save:{self._saves[0].path}"
        if self._start is not None:
            start, self._start = self._start, None
            self._open(start)
        await asyncio.to_thread(_warm_up)

    # what is shown

    def _show(self) -> None:
        lamp, key = Content.styled("▸ ", ".key"), Content.styled("d", ".key")
        rows = [Row(Content.styled("Play the demo", ".name"), lead=lamp, tail=key, key="demo")]
        if self._broken is not None:
            rows.append(Row(Content.styled("Settings cannot be used", ".bad"), lead=Content.styled(f"{REFUSED} ", ".bad"), key=_SETTINGS))
        rows += [Row(Content("")), Row(Content.styled("Worlds", ".head"))]
        if self._worlds is None:
            rows.append(Row(Content.styled("looking…", ".quiet"), lead=Content("  ")))
        for world in self._worlds or ():
            rows.append(Row(Content(plain(world.name)), lead=Content("  "), key=f"world:{world.slug}"))
        rows += [Row(Content("")), Row(Content.styled("Saves", ".head"))]
        if not self._saves:
            rows.append(Row(Content.styled("None yet. Every game saves itself.", ".quiet"), lead=Content("  ")))
        for save in self._saves:
            waits = (f"{CANDIDATE} {save.note.waiting} ", ".candidate") if save.note.waiting else ("", "")
            tail = Content.assemble(waits, (f"round {save.note.round}" if save.note.world else "", ".quiet"))
            name = plain(save.note.world) or save.path.stem
            rows.append(Row(Content(name), lead=Content("  "), tail=tail, key=f"save:{save.path}"))
        self.choices.show(rows)
        self._describe(self.cursor)

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        self._moved_on = self._moved_on or event.key != "demo"
        self._describe(event.key)
        self.refresh_bindings()

    def _describe(self, key: str) -> None:
        if key == _SETTINGS and self._broken is not None:
            self._about(about_settings(self._broken))
        elif (save := self._save(key)) is not None:
            self._about(about_save(save))
        elif (world := self._world(key)) is not None:
            self._about(about_world(world, demo=key == "demo"))
        else:
            self._about([Content("Reading the worlds…" if self._worlds is None else "There is no world here.")])

    def _about(self, lines: Sequence[Content]) -> None:
        if self._preview is not None:
            self._preview.show([Row(line) for line in lines])
            self._preview.scroll_home(animate=False)

    def _world(self, key: str) -> "WorldInfo | None":
        """The world of a row; the demo for the demo's row."""
        worlds = self._worlds or ()
        slug = DEMO if key == "demo" else key.removeprefix("world:")
        found = next((world for world in worlds if world.slug == slug), None)
        return found or (worlds[0] if key == "demo" and worlds else None)

    def _save(self, key: str) -> SaveInfo | None:
        return next((save for save in self._saves if key == f"save:{save.path}"), None)

    # what is done

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Delete is there for saves only."""
        if action == "delete" and self.is_mounted:
            return self.cursor.startswith("save:")
        return True

    def action_demo(self) -> None:
        """Start the demo."""
        self._begin("demo")

    def action_start(self) -> None:
        """Start or go on with what is under the cursor."""
        self._begin(self.cursor)

    @on(RowList.Picked)
    def _picked(self, event: RowList.Picked) -> None:
        event.stop()
        self._begin(event.key)

    def action_new(self) -> None:
        """A new game of the world under the cursor."""
        key = self.cursor
        self._begin("demo" if key.startswith("save:") else key or "demo")

    def action_models(self) -> None:
        """Look at models: at once when what that needs has been imported, so that the keys that follow are for that screen."""
        if "tui.screens.models" in sys.modules:
            self.app.push_screen(_models_screen()(self._host))
        elif not self._opening:
            self._opening = True
            self._look_at_models()

    @work(group="models")
    async def _look_at_models(self) -> None:
        """Import it off the loop. Nothing else is opened meanwhile."""
        screen = await asyncio.to_thread(_models_screen)
        self._opening = False
        self.app.push_screen(screen(self._host))

    def action_delete(self) -> None:
        """Ask, then delete."""
        if (save := self._save(self.cursor)) is None:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self._delete(save)

        from tui.dialogs.confirm import ConfirmDialog

        name = plain(save.note.world) or save.path.stem
        question = f"Delete the save of {name}, round {save.note.round}? It cannot be brought back.\n{save.path}"
        self.app.push_screen(ConfirmDialog("Delete this save?", question, "delete it"), answered)

    def _delete(self, save: SaveInfo) -> None:
        try:
            self._host.shelf.delete(save.path)
        except OSError as error:
            self.problem(f"The save could not be deleted: {error}.")
        self.load()

    def _begin(self, key: str) -> None:
        if key == _SETTINGS:
            self.action_models()
        elif (save := self._save(key)) is not None:
            self._open(save.path)
        elif (world := self._world(key)) is not None:
            self._open(world.path)
        elif self._worlds is None:
            self._begin_once_read(key)
        else:
            self.problem("There is no world to play.")

    @work(group="begin", exclusive=True)
    async def _begin_once_read(self, key: str) -> None:
        """The demo was asked for before the worlds were read."""
        self._worlds = await asyncio.to_thread(self._find_worlds)
        self._show()
        self._begin(key)

    def _open(self, path: Path) -> None:
        if not self._opening:
            self._opening = True
            self.status.update(Content("Opening…"))
            self._play(path)

    @work(group="open")
    async def _play(self, path: Path, stand_in: bool = False) -> None:
        self._host.stand_in = stand_in
        try:
            if path.suffix in (".yaml", ".yml") or await asyncio.to_thread(path.is_dir):
                await self._host.open_new(path)
            else:
                await self._host.open_save(path)
        except SettingsError as error:
            self._ask_for_stand_in(path, error)
        except WorldFileError as error:
            self._about([Content(plain(line)) for line in (str(error).splitlines()[0], "", *map(str, error.problems))])
            self.problem(f"{path.name}: {count(len(error.problems), 'mistake')} in the world's files, listed on the right.")
        except OthermindsError as error:
            self.problem(str(error))
        else:
            self.status.update(Content(""))
            self.post_message(self.Opened())
        self._opening = False

    def _ask_for_stand_in(self, path: Path, error: SettingsError) -> None:
        """Settings cannot be used: a game may go on with what is built in, but not without a word."""

        def answered(yes: bool | None) -> None:
            if yes:
                self._opening = True
                self._play(path, stand_in=True)

        from engine.settings import broken
        from tui.dialogs.confirm import ConfirmDialog

        found = broken(error)
        self.problem(f"{found.short}. M shows it.")
        question = (
            f"{plain(found.short)}\n\nUntil that is put right the storyteller speaks for everybody, in this game too: it needs no key and "
            "costs nothing. M shows what is wrong, also while you play."
        )
        self.app.push_screen(ConfirmDialog("Play with the storyteller?", question, "play"), answered)

    def problem(self, text: str) -> None:
        """Say what is wrong, where it stays to be read."""
        self.status.update(Content.styled(f"{REFUSED} {plain(text)}", ".bad"))


def _models_screen() -> "type[ModelsScreen]":
    from tui.screens.models import ModelsScreen

    return ModelsScreen


def _settings_at_fault() -> "Broken | None":
    from engine.settings import broken, load_or_stand_in

    error = load_or_stand_in()[1]
    return None if error is None else broken(error)


def _warm_up() -> None:
    """Import what a game needs, so that the first one opens at once. What is there then stays: it is no more looked at for garbage,
    which would take up to a tenth of a second in the middle of a key press."""
    import gc

    import engine.game  # noqa: F401
    import tui.screens.models
    import tui.screens.play  # noqa: F401

    gc.freeze()
