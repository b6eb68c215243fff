"""A world with prompts of its own: they are what is sent, what runs record, and what a save keeps."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.llm.protocol import Completion, ModelRequest
from engine.past import looking_into
from engine.prompts.templates import built_in
from engine.records.hints import ModelHints
from engine.setup import Setup
from engine.storage.diff import differences
from engine.storage.worlds import WorldRepository

BUNDLED = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")
OWN = {
    "actor.harbour-1": "You are one of the harbour folk.\n---\nSpeak plainly.\n---\nAnd now?\n- Mind the tide.",
    "decode.terse": "Take the prose apart. Answer with JSON only.",
    "referee.stern": "Judge the deed. Answer with JSON only.",
    "handoff.short": "Choose what is remembered. Answer with JSON only.",
}


class Played(NamedTuple):
    """A game of some rounds and what it asked."""

    save: Path
    requests: list[ModelRequest]


def world_in(folder: Path, templates: dict[str, str]) -> Path:
    """The bundled world with templates of its own, and something to suggest."""
    shutil.copytree(BUNDLED, folder)
    (folder / "prompts").mkdir()
    for name, text in templates.items():
        (folder / f"prompts/{name}.txt").write_text(text)
    with (folder / "world.yaml").open("a") as head:
        head.write("models: {actor: {suggest: openai/gpt-5-mini, temperature: 0.9}}\n")
    return folder


async def played(world: Path, save: Path, rounds: int = 6) -> Played:
    requests: list[ModelRequest] = []

    def keep(request: ModelRequest, completion: Completion) -> None:
        requests.append(request)

    game = await Game.create(world, save, 7, setup=Setup(sink=keep))
    try:
        for _ in range(rounds):
            report = await game.step()
            assert report.failed_beats == report.failed_handoffs == 0
    finally:
        await game.close()
    return Played(save, requests)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("own")
    return asyncio.run(played(world_in(folder / "salt-lantern", OWN), folder / "a.db"))


async def test_they_are_what_is_sent(own: Played) -> None:
    named = {request.template for request in own.requests}
    assert named == set(OWN)
    for request in own.requests:
        [first, *rest] = OWN[request.template].split("\n---\n")
        assert request.messages[0].content.startswith(first)
        assert not rest or request.messages[-1].content.endswith(rest[-1])


async def test_they_are_what_runs_record(own: Played) -> None:
    with closing(sqlite3.connect(own.save)) as conn:
        assert conn.execute("SELECT DISTINCT template FROM beats WHERE template != 'schedule'").fetchall() == [("actor.harbour-1",)]
        assert conn.execute("SELECT DISTINCT template FROM handoff_runs").fetchall() == [("handoff.short",)]


async def test_a_save_keeps_them_and_what_the_world_suggests(own: Played, tmp_path: Path) -> None:
    save = tmp_path / "copy.db"
    shutil.copy(own.save, save)
    game = await Game.open(save)
    try:
        assert {template.name for template in game.world.templates.values()} == set(OWN)
        assert (await game.preview(game.world.agents()[0].id)).template == "actor.harbour-1"
    finally:
        await game.close()
    async with looking_into(save, 2) as past:
        assert past.game.world.round == 2
        assert {template.name for template in past.game.world.templates.values()} == set(OWN)
        assert (await past.game.preview(past.game.world.agents()[0].id)).template == "actor.harbour-1"
    with closing(sqlite3.connect(save)) as conn:
        assert WorldRepository().hints(conn) == ModelHints(models={"actor": "openai/gpt-5-mini"}, temperatures={"actor": 0.9})


async def test_equal_games_are_equal_and_others_differ_in_it(own: Played, tmp_path: Path) -> None:
    again = await played(world_in(tmp_path / "salt-lantern", OWN), tmp_path / "again.db")
    assert differences(own.save, again.save) == []
    other = await played(world_in(tmp_path / "other" / "salt-lantern", {**OWN, "decode.terse": "Take it apart."}), tmp_path / "other.db")
    assert [line.split(":")[0] for line in differences(own.save, other.save)] == ["meta templates"]


async def test_a_save_without_any_has_the_built_in_ones(tmp_path: Path) -> None:
    plain = await played(BUNDLED, tmp_path / "plain.db", 3)
    assert {request.template for request in plain.requests} <= {"actor.1", "decode.1", "referee.1", "handoff.1"}
    with closing(sqlite3.connect(plain.save)) as conn:
        assert conn.execute("SELECT count(*) FROM meta WHERE key IN ('templates', 'hints')").fetchone() == (0,)


async def test_one_that_this_version_has_no_use_for_gives_way_to_the_built_in(tmp_path: Path) -> None:
    plain = await played(world_in(tmp_path / "salt-lantern", OWN), tmp_path / "old.db", 1)
    with closing(sqlite3.connect(plain.save)) as conn, conn:
        odd = '{"actor": {"name": "actor.odd", "parts": ["one"]}, "dream": {"name": "dream.x", "parts": ["one"]}}'
        conn.execute("UPDATE meta SET value = ? WHERE key = 'templates'", (odd,))
    game = await Game.open(plain.save)
    try:
        assert game.world.templates == {}
        assert (await game.preview(game.world.agents()[0].id)).template == built_in("actor").name
    finally:
        await game.close()
