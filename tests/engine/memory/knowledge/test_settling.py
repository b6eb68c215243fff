"""New knowledge beside what is known already: scenes over a real save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ChangedError, ModelError
from engine.llm.hashing import Hash768
from engine.memory.knowledge.placing import Origin, place
from engine.records.tokens import token

if TYPE_CHECKING:
    from tests.engine.memory.knowledge.conftest import Minds

Says = Callable[..., str]
G = token("en_stranger")
BOAT, WATER, SOLD = f"{G} owns a boat.", f"{G} fears water.", f"{G} sold the boat."


async def test_what_can_both_hold_stays_and_what_is_over_is_retired_with_its_end(minds: Minds) -> None:
    await minds.learn(minds.new(BOAT, 48), minds.new(WATER, 48))
    assert await minds.held("en_bryn") == [BOAT, WATER]
    placed = await minds.learn(minds.new(SOLD, 1))
    assert await minds.held("en_bryn") == [WATER, SOLD]
    [boat, water, sold] = await minds.rows()
    assert (boat.valid_to, boat.superseded_by, sold.supersedes) == (minds.ago(1), sold.id, boat.id)
    assert water.holds
    assert [row.id for row in placed.retired] == [boat.id]
    assert minds.model.requests == []  # rules were sure


async def test_a_fact_told_again_in_other_order_of_words_merges(minds: Minds, says: Says) -> None:
    await minds.learn(minds.new("The ferry leaves at noon.", 30, subject_id=None, topic_key="ferry", turn_ids=("turn-000001",)))
    await minds.learn(
        minds.new("At noon the ferry leaves.", 2, subject_id=None, topic_key="ferry", turn_ids=("turn-000009",)),
        replies=[says("supported", "K1")],
    )
    [row] = await minds.rows()
    assert row.confidence == pytest.approx(0.8 + 0.2 * 0.8 / 2)
    assert row.turn_ids == ("turn-000001", "turn-000009")
    assert row.version == 2
    [version] = await minds.store.db.read(lambda conn: minds.store.knowledge.versions(conn, row.id))
    assert (version.before.confidence, version.cause) == (0.8, "collapse")
    assert [one.action for one in await minds.audit(knowledge=row.id)] == ["added", "merged"]


async def test_one_that_says_more_lends_its_words(minds: Minds) -> None:
    await minds.learn(minds.new(BOAT, 30, topic_key="boat"), minds.new(f"{G} owns a red boat.", 3, topic_key="boat"))
    [row] = await minds.rows()
    assert row.content == f"{G} owns a red boat."
    await minds.learn(minds.new(BOAT, 1, topic_key="boat"))
    [row] = await minds.rows()
    assert row.content == f"{G} owns a red boat."


async def test_a_topic_key_alone_brings_two_before_the_model(minds: Minds, says: Says) -> None:
    await minds.learn(minds.new(f"{G} answers to the Duke.", 30, topic_key="gareth_service"))
    queen = minds.new(f"{G} wears the colours of the Queen.", 1, topic_key="gareth_service")
    await minds.learn(queen, replies=[says("contradicted", "K1")])
    assert await minds.held("en_bryn") == [f"{G} wears the colours of the Queen."]
    [request] = minds.model.requests
    assert request.task == "validate"
    assert request.entity == "en_bryn"
    assert "answers to the Duke" in request.text
    assert "Gareth" not in request.text  # Bryn has never heard that name
    assert "en_stranger" not in request.text


async def test_what_ends_one_of_two_things_leaves_both_whatever_the_model_says(minds: Minds, says: Says) -> None:
    both, sold = f"{G} owns a red cart and a black cart.", f"{G} sold the red cart."
    await minds.learn(minds.new(both, 30, topic_key="cart"))
    placed = await minds.learn(minds.new(sold, 2, topic_key="cart"), replies=[says("contradicted", "K1")])
    assert await minds.held("en_bryn") == [both, sold]
    assert placed.retired == ()


async def test_what_the_model_finds_unrelated_stays_beside_it(minds: Minds, says: Says) -> None:
    await minds.learn(minds.new(f"{G} keeps a mule at the inn.", 30, topic_key="gareth_mule"))
    await minds.learn(minds.new(f"{G} feeds the mule on oats.", 1, topic_key="gareth_mule"), replies=[says("unrelated")])
    assert len(await minds.held("en_bryn")) == 2


async def test_a_verdict_that_is_not_sure_or_names_nobody_decides_nothing(minds: Minds, says: Says) -> None:
    await minds.learn(minds.new(f"{G} keeps a mule.", 30, topic_key="m"), minds.new(f"{G} rides a horse.", 30, topic_key="m"),
                      replies=[says("unrelated")])  # fmt: skip
    await minds.learn(minds.new(f"{G} walks wherever there is a road.", 2, topic_key="m"),
                      replies=[says("contradicted", "K1", confidence=0.3)])  # fmt: skip
    await minds.learn(minds.new(f"{G} was seen in the stable.", 1, topic_key="m"), replies=[says("contradicted")])
    assert len(await minds.held("en_bryn")) == 4


async def test_a_model_that_passes_over_a_number_makes_no_one_of_two(minds: Minds, says: Says) -> None:
    await minds.learn(minds.new(f"{G} paid for three nights.", 30, topic_key="nights"))
    await minds.learn(minds.new(f"{G} paid for five nights.", 1, topic_key="nights"), replies=[says("supported", "K1")])
    assert len(await minds.held("en_bryn")) == 2


async def test_numbers_that_differ_contradict(minds: Minds) -> None:
    await minds.learn(minds.new(f"{G} owes the harbour master forty crowns.", 30))
    await minds.learn(minds.new(f"{G} owes the harbour master fifty crowns.", 1))
    assert await minds.held("en_bryn") == [f"{G} owes the harbour master fifty crowns."]


async def test_a_decision_that_supersedes_another_says_so(minds: Minds) -> None:
    [first] = (await minds.learn(minds.new(f"{G} will take the ferry.", 30, kind="decision", topic_key="crossing"))).added
    placed = await minds.learn(
        minds.new("They walk by the coast.", 1, kind="decision", rationale="the ferry is watched", supersedes=first.id)
    )
    [second] = placed.added
    assert second.supersedes == first.id
    assert (await minds.row(first.id)).superseded_by == second.id
    [retired] = await minds.audit(knowledge=first.id, actions=["retired"])
    assert "They walk by the coast." in retired.why
    [added] = await minds.audit(knowledge=second.id, actions=["added"])
    assert "will take the ferry" in added.why


async def test_nobody_elses_knowledge_is_touched_or_looked_at(minds: Minds) -> None:
    await minds.learn(minds.new(BOAT, 30, owner_id="en_monk", topic_key="boat"))
    await minds.learn(minds.new(SOLD, 1, topic_key="boat"))
    assert await minds.held("en_monk") == [BOAT]
    assert await minds.held("en_bryn") == [SOLD]


async def test_an_entity_never_ends_what_its_faction_holds(minds: Minds) -> None:
    await minds.learn(minds.new(BOAT, 30, scope="faction", scope_id="harbour", term="long"))
    await minds.learn(minds.new(SOLD, 1))
    assert await minds.held("en_sailor") == [BOAT]
    assert set(await minds.held("en_bryn")) == {BOAT, SOLD}


async def test_two_of_one_batch_meet_each_other(minds: Minds) -> None:
    placed = await minds.learn(minds.new(BOAT, 5), minds.new(BOAT, 4), minds.new(SOLD, 3))
    assert [row.content for row in placed.added] == [BOAT, SOLD]
    assert await minds.held("en_bryn") == [SOLD]
    [boat, sold] = await minds.rows()
    assert (boat.superseded_by, boat.valid_to) == (sold.id, minds.ago(3))
    assert boat.confidence == pytest.approx(0.88)


async def test_news_that_come_late_do_not_overthrow_what_came_after(minds: Minds) -> None:
    await minds.learn(minds.new(SOLD, 1))
    await minds.learn(minds.new(BOAT, 48))
    assert await minds.held("en_bryn") == [SOLD]
    [sold, boat] = await minds.rows()
    assert (boat.valid_from, boat.valid_to, boat.superseded_by) == (minds.ago(48), minds.ago(1), sold.id)
    assert sold.holds


async def test_turns_that_told_it_before_make_nobody_surer(minds: Minds) -> None:
    new = minds.new(BOAT, 5, turn_ids=("turn-000001",))
    await minds.learn(new)
    placed = await minds.learn(new)
    assert (placed.added, placed.merged) == ((), ())
    [row] = await minds.rows()
    assert (row.version, row.confidence) == (1, 0.8)


async def test_what_the_author_wrote_waits_for_a_person(minds: Minds) -> None:
    await minds.add(minds.new(BOAT, 48, authored=True))
    placed = await minds.learn(minds.new(SOLD, 1))
    assert await minds.held("en_bryn") == [BOAT]
    [waiting] = await minds.store.db.read(minds.store.promotions.waiting)
    assert waiting.knowledge_id == placed.flagged[0].id
    assert "author" in waiting.reason
    assert not placed.flagged[0].holds


class Alike(Hash768):
    """An embedder to which all is one."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await super().embed(["all is one"] * len(texts))


@pytest.mark.parametrize(
    ("one", "other", "rows"),
    [
        (f"{G} quarrelled with the harbour master.", f"{G} argued with the harbour master.", 1),
        (f"{G} paid the harbour master two crowns.", f"{G} gave the harbour master five crowns.", 2),
        (f"{G} never met the harbour master.", f"{G} saw the harbour master.", 2),
        (f"{G} came from Lorn by sea.", f"{G} arrived from Arden by sea.", 2),
    ],
)
async def test_what_vectors_hold_for_one_is_one_only_with_like_numbers_names_and_denial(
    minds: Minds, says: Says, one: str, other: str, rows: int
) -> None:
    minds.embedder = Alike()
    await minds.learn(minds.new(one, 5))
    await minds.learn(minds.new(other, 4), replies=[says("unrelated")] * (rows - 1))
    assert len(await minds.rows()) == rows


async def test_a_few_words_more_are_one_only_when_it_is_about_the_same(minds: Minds, says: Says) -> None:
    more = f"{G} sleeps behind barrels near warm ovens under sacks beside grey cats until church bells ring."
    await minds.learn(minds.new(f"{G} sleeps.", 5))
    await minds.learn(minds.new(more, 4))
    assert len(await minds.rows()) == 2


async def test_a_model_is_given_the_nearest_and_no_more_than_it_can_weigh(minds: Minds, says: Says) -> None:
    verbs = ("rang", "polished", "heard", "cursed", "blessed", "drew", "sang of")
    await minds.add(*[minds.new(f"{G} {verb} the harbour bell.", 9) for verb in verbs])
    await minds.learn(minds.new(f"{G} melted the harbour bell.", 1), replies=[says("unrelated")])
    [request] = minds.model.requests
    assert request.choices == {"against": ("K1", "K2", "K3", "K4", "K5", "K6")}


async def test_a_model_that_fails_changes_nothing(minds: Minds) -> None:
    await minds.learn(minds.new(f"{G} answers to the Duke.", 30, topic_key="service"))
    with pytest.raises(ModelError):
        await minds.learn(minds.new(f"{G} wears the Queen's colours.", 1, topic_key="service"), replies=[ModelError("It is away.")])
    assert await minds.held("en_bryn") == [f"{G} answers to the Duke."]


async def test_what_was_learned_meanwhile_has_to_be_settled_with(minds: Minds) -> None:
    settlement = await minds.settler().settle(minds.world, [minds.new(SOLD, 1)])
    await minds.add(minds.new(BOAT, 30))
    origin = Origin("collapse", minds.world.now)
    with pytest.raises(ChangedError):
        await minds.store.db.write(lambda conn: place(conn, minds.store, settlement, origin, "hash768", 768))
    assert await minds.held("en_bryn") == [BOAT]


async def test_what_was_changed_meanwhile_has_to_be_settled_anew(minds: Minds) -> None:
    [boat] = await minds.add(minds.new(BOAT, 30))
    settlement = await minds.settler().settle(minds.world, [minds.new(SOLD, 1)])
    origin = Origin("hand", minds.world.now)
    pinned = boat.model_copy(update={"pinned": True})
    await minds.store.db.write(lambda conn: minds.store.knowledge.update(conn, pinned, origin.change("edited", "")))
    with pytest.raises(ChangedError):
        await minds.store.db.write(lambda conn: place(conn, minds.store, settlement, origin, "hash768", 768))


async def test_new_and_reworded_rows_have_their_vectors(minds: Minds) -> None:
    await minds.learn(minds.new(BOAT, 30, topic_key="b"), minds.new(WATER, 30))
    await minds.learn(minds.new(f"{G} owns a red boat.", 3, topic_key="b"))
    found = await minds.store.db.read(lambda conn: minds.store.embeddings.count_missing_knowledge(conn, "hash768"))
    assert found == 0
    blobs = await minds.store.db.read(lambda conn: minds.store.embeddings.of_knowledge(conn, ["kno-000001"], "hash768"))
    assert blobs["kno-000001"] == (await minds.embedder.embed(["owns a red boat."]))[0].tobytes()
