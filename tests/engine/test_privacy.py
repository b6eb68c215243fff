"""Invariant 1 over a whole run of the bundled world: what every model call was shown, against what its character may know."""

import asyncio
import re
import sqlite3
from pathlib import Path

import pytest

from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.llm.protocol import Completion, ModelRequest
from engine.records.intents import Intent
from engine.records.world import World
from engine.setup import Setup

ROUNDS = 25


def word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[ModelRequest], World, Path]:
    return asyncio.run(_run(tmp_path_factory.mktemp("privacy") / "run.db"))


async def _run(save: Path) -> tuple[list[ModelRequest], World, Path]:
    requests: list[ModelRequest] = []

    def keep(request: ModelRequest, completion: Completion) -> None:
        requests.append(request)

    [world] = [info.path for info in bundled_worlds() if info.slug == "salt-lantern"]
    game = await Game.create(world, save, seed=7, setup=Setup(sink=keep))
    began = game.world
    for _ in range(ROUNDS):
        await game.step()
    await game.close()
    return requests, began, save


def test_no_prompt_holds_an_id(run: tuple[list[ModelRequest], World, Path]) -> None:
    requests, world, _ = run
    ids = [*world.entities, *world.places, *world.portals]
    found = re.compile("|".join([*(word(i).pattern for i in ids), r"\b(?:buf|led|run)-\d+", r"\{\{e:"]))
    assert [(r.task, r.entity, hit.group()) for r in requests if (hit := found.search(r.text))] == []


def test_no_prompt_holds_a_private_value_of_somebody_else(run: tuple[list[ModelRequest], World, Path]) -> None:
    requests, world, _ = run
    secrets = [(entity.id, a) for entity in world.entities.values() for a in entity.attributes.values()
               if not a.public and a.name != "name" and len(a.value) > 8]
    assert secrets
    leaks = [
        (r.task, r.entity, owner, attribute.name)
        for r in requests for owner, attribute in secrets
        if not attribute.may_know(r.entity) and attribute.value.split("{{")[0].strip()[:60] in r.text
    ]
    assert leaks == []


def test_no_prompt_holds_a_name_before_it_was_heard(run: tuple[list[ModelRequest], World, Path]) -> None:
    requests, world, save = run
    heard: dict[str, list[tuple[int, str]]] = {}
    with sqlite3.connect(f"file:{save}?mode=ro", uri=True) as conn:
        for table in ("buffer_entries", "buffer_archive"):
            for owner, round_, intent in conn.execute(f"SELECT owner_id, round, intent_json FROM {table}"):
                heard.setdefault(owner, []).append((round_, Intent.model_validate_json(intent).text))
    known = {
        viewer.id: " ".join([
            *viewer.aliases.values(), *viewer.goals, *viewer.habits, *viewer.voice,
            *(a.value for e in world.entities.values() for a in e.attributes.values() if a.may_know(viewer.id)),
        ])
        for viewer in world.agents()
    }
    names = {part for e in world.agents() for part in (e.value("name") or "").split() if len(part) > 3}
    leaks = []
    for name in sorted(names):
        spoken = word(name)
        for viewer in world.agents():
            first = min((r for r, text in heard.get(viewer.id, []) if spoken.search(text)), default=10**9)
            if spoken.search(known[viewer.id]):
                continue
            leaks += [(r.task, r.round, viewer.id, name) for r in requests
                      if r.entity == viewer.id and r.round < first and spoken.search(r.text)]
    assert leaks == []
