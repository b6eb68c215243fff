"""Pressing keys, each of which is followed until nothing moves any more."""

from collections.abc import Awaitable, Callable
from typing import Any

from textual.pilot import Pilot


async def keys(pilot: Pilot[Any], settle: Callable[[Pilot[Any]], Awaitable[None]], *pressed: str) -> None:
    """Press one key after the other, and let each have its whole effect."""
    for key in pressed:
        await pilot.press(key)
        await settle(pilot)
