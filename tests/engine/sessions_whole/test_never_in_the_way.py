"""Models that are slow over sessions and knowledge: no beat waits, what comes late is written between rounds, and an end loses nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.events import PromotionCommitted, SessionCollapsed
from engine.game import Game
from engine.llm.protocol import ModelRequest

Open = Callable[..., Awaitable[Any]]

LINES = ["I own a boat, the Heron.", "Where does the Heron lie?", "The Heron lies at the north quay."]
BOAT = "{{e:en_mira}} owns a boat, the Heron."
HANGS = 60
"""Seconds after which something that never answers is taken to be waited for."""


class Slow:
    """A model that has not answered yet."""

    def __init__(self, text: str) -> None:
        self.text, self.asked, self.go = text, asyncio.Event(), asyncio.Event()

    async def __call__(self, _: ModelRequest) -> str:
        self.asked.set()
        await self.go.wait()
        return self.text


async def talked(at: Any, lines: list[str] = LINES) -> None:
    for number, words in enumerate(lines):
        await at.say(("en_mira", "en_bob")[number % 2], words, ("Bob", "Mira")[number % 2])


async def begun(at: Any) -> str:
    """Bob's session with Mira, being collapsed; hers with him is discarded."""
    await at.game.sessions.discard((await at.session("en_mira", "en_bob")).id)
    session = await at.session("en_bob", "en_mira")
    await at.game.sessions.collapse(session.id)
    return str(session.id)


@pytest.mark.parametrize("task", ["collapse", "validate"])
async def test_rounds_go_on_while_a_model_thinks_about_a_session(table: Open, made: Any, task: str) -> None:
    at = await table()
    await at.game.knowledge.add("en_bob", "{{e:en_mira}} keeps a boat at the south quay.", topic="mira_boat", subject="en_mira")
    await talked(at)
    collapse = made.reply(made.fact("P2 owns a boat, the Heron.", "M1", about="P2", topic="mira_boat"))
    slow = Slow(collapse if task == "collapse" else made.verdict("unrelated"))
    at.voices.script |= {"collapse": [slow if task == "collapse" else collapse], "validate": [made.verdict("unrelated")]}
    if task == "validate":
        at.voices.script["validate"] = [slow]
    key = await begun(at)
    await slow.asked.wait()
    began = at.game.world.round
    async with asyncio.timeout(HANGS):
        await talked(at, ["And the tide?", "At six.", "Well then."])
        await at.game.step()
    assert at.game.world.round == began + 4
    assert (await at.game.sessions.get(key)).status == "collapsing"
    assert BOAT not in [row.content for row in await at.known("en_bob")]
    slow.go.set()
    await at.game.settled()
    assert BOAT in [row.content for row in await at.known("en_bob")]
    [run] = await at.game.sessions.runs(key)
    assert (run.status, run.summary.turns_processed) == ("committed", 3)
    following = await at.session("en_bob", "en_mira")
    assert following.id != key
    assert [turn.content for turn in await at.turns("en_bob", "en_mira")] == ["And the tide?", "At six.", "Well then."]


async def test_what_comes_within_a_round_is_written_after_it(table: Open, made: Any) -> None:
    at = await table()
    await talked(at)
    slow = Slow(made.reply(made.fact("P2 owns a boat, the Heron.", "M1", about="P2")))
    at.voices.script["collapse"] = [slow]
    key = await begun(at)
    await slow.asked.wait()
    acting = Slow("I wait.")
    at.voices.script["actor"] = [acting]
    at.game.play_as(None)
    playing = asyncio.create_task(at.game.step())
    await acting.asked.wait()
    slow.go.set()
    for _ in range(50):  # long enough for what was drafted to be written, if it were not held back
        await asyncio.sleep(0)
        await at.known("en_bob")
    assert await at.known("en_bob") == []
    assert (await at.game.sessions.get(key)).status == "collapsing"
    number = len(at.events)
    acting.go.set()
    await playing
    await at.game.settled()
    assert [row.content for row in await at.known("en_bob")] == [BOAT]
    names = [type(event).__name__ for event in at.events[number:]]
    assert names.index("RoundEnded") < names.index("SessionCollapsed")


async def test_a_promotion_that_waits_for_a_model_holds_up_nothing(table: Open, made: Any) -> None:
    at = await table("{pairs: all, collapse: {min_turns: 1}}", more="  promotion: {every_hours: 1, age_hours: 0, scope: faction}\n")
    await at.say("en_mira", "I live by the old mill pond.")
    for listener, home in (("en_bob", "P2 lives by the old mill."), ("en_odo", "P2 lives near the mill pond.")):
        at.voices.script["collapse"] = [made.reply(made.fact(home, "M1", about="P2", topic="mira_home"))]
        await at.collapse(listener, "en_mira")
    slow = Slow(made.verdict("unrelated"))
    at.voices.made_up["validate"] = slow
    at.later(3)
    began = at.game.world.round
    async with asyncio.timeout(HANGS):
        await at.say("en_mira", "Good evening.")
        await slow.asked.wait()
        for _ in range(3):
            await at.say("en_mira", "Good evening.")
    assert at.game.world.round == began + 4
    assert [row.term for row in await at.known("en_bob")] == ["short"]
    assert await at.game.knowledge.runs() == []
    slow.go.set()
    await at.game.settled()
    [done] = [event.run for event in at.events if isinstance(event, PromotionCommitted)]
    assert len(done.promoted) == 2
    assert sorted(await at.texts("en_bob")) == sorted(await at.texts("en_odo"))


async def test_an_end_of_the_game_meanwhile_loses_nothing(table: Open, made: Any) -> None:
    at = await table()
    await talked(at)
    slow = Slow("never")
    at.voices.script["collapse"] = [slow]
    key = await begun(at)
    await slow.asked.wait()
    await talked(at, ["And the tide?", "At six."])
    async with asyncio.timeout(HANGS):
        await at.game.close()
    again = type(at)(await Game.open(at.game.path))
    try:
        session = await again.game.sessions.get(key)
        assert session.status in ("collapsing", "collapsed")
        await again.game.settled()
        [run] = await again.game.sessions.runs(key)
        assert (run.status, run.reason) == ("committed", "explicit")
        assert BOAT in [row.content for row in await again.known("en_bob")]
        # all that was said is in the one session or in the next
        assert run.summary is not None
        left = [turn.content for turn in await again.turns("en_bob", "en_mira")]
        assert run.summary.turns_processed + (len(left) if (await again.session("en_bob", "en_mira")).id != key else 0) == 5
        assert len([event for event in again.events if isinstance(event, SessionCollapsed)]) <= 1
    finally:
        await again.game.close()
