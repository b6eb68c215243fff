"""Opening the program with a scripted game, and pressing keys, each of which is followed until nothing moves any more."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from engine.files.bundled import WorldInfo
from tui.app import OthermindsApp
from tui.host import GameHost

Settle = Callable[[Pilot[Any]], Awaitable[None]]


async def keys(pilot: Pilot[Any], settle: Settle, *pressed: str) -> None:
    """Press one key after the other, and let each have its whole effect."""
    for key in pressed:
        await pilot.press(key)
        await settle(pilot)


def opening(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, *pressed: str
) -> Callable[..., AbstractAsyncContextManager[Pilot[Any]]]:
    """A way to open the program in a terminal of some size, with these keys pressed. The host is closed at the end."""

    @asynccontextmanager
    async def opened(size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[Any]]:
        app = OthermindsApp(host, worlds)
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            await keys(pilot, settle, *pressed)
            yield pilot
        await host.close()

    return opened
