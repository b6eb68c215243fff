"""Where a piece of knowledge comes from is told after the collapse, too: who said what, when, in the viewer's names."""

import asyncio
from pathlib import Path

from engine.game import Game
from engine.records.sessions import CollapsePolicy
from tests.engine.test_beside import WORLD
from tests.tui.calling import Caller, call

__all__ = ["call"]

_POLICY = CollapsePolicy(min_turns=1, skip_llm_if_below_threshold=False)


async def _inn(folder: Path) -> Game:
    (folder / "inn").mkdir()
    (folder / "inn" / "world.yaml").write_text(WORLD + "policies: {sessions: {pairs: all}}\n")
    return await Game.create(folder / "inn", folder / "inn.db")


async def _collapsed(game: Game, session: str) -> None:
    await game.sessions.collapse(session)
    await game.sessions.over(session)
    await game.settled()
    assert not await game.sessions.turns(session)


async def test_what_was_heard_in_play_leads_to_who_said_it_when_the_turns_are_gone(tmp_path: Path) -> None:
    game = await _inn(tmp_path)
    game.play_as("mira_2")
    await game.step('"I serve the Duke of Marrow, and I fear the sea."')
    [session] = [one for one in await game.sessions.list(limit=9) if (one.agent_id, one.actor_id) == ("bob", "mira_2")]
    [turn] = [one for one in await game.sessions.turns(session.id) if one.speaker_id == "mira_2"]
    await game.sessions.pin(session.id, turn.id)
    await _collapsed(game, session.id)
    piece = next(line for line in await game.knowledge.known_by("bob") if "serves the Duke" in line.text)
    [source] = await game.knowledge.sources(piece.row.id)
    assert (source.session_id, source.speaker, source.round) == (session.id, "Mira Vance", 1)
    assert source.text == turn.content
    [seen] = await game.knowledge.sources(piece.row.id, "gareth_3")
    assert seen.speaker == "The thin woman"
    await game.close()


def test_turns_by_hand_are_told_from_the_collapse_that_took_them(tmp_path: Path, call: Caller) -> None:
    piece = asyncio.run(_by_hand(tmp_path))
    shown = call("knowledge", "show", tmp_path / "inn.db", piece).out
    assert 'Mira Vance: "Gareth owns a boat." (just now, round 0)' in shown


async def _by_hand(folder: Path) -> str:
    game = await _inn(folder)
    session = await game.sessions.start("bob", "mira_2", _POLICY)
    await game.sessions.add_turn(session.id, "actor", "Good evening to you.")
    await game.sessions.add_turn(session.id, "actor", "Gareth owns a boat.")
    await _collapsed(game, session.id)
    [piece] = await game.knowledge.list()
    [source] = await game.knowledge.sources(piece.row.id, "bob")
    assert (source.speaker, source.text, source.said) == ("Mira", "Gareth owns a boat.", True)
    [run] = await game.sessions.runs(session.id)
    assert [turn.content for turn in run.kept] == ["Gareth owns a boat."]
    await game.close()
    return piece.row.id
