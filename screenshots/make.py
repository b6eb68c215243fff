"""Makes the pictures of this folder: the bundled world played by its own seed, no clock, no chance, the same every time.

Run from the checkout: `python screenshots/make.py [FOLDER]`.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tui.app import OthermindsApp
from tui.host import GameHost
from tui.screens.reading import ReadingScreen

HERE = Path(__file__).parent


class Clock:
    """Time stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


@dataclass
class Stage:
    """The program with somebody at its keys."""

    pilot: Pilot[Any]
    host: GameHost
    clock: Clock

    async def rest(self) -> None:
        """Wait until all is played and drawn."""
        quiet = 0
        while quiet < 4:
            await self.pilot.pause()
            for screen in self.pilot.app.screen_stack:
                if isinstance(screen, ReadingScreen) and screen.ticker is not None:
                    screen.ticker.pause()
                    screen.tick()
            working = any(not worker.is_finished and worker.group != "by-hand" for worker in self.pilot.app.workers)
            quiet = 0 if self.host.running or len(self.host.pacer) or working else quiet + 1
            await asyncio.sleep(0)

    async def press(self, *keys: str) -> None:
        """Press keys, each when all is at rest."""
        for key in keys:
            await self.pilot.press(key)
            await self.rest()

    async def write(self, text: str) -> None:
        """Write a line and send it."""
        for char in text:
            await self.pilot.press("space" if char == " " else char)
        await self.press("enter")

    async def until(self, shown: Callable[[ReadingScreen], bool]) -> None:
        """Play a round slowly and stop the moment something is seen."""
        self.host.pacer.speed = 1.0
        self.host.start_step()
        screen = self.pilot.app.screen
        assert isinstance(screen, ReadingScreen)
        for _ in range(4_000):
            await self.pilot.pause()
            screen.tick()
            if shown(screen):
                break
            self.clock.now += 0.05
        await self.pilot.pause()


Scene = Callable[[Stage], Awaitable[None]]


async def home(stage: Stage) -> None:
    """The first screen, with a game to go on with."""
    await stage.press("d", "n", "n", "q")


async def watching(stage: Stage) -> None:
    """A few rounds in."""
    await stage.press("d", "n", "n", "n", "n")


async def handoff(stage: Stage) -> None:
    """Memories are being decided on."""
    await stage.press("d", "n", "n", "n")
    await stage.until(lambda screen: len(screen.view.mind.chunks) > 0)


async def promoted(stage: Stage) -> None:
    """Memories have just been kept."""
    await stage.press("d", "n", "n", "n")
    await stage.until(lambda screen: bool(screen.view.mind.fresh))
    for _ in range(20):
        await stage.pilot.pause()


async def playing(stage: Stage) -> None:
    """Somebody is played by hand."""
    await stage.press("d", "3", "down", "t")
    await stage.write('I warm my hands at the fire. "Who keeps the light here?" I ask.')
    await stage.press("f5")


async def mind(stage: Stage) -> None:
    """A working memory alone, with a pin of one's own."""
    await stage.press("d", "n", "n", "4", "end", "up", "p")


async def prompt(stage: Stage) -> None:
    """The prompt with its parts, and how its memories were chosen."""
    await stage.press("d", "n", "n", "n", "6", "z", *["down"] * 9, "enter")


async def alias(stage: Stage) -> None:
    """A name and how it was learned."""
    await stage.press("d", "n", "n", "n", "n", "3", "down", "enter", "down", "a")


async def map_alone(stage: Stage) -> None:
    """The map with all the room."""
    await stage.press("d", "n", "n", "2", "z")


async def review(stage: Stage) -> None:
    """Memories wait for a person's word; one is kept, one is not."""
    await stage.press("d", "V", "n", "v", "right", "a", "x")


async def memory(stage: Stage) -> None:
    """What left a mind, and what it became."""
    await stage.press("d", "n", "n", "f", "down", "down")


SCENES: dict[str, tuple[tuple[int, int], Scene, str]] = {
    "home": ((120, 40), home, "lantern"),
    "watching": ((200, 50), watching, "lantern"),
    "handoff": ((200, 50), handoff, "lantern"),
    "promoted": ((120, 40), promoted, "lantern"),
    "playing": ((120, 40), playing, "lantern"),
    "prompt": ((120, 40), prompt, "lantern"),
    "alias": ((120, 40), alias, "lantern"),
    "map": ((100, 30), map_alone, "lantern"),
    "review": ((120, 40), review, "lantern"),
    "memory": ((120, 40), memory, "lantern"),
    "mind": ((80, 24), mind, "lantern"),
    "paper": ((200, 50), watching, "paper"),
}


async def picture(name: str, folder: Path) -> None:
    """Play one scene and write `NAME.svg`."""
    size, scene, theme = SCENES[name]
    clock = Clock()
    with tempfile.TemporaryDirectory() as saves:
        host = GameHost(Path(saves), speed=0.0, clock=clock)
        app = OthermindsApp(host)
        app.theme = theme
        async with app.run_test(size=size) as pilot:
            stage = Stage(pilot, host, clock)
            await stage.rest()
            await scene(stage)
            (folder / f"{name}.svg").write_text(app.export_screenshot(title="Otherminds"), encoding="utf-8")
        await host.close()


async def main(folder: Path) -> None:
    """All pictures."""
    for name in SCENES:
        await picture(name, folder)
        print(f"{name}.svg")


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    chosen.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen))
