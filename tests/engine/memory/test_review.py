"""With review on, a handoff waits for a person and goes where the person says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import HandoffError, ModelError
from engine.events import HandoffCommitted, HandoffProposed, ProposalClosed
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.handoff.engine import HandoffEngine
from engine.records.authored import AuthoredWorld
from engine.records.policies import Policies
from engine.records.review import ChunkEdit
from engine.storage.store import Store
from tests.engine.memory.reviewing import ASK, BRYN, OWNER, STRANGER, answer, fates

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk


async def test_a_proposal_waits_and_nothing_is_written(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    before = await desk.rows()
    engine = desk.engine(answer(wire), policy=ASK)
    assert await engine.run_all(desk.world) == ()
    assert await desk.rows() == before
    assert await desk.runs() == []
    [pending] = await engine.review.pending()
    assert pending == await engine.review.pending_of(OWNER)
    assert (pending.round, pending.timestamp, pending.verdicts, pending.attempt) == (20, desk.inn.now, ("open", "open"), 0)
    assert [chunk.content for chunk in pending.proposal.chunks] == [
        f"{STRANGER} asked {BRYN} for a room.", f"{BRYN} set a mug before {STRANGER}.",
    ]  # fmt: skip
    told = desk.events[-1]
    assert isinstance(told, HandoffProposed)
    assert (told.entity, told.pending) == (OWNER, pending)


async def test_no_second_call_is_made_while_a_proposal_waits(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire))
    await desk.fill(desk.inn.talk(30, oldest=279, newest=200))
    for number in range(1, 9):
        assert await engine.run_all(desk.world.model_copy(update={"round": 20 + number})) == ()
    assert await engine.propose(desk.world, OWNER) is None
    assert len(desk.model.requests) == 1
    assert (await engine.due(desk.world, OWNER))[0].trigger == "involuntary"


async def test_one_mind_that_waits_holds_up_no_other(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire), wire.reply(wire.chunk(["M1"], "P2 spoke of an anchor.")))
    await desk.fill([e.model_copy(update={"owner_id": "en_smith"}) for e in desk.inn.talk(21, oldest=300, newest=200)])
    await engine.run_all(desk.world)
    assert [pending.proposal.owner_id for pending in await engine.review.pending()] == [OWNER, "en_smith"]
    engine.review_mode = "auto"
    await engine.review.reject(desk.world, "en_smith")
    assert [pending.proposal.owner_id for pending in await engine.review.pending()] == [OWNER]


async def test_all_accepted_gives_what_no_review_gives(desk: Desk, wire: Any, tmp_path: Path) -> None:
    engine = await desk.asked(answer(wire, retainInBuffer=True))
    await wire.judged(engine, "accepted", "accepted")
    run = await engine.review.finish(desk.world, OWNER)
    plain = wire.desk(desk.inn, await Store.create(tmp_path / "plain.db", AuthoredWorld(world=desk.inn.world())), desk.inn.world())
    try:
        await plain.old_pool()
        [other] = await plain.engine(answer(wire, retainInBuffer=True)).run_all(plain.world)
        assert await desk.rows() == await plain.rows()
    finally:
        await plain.store.close()
    assert run == other.model_copy(update={"decision": "accepted"})
    assert await engine.review.pending() == []


async def test_a_rejected_chunk_is_forgotten_with_its_sources(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire))
    await wire.judged(engine, "rejected", "accepted")
    run = await engine.review.finish(desk.world, OWNER)
    assert (run.status, run.decision, run.added, run.promoted, run.forgotten) == ("committed", "accepted", 1, 1, 3)
    assert run.notes == ("1 chunk rejected by hand",)
    assert [entry.content for entry in await desk.ledger()] == [f"{BRYN} set a mug before {STRANGER}."]
    assert await fates(desk) == {"1": "forgotten", "2": "promoted", "3": "forgotten", "4": "forgotten"}
    committed, closed = desk.events[-2:]
    assert isinstance(committed, HandoffCommitted)
    assert (committed.run, len(committed.ledger), len(committed.forgotten_ids)) == (run, 1, 3)
    assert isinstance(closed, ProposalClosed)
    assert (closed.entity, closed.reason) == (OWNER, "accepted")


async def test_with_every_chunk_rejected_the_pool_is_forgotten(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire))
    await wire.judged(engine, "rejected", "rejected")
    run = await engine.review.finish(desk.world, OWNER)
    assert (run.status, run.added, run.promoted, run.forgotten) == ("committed", 0, 0, 4)
    assert run.notes == ("2 chunks rejected by hand",)
    assert await desk.ledger() == []
    assert len(await desk.buffer()) == 8


async def test_a_rejected_chunk_over_a_thread_leaves_the_ledger_as_it_was(desk: Desk, wire: Any) -> None:
    thread = wire.chunk(["M1"], "P2 is hunted.", retainInBuffer=True)
    engine = await desk.going_on(wire.reply(thread), wire.reply(wire.chunk(["M1", "M2"], "P2 is caught.")))
    before = await desk.ledger()
    pending = await engine.review.pending_of(OWNER)
    assert pending is not None
    assert pending.proposal.chunks[0].updates == before[0].id
    await wire.judged(engine, "rejected")
    run = await engine.review.finish(desk.world, OWNER)
    assert (run.added, run.updated, run.promoted) == (0, 0, 1)  # what the ledger holds already is promoted, not forgotten
    assert await desk.ledger() == before


async def test_what_the_ledger_says_already_needs_no_word_and_can_be_judged_all_the_same(desk: Desk, wire: Any) -> None:
    thread = wire.chunk(["M1"], "P2 is hunted.", retainInBuffer=True)
    again = wire.reply(thread, wire.chunk(["M2"], "P2 spoke of an anchor."))
    engine = await desk.going_on(wire.reply(thread), again, wire.reply(thread), wire.reply(wire.chunk(["M1", "M2"], "P2 is caught.")))
    before = await desk.ledger()
    pending = await engine.review.pending_of(OWNER)
    assert pending is not None
    assert (pending.verdicts, pending.proposal.chunks[0].updates) == (("accepted", "open"), before[0].id)
    assert (await engine.review.reroll(desk.world, OWNER, 0)).verdicts == ("open", "open")
    assert (await engine.review.reroll(desk.world, OWNER)).verdicts == ("open",)
    assert (await engine.review.judge(OWNER, 0, "rejected")).verdicts == ("rejected",)


async def test_a_proposal_without_news_waits_for_its_end_only(desk: Desk, wire: Any) -> None:
    thread = wire.reply(wire.chunk(["M1"], "P2 is hunted.", retainInBuffer=True))
    engine = await desk.going_on(thread, thread)
    before = await desk.ledger()
    run = await engine.review.finish(desk.world, OWNER)
    assert (run.decision, run.added, run.updated, run.pinned) == ("accepted", 0, 0, 1)
    assert await desk.ledger() == before


async def test_what_the_checks_left_undecided_stays(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(wire.reply(wire.chunk(["M1"], "I was asked for a room."), wire.chunk(["M2"], "P1 set a mug down.")))
    await wire.judged(engine, "rejected")
    run = await engine.review.finish(desk.world, OWNER)
    assert (await fates(desk))["1"] == "buffer"
    assert run.forgotten == 3
    assert "rejected: it is told in the first person" in run.notes[0]


async def test_finish_waits_for_every_verdict(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire))
    before = await desk.rows()
    await wire.judged(engine, "accepted")
    with pytest.raises(HandoffError, match="1 chunk is not decided yet"):
        await engine.review.finish(desk.world, OWNER)
    await wire.judged(engine, "accepted", "accepted")
    await wire.judged(engine, "open")
    with pytest.raises(HandoffError):
        await engine.review.finish(desk.world, OWNER)
    assert await desk.rows() == before
    assert await desk.runs() == []


async def test_mistakes_of_the_person_are_said_and_change_nothing(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire))
    before = await engine.review.pending()
    for index in (-1, 2):
        with pytest.raises(HandoffError, match="The proposal has 2 chunks"):
            await engine.review.judge(OWNER, index, "accepted")
        with pytest.raises(HandoffError, match="There is no chunk"):
            await engine.review.edit(desk.world, OWNER, index, ChunkEdit(importance=2))
        with pytest.raises(HandoffError, match="There is no chunk"):
            await engine.review.reroll(desk.world, OWNER, index)
    with pytest.raises(HandoffError, match="no verdict"):
        await engine.review.judge(OWNER, 0, "perhaps")  # type: ignore[arg-type]
    assert await engine.review.pending() == before
    assert len(desk.model.requests) == 1


async def test_where_nothing_waits_nothing_can_be_done(desk: Desk) -> None:
    review = desk.engine(policy=ASK).review
    for attempt in (
        review.judge(OWNER, 0, "accepted"), review.edit(desk.world, OWNER, 0, ChunkEdit()), review.reroll(desk.world, OWNER),
        review.finish(desk.world, OWNER), review.reject(desk.world, OWNER),
    ):
        with pytest.raises(HandoffError, match="No proposal waits"):
            await attempt
    assert await review.pending_of(OWNER) is None


async def test_a_restart_loses_neither_the_proposal_nor_the_verdicts(desk: Desk, wire: Any, tmp_path: Path) -> None:
    engine = await desk.asked(answer(wire))
    await wire.judged(engine, "rejected")
    edited = await engine.review.edit(desk.world, OWNER, 1, ChunkEdit(content="The wet stranger got a mug.", importance=2))
    before = await desk.rows()
    await desk.store.close()
    desk.store = await Store.open(tmp_path / "inn.db")
    try:
        engine = desk.engine(policy=ASK)
        assert await engine.review.pending_of(OWNER) == edited
        assert await desk.rows() == before
        assert await engine.run_all(desk.world) == ()
        run = await engine.review.finish(desk.world, OWNER)
        assert (run.added, run.decision) == (1, "accepted")
        assert run.notes == ("1 chunk rejected by hand", "1 chunk edited by hand")
        [entry] = await desk.ledger()
        assert (entry.content, entry.importance) == (f"{STRANGER} got a mug.", 2)
        ids, _ = await desk.store.db.read(lambda conn: desk.store.embeddings.of_owner(conn, OWNER, "hash768"))
        assert ids == [entry.id]
    finally:
        await desk.store.close()


async def test_a_rejected_proposal_is_not_made_again_before_a_batch_has_come(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire), answer(wire))
    before = await desk.rows()
    run = await engine.review.reject(desk.world, OWNER)
    assert (run.status, run.decision, run.added, run.forgotten) == ("failed", "rejected", 0, 0)
    assert run.candidate_ids == tuple(f"buf-{n:06d}" for n in range(1, 5))
    assert await desk.runs() == [run]
    assert await desk.rows() == before
    closed = desk.events[-1]
    assert isinstance(closed, ProposalClosed)
    assert closed.reason == "rejected"
    for number in range(1, 20):  # nothing new: however long
        assert await engine.run_all(desk.world.model_copy(update={"round": 20 + number})) == ()
    await desk.fill(desk.inn.talk(3, oldest=279, newest=270))
    await engine.run_all(desk.world)
    assert await engine.review.pending() == []
    engine.review_mode = "auto"
    assert await engine.run_all(desk.world) == ()  # also with review off: the person has said no
    engine.review_mode = "ask"
    await desk.fill(desk.inn.talk(1, oldest=269, newest=269))
    await engine.run_all(desk.world)
    [pending] = await engine.review.pending()
    assert len(pending.proposal.candidates) == 8
    assert len(desk.model.requests) == 2


async def test_review_switched_off_leaves_what_waits_waiting(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire), wire.reply(wire.chunk(["M1"], "Somebody spoke of a drum.")))
    assert engine.review_mode == "ask"
    engine.review_mode = "auto"
    await desk.fill(desk.inn.talk(21, oldest=279, newest=200))
    assert await engine.run_all(desk.world) == ()
    await wire.judged(engine, "accepted", "accepted")
    await engine.review.finish(desk.world, OWNER)
    [run] = await engine.run_all(desk.world)
    assert (run.status, run.decision) == ("committed", "auto")
    assert await engine.review.pending() == []


async def test_memories_are_embedded_when_they_are_committed(desk: Desk, wire: Any, tmp_path: Path) -> None:
    engine = await desk.asked(answer(wire))
    pending = await engine.review.pending_of(OWNER)
    assert pending is not None
    assert pending.proposal.vectors == ()
    await wire.judged(engine, "accepted", "rejected")
    before = await engine.review.pending()
    broken = desk.engine(policy=ASK, embedder=wire.broken("nan"))
    rows = await desk.rows()
    with pytest.raises(ModelError):
        await broken.review.finish(desk.world, OWNER)
    assert (await engine.review.pending(), await desk.rows()) == (before, rows)  # it waits on
    named = _Renamed(wire.broken("", after=99))
    await desk.engine(policy=ASK, embedder=named).review.finish(desk.world, OWNER)
    [entry] = await desk.ledger()
    held = await desk.store.db.read(lambda conn: desk.store.embeddings.of_owner(conn, OWNER, "another"))
    assert held[0] == [entry.id]


class _Renamed:
    """Another embedder than the one that was there when the proposal was made."""

    name, meaning, same, merge = "another", 0.3, 0.94, 0.94

    def __init__(self, inner: Any) -> None:
        self._inner, self.dim = inner, inner.dim

    async def embed(self, texts: Sequence[str]) -> Any:
        return await self._inner.embed(texts)


async def test_how_long_the_model_thought_is_logged_with_the_run_and_kept_nowhere_else(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    ticks = iter(range(0, 1000, 3))
    model = Scripted([answer(wire), answer(wire)])
    engine = HandoffEngine(
        desk.store, Router(model), desk.embedder, Policies(handoff=ASK), desk.events.append, lambda: float(next(ticks))
    )
    await engine.run_all(desk.world)
    pending = await engine.review.reroll(desk.world, OWNER)
    assert pending.proposal.seconds == 0.0
    await wire.judged(engine, "accepted", "accepted")
    run = await engine.review.finish(desk.world, OWNER)
    assert await desk.store.db.read(lambda conn: conn.execute("SELECT run_id, seconds FROM run_log").fetchall()) == [(run.id, 6.0)]
