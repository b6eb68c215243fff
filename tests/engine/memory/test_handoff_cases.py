"""Cases that went wrong elsewhere, each through a whole handoff."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import HandoffError
from engine.llm.protocol import ModelRequest
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.recall.engine import RecallEngine
from engine.records.policies import HandoffPolicy, Policies
from engine.records.prompts import split_sections
from engine.turns.actor import Actor

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk


async def test_what_was_only_thought_is_kept_as_a_thought(desk: Desk, wire: Any) -> None:
    await desk.fill([
        desk.inn.thought("She is running from somebody.", 300), desk.inn.thought("I could hide her in the cellar.", 299),
        desk.inn.did("wiped the counter", 298, by="en_bryn"), desk.inn.thought("Or not.", 297), *desk.inn.talk(8, oldest=290, newest=280),
    ])  # fmt: skip
    desk.world = desk.inn.moved(desk.world, "en_bryn", "pl_quay")
    thoughts = wire.chunk(["M1", "M2"], "P1 thought of hiding a stranger in the cellar.")
    deed = wire.chunk(["M3", "M4"], "P1 wiped the counter in doubt.")
    await desk.engine(wire.reply(thoughts, deed)).run_all(desk.world)
    assert [entry.mode for entry in await desk.ledger()] == ["thought", "done"]


@pytest.mark.parametrize("wrapped", ["<think>{} M1 matters.</think>%s", "<think>never closed, then</think>\n```json\n%s\n```"])
async def test_thoughts_before_the_reply_do_not_count(desk: Desk, wire: Any, wrapped: str) -> None:
    await desk.old_pool()
    [run] = await desk.engine(wrapped % wire.reply(wire.chunk(["M1"], "P2 asked for a room."))).run_all(desk.world)
    assert (run.status, run.added) == ("committed", 1)


async def test_a_reply_cut_in_mid_string_is_not_patched_up(desk: Desk, wire: Any) -> None:
    """What its end would have kept would be forgotten."""
    await desk.old_pool()
    whole = wire.reply(wire.chunk(["M1"], "P2 asked for a room."), wire.chunk(["M2"], "P1 set a mug before P2."))
    cut = whole[: whole.index("before")]
    [run] = await desk.engine(cut, whole).run_all(desk.world)
    assert (run.status, run.added, run.reply) == ("committed", 2, whole)  # the second asking was answered in full
    assert len(desk.model.requests) == 2


async def test_a_pool_handed_over_while_it_waits_is_taken_once(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    answer = wire.reply(wire.chunk(["M1"], "P2 asked for a room."))
    engine = desk.engine(answer, answer, policy=HandoffPolicy(review="ask"))
    first = await engine.propose(desk.world, "en_bryn")
    assert first is not None
    await engine.run_all(desk.world)
    await wire.judged(engine, "accepted")
    await engine.commit(desk.world, first)
    before = await desk.rows()
    with pytest.raises(HandoffError, match="4 memories were changed"):
        await engine.review.finish(desk.world, "en_bryn")
    assert await desk.rows() == before
    assert len(await desk.ledger()) == 1


async def test_two_decisions_at_once_are_one(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(wire.reply(wire.chunk(["M1"], "P2 asked for a room.")))
    await wire.judged(engine, "accepted")
    review = engine.review
    results = await asyncio.gather(
        review.finish(desk.world, "en_bryn"), review.finish(desk.world, "en_bryn"), review.reject(desk.world, "en_bryn"),
        return_exceptions=True,
    )
    assert sum(isinstance(result, HandoffError) for result in results) == 2
    assert len(await desk.ledger()) <= 1
    assert len(await desk.runs()) == 1


async def test_200_lines_in_20_minutes_and_none_is_out_of_mind_at_any_time(desk: Desk, wire: Any) -> None:
    """Every line is in the prompt, or in a memory that has it as a source; and the buffer stays within its bound."""

    async def think(request: ModelRequest) -> str:
        handles = re.findall(r"^(M\d+) ", split_sections(request.text)["ENTRIES"], re.MULTILINE)
        lines = re.findall(r"Line (\d+)", request.text)
        return str(wire.reply(wire.chunk(handles, f"P2 said lines {lines[0]} to {lines[-1]}.", importance=4)))

    engine, policies = desk.thinking(think), Policies()
    actor = Actor(desk.store, Router(Scripted()), RecallEngine(desk.store, desk.embedder, policies), policies)
    written: set[str] = set()
    for line in range(200):
        written |= {entry.id for entry in await desk.fill([desk.inn.said(f"Line {line}.", 20 - line / 10)])}
        await engine.run_all(desk.world)
        assert len(await desk.buffer()) <= 20
        prompt = await actor.draft(desk.world, "en_bryn")
        shown = {source for section in prompt.sections if section.key == "events" for source in section.sources}
        told = {source for entry in await desk.ledger() for source in await desk.sources(entry.id)}
        assert shown | told == written
        assert all(cut.section != "events" for cut in prompt.report.cuts)
    assert all(places in (["buffer"], ["promoted"]) for places in (await desk.whereabouts()).values())
