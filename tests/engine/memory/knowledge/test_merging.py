"""Two pieces that say the same become one, and from which cosine they may."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.hashing import Hash768
from engine.memory.knowledge.merging import can_be_one, is_sensitive, merged, raised
from engine.memory.knowledge.nearness import cosine, thresholds
from engine.memory.knowledge.settling import probe
from engine.records.knowledge import NewKnowledge, PromotionPolicy
from engine.records.tokens import token

G, M = token("g"), token("m")
NOON = datetime(1247, 3, 1, 12)


def new(content: str = f"{G} owns a boat.", **more: object) -> NewKnowledge:
    values: dict[str, object] = {
        "owner_id": "a", "kind": "fact", "content": content, "confidence": 0.5, "scope_id": "a", "valid_from": NOON,
    }
    return NewKnowledge.model_validate(values | more)


@given(st.floats(0, 1), st.floats(0, 1))
def test_told_again_one_is_surer_and_never_more_than_sure(one: float, other: float) -> None:
    found = raised(one, other)
    assert one <= found <= 1
    assert found == pytest.approx(one + (1 - one) * other / 2)


def test_what_a_merge_takes_from_each() -> None:
    held = probe(new(importance=3, turn_ids=("turn-1",), topic_key="boat", valid_from=NOON), 1).model_copy(update={"tier": "cold"})
    more = new(
        f"{G} owns a red boat.", importance=7, turn_ids=("turn-2",), sensitivity="sensitive", subject_id="g",
        valid_from=NOON - timedelta(hours=1),
    )
    one = merged(held, more)
    assert one.content == f"{G} owns a red boat."
    assert (one.importance, one.turn_ids, one.topic_key, one.subject_id) == (7, ("turn-1", "turn-2"), "boat", "g")
    assert (one.sensitivity, one.tier, one.valid_from) == ("sensitive", "hot", NOON - timedelta(hours=1))
    assert merged(one, new(turn_ids=("turn-1",))) == one  # the same turns told it before


@pytest.mark.parametrize("mark", ["pinned", "authored"])
def test_the_words_of_people_stay(mark: str) -> None:
    held = probe(new().model_copy(update={mark: True}), 1)
    one = merged(held, new(f"{G} owns a red boat.", importance=9, turn_ids=("turn-2",)))
    assert (one.content, one.importance) == (held.content, held.importance)
    assert one.confidence > held.confidence


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        (f"{G} has two boats.", f"{G} is the owner of 2 boats.", True), (f"{G} has two boats.", f"{G} has three boats.", False),
        (f"{G} has a boat.", f"{G} has no boat.", False), (f"{G} met {M}.", f"{M} was seen with {G}.", True),
        (f"{G} met {M}.", f"{G} met somebody.", False), (f"{G} comes from Arden.", f"{G} comes from Lorn.", False),
    ],
)  # fmt: skip
def test_what_a_model_may_pass_over_is_looked_at(a: str, b: str, alike: bool) -> None:
    assert can_be_one(new(a), new(b)) is alike


def test_words_make_a_piece_sensitive_in_any_form() -> None:
    words = PromotionPolicy().sensitive
    for text in ("He is poisoning the well.", "A murderer walks among us.", "SECRETS are kept.", "She stole it."):
        assert is_sensitive(text, words)
    for text in ("He has skill with a reef knot.", "The bridge is out.", ""):
        assert not is_sensitive(text, words)


class Sentences:
    """An embedder as good as the policy's numbers were measured with."""

    meaning, merge = 0.6, 0.94


def test_the_policys_numbers_are_those_of_a_sentence_embedder() -> None:
    found = thresholds(PromotionPolicy(), Sentences())
    assert found.same == pytest.approx(0.94)
    assert found.conflict == pytest.approx(0.82)
    built_in = thresholds(PromotionPolicy(), Hash768())
    assert built_in.same == pytest.approx(0.94)
    assert built_in.conflict == pytest.approx(0.41)


async def test_without_weights_restatements_are_found_and_others_are_not() -> None:
    embedder = Hash768()
    limit = thresholds(PromotionPolicy(), embedder).conflict
    for a, b, near in [
        ("owns a boat", "sold the boat", True), ("likes ale", "hates ale", True), ("serves the Duke", "serves the Queen", True),
        ("keeps a ledger of debts under the counter", "hides the book of debts beneath the counter", True),
        ("owns a boat", "fears water", False), ("the bridge is out", "the ferry leaves at noon", False),
    ]:  # fmt: skip
        one, other = await embedder.embed([a, b])
        assert (cosine(one, other) >= limit) is near, (a, b)
