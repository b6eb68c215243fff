"""Twenty sessions of small talk, none like another: no model is asked, and each summary says why."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Open = Callable[..., Awaitable[Any]]

TALKS = [
    [line for line in talk.splitlines() if not line.startswith("#")]
    for talk in Path(__file__).with_name("small_talk.txt").read_text(encoding="utf-8").split("\n\n")
]


async def test_small_talk_asks_no_model_and_says_why(table: Open) -> None:
    at = await table()
    assert len(TALKS) == 20
    for talk in TALKS:
        session = await at.game.sessions.start("en_bob", "en_mira")
        for number, words in enumerate(talk):
            await at.game.sessions.add_turn(session.id, "agent" if number % 2 else "actor", words)
        await at.rest()
        [run] = await at.game.sessions.runs(session.id)
        assert (run.reason, run.status, run.gate.asked, run.model) == ("inactivity", "skipped", False, ""), talk
        assert run.summary is not None
        assert run.summary.goal == f"nothing was taken from it: {run.gate.reason}"
        assert run.gate.reason.startswith(("small talk", "nothing in it recurs"))
        assert (run.summary.llm_tokens_used, run.summary.turns_processed, run.summary.facts) == (0, len(talk), ())
        assert (await at.game.sessions.get(session.id)).promotion_state == "skipped"
        assert await at.game.sessions.turns(session.id) == []
    assert at.voices.asked("collapse", "validate") == []
    assert await at.known("en_bob") == []
    skipped = await at.game.knowledge.audit(owner="en_bob", actions=["skipped"])
    assert len(skipped) == 20


async def test_one_small_talk_told_over_and_over_is_small_talk_still(table: Open) -> None:
    at = await table()
    session = await at.game.sessions.start("en_bob", "en_mira")
    for talk in (TALKS[1], TALKS[15], TALKS[1], TALKS[15]):
        for number, words in enumerate(talk):
            await at.game.sessions.add_turn(session.id, "agent" if number % 2 else "actor", words)
    await at.rest()
    [run] = await at.game.sessions.runs(session.id)
    assert (run.status, run.gate.asked) == ("skipped", False)
    assert at.voices.asked("collapse") == []
