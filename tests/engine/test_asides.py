"""What a save tells of minds beside its story, as the narrator and as one of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.asides import Aside
from engine.events import AliasLearned, EngineEvent, HandoffCommitted
from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.records.memory import AliasChange, HandoffRun
from engine.records.review import PendingProposal

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")


@pytest.fixture
async def game(tmp_path: Path) -> AsyncIterator[Game]:
    made = await Game.create(WORLD, tmp_path / "a.db", 7)
    yield made
    await made.close()


def owner(aside: Aside) -> str:
    what = aside.what
    if isinstance(what, AliasChange):
        return what.viewer_id
    return what.owner_id if isinstance(what, HandoffRun) else what.proposal.owner_id


async def test_all_that_was_told_live_is_told_again(game: Game) -> None:
    heard: list[EngineEvent] = []
    game.listen(heard.append)
    for _ in range(5):
        await game.step()
    runs = [event.run.id for event in heard if isinstance(event, HandoffCommitted)]
    changes = [event.change for event in heard if isinstance(event, AliasLearned)]
    found = await game.asides(None)
    assert [one.what.id for one in found if isinstance(one.what, HandoffRun)] == runs
    assert [one.what for one in found if isinstance(one.what, AliasChange)] == changes
    assert runs
    assert changes
    assert [(one.round, one.at) for one in found] == sorted((one.round, one.at) for one in found)
    assert all(one.what.prompt == "" for one in found if isinstance(one.what, HandoffRun))


async def test_a_player_hears_of_its_own_mind_by_its_own_names(game: Game) -> None:
    for _ in range(6):
        await game.step()
    told = 0
    for agent in game.world.agents():
        true = {game.name(one) for one in game.world.entities if one != agent.id}
        for one in await game.asides(agent.id):
            assert owner(one) == agent.id
            assert one.who == game.name(agent.id)
            if isinstance(one.what, AliasChange):
                told += 1
                assert one.whom
                assert one.whom == one.what.old or one.whom not in true
    assert told


async def test_rounds_before_and_what_is_too_much_are_left_out(game: Game) -> None:
    for _ in range(5):
        await game.step()
    everything = await game.asides(None)
    assert [one for one in everything if one.round >= 3] == list(await game.asides(None, 3))
    few = await game.asides(None, limit=1)
    kinds = [type(one.what) for one in few]
    assert sorted(kind.__name__ for kind in kinds) == ["AliasChange", "HandoffRun"]
    last = [one for one in everything if isinstance(one.what, HandoffRun)][-1]
    assert last in few


async def test_what_waits_and_what_was_rejected_is_told(game: Game) -> None:
    await game.memory.set_review("ask")
    await game.step()
    waiting = await game.memory.pending()
    assert [one.what for one in await game.asides(None)] == list(waiting)
    await game.memory.reject(waiting[0].proposal.owner_id)
    mine, everything = await game.asides(waiting[0].proposal.owner_id), await game.asides(None)
    last = everything[-1]
    assert not any(isinstance(one.what, PendingProposal) for one in mine)
    assert isinstance(last.what, HandoffRun)
    assert (last.what.decision, last.first) == ("rejected", False)
