"""Makes the pictures of this folder: the bundled world played by its own seed, no clock, no chance, the same every time.

Run from the checkout: `python screenshots/make.py [FOLDER [NAME ...]]`.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from engine.events import EngineEvent
from engine.llm.meter import Meter
from engine.records.hints import HintKey
from engine.records.models import (
    Call,
    CapState,
    EndpointView,
    Forecast,
    LocalServer,
    Proposal,
    RouteView,
    Spent,
    Suggestion,
    TestReport,
    Usage,
)
from engine.records.prompts import Task
from engine.settings import Settings
from engine.settings.environment import VARIABLES
from tui.app import OthermindsApp
from tui.dialogs.held import HeldDialog
from tui.host import GameHost
from tui.models_view import Desk
from tui.screens import reading
from tui.screens.reading import ReadingScreen

HERE = Path(__file__).parent
HAIKU, MINI, LLAMA = "anthropic/claude-haiku-4-5", "openai/gpt-5-mini", "llama"
PRICES = {HAIKU: (1.0, 5.0), MINI: (0.25, 2.0), LLAMA: (0.0, 0.0), "storyteller": (0.0, 0.0)}
"""US dollars for a million tokens of prompts and of replies."""
OLLAMA = "http://127.0.0.1:11434"


class Clock:
    """Time stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


class ShownDesk:
    """A desk of models at which nothing is asked: the calls are those of the storyteller, told as if a provider had had them."""

    settings = Settings.model_validate({
        "models": {"default": [HAIKU, LLAMA, "storyteller"], "handoff": {"model": MINI, "temperature": 0.3}, "decode": LLAMA},
        "endpoint": {LLAMA: {"model": "ollama_chat/llama3.2", "api_base": OLLAMA}},
        "caps": {"run_money": 0.25, "day_tokens": 500_000},
    })

    fault = None

    def __init__(self) -> None:
        self.meter = Meter()

    def hear(self, event: EngineEvent) -> None:
        """Count a call of the storyteller as one of the model that is set for its task."""
        if event.kind == "called":
            call = event.call
            model = self.settings.models.answering(call.task).model
            asked, said = PRICES[model]
            failed = self.meter.total.calls == 40
            self.meter.add(Call(
                task=call.task, entity=call.entity, round=call.round, model=self.settings.resolved(model).model,
                prompt_tokens=call.prompt_tokens, reply_tokens=call.reply_tokens, estimated=model == LLAMA,
                cost=(asked * call.prompt_tokens + said * call.reply_tokens) / 1e6, seconds=0.4 + call.reply_tokens / 90,
                failed="It timed out." if failed else "",
            ))

    async def ready(self) -> None:
        """All is known."""

    def close(self) -> None:
        """Nothing is open."""

    def routes(self) -> tuple[RouteView, ...]:
        """Who answers."""
        tasks: tuple[Task, ...] = ("actor", "decode", "referee", "handoff", "alias")
        models = self.settings.models
        return tuple(
            RouteView(
                task=task, endpoints=tuple(self._view(name) for name in models.answering(task).names),
                set_by="settings" if models.of(task) else "default",
            )
            for task in tasks
        )

    def endpoints(self) -> tuple[EndpointView, ...]:
        """All models."""
        return tuple(self._view(name) for name in (HAIKU, LLAMA, MINI, "storyteller"))

    def _view(self, name: str) -> EndpointView:
        window, source = {HAIKU: (200_000, "package"), MINI: (272_000, "package"), LLAMA: (32_768, "server")}.get(name, (8_192, "built in"))
        known = {
            "name": name, "model": self.settings.resolved(name).model, "context_window": window, "window_from": source,
            "input_price": PRICES[name][0], "output_price": PRICES[name][1],
        }
        if name == LLAMA:
            known |= {"api_base": OLLAMA, "structured": "grammar", "small": True, "concurrency": 1, "timeout": 60.0, "key": "none needed"}
        elif name != "storyteller":
            variable = "ANTHROPIC_API_KEY" if name == HAIKU else "OPENAI_API_KEY"
            known |= {"structured": "schema", "concurrency": 4, "timeout": 60.0, "key": "set", "key_names": (variable,)}
        return EndpointView.model_validate(known | ({"note": "rests until 18:04:10: it is rate limited"} if name == MINI else {}))

    def caps(self) -> tuple[CapState, ...]:
        """One of this run, one of the day, on which there were other runs."""
        total = self.meter.total
        return (
            CapState(cap="run_money", limit=0.25, used=total.cost), CapState(cap="day_tokens", limit=500_000, used=190_000 + total.tokens),
        )

    def suggested(self) -> dict[HintKey, str]:
        """The world has a wish."""
        return {"referee": "anthropic/claude-sonnet-4-5"}

    async def proposal(self) -> Proposal:
        """What that would cost."""
        suggestion = Suggestion(task="referee", endpoint=self._view(HAIKU), by_leave=True)
        return Proposal(suggestions=(suggestion,), forecast=await self.forecast())

    async def usage(self) -> Usage:
        """There were other sittings, and other runs today."""
        total = self.meter.total
        before = Spent(calls=212, prompt_tokens=171_000, reply_tokens=19_000, cost=0.09, seconds=260.0)
        return Usage(today=before + total, save=before + total)

    async def refresh(self) -> None:
        """Nothing was written elsewhere."""

    async def reload(self) -> None:
        """All is as it was."""

    async def forecast(self) -> Forecast:
        """Of the next round."""
        return self.meter.forecast(7, 2, caps=self.caps())

    async def test(self, name: str) -> TestReport:
        """A good one."""
        text = "It answers, and replies with JSON by a schema."
        return TestReport(name=name, ok=True, text=text, seconds=1.1, structured="schema", context_window=200_000, cost=0.0003)

    async def test_found(self, server: LocalServer, model: str) -> TestReport:
        """A good one, too."""
        return await self.test(model)

    async def servers(self) -> tuple[LocalServer, ...]:
        """One."""
        return (LocalServer(kind="ollama", api_base=OLLAMA, models=("ollama_chat/llama3.2", "ollama_chat/qwen3:8b")),)

    async def set(self, key: str, value: object | None) -> None:
        """Nothing is written."""

    async def set_all(self, changes: Mapping[str, object | None]) -> None:
        """Nothing is written."""

    async def use(self, server: LocalServer, model: str, task: str = "default") -> None:
        """Nothing is written."""


class ShownHost(GameHost):
    """A host whose Models screen can be given another desk."""

    shown: Desk | None = None

    async def models(self) -> Desk:
        """The desk that is to be shown."""
        return self.shown or await super().models()


@dataclass
class Stage:
    """The program with somebody at its keys."""

    pilot: Pilot[Any]
    host: ShownHost
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
        screen, game = self.pilot.app.screen, self.host.game
        assert isinstance(screen, ReadingScreen)
        assert game is not None
        ended: list[EngineEvent] = []
        game.listen(lambda event: ended.append(event) if event.kind == "round_ended" else None)
        self.host.start_step()
        while not ended:  # all of the round waits to be shown: how fast it was played makes no difference
            await self.pilot.pause()
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


async def models(stage: Stage) -> None:
    """Who answers what and what it took, four rounds in; the model that answers everything has just been tried."""
    desk = stage.host.shown = ShownDesk()
    await stage.press("d")
    assert stage.host.game is not None
    stage.host.game.listen(desk.hear)
    await stage.press("n", "n", "n", "n", "M", "t")


async def pause(stage: Stage) -> None:
    """A cap has been reached: play pauses, and says how it goes on."""
    await stage.press("d", "n", "M", "4", "enter")
    await stage.write("30000")
    await stage.press("escape", "R", "enter")


async def held(stage: Stage) -> None:
    """Each call asks first: the text that is about to be sent."""
    await stage.press("d", "n", "H")
    await stage.pilot.press("n")
    screen = stage.pilot.app.screen
    assert isinstance(screen, ReadingScreen)
    while not isinstance(stage.pilot.app.screen, HeldDialog):  # play rests only when it is answered
        screen.tick()
        await stage.pilot.pause()


async def sessions(stage: Stage) -> None:
    """What somebody who is played talks of with others, gathered as it is said."""
    await stage.press("d", "3", "down", "t")
    for line in (
        '"I am Tam Birrell. Who keeps the light here?" I ask.', '"The light went out twice this week," I say.',
        '"Does anybody know who came down the ladder?" I ask.',
    ):
        await stage.write(line)
        await stage.press("i")
    await stage.press("escape", "S")


async def knowledge(stage: Stage) -> None:
    """What somebody knows, with where it comes from and who else does."""
    await stage.press("d", "n", "n", "n")
    game = stage.host.game
    assert game is not None
    people = [entity.id for entity in game.world.agents()]
    first, second, third = people[:3]
    await game.knowledge.add(first, f"@{second} keeps the key of the lamp room on a nail behind the stove.", subject=second, importance=7)
    await game.knowledge.add(
        first, "The lantern is to burn until the last boat is in.", kind="decision", rationale="Two boats are out.", pinned=True
    )
    await game.knowledge.add(first, f"@{third} was on the ladder before the light went out.", subject=third, confidence=0.6, sensitive=True)
    await game.knowledge.add(first, "When the bell rings twice, go down to the quay at once.", kind="strategy")
    await stage.press("K", "down")


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
    "models": ((120, 40), models, "lantern"),
    "pause": ((120, 40), pause, "lantern"),
    "held": ((120, 40), held, "lantern"),
    "sessions": ((120, 40), sessions, "lantern"),
    "knowledge": ((120, 40), knowledge, "lantern"),
    "mind": ((80, 24), mind, "lantern"),
    "paper": ((200, 50), watching, "paper"),
}


async def picture(name: str, folder: Path) -> None:
    """Play one scene and write `NAME.svg`."""
    size, scene, theme = SCENES[name]
    clock = Clock()
    with tempfile.TemporaryDirectory() as saves:
        os.environ |= {"OTHERMINDS_CONFIG": saves, "OTHERMINDS_HOME": saves}  # nobody's own settings
        host = ShownHost(Path(saves), speed=0.0, clock=clock)
        app = OthermindsApp(host)
        app.theme = theme
        async with app.run_test(size=size) as pilot:
            stage = Stage(pilot, host, clock)
            await stage.rest()
            await scene(stage)
            for line in app.screen.query(Input):
                line.cursor_blink = False
            await pilot.pause()
            (folder / f"{name}.svg").write_text(app.export_screenshot(title="Otherminds"), encoding="utf-8")
        await host.close()


async def main(folder: Path, names: Sequence[str] = ()) -> None:
    """All pictures, or some."""
    for variable in VARIABLES:
        os.environ.pop(variable, None)
    reading.FRESH_SECONDS = 3600.0  # what is new stays marked, however slow the machine is
    for name in names or SCENES:
        await picture(name, folder)
        print(f"{name}.svg")


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    chosen.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen, sys.argv[2:]))
