"""Parts of a proposal asked for anew, and what changes under a proposal that waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import HandoffError, ModelError
from engine.events import HandoffFailed, HandoffProposed, ProposalClosed
from engine.llm.hashing import Hash768
from engine.llm.protocol import ModelRequest
from engine.records.prompts import split_sections
from engine.records.review import ChunkEdit
from tests.engine.memory.reviewing import ASK, BRYN, OWNER, STRANGER, answer, fates

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk


async def test_one_chunk_asked_for_anew_may_become_several(desk: Desk, wire: Any) -> None:
    two = wire.reply(wire.chunk(["M2"], "P1 thought that P2 was running."), wire.chunk(["M1"], "P2 wanted a bed.", importance=3))
    engine = await desk.asked(answer(wire), two)
    await wire.judged(engine, "open", "rejected")
    pending = await engine.review.reroll(desk.world, OWNER, 0)
    assert [(chunk.source_ids, chunk.content) for chunk in pending.proposal.chunks] == [
        (("buf-000003",), f"{BRYN} thought that {STRANGER} was running."),
        (("buf-000001",), f"{STRANGER} wanted a bed."),
        (("buf-000002",), f"{BRYN} set a mug before {STRANGER}."),
    ]
    assert (pending.verdicts, pending.attempt) == (("open", "open", "rejected"), 1)
    told = desk.events[-1]
    assert isinstance(told, HandoffProposed)
    assert told.pending == pending == await engine.review.pending_of(OWNER)
    first, second = desk.model.requests
    assert first.seed == desk.world.seed != second.seed
    assert [line[:2] for line in split_sections(second.text)["ENTRIES"].splitlines()] == ["M1", "M2"]
    assert "mug" not in split_sections(second.text)["ENTRIES"]
    await wire.judged(engine, "accepted", "accepted")
    run = await engine.review.finish(desk.world, OWNER)
    assert (run.added, run.promoted, run.forgotten) == (2, 2, 2)
    assert run.notes == ("chunk 1 was asked for anew", "1 chunk rejected by hand")
    assert run.reply.endswith(two)


async def test_what_a_new_answer_leaves_out_is_forgotten_and_what_it_spoils_stays(desk: Desk, wire: Any) -> None:
    first = wire.reply(wire.chunk(["M1", "M2", "M3", "M4"], "P2 asked P1 for a room."))
    spoiled = wire.reply(wire.chunk(["M1"], "P2 wanted a bed."), wire.chunk(["M2"], "I set a mug down."))
    engine = await desk.asked(first, spoiled)
    await engine.review.reroll(desk.world, OWNER, 0)
    await wire.judged(engine, "accepted")
    await engine.review.finish(desk.world, OWNER)
    assert await fates(desk) == {"1": "promoted", "2": "buffer", "3": "forgotten", "4": "forgotten"}


async def test_the_whole_pool_can_be_asked_for_anew(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(
        wire.reply(wire.chunk(["M1"], "I was asked."), wire.chunk(["M2"], "P1 set a mug down.")),
        wire.reply(wire.chunk(["M1", "M2", "M3", "M4"], "P2 asked for a room.")),
        wire.reply(wire.chunk(["M4"], "P1 wiped the counter.")),
    )
    await wire.judged(engine, "rejected")
    pending = await engine.review.reroll(desk.world, OWNER)
    assert pending.proposal.chunks[0].source_ids == tuple(f"buf-{n:06d}" for n in range(1, 5))  # the spoiled one gets another chance
    assert (pending.verdicts, pending.attempt) == (("open",), 1)
    pending = await engine.review.reroll(desk.world, OWNER)
    assert (pending.proposal.chunks[0].source_ids, pending.attempt) == (("buf-000004",), 2)
    assert len({request.seed for request in desk.model.requests}) == 3
    assert await engine.review.pending() == [pending]


BAD: dict[str, tuple[str | ModelError, ...]] = {
    "model error": (ModelError("The model is gone."),),
    "no json": ("No.", "No."),
    "no chunk": ('{"chunks":[]}',),
    "foreign sources": ('{"chunks":[{"sourceEntryIds":["M3"],"content":"P1 set a mug down.","quotes":[],"importance":5,'
                        '"involvedEntityIds":[],"retainInBuffer":false}]}',),
}  # fmt: skip
ONE_ONLY = ("foreign sources", None)
"""M3 is a moment of the whole pool."""


@pytest.mark.parametrize(("fault", "index"), [(fault, index) for fault in BAD for index in (0, None) if (fault, index) != ONE_ONLY])
async def test_a_new_answer_that_cannot_be_used_changes_nothing(desk: Desk, wire: Any, fault: str, index: int | None) -> None:
    engine = await desk.asked(answer(wire), *BAD[fault], answer(wire))
    await wire.judged(engine, "accepted", "rejected")
    before, rows = await engine.review.pending(), await desk.rows()
    with pytest.raises((HandoffError, ModelError)):
        await engine.review.reroll(desk.world, OWNER, index)
    assert (await engine.review.pending(), await desk.rows()) == (before, rows)
    assert await desk.runs() == []
    await engine.review.reroll(desk.world, OWNER)
    assert len({request.seed for request in desk.model.requests}) == 3  # a try that failed is not tried again with its seed


async def test_new_chunks_leave_the_entries_of_others_alone(desk: Desk, wire: Any) -> None:
    threads = wire.reply(wire.chunk(["M1", "M2"], "P2 is hunted.", retainInBuffer=True))
    both = wire.reply(wire.chunk(["M1"], "P2 is caught."), wire.chunk(["M2", "M3"], "P1 took the mug back."))
    again = wire.reply(wire.chunk(["M1", "M2"], "P1 wanted that mug."))
    engine = await desk.going_on(threads, both, again)
    [thread] = await desk.ledger()
    pending = await engine.review.reroll(desk.world, OWNER, 1)
    assert [chunk.updates for chunk in pending.proposal.chunks] == [thread.id, None]
    await wire.judged(engine, "accepted", "accepted")
    run = await engine.review.finish(desk.world, OWNER)
    assert (run.added, run.updated) == (1, 1)


async def test_an_edit_while_the_model_thinks_stands(desk: Desk, wire: Any) -> None:
    await desk.old_pool()

    async def think(request: ModelRequest) -> str:
        if request.seed != desk.world.seed:
            await engine.review.edit(desk.world, OWNER, 1, ChunkEdit(importance=1))
        return answer(wire)

    engine = desk.thinking(think, ASK)
    await engine.run_all(desk.world)
    with pytest.raises(HandoffError, match="changed while the model thought"):
        await engine.review.reroll(desk.world, OWNER, 0)
    pending = await engine.review.pending_of(OWNER)
    assert pending is not None
    assert (pending.proposal.chunks[1].importance, pending.verdicts, pending.attempt) == (1, ("open", "accepted"), 0)


async def test_a_verdict_while_the_model_thinks_stands(desk: Desk, wire: Any) -> None:
    await desk.old_pool()

    async def think(request: ModelRequest) -> str:
        if request.seed == desk.world.seed:
            return answer(wire)
        await engine.review.judge(OWNER, 1, "rejected")
        return str(wire.reply(wire.chunk(["M1"], "P2 wanted a bed.")))

    engine = desk.thinking(think, ASK)
    await engine.run_all(desk.world)
    assert (await engine.review.reroll(desk.world, OWNER, 0)).verdicts == ("open", "rejected")


async def _pin(desk: Desk) -> None:
    await desk.pin("buf-000001", "hand")


async def _rewrite(desk: Desk) -> None:
    [entry] = await desk.ledger()
    by_hand = desk.inn.memory("{{e:en_stranger}} is hunted, by hand.", 5)
    await desk.store.db.write(lambda conn: desk.store.ledger.rewrite(conn, entry.id, by_hand, (), "is hunted by hand"))


async def _remove(desk: Desk) -> None:
    [entry] = await desk.ledger()
    await desk.store.db.write(lambda conn: desk.store.ledger_archive.archive(conn, [entry.id], "removed", 20))


@pytest.mark.parametrize("by", ["finish", "reroll"])
@pytest.mark.parametrize("change", [_pin, _rewrite, _remove])
async def test_what_was_changed_by_hand_meanwhile_closes_the_proposal(desk: Desk, wire: Any, change: Any, by: str) -> None:
    thread = wire.chunk(["M1"], "P2 is hunted.", retainInBuffer=True)
    going_on = wire.reply(wire.chunk(["M1", "M2"], "P2 is caught."))
    engine = await desk.going_on(wire.reply(thread), going_on, going_on)
    await wire.judged(engine, "accepted")
    await change(desk)
    before = await desk.rows()
    doing = engine.review.finish(desk.world, OWNER) if by == "finish" else engine.review.reroll(desk.world, OWNER, 0)
    with pytest.raises(HandoffError, match="One memory was changed"):
        await doing
    assert await desk.rows() == before
    assert await engine.review.pending() == []
    failed, closed = desk.events[-2:]
    assert isinstance(failed, HandoffFailed)
    assert (failed.run.status, failed.run.decision, failed.run.added) == ("failed", "accepted", 0)
    assert (await desk.runs())[0] == failed.run
    assert isinstance(closed, ProposalClosed)
    assert "changed" in closed.reason
    await engine.run_all(desk.world)
    assert await engine.review.pending_of(OWNER) is not None
    assert len(desk.model.requests) == 3


async def test_a_pin_set_while_the_model_thinks_leaves_no_proposal(desk: Desk, wire: Any) -> None:
    await desk.old_pool()

    async def think(_: ModelRequest) -> str:
        await _pin(desk)
        return answer(wire)

    engine = desk.thinking(think, ASK)
    [run] = await engine.run_all(desk.world)
    assert (run.status, await engine.review.pending()) == ("failed", [])


async def test_a_verdict_while_it_is_being_committed_stops_the_commit(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire))
    await wire.judged(engine, "accepted", "accepted")
    judged = False

    class Slow(Hash768):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            nonlocal judged
            judged = True
            await engine.review.judge(OWNER, 1, "rejected")
            return await super().embed(texts)

    before = await desk.rows()
    with pytest.raises(HandoffError, match="changed while it was being committed"):
        await desk.engine(policy=ASK, embedder=Slow()).review.finish(desk.world, OWNER)
    assert judged
    assert await desk.rows() == before
    pending = await engine.review.pending_of(OWNER)
    assert pending is not None
    assert pending.verdicts == ("accepted", "rejected")
