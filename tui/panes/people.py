"""Everybody: where they are, what the chosen one calls them, and whose mind is shown."""

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message

from engine.records.base import EntityId
from engine.records.world import Entity, World
from tui.panes.pane import Pane
from tui.panes.rows import Row, RowList
from tui.text import capital, plain, without_article
from tui.view import WorldView

_AWAKE = (None, "", "awake")


class PeoplePane(Pane):
    """Agents first, then things. Enter chooses whose mind the other panes show."""

    NUMBER = 3
    TITLE = "People"
    HELP = """\
Everybody and everything in this world: who they are, where they are, and below what the chosen entity calls them.

**enter** shows the mind of the entity under the cursor. **t** takes it over: you write what it does and read what it
perceives; **t** again lets go. **a** changes what the chosen entity calls the one under the cursor.

`▸` whose mind is shown · `@` played by you · `z` not awake · `…` acting now
"""

    BINDINGS = [Binding("enter", "pick", "Show mind", tooltip="Show the mind of the entity under the cursor", id="people-choose")]

    @dataclass
    class Chosen(Message):
        """The reader wants to see this mind."""

        entity: EntityId

    def compose(self) -> ComposeResult:
        """One list."""
        yield RowList(id="persons")

    def watch_view(self, old: WorldView, new: WorldView) -> None:
        """Draw when somebody moved, acts, was renamed or chosen."""
        same = ("world", "chosen", "played", "acting", "names")
        if any(getattr(old, name) is not getattr(new, name) for name in same):
            self.entitle("", f"as {plain(new.name(new.chosen))} calls them" if new.chosen else "")
            self.rows.show(rows_of(new))

    @property
    def cursor(self) -> EntityId | None:
        """The entity under the cursor."""
        return self.rows.cursor or None

    def point_at(self, entity: EntityId) -> None:
        """Put the cursor on an entity."""
        if entity in self.rows.keys:
            self.rows.cursor = entity

    @on(RowList.Picked)
    def _pick(self, event: RowList.Picked) -> None:
        event.stop()
        self.post_message(self.Chosen(event.key))


def rows_of(view: WorldView) -> list[Row]:
    """Agents in their order of acting, then everything else by name."""
    world = view.world
    if world is None:
        return []
    agents = world.agents()
    things = sorted((entity for entity in world.entities.values() if not entity.agent), key=lambda entity: (entity.order, entity.id))
    rows = [_person(view, world, entity) for entity in agents]
    if things:
        rows.append(Row(Content.styled("Things", ".head"), lead=Content(" ")))
        rows += [_person(view, world, entity) for entity in things]
    return rows


def _person(view: WorldView, world: World, entity: Entity) -> Row:
    asleep = entity.value("status") not in _AWAKE
    marks = (
        "▸" if entity.id == view.chosen else " ",
        "@" if entity.id == view.played else "…" if entity.id == view.acting else "z" if asleep else " ",
    )
    place = world.places.get(entity.place or "")
    where = f"with {plain(view.name(entity.holder))}" if entity.holder else without_article(plain(place.name)) if place else "nowhere"
    name = Content.styled(capital(plain(view.name(entity.id))), ".name" if entity.agent else ".deed")
    chosen = world.entities.get(view.chosen or "")
    alias = chosen.aliases.get(entity.id) if chosen else None
    if asleep and entity.agent:
        name += Content.styled(f"  {plain(entity.value('status') or '')}", ".quiet")
    if alias and alias != view.name(entity.id):
        name += Content.styled(f"\n“{plain(alias)}”", ".quiet")
    lead = Content.assemble((marks[0], ".key"), (marks[1] + " ", ".key"))
    return Row(name, lead=lead, tail=Content.styled(where, ".quiet"), key=entity.id)
