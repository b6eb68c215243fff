"""What the tests of review begin with: a pool of four moments, of which a reply keeps three in two chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.records.policies import HandoffPolicy
from engine.records.tokens import token

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk

ASK = HandoffPolicy(review="ask")
BRYN, STRANGER, SAILOR = token("en_bryn"), token("en_stranger"), token("en_sailor")
OWNER = "en_bryn"
QUOTE = "The harbour master is after me."


def answer(wire: Any, **more: Any) -> str:
    """Two chunks over three of four candidates: a room asked for, a mug set down."""
    room = wire.chunk(["M1", "M3"], "P2 asked P1 for a room.", quotes=[QUOTE], importance=7, **more)
    return str(wire.reply(room, wire.chunk(["M2"], "P1 set a mug before P2.")))


async def fates(desk: Desk) -> dict[str, str]:
    """Where the four candidates of the old pool are, by their numbers."""
    found = await desk.whereabouts()
    return {str(n): found[f"buf-{n:06d}"][0] for n in range(1, 5)}
