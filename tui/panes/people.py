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
from tui.view import WorldView, peopled, perceived

_AWAKE = (None, "", "awake")
_THINGS = Row(Content.styled("Things", ".head"), lead=Content(" "))


class PeoplePane(Pane):
    """Agents first, then things. Enter chooses whose mind the other panes show."""

    NUMBER = 3
    TITLE = "People"
    HELP = """\
Everybody and everything in this world: who they are, where they are, and below what the chosen entity calls them.

**enter** shows the mind of the entity under the cursor, also while you play another. **t** takes it over: you write what it does
and the story tells what it perceives; **t** again lets go. **a** changes what the chosen entity calls the one under the cursor.

`▸` whose mind is shown · `@` played by you · `z` not awake · `…` acting now
"""

    BINDINGS = [Binding("enter", "pick", "Show mind", tooltip="Show the mind of the entity under the cursor", id="people-choose")]

    @dataclass
    class Chosen(Message):
        """The reader wants to see this mind."""

        entity: EntityId

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[_Facts, Row] = {}

    def compose(self) -> ComposeResult:
        """One list."""
        yield RowList(id="persons")

    def watch_view(self, old: WorldView, new: WorldView) -> None:
        """Draw when somebody moved, acts, was renamed or chosen."""
        same = ("chosen", "played", "acting", "names")
        if peopled(old) != peopled(new) or any(getattr(old, name) is not getattr(new, name) for name in same):
            self.entitle("", f"as {plain(new.name(new.chosen))} calls them" if new.chosen else "")
            self.rows.show(rows_of(new, self._made))

    @property
    def cursor(self) -> EntityId | None:
        """The entity under the cursor."""
        return self.rows.cursor or None

    @on(RowList.Picked)
    def _pick(self, event: RowList.Picked) -> None:
        event.stop()
        self.post_message(self.Chosen(event.key))


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the row of an entity says. Rows of the same facts are made once."""

    entity: EntityId
    name: str
    agent: bool
    marks: str
    status: str
    alias: str
    where: str


def rows_of(view: WorldView, made: "dict[_Facts, Row] | None" = None) -> list[Row]:
    """Agents in their order of acting, then everything else. Rows in `made` are used again; it holds the rows in use afterwards."""
    world = view.world
    if world is None:
        return []
    kept = {} if made is None else made
    seen = perceived(view)
    things = sorted((entity for entity in world.entities.values() if not entity.agent), key=lambda entity: (entity.order, entity.id))
    agents = world.agents()
    if seen is not None:  # a player sees whom the played entity perceives, and remembers those it can call by name
        known = seen | world.entities[view.played or ""].aliases.keys()
        things, agents = [thing for thing in things if thing.id in seen], [agent for agent in agents if agent.id in known]
    people = {facts: kept.get(facts) or _row(facts) for facts in (_facts(view, world, entity, seen) for entity in agents)}
    items = {facts: kept.get(facts) or _row(facts) for facts in (_facts(view, world, entity, seen) for entity in things)}
    kept.clear()
    kept.update(people | items)
    return [*people.values(), *([_THINGS] if items else []), *items.values()]


def _facts(view: WorldView, world: World, entity: Entity, seen: frozenset[EntityId] | None) -> _Facts:
    hidden = seen is not None and entity.id not in seen
    status = None if hidden else entity.value("status")
    asleep = status not in _AWAKE
    place = world.places.get(entity.place or "")
    where = f"with {plain(view.name(entity.holder))}" if entity.holder else without_article(plain(place.name)) if place else "nowhere"
    where = "out of sight" if hidden else where
    chosen = world.entities.get(view.chosen or "")
    name = view.name(entity.id)
    alias = chosen.aliases.get(entity.id, "") if chosen else ""
    second = "@" if entity.id == view.played else "…" if entity.id == view.acting else "z" if asleep else " "
    return _Facts(
        entity.id, capital(plain(name)), entity.agent, ("▸" if entity.id == view.chosen else " ") + second,
        plain(status or "") if asleep and entity.agent else "", plain(alias) if alias != name else "", where,
    )


def _row(facts: _Facts) -> Row:
    name = Content.styled(facts.name, ".name" if facts.agent else ".deed")
    if facts.status:
        name += Content.styled(f"  {facts.status}", ".quiet")
    if facts.alias:
        name += Content.styled(f"\n“{facts.alias}”", ".quiet")
    return Row(name, lead=Content.styled(f"{facts.marks} ", ".key"), tail=Content.styled(facts.where, ".quiet"), key=facts.entity)
