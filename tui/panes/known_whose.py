"""Whose knowledge can be looked at: all, everybody's, each faction's, each mind's."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from textual.binding import Binding
from textual.content import Content

from engine.records.base import EntityId
from tui.dialogs.knowledge_choice import Pick
from tui.panes.known_reading import Whose
from tui.panes.rows import Row, RowList
from tui.text import plain

if TYPE_CHECKING:
    from engine.records.world import World

_ALL: Final = (Pick("all", "all that is known", "whoever holds it"), Pick("world", "everybody", "what the world knows"))


class WhoseList(RowList):
    """Stands beside the shelves where there is room for it. Where the cursor is, that one's knowledge is shown."""

    TITLE = "Whose"
    HELP = "Whose knowledge is shown: the cursor chooses. Somebody knows its own, what its factions hold, and what everybody does."
    BINDINGS = [Binding("enter", "screen.to_answer", "To the list", show=False)]

    def show_picks(self, picks: Sequence[Pick], now: Whose) -> None:
        """Show these, with the cursor on what is looked at."""
        self.show([
            Row(
                Content.styled(plain(one.label), ".name" if one.key == key_of_whose(now) else ".deed"),
                lead=Content("● " if one.key == key_of_whose(now) else "  "), key=one.key,
            )
            for one in picks
        ])
        self.set_reactive(WhoseList.cursor, key_of_whose(now))
        self.refresh()


def picks_of(world: "World", factions: Sequence[str], name: Callable[[EntityId], str]) -> list[Pick]:
    """All whose knowledge can be looked at."""
    picks = [*_ALL, *(Pick(f"faction {one}", f"the faction {one}") for one in factions)]
    return picks + [Pick(f"entity {one.id}", name(one.id), ", ".join(one.factions)) for one in world.agents()]


def key_of_whose(whose: Whose) -> str:
    """The key of a choice."""
    return f"{whose.scope} {whose.key}".strip()


def whose_of(key: str) -> Whose:
    """What the key of a choice means."""
    scope, _, rest = key.partition(" ")
    return {"world": Whose("world"), "faction": Whose("faction", rest), "entity": Whose("entity", rest)}.get(scope, Whose())
