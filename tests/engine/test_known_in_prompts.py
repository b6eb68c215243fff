"""What minds know and have in hand, in the prompts of a real game: who reads it, why, and what being read does to it."""

import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from engine.events import KnowledgeChanged
from engine.game import Game
from engine.knowledge_desk import KnowledgeEdit
from engine.llm.hashing import Hash768
from engine.llm.protocol import Completion, ModelRequest
from engine.memory.knowledge.placing import Origin
from engine.memory.recall.engine import RecallEngine
from engine.records.knowledge import Knowledge, NewKnowledge
from engine.records.prompts import Receipt
from engine.records.sessions import CollapsePolicy, CollapseRun, GateReport, SessionCollapseSummary
from engine.setup import Setup
from engine.storage.knowledge import KnowledgeRepository
from engine.storage.knowledge_audit import Change

WORLD = """\
name: The inn
clock: {start: 1247-03-01T17:40}
seed: 1
policies: {sessions: {pairs: none}}
places: [{id: bar, name: the bar}, {id: yard, name: the yard}]
entities:
  - {id: bob, at: bar, agent: true, factions: [harbour], attributes: {name: Bob Harrow, label: the bald man}, aliases: {mira: Mira}}
  - {id: odo, at: bar, agent: true, factions: [harbour], attributes: {name: Odo Quill, label: the quiet monk}}
  - {id: mira, at: bar, agent: true, attributes: {name: Mira Vance, label: the thin woman}}
"""
M, B = "{{e:mira}}", "{{e:bob}}"


class Asked:
    """Prompts that were sent to the actor's model."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    def hear(self, request: ModelRequest, completion: Completion) -> None:
        """Keep it."""
        if request.task == "actor":
            self.requests.append(request)


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "inn").mkdir()
    (tmp_path / "inn" / "world.yaml").write_text(WORLD)
    return tmp_path / "inn"


@pytest.fixture
async def game(world: Path, tmp_path: Path, asked: Asked) -> AsyncIterator[Game]:
    opened = await Game.create(world, tmp_path / "inn.db", 7, setup=Setup(sink=asked.hear))
    yield opened
    await opened.close()


async def known(game: Game, entity: str) -> str:
    """The section of what somebody knows, as its next prompt has it."""
    return next(section.text for section in (await game.preview(entity)).sections if section.key == "knowledge")


async def receipts(game: Game, entity: str, query: str | None = None) -> dict[str, Receipt]:
    """How knowledge came out, by source."""
    found = await game.memory.recall(entity, query)
    return {one.source: one for one in found.receipts if one.tier == "knowledge"}


async def written(game: Game, content: str, **more: object) -> Knowledge:
    """A piece as a collapse leaves it, here without a vector."""
    values: dict[str, object] = {
        "owner_id": "bob", "subject_id": "mira", "kind": "fact", "content": content, "scope_id": "bob", "confidence": 0.8,
        "valid_from": game.world.now,
    }
    new, store = NewKnowledge.model_validate(values | more), game._parts.store
    row = await store.db.write(lambda conn: store.knowledge.add(conn, new, Origin("collapse", new.valid_from).change("added", "new")))
    game._parts.emit(KnowledgeChanged(changed=(row,)))
    return row


async def put(game: Game, row: Knowledge, **values: object) -> Knowledge:
    """Change a row as it lies."""
    store = game._parts.store
    change = Change("demoted", "lifecycle", "", game.world.now)
    now = await store.db.write(lambda conn: store.knowledge.update(conn, row.model_copy(update=values), change))
    game._parts.emit(KnowledgeChanged(changed=(now,)))
    return now


async def row_of(game: Game, key: str) -> Knowledge:
    [row] = await game._parts.store.db.read(lambda conn: game._parts.store.knowledge.get(conn, [key]))
    return row


# who reads it
async def test_a_fact_of_a_faction_is_read_by_its_members_and_by_nobody_else(game: Game, asked: Asked) -> None:
    await game.knowledge.add("bob", f"{M} owns a boat.", scope="faction", scope_id="harbour")
    assert await known(game, "bob") == "  - Mira owns a boat."
    assert await known(game, "odo") == "  - The thin woman owns a boat."
    assert "boat" not in (await game.preview("mira")).text
    await game.step()
    assert {request.entity: "owns a boat" in request.text for request in asked.requests} == {"bob": True, "odo": True, "mira": False}


async def test_who_joins_learns_it_and_who_leaves_keeps_it_as_it_was(game: Game) -> None:
    boat = await game.knowledge.add("bob", f"{B} owns a boat.", scope="faction", scope_id="harbour")
    assert await known(game, "mira") == ""
    await game.knowledge.set_factions("mira", ["harbour"])
    assert await known(game, "mira") == "  - The bald man owns a boat."
    await game.knowledge.set_factions("odo", [])
    await game.knowledge.edit(boat.id, KnowledgeEdit(content=f"{B} owns a red boat."))
    await game.knowledge.add("bob", f"{B} fears water.", scope="faction", scope_id="harbour")
    assert await known(game, "odo") == "  - The bald man owns a boat."
    assert "red boat" in await known(game, "mira")
    assert "fears water" in await known(game, "mira")


async def test_what_no_longer_holds_is_in_no_prompt(game: Game) -> None:
    boat = await game.knowledge.add("bob", f"{M} owns a boat.")
    fears = await game.knowledge.add("bob", f"{M} fears water.")
    sold = await game.knowledge.add("bob", f"{M} sold the boat.")
    assert not (await row_of(game, boat.id)).holds
    assert set(await receipts(game, "bob")) == set(await receipts(game, "bob", "the boat, the water of Mira")) == {fears.id, sold.id}
    assert "owns a boat" not in (await game.preview("bob")).text


async def test_a_waiting_piece_is_in_no_prompt(game: Game) -> None:
    row = await written(game, f"{M} owns a boat.", valid_to=game.world.now)
    assert row.id not in await receipts(game, "bob")


# why
async def test_each_reason_is_told(game: Game) -> None:
    await game._simulation.act("mira", '"Where is the rope?"', await game._simulation.understand("mira", '"Where is the rope?"'))
    subject = await game.knowledge.add("bob", f"{M} limps.")
    words = await game.knowledge.add("bob", "The rope lies under the jetty.")
    nothing = await game.knowledge.add("bob", "Kings are buried upright.")
    decided = await written(game, f"{B} decided to leave at dawn.", kind="decision", subject_id=None, rationale="the tide is right")
    told = await receipts(game, "bob")
    assert told[subject.id].reason == "its subject is here"
    assert told[subject.id].found_by == ("people",)
    assert "shares words with the scene" in told[words.id].reason
    assert told[words.id].words > 0
    assert told[decided.id].reason == "decided"
    assert nothing.id not in told
    assert all(one.score == pytest.approx(one.recency + one.importance + one.cosine + one.words + one.involved) for one in told.values())
    prompt = await game.preview("bob")
    assert "  - You decided to leave at dawn. The reason: the tide is right" in prompt.text
    assert {one.source for one in prompt.report.receipts if one.tier == "knowledge"} == set(told)


async def test_strategies_and_decisions_of_others_are_told_as_such(game: Game) -> None:
    await written(game, f"{M} asks for credit: count the casks first", kind="strategy")
    await written(game, f"the toll of {M} is waived", kind="decision", owner_id="odo", scope="faction", scope_id="harbour")
    text = await known(game, "bob")
    assert "  - When Mira asks for credit: count the casks first" in text
    assert "  - It was decided: the toll of Mira is waived" in text


async def test_no_more_than_a_handful_comes_and_the_surer_come_first(game: Game) -> None:
    rows = [await written(game, f"{M} hid cask {word}.", confidence=0.3 + n / 20) for n, word in enumerate("abcdefghijkl")]
    told = await receipts(game, "bob")
    assert [one.source for one in told.values() if one.chosen] == [row.id for row in rows[:3:-1]]
    assert [one.source for one in told.values() if not one.chosen] == [row.id for row in rows[3::-1]]
    assert next(one.reason for one in told.values() if not one.chosen) == "its subject is here; ranked 9, limit 8"


async def test_a_memory_that_tells_the_same_is_told_once(game: Game) -> None:
    await game.knowledge.add("bob", f"{M} owns a boat with two red sails.")
    await game.memory.add_memory("bob", f"{M} owns a boat with two red sails.", ago=timedelta(days=2))
    assert (await game.preview("bob")).text.count("two red sails") == 1


# tiers and uses
async def test_what_has_sunk_comes_to_mind_only_when_it_is_asked_for(game: Game) -> None:
    row = await game.knowledge.add("bob", f"{M} owns a boat.")
    for tier, by_itself, sought in (("warm", True, True), ("cold", False, True), ("archived", False, False)):
        row = await put(game, row, tier=tier)
        assert (row.id in await receipts(game, "bob")) is by_itself
        assert (row.id in await receipts(game, "bob", "Who owns a boat?")) is sought
    assert (await row_of(game, row.id)).retrieval_count == 0


async def test_being_in_the_prompt_of_a_committed_beat_counts_and_lifts_and_nothing_else_does(game: Game) -> None:
    used = await put(game, await game.knowledge.add("bob", f"{M} owns a boat."), tier="warm")
    other = await game.knowledge.add("bob", "Kings are buried upright.")
    began = game.world.now
    for _ in range(3):
        await game.preview("bob")
        await game.memory.recall("bob", "Kings?")
    assert (await row_of(game, used.id)).retrieval_count == 0
    lifted: list[Knowledge] = []
    game.listen(lambda event: lifted.extend(event.changed) if isinstance(event, KnowledgeChanged) else None)
    await game.step()
    now = await row_of(game, used.id)
    assert (now.retrieval_count, now.tier) == (1, "hot")
    assert now.last_retrieved_at is not None
    assert began <= now.last_retrieved_at <= game.world.now
    assert [row.id for row in lifted] == [used.id]
    assert (await row_of(game, other.id)).retrieval_count == 0
    await game.step()
    assert (await row_of(game, used.id)).retrieval_count == 2


async def test_what_is_held_in_memory_is_what_the_save_says(game: Game) -> None:
    """After uses, changes and late vectors, a recall that has read it all before finds what one that has read nothing finds."""
    for n, word in enumerate(("boat", "mule", "cask", "rope", "bell", "lamp", "oar", "net", "key", "coin")):
        await written(game, f"{M} owns a {word}.", confidence=0.5 + n / 100, scope="faction", scope_id="harbour")
    for _ in range(4):
        await game.step()
        for entity in ("bob", "odo", "mira"):
            fresh = RecallEngine(game._parts.store, Hash768(), game.policies)
            entries = await game._parts.store.db.read(partial(game._parts.store.buffer.of_owner, owner=entity))
            expected = await fresh.recall(game.world, entity, entries, game.world.now)
            assert await game.memory.recall(entity) == expected
    assert await game._parts.job.run() == 10
    fresh = RecallEngine(game._parts.store, Hash768(), game.policies)
    entries = await game._parts.store.db.read(lambda conn: game._parts.store.buffer.of_owner(conn, "bob"))
    assert await game.memory.recall("bob") == await fresh.recall(game.world, "bob", entries, game.world.now)


async def test_a_preview_is_the_prompt_that_is_sent(game: Game, asked: Asked) -> None:
    await game.knowledge.add("bob", f"{M} owns a boat.")
    session = await game.sessions.start("bob", "mira")
    await game.sessions.scratch(session.id, "hypothesis", "Mira lies.")
    for _ in range(3):
        await game.step()
    preview = await game.preview(game.world.agents()[0].id)
    sent = await game._parts.actor.draft(game.world, preview.entity, explained=False)
    assert (sent.messages, sent.sections) == (preview.messages, preview.sections)
    assert "owns a boat" in preview.text


async def test_a_read_that_fails_costs_content_only(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    await game.knowledge.add("bob", f"{M} owns a boat.")

    def fail(*_: object, **__: object) -> list[Knowledge]:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(KnowledgeRepository, "held_by", fail)
        prompt = await game.preview("bob")
    assert "boat" not in prompt.text
    [problem] = prompt.report.problems
    assert problem.startswith("Knowledge could not be read: ")
    assert "boat" in (await game.preview("bob")).text


# in hand
async def ended(game: Game, *steps: str) -> None:
    """A session of Bob's with Mira that has come to these next steps."""
    store, now = game._parts.store, game.world.now
    session = await game.sessions.start("bob", "mira")
    summary = SessionCollapseSummary(
        goal="a talk", outcome="partial", next_steps=steps, turns_processed=3, pins_used=0, llm_tokens_used=0, collapse_reason="explicit"
    )
    run = CollapseRun(
        id="", session_id=session.id, agent_id="bob", part=0, partial=False, reason="explicit", round=0, timestamp=now, status="committed",
        gate=GateReport(asked=True, reason="", turns=3), summary=summary,
    )

    def write(conn: sqlite3.Connection) -> None:
        store.sessions.add_run(conn, run)
        store.sessions.update(conn, session.model_copy(update={"status": "collapsed", "ended": now, "ended_round": 0}))

    await store.db.write(write)


async def test_next_steps_stand_in_the_prompt_of_the_next_session(game: Game, asked: Asked) -> None:
    await ended(game, f"show {M} the cellar", "count the casks")
    assert "Still to do" not in (await game.preview("bob")).text
    session = await game.sessions.start("bob", "mira", CollapsePolicy())
    await game.sessions.scratch(session.id, "ruled_out", "Mira Vance is no spy.")
    section = next(one for one in (await game.preview("bob")).sections if one.key == "intentions")
    assert section.text.splitlines()[-4:] == [
        "In hand:", "  - Still to do with Mira: show Mira the cellar", "  - Still to do with Mira: count the casks",
        "  - You note: ruled out: Mira is no spy.",
    ]  # fmt: skip
    assert section.sources == (session.id,)
    assert "count the casks" not in (await game.preview("odo")).text + (await game.preview("mira")).text
    await game.step()
    assert [request.entity for request in asked.requests if "Still to do with Mira: count the casks" in request.text] == ["bob"]


async def test_what_is_in_hand_with_the_absent_is_out_of_mind(game: Game) -> None:
    await ended(game, "count the casks")
    await game.sessions.start("bob", "mira")
    world = game.world
    away = world.model_copy(
        update={"entities": {**world.entities, "mira": world.entities["mira"].model_copy(update={"place": "yard"})}}
    )
    assert "Still to do" in (await game._parts.actor.draft(world, "bob")).text
    assert "Still to do" not in (await game._parts.actor.draft(away, "bob")).text


async def test_too_much_in_hand_is_cut_and_the_cut_is_told(game: Game) -> None:
    await ended(game, *(f"carry cask number {n} {'very carefully ' * 20}to the cellar" for n in range(30)))
    session = await game.sessions.start("bob", "mira")
    prompt = await game.preview("bob")
    cuts = [cut for cut in prompt.report.cuts if cut.section == "intentions"]
    assert 0 < len(cuts) < 30
    assert {cut.source for cut in cuts} == {session.id}
    assert prompt.report.tokens <= prompt.report.context_window - prompt.report.reserved
