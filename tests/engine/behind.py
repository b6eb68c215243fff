"""The storyteller behind a fake model server, and a small world that it plays: for tests of engine and stack together."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from engine.events import EngineEvent
from engine.game import Game
from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.actor.actor import act
from engine.llm.storyteller.decode.decoder import decode
from engine.llm.storyteller.handoff.writer import remember
from engine.llm.storyteller.referee import judge
from engine.records.prompts import Message, Task
from engine.setup import Setup
from tests.engine.turns.witness import Save, Witness
from tests.fake_server import FakeServer

E = TypeVar("E", bound=EngineEvent)

KEY_NAME: Final = "OTHERMINDS_TEST_KEY"
_BEGINNINGS: Final[Mapping[str, tuple[Task, Callable[[ModelRequest], str]]]] = {
    "You play one": ("actor", act), "Split a piece": ("decode", decode), "Judge whether": ("referee", judge),
    "You keep the": ("handoff", remember),
}
_SAYINGS: Final = (
    "The tide was over the third stair again.", "Nobody has asked for the key since Candlemas.", "I saw a light at the mill, twice.",
    "You owe me for the rope.", "Keep it to yourself, whatever it is.", "There was a letter under the door this morning.",
)  # fmt: skip
_MINDS: Final = {"ada_finch": "the tall cook", "bo_reed": "the old porter", "cyd_marsh": "the young groom"}


def task_of(body: Mapping[str, Any]) -> Task:
    """What a request is for, as its prompt begins."""
    return _known(body)[0]


def storyteller(body: Mapping[str, Any]) -> str:
    """What the storyteller replies to a body: as a model that knows nothing but the prompt."""
    messages = tuple(Message(role=message["role"], content=message["content"]) for message in body["messages"])
    moment = zlib.crc32(messages[-1].content.encode()) % 1000
    return _known(body)[1](ModelRequest(task=task_of(body), entity="somebody", round=moment, seed=7, messages=messages))


def _known(body: Mapping[str, Any]) -> tuple[Task, Callable[[ModelRequest], str]]:
    began = str(body["messages"][0]["content"])
    return next(found for words, found in _BEGINNINGS.items() if began.startswith(words))


def a_world(folder: Path, *, moments: int = 9, most: int = 8) -> Path:
    """World files of a house with three minds, each with so many fresh memories, of which it hands over what is more than `most`."""
    folder.mkdir()
    lines = [
        "name: The House", "clock: {start: 1247-03-01T18:00}", "seed: 5",
        f"policies: {{handoff: {{floor: 3, max_entries: {most}, idle_rounds: {most}, batch: 2}}}}",
        "places:",
        "  - {id: pl_hall, name: the hall, description: Stone and smoke., exits: [{to: pl_yard, name: the arch}]}",
        "  - {id: pl_yard, name: the yard}",
        "entities:",
        "  - {id: th_key, at: pl_hall, attributes: {label: the brass key, appearance: a brass key with a broken bow}}",
    ]
    for mind, label in _MINDS.items():
        others = [other for other in _MINDS if other != mind]
        name = " ".join(part.capitalize() for part in mind.split("_"))
        lines += [
            f"  - id: {mind}", "    at: pl_hall", "    agent: true", f"    goals: [ask @{others[0]} about the key, find the letter]",
            "    habits: [looks at the door, hums a tune]",
            f"    attributes: {{label: {label}, appearance: {label} in a grey coat, name: {name}, secret: Has read the letter.}}",
            "    buffer:",
        ]
        for number in range(moments):
            who, ago = (mind, *others)[number % 3], 600 - 10 * number
            lines.append(f'      - {{at: -{ago}m, kind: said, by: {who}, text: "{_SAYINGS[number % len(_SAYINGS)]}"}}')
    (folder / "world.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def settle(
    folder: Path, patch: pytest.MonkeyPatch, server: FakeServer, *, more: str = "", endpoint: str = "", default: str = '"http"'
) -> None:
    """Settings in which the server answers all tasks, in place of anybody's own. `more` are lines of `[models]`, and tables after it."""
    (folder / "config").mkdir(exist_ok=True)
    text = f'[models]\ndefault = {default}\n{more}\n[endpoint.http]\nmodel = "openai/fake"\napi_base = "{server.base}"\n{endpoint}\n'
    (folder / "config" / "settings.toml").write_text(text, encoding="utf-8")
    patch.setenv("OTHERMINDS_CONFIG", str(folder / "config"))
    patch.setenv("OTHERMINDS_HOME", str(folder / "home"))
    patch.setattr("engine.llm.policy.WAITS", (0.01, 0.02))  # nobody waits in tests


@dataclass
class Play:
    """An open game, and what was heard of it."""

    game: Game
    server: FakeServer
    save: Save
    witness: Witness
    events: list[EngineEvent]

    def heard(self, kind: type[E]) -> list[E]:
        """Events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    def forget(self) -> None:
        """Begin to listen anew."""
        self.events.clear()

    async def hung_up(self, seconds: float) -> None:
        """Wait until the client of the newest request has left. Raises `TimeoutError`."""
        await self.server.until(lambda: bool(self.server.requests) and self.server.requests[-1].hung_up, seconds)


@asynccontextmanager
async def playing(world: Path, path: Path, server: FakeServer, setup: Setup | None = None) -> AsyncIterator[Play]:
    """A new game in a save at `path`, watched from outside."""
    game = await Game.create(world, path, setup=setup)
    save, events = Save(path), list[EngineEvent]()
    witness = Witness(save)
    game.listen(events.append)
    game.listen(witness)
    try:
        yield Play(game, server, save, witness, events)
        await asyncio.sleep(0)
        assert witness.faults == []
    finally:
        save.close()
        await game.close()
