"""A chunk in a person's words is held to what a model's is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import HandoffError
from engine.events import HandoffFailed, HandoffProposed
from engine.records.memory import Proposal
from engine.records.policies import HandoffPolicy
from engine.records.review import ChunkEdit, PendingProposal
from engine.records.tokens import token
from engine.records.world import World
from tests.engine.memory.reviewing import ASK, BRYN, OWNER, QUOTE, SAILOR, STRANGER, answer

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk


async def test_an_edit_is_kept_in_tokens_and_accepts_its_chunk(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire))
    edit = ChunkEdit(
        content='The wet stranger told Bryn Harrow "The harbour master is after me", and Reed, whom Ansa Pike knows, was.',
        quotes=("the harbour master\n is after me", "Have you a room?"), importance=10, retain=True,
    )
    with pytest.raises(HandoffError, match="the harbour master is after me"):
        await engine.review.edit(desk.world, OWNER, 0, edit)
    pending = await engine.review.edit(
        desk.world, OWNER, 0, edit.model_copy(update={"quotes": ("The  harbour\nmaster is after me", "", "Have you a room?")})
    )
    chunk = pending.proposal.chunks[0]
    assert pending.verdicts == ("accepted", "open")
    assert chunk.content == f'{STRANGER} told {BRYN} "The harbour master is after me", and {SAILOR}, whom {token("en_smith")} knows, was.'
    assert chunk.quotes == ("The harbour master is after me", "Have you a room?")
    assert (chunk.importance, chunk.retain, chunk.by_hand) == (10, True, True)
    assert set(chunk.involved_entity_ids) == {"en_stranger", "en_sailor", "en_smith"}
    told = desk.events[-1]
    assert isinstance(told, HandoffProposed)
    assert told.pending == pending
    await engine.review.judge(OWNER, 1, "accepted")
    run = await engine.review.finish(desk.world, OWNER)
    assert run.notes == ("1 chunk edited by hand",)
    assert {entry.importance: entry.origin for entry in await desk.ledger()} == {10: "hand", 5: "handoff"}


async def test_an_edit_that_changes_nothing_only_accepts(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire))
    before = await engine.review.pending_of(OWNER)
    assert before is not None
    same = ChunkEdit(content="The wet stranger asked you for a room.", quotes=(QUOTE,), importance=7, retain=False)
    pending = await engine.review.edit(desk.world, OWNER, 0, same)
    assert pending == before.model_copy(update={"verdicts": ("accepted", "open")})


FAULTY: dict[str, tuple[ChunkEdit, str]] = {
    "blank": (ChunkEdit(content="  "), "words|blank"),
    "first person": (ChunkEdit(content="I gave him a room."), "first person"),
    "form": (ChunkEdit(content='{"chunks": []}'), "form"),
    "example": (ChunkEdit(content="P3 demanded the toll from P1 and swore to come back at dawn."), "instructions"),
    "refusal": (ChunkEdit(content="As an AI language model I cannot summarize this."), "refusal"),
    "too long": (ChunkEdit(content="It rained. " * 300), "long"),
    "nobody of this world": (ChunkEdit(content="{{e:en_ghost}} came in."), "en_ghost"),
    "entry id": (ChunkEdit(content="It follows from buf-000001."), "buf-000001"),
    "quotation that nobody spoke": (ChunkEdit(content='The wet stranger said "I am hunted" and left.'), "I am hunted"),
    "id in a quotation": (ChunkEdit(content='The wet stranger said "en_monk hunts me" and left.'), "en_monk"),
    "changed quote": (ChunkEdit(quotes=("The harbour keeper is after me.",)), "The harbour keeper is after me"),
    "quote of another moment": (ChunkEdit(quotes=("Line anchor number 0.",)), "Line anchor number 0"),
}


@pytest.mark.parametrize("fault", FAULTY)
async def test_an_edit_is_checked_as_a_models_account_is(desk: Desk, wire: Any, fault: str) -> None:
    engine = await desk.asked(answer(wire))
    before = await engine.review.pending()
    edit, said = FAULTY[fault]
    with pytest.raises(HandoffError, match=said):
        await engine.review.edit(desk.world, OWNER, 0, edit)
    assert await engine.review.pending() == before


async def test_a_person_pins_no_more_than_the_buffer_bears(desk: Desk, wire: Any) -> None:
    engine = await desk.asked(answer(wire), policy=HandoffPolicy(review="ask", max_entries=2))
    await engine.review.edit(desk.world, OWNER, 0, ChunkEdit(retain=True))
    with pytest.raises(HandoffError, match="3 moments would stay pinned, and at most 2 may"):
        await engine.review.edit(desk.world, OWNER, 1, ChunkEdit(retain=True))


async def test_quotes_of_a_threads_earlier_moments_may_stay(desk: Desk, wire: Any) -> None:
    engine = await desk.going_on(
        wire.reply(wire.chunk(["M1"], "P2 is hunted.", retainInBuffer=True)), wire.reply(wire.chunk(["M1", "M2"], "P2 is caught."))
    )
    said = ("Have you a room?", "Line anchor number 0.")
    pending = await engine.review.edit(desk.world, OWNER, 0, ChunkEdit(quotes=said))
    assert pending.proposal.chunks[0].quotes == said
    run = await engine.review.finish(desk.world, OWNER)
    assert (run.added, run.updated) == (0, 1)
    [entry] = await desk.ledger()
    assert (entry.version, entry.quotes, entry.origin) == (2, said, "hand")


async def test_another_kind_is_committed_by_its_own_means(desk: Desk, wire: Any) -> None:
    """What compresses a ledger brings its own commit and its own way of asking."""
    [memory] = await desk.remember([desk.inn.memory("{{e:en_stranger}} sang.", 900, quotes=["La la la."])])
    engine = desk.engine(policy=ASK)
    seen: list[Proposal] = []

    def commit(_: Any, __: Any, ___: Any, proposal: Proposal) -> Any:
        seen.append(proposal)
        raise HandoffError("Not now.")

    async def redraft(world: World, proposal: Proposal, index: int | None, attempt: int) -> Proposal:
        return proposal.model_copy(update={"reply": f"{index} {attempt}"})

    engine.review.add_kind("compression", commit, redraft)
    await desk.old_pool()
    made = await desk.engine(answer(wire)).propose(desk.world, OWNER)
    assert made is not None
    chunk = made.chunks[0].model_copy(update={"source_ids": (memory.id,), "quotes": ()})
    proposal = made.model_copy(update={"kind": "compression", "candidates": (), "pool": (), "memories": (memory,), "chunks": (chunk,)})
    await engine.review.wait(desk.world, proposal)
    with pytest.raises(HandoffError, match="Another proposal waits"):
        await engine.review.wait(desk.world, proposal)
    assert (await engine.review.reroll(desk.world, OWNER, 0)).proposal.reply == "0 1"
    with pytest.raises(HandoffError, match="Only moments of working memory"):
        await engine.review.edit(desk.world, OWNER, 0, ChunkEdit(retain=True))
    with pytest.raises(HandoffError, match="Have you a room"):
        await engine.review.edit(desk.world, OWNER, 0, ChunkEdit(quotes=("Have you a room?",)))
    pending: PendingProposal = await engine.review.edit(desk.world, OWNER, 0, ChunkEdit(quotes=("La la la.",)))
    assert pending.proposal.chunks[0].quotes == ("La la la.",)
    with pytest.raises(HandoffError, match="Not now"):
        await engine.review.finish(desk.world, OWNER)
    assert [(one.kind, one.decision, len(one.vectors)) for one in seen] == [("compression", "accepted", 1)]
    failed = desk.events[-2]
    assert isinstance(failed, HandoffFailed)
    assert (failed.run.kind, failed.run.candidate_ids) == ("compression", (memory.id,))


async def test_a_memory_is_worded_once_in_a_proposal(desk: Desk, wire: Any) -> None:
    """Two parts of a proposal go into one memory; the one that only repeats it cannot be given other words beside the one that
    rewrites it."""
    engine = await desk.asked(answer(wire))
    [memory] = await desk.remember([desk.inn.memory("{{e:en_stranger}} is hunted.", 9)])

    def into(conn: Any) -> None:
        pending = desk.store.proposals.of_owner(conn, OWNER)
        assert pending is not None
        updates = {"updates": memory.id, "version": memory.version}
        first, second = (chunk.model_copy(update=updates) for chunk in pending.proposal.chunks)
        weightier = {"repeats": True, "content": memory.content, "quotes": (), "importance": 9}
        chunks = (first, second.model_copy(update=weightier))
        proposal = pending.proposal.model_copy(update={"chunks": chunks})
        desk.store.proposals.replace(conn, pending.model_copy(update={"proposal": proposal}))

    await desk.store.db.write(into)
    before = await engine.review.pending()
    with pytest.raises(HandoffError, match="Another part of the proposal rewrites the same memory"):
        await engine.review.edit(desk.world, OWNER, 1, ChunkEdit(content="The wet stranger drank."))
    assert await engine.review.pending() == before
    await engine.review.edit(desk.world, OWNER, 0, ChunkEdit(content="The wet stranger is hunted by many."))
    await wire.judged(engine, "accepted", "accepted")
    await engine.review.finish(desk.world, OWNER)
    [entry] = await desk.ledger()
    assert (entry.id, entry.content, entry.importance) == (memory.id, f"{STRANGER} is hunted by many.", 9)
    assert await desk.sources(entry.id) == ("buf-000001", "buf-000002", "buf-000003")


async def test_a_memory_that_goes_on_keeps_where_it_came_from_and_quotes_whose_moment_nobody_has(desk: Desk, wire: Any) -> None:
    """A person wrote it: its quote stands in no moment, and may stay when the chunk that rewrites it is edited."""
    engine = await desk.asked(answer(wire))
    [mine] = await desk.remember([desk.inn.memory("{{e:en_stranger}} is hunted.", 900, quotes=["Never look back."], place=None)])
    await desk.store.db.write(lambda conn: conn.execute("UPDATE ledger_entries SET origin = 'hand' WHERE id = ?", (mine.id,)))

    def into(conn: Any) -> None:
        pending = desk.store.proposals.of_owner(conn, OWNER)
        assert pending is not None
        first, second = pending.proposal.chunks
        going_on = first.model_copy(update={"updates": mine.id, "version": mine.version, "quotes": (*mine.quotes, QUOTE)})
        proposal = pending.proposal.model_copy(update={"chunks": (going_on, second)})
        desk.store.proposals.replace(conn, pending.model_copy(update={"proposal": proposal}))

    await desk.store.db.write(into)
    pending = await engine.review.edit(desk.world, OWNER, 0, ChunkEdit(quotes=("Never look back.",)))
    assert pending.proposal.chunks[0].quotes == ("Never look back.",)

    def not_by_hand(conn: Any) -> None:
        chunks = tuple(chunk.model_copy(update={"by_hand": False}) for chunk in pending.proposal.chunks)
        proposal = pending.proposal.model_copy(update={"chunks": chunks})
        desk.store.proposals.replace(conn, pending.model_copy(update={"proposal": proposal}))

    await desk.store.db.write(not_by_hand)
    await wire.judged(engine, "accepted", "rejected")
    await engine.review.finish(desk.world, OWNER)
    [entry] = await desk.ledger()
    assert (entry.id, entry.version, entry.origin, entry.quotes) == (mine.id, 2, "hand", ("Never look back.",))
    assert (entry.timestamp, entry.location_id) == (mine.timestamp, None)  # when and where it was before any moment went into it
    assert entry.ended > mine.ended
