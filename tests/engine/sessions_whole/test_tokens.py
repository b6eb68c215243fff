"""What a collapse cost is what models took for it: replies that could not be used and drafts that came to nothing among it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from engine.llm.protocol import ModelRequest
from engine.llm.tokens import estimate_tokens

Open = Callable[..., Awaitable[Any]]

LINES = ["I own a boat, the Heron.", "Where does the Heron lie?", "The Heron lies at the north quay."]


async def talked(at: Any) -> None:
    for number, words in enumerate(LINES):
        await at.say(("en_mira", "en_bob")[number % 2], words, ("Bob", "Mira")[number % 2])


def spent(at: Any, replies: list[str]) -> int:
    """Tokens of all that was asked for sessions and knowledge, and of the replies."""
    return sum(estimate_tokens(request.text) for request in at.voices.asked("collapse", "validate")) + sum(map(estimate_tokens, replies))


async def test_a_reply_that_had_to_be_asked_for_twice_counts_twice(table: Open, made: Any) -> None:
    at = await table()
    await talked(at)
    replies = ["I would rather not.", made.reply(made.fact("P2 owns a boat, the Heron.", "M1", about="P2"))]
    at.voices.script["collapse"] = list(replies)
    run = await at.collapse("en_bob", "en_mira")
    assert run.status == "committed"
    assert len(at.voices.asked("collapse")) == 2
    assert run.summary.llm_tokens_used == spent(at, replies)


async def test_what_judged_a_statement_counts_with_its_first_try(table: Open, made: Any) -> None:
    at = await table()
    await at.game.knowledge.add("en_bob", "{{e:en_mira}} keeps her boat at the south quay.", topic="mira_boat", subject="en_mira")
    await talked(at)
    collapse = made.reply(made.fact("P2's boat lies at the north quay.", "M3", about="P2", topic="mira_boat"))
    verdicts = ["Hm.", made.verdict("contradicted", "K1")]
    at.voices.script |= {"collapse": [collapse], "validate": list(verdicts)}
    run = await at.collapse("en_bob", "en_mira")
    assert (run.added, run.retired) == (1, 1)
    assert run.summary.llm_tokens_used == spent(at, [collapse, *verdicts])


async def test_a_draft_that_was_overtaken_counts_with_the_one_that_was_written(table: Open, made: Any) -> None:
    at = await table()
    await at.game.knowledge.add("en_bob", "{{e:en_mira}} keeps her boat at the south quay.", topic="mira_boat", subject="en_mira")
    await talked(at)
    asked, go = asyncio.Event(), asyncio.Event()
    text = made.reply(made.fact("P2's boat lies at the north quay.", "M3", about="P2", topic="mira_boat"))
    verdict = made.verdict("unrelated")

    async def slow(_: ModelRequest) -> str:
        asked.set()
        await go.wait()
        return str(verdict)

    at.voices.script |= {"collapse": [text, text], "validate": [slow, verdict]}
    session = await at.session("en_bob", "en_mira")
    await at.game.sessions.collapse(session.id)
    await asked.wait()
    await at.game.knowledge.add("en_bob", "The tide turns at six.")
    go.set()
    await at.game.settled()
    [run] = await at.game.sessions.runs(session.id)
    assert (run.status, len(at.voices.asked("collapse"))) == ("committed", 2)
    assert run.summary is not None
    assert run.summary.llm_tokens_used == spent(at, [text, verdict] * 2)
