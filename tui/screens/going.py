"""Ways from one screen to a row on another."""

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.records.base import EntityId
from engine.records.knowledge import KnowledgeId
from tui.host import GameHost

if TYPE_CHECKING:
    from tui.screens.knowledge import KnowledgeScreen


def knowledge_at(host: GameHost, piece: KnowledgeId, owner: EntityId | None) -> "KnowledgeScreen":
    """The Knowledge screen with its cursor on a piece, among all that its owner knows or has known."""
    from tui.panes.known_reading import Only, Whose
    from tui.screens.knowledge import KnowledgeScreen

    screen = KnowledgeScreen(host, Whose("entity", owner) if owner else Whose())
    screen.asked = replace(screen.asked, only=Only(state="both"))
    screen.wanted = piece
    return screen
