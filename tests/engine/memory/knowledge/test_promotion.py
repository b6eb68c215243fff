"""Short-term knowledge becomes long-term, or does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from engine.errors import CapReachedError, ModelError
from engine.memory.knowledge.promoting import commit
from engine.memory.knowledge.review import approve
from engine.records.knowledge import PromotionPolicy
from engine.records.tokens import token
from engine.storage.knowledge_audit import Change

if TYPE_CHECKING:
    from tests.engine.memory.knowledge.conftest import Minds

Says = Callable[..., str]
G = token("en_stranger")
BOAT, WATER, SOLD = f"{G} owns a boat.", f"{G} fears water.", f"{G} sold the boat."
HARBOUR = PromotionPolicy(scope="faction")


async def test_what_is_sure_and_old_enough_becomes_long_term(minds: Minds) -> None:
    [old, unsure, young, over] = await minds.add(
        minds.new(BOAT, 3), minds.new(WATER, 3, confidence=0.6), minds.new("The bridge is out.", 1, subject_id=None),
        minds.new("The well is dry.", 5, subject_id=None, valid_to=minds.ago(4)),
    )  # fmt: skip
    run = await minds.promote()
    assert run is not None
    assert (run.scanned, run.promoted, run.tokens) == (1, (old.id,), 0)
    assert [row.id for row in await minds.rows() if row.term == "long"] == [old.id]
    promoted = await minds.row(old.id)
    assert (promoted.promoted_round, promoted.scope, promoted.scope_id) == (20, "entity", "en_bryn")
    [row] = await minds.audit(run=run.id)
    assert (row.action, row.cause, row.knowledge_id) == ("promoted", "promotion", old.id)
    assert {unsure.id, young.id, over.id}.isdisjoint({one.knowledge_id for one in await minds.audit(causes=["promotion"])})


async def test_nothing_to_do_is_no_run(minds: Minds) -> None:
    await minds.add(minds.new(BOAT, 1))
    assert await minds.promote() is None
    assert await minds.store.db.read(minds.store.promotions.last_run) is None


async def test_it_is_due_by_world_time(minds: Minds) -> None:
    await minds.add(minds.new(BOAT, 3))
    promoter = minds.promoter()
    assert not await promoter.due(minds.world)
    await minds.later(4)
    assert await promoter.due(minds.world)
    await minds.promote()
    await minds.add(minds.new(WATER, 3))
    assert not await promoter.due(minds.world)
    await minds.later(5.5)
    assert not await promoter.due(minds.world)
    await minds.later(0.5)
    assert await promoter.due(minds.world)


async def test_the_policys_scope_is_given_once(minds: Minds) -> None:
    [row] = await minds.add(minds.new(BOAT, 3))
    assert await minds.held("en_sailor") == []
    minds.policy = HARBOUR
    await minds.promote()
    assert await minds.held("en_sailor") == [BOAT]  # of the harbour, as Bryn is
    assert await minds.held("en_monk") == []
    assert (await minds.row(row.id)).scope_id == "harbour"
    assert await minds.promote() is None


async def test_somebody_of_two_factions_tells_both(minds: Minds, inn: object) -> None:
    bryn = minds.world.entities["en_bryn"].model_copy(update={"factions": ("harbour", "guild")})
    monk = minds.world.entities["en_monk"].model_copy(update={"factions": ("guild",)})
    minds.world = minds.world.model_copy(update={"entities": {**minds.world.entities, "en_bryn": bryn, "en_monk": monk}})
    minds.policy = HARBOUR
    await minds.add(minds.new(BOAT, 3))
    run = await minds.promote()
    assert run is not None
    assert await minds.held("en_sailor") == await minds.held("en_monk") == [BOAT]
    assert len(await minds.audit(run=run.id, actions=["promoted"])) == 2


async def test_somebody_without_a_faction_keeps_it_to_themselves(minds: Minds) -> None:
    minds.policy = HARBOUR
    await minds.add(minds.new(BOAT, 3, owner_id="en_smith"))
    await minds.promote()
    assert await minds.held("en_smith") == [BOAT]
    assert await minds.held("en_sailor") == []


async def test_what_two_members_know_becomes_one(minds: Minds) -> None:
    minds.policy = HARBOUR
    [mine, his] = await minds.add(
        minds.new(BOAT, 5, turn_ids=("turn-000001",)), minds.new(f"{G} owns the boat.", 4, owner_id="en_sailor", turn_ids=("turn-000002",))
    )
    run = await minds.promote()
    assert run is not None
    assert (run.promoted, run.merged) == ((mine.id,), (his.id,))
    [row] = await minds.rows()
    assert (row.id, row.scope, row.turn_ids) == (mine.id, "faction", ("turn-000001", "turn-000002"))
    assert row.confidence == pytest.approx(0.88)
    [gone] = await minds.store.db.read(lambda conn: minds.store.knowledge.versions(conn, his.id))
    assert gone.before.content == his.content
    assert [one.action for one in await minds.audit(knowledge=his.id)] == ["added", "merged"]


async def test_what_is_long_known_gets_surer_by_what_merges(minds: Minds) -> None:
    [known, _] = await minds.add(
        minds.new(BOAT, 50, scope="world", term="long", confidence=0.7), minds.new(f"{G} owns the boat.", 4, owner_id="en_monk")
    )
    minds.policy = PromotionPolicy(scope="world")
    run = await minds.promote()
    assert run is not None
    assert len(run.merged) == 1
    [row] = await minds.rows()
    assert row.id == known.id
    assert row.confidence == pytest.approx(0.7 + 0.3 * 0.8 / 2)


async def test_a_later_fact_retires_what_the_faction_held(minds: Minds) -> None:
    minds.policy = HARBOUR
    known = minds.new(BOAT, 50, scope="faction", scope_id="harbour", term="long", confidence=0.95)
    [held, sold] = await minds.add(known, minds.new(SOLD, 4))
    run = await minds.promote()
    assert run is not None
    assert (run.promoted, run.retired) == ((sold.id,), (held.id,))
    assert await minds.held("en_sailor") == [SOLD]
    was = await minds.row(held.id)
    assert (was.valid_to, was.superseded_by) == (minds.ago(4), sold.id)


async def test_a_surer_fact_stands_against_a_dispute(minds: Minds) -> None:
    """Somebody says that it opens at six, everybody knows that it opens at seven."""
    known = minds.new("The tavern opens at seven.", 50, scope="world", term="long", confidence=0.95, subject_id=None)
    [_, six] = await minds.add(known, minds.new("The tavern opens at six.", 4, subject_id=None))
    run = await minds.promote()
    assert run is not None
    assert run.discarded == (six.id,)
    assert await minds.held("en_bryn") == ["The tavern opens at seven."]
    [row] = await minds.audit(knowledge=six.id, actions=["discarded"])
    assert "opens at seven" in row.why
    assert (await minds.row(six.id)).valid_to == minds.world.now


async def test_what_fails_and_would_be_widened_waits_for_a_person(minds: Minds) -> None:
    minds.policy = PromotionPolicy(scope="world")
    known = minds.new("The tavern opens at seven.", 50, scope="world", term="long", confidence=0.95, subject_id=None)
    [_, six] = await minds.add(known, minds.new("The tavern opens at six.", 4, subject_id=None))
    run = await minds.promote()
    assert run is not None
    assert run.flagged == (six.id,)
    [item] = await minds.store.db.read(minds.store.promotions.waiting)
    assert (item.knowledge_id, item.scope) == (six.id, "world")
    assert "opens at seven" in item.reason
    assert await minds.promote() is None  # it is not looked at again


@pytest.mark.parametrize("content", [f"{G} murdered the ferryman.", f"{G} is poisoning the well.", "The cellar hides a secret."])
async def test_what_is_sensitive_is_never_widened_without_a_person(minds: Minds, content: str) -> None:
    minds.policy = HARBOUR
    [row] = await minds.add(minds.new(content, 4))
    run = await minds.promote()
    assert run is not None
    assert run.flagged == (row.id,)
    assert await minds.held("en_sailor") == []
    assert await minds.held("en_bryn") == [content]
    minds.policy = PromotionPolicy()
    assert await minds.promote() is None


async def test_what_is_sensitive_is_ones_own_to_keep(minds: Minds) -> None:
    [row] = await minds.add(minds.new("It is told in confidence.", 4, sensitivity="sensitive"))
    run = await minds.promote()
    assert run is not None
    assert run.promoted == (row.id,)


async def test_the_model_validates_where_no_rule_is_sure(minds: Minds, says: Says) -> None:
    known = minds.new(f"{G} serves the Duke.", 50, scope="world", term="long", confidence=0.7)
    [held, one] = await minds.add(known, minds.new(f"{G} serves the Queen.", 4))
    minds.policy = PromotionPolicy(scope="world")
    run = await minds.promote(says("contradicted", "K1"))
    assert run is not None
    assert run.retired == (held.id,)
    assert run.promoted == (one.id,)
    assert run.tokens > 0
    [request] = minds.model.requests
    assert (request.task, request.entity) == ("validate", "en_bryn")


async def test_what_was_settled_before_is_not_asked_again(minds: Minds) -> None:
    await minds.add(minds.new(f"{G} serves the Duke.", 5), minds.new(f"{G} serves the Queen.", 4))
    run = await minds.promote()
    assert run is not None
    assert len(run.promoted) == 2
    assert minds.model.requests == []


async def test_one_that_the_model_fails_over_waits_and_the_others_go_on(minds: Minds) -> None:
    known = minds.new(f"{G} serves the Duke.", 50, scope="world", term="long")
    [_, one, other] = await minds.add(known, minds.new(f"{G} serves the Queen.", 4), minds.new("The well is dry.", 3, subject_id=None))
    minds.policy = PromotionPolicy(scope="world")
    run = await minds.promote(ModelError("It is away."))
    assert run is not None
    assert run.promoted == (other.id,)
    assert "It is away." in run.notes[0]
    assert await minds.row(one.id) == one


async def test_a_cap_leaves_the_rest_for_later(minds: Minds) -> None:
    def capped(_: object) -> str:
        raise CapReachedError("A cap is reached.")

    known = minds.new(f"{G} serves the Duke.", 50, scope="world", term="long")
    await minds.add(known, minds.new(f"{G} serves the Queen.", 4), minds.new("The well is dry.", 3, subject_id=None))
    minds.policy = PromotionPolicy(scope="world")
    run = await minds.promote(capped)
    assert run is not None
    assert run.promoted == ()
    assert "A cap is reached." in run.notes[0]


async def test_what_the_author_wrote_stands_against_everything(minds: Minds) -> None:
    authored = minds.new(BOAT, 50, authored=True, confidence=0.1, term="long")
    [held, sold] = await minds.add(authored, minds.new(SOLD, 4, confidence=1.0))
    run = await minds.promote()
    assert run is not None
    assert run.discarded == (sold.id,)
    assert (await minds.row(held.id)).holds


async def test_what_came_later_ends_an_earlier_candidate_at_its_own_time(minds: Minds) -> None:
    [seven, six] = await minds.add(
        minds.new("The tavern opens at seven.", 5, subject_id=None, scope="world", term="long", confidence=0.3),
        minds.new("The tavern opens at six.", 9, subject_id=None),
    )
    run = await minds.promote()
    assert run is not None
    assert run.discarded == (six.id,)
    ended = await minds.row(six.id)
    assert (ended.valid_to, ended.superseded_by) == (minds.ago(5), seven.id)


async def test_a_sensitive_piece_that_fails_is_not_believed_beside_what_it_contradicts(minds: Minds) -> None:
    known = minds.new(f"{G} is guilty of the murder.", 50, term="long", confidence=0.95)
    [guilty, innocent] = await minds.add(known, minds.new(f"{G} is innocent of the murder.", 4))
    run = await minds.promote()
    assert run is not None
    assert run.flagged == (innocent.id,)
    assert [(await minds.row(key)).holds for key in (guilty.id, innocent.id)] == [True, False]
    await minds.store.db.write(lambda conn: approve(conn, minds.store, minds.world, innocent.id, minds.policy))
    assert [(await minds.row(key)).holds for key in (guilty.id, innocent.id)] == [False, True]


async def test_approved_it_goes_to_each_faction_of_its_owner(minds: Minds) -> None:
    people = minds.world.entities
    bryn = people["en_bryn"].model_copy(update={"factions": ("harbour", "guild")})
    monk = people["en_monk"].model_copy(update={"factions": ("guild",)})
    minds.world = minds.world.model_copy(update={"entities": {**people, "en_bryn": bryn, "en_monk": monk}})
    minds.policy = HARBOUR
    [row] = await minds.add(minds.new("The cellar hides a secret.", 4))
    await minds.promote()
    assert await minds.held("en_monk") == await minds.held("en_sailor") == []
    await minds.store.db.write(lambda conn: approve(conn, minds.store, minds.world, row.id, minds.policy))
    assert await minds.held("en_monk") == await minds.held("en_sailor") == ["The cellar hides a secret."]


async def test_what_hangs_on_a_candidate_that_changed_waits_with_it(minds: Minds) -> None:
    minds.policy = HARBOUR
    [mine, his] = await minds.add(minds.new(BOAT, 5), minds.new(f"{G} owns the boat.", 4, owner_id="en_sailor"))
    promotion = await minds.promoter().propose(minds.world)
    assert promotion is not None
    change = Change("edited", "hand", "", minds.world.now)
    weightier = mine.model_copy(update={"importance": 9})
    await minds.store.db.write(lambda conn: minds.store.knowledge.update(conn, weightier, change))
    run = await minds.store.db.write(lambda conn: commit(conn, minds.store, minds.world, promotion))
    assert (run.promoted, run.merged, len(run.notes)) == ((), (), 2)
    assert [(await minds.row(key)).scope for key in (mine.id, his.id)] == ["entity", "entity"]


async def test_nothing_is_merged_on_top_of_a_merge_that_was_left_out(minds: Minds) -> None:
    minds.policy = HARBOUR
    known = minds.new(BOAT, 50, scope="faction", scope_id="harbour", term="long")
    [held, mine, his] = await minds.add(known, minds.new(BOAT, 5), minds.new(BOAT, 4, owner_id="en_sailor"))
    promotion = await minds.promoter().propose(minds.world)
    assert promotion is not None
    change = Change("edited", "hand", "", minds.world.now)
    weightier = mine.model_copy(update={"importance": 9})
    await minds.store.db.write(lambda conn: minds.store.knowledge.update(conn, weightier, change))
    run = await minds.store.db.write(lambda conn: commit(conn, minds.store, minds.world, promotion))
    assert run.merged == ()
    assert await minds.row(held.id) == held
    following = await minds.promote()  # and the next time both are
    assert following is not None
    assert following.merged == (mine.id, his.id)


async def test_what_has_come_to_wait_for_a_person_meanwhile_is_left_to_them(minds: Minds) -> None:
    [one] = await minds.add(minds.new(BOAT, 5))
    promotion = await minds.promoter().propose(minds.world)
    assert promotion is not None
    change = Change("flagged", "hand", "", minds.world.now)
    await minds.store.db.write(lambda conn: minds.store.promotions.flag(conn, one.id, "look", "entity", "en_bryn", change))
    run = await minds.store.db.write(lambda conn: commit(conn, minds.store, minds.world, promotion))
    assert run.promoted == ()
    assert (await minds.row(one.id)).term == "short"


async def test_what_is_written_for_a_second_faction_has_its_vector(minds: Minds) -> None:
    bryn = minds.world.entities["en_bryn"].model_copy(update={"factions": ("harbour", "guild")})
    minds.world = minds.world.model_copy(update={"entities": {**minds.world.entities, "en_bryn": bryn}})
    minds.policy = HARBOUR
    await minds.learn(minds.new(BOAT, 3))
    await minds.promote()
    assert len(await minds.rows()) == 2
    assert await minds.store.db.read(lambda conn: minds.store.embeddings.count_missing_knowledge(conn, "hash768")) == 0


async def test_what_changed_since_it_was_scanned_is_left_for_the_next_run(minds: Minds) -> None:
    [one, other] = await minds.add(minds.new(BOAT, 5), minds.new("The well is dry.", 5, subject_id=None))
    promotion = await minds.promoter().propose(minds.world)
    assert promotion is not None
    await minds.learn(minds.new(SOLD, 0))
    run = await minds.store.db.write(lambda conn: commit(conn, minds.store, minds.world, promotion))
    assert run.promoted == (other.id,)
    assert any(one.id in note for note in run.notes)
    assert not (await minds.row(one.id)).holds


async def test_written_twice_it_changes_nothing_the_second_time(minds: Minds) -> None:
    minds.policy = HARBOUR
    await minds.add(minds.new(BOAT, 5), minds.new(f"{G} owns the boat.", 5, owner_id="en_sailor"))
    promotion = await minds.promoter().propose(minds.world)
    assert promotion is not None
    await minds.store.db.write(lambda conn: commit(conn, minds.store, minds.world, promotion))
    before = await minds.rows()
    run = await minds.store.db.write(lambda conn: commit(conn, minds.store, minds.world, promotion))
    assert (run.promoted, run.merged) == ((), ())
    assert await minds.rows() == before


async def test_a_piece_that_sank_or_rose_meanwhile_is_promoted_all_the_same(minds: Minds) -> None:
    [one] = await minds.add(minds.new(BOAT, 5))
    promotion = await minds.promoter().propose(minds.world)
    assert promotion is not None
    sunk = one.model_copy(update={"tier": "warm"})
    change = Change("demoted", "lifecycle", "", minds.world.now)
    await minds.store.db.write(lambda conn: minds.store.knowledge.update(conn, sunk, change))
    run = await minds.store.db.write(lambda conn: commit(conn, minds.store, minds.world, promotion))
    assert run.promoted == (one.id,)
    now = await minds.row(one.id)
    assert (now.term, now.tier) == ("long", "warm")
