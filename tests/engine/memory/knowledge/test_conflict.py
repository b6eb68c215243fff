"""What rules make of two statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.knowledge.conflict import agree, relation, richer
from engine.records.knowledge import KnowledgeKind, NewKnowledge
from engine.records.tokens import referred, token
from tests.engine.memory.knowledge.statements import SCENES, TEXTS, said

G, M, B = token("g"), token("m"), token("b")


@pytest.mark.parametrize(("older", "newer", "expected"), SCENES)
def test_rules_tell_how_two_statements_stand_to_each_other(older: str, newer: str, expected: str) -> None:
    found = relation(said(older), said(newer))
    assert found != expected[1:] if expected.startswith("!") else found == expected


def test_statements_about_two_people_never_meet() -> None:
    assert relation(said(f"{G} owns a boat."), said(f"{M} sold the boat.")) == "apart"


def test_a_decision_and_a_fact_never_meet() -> None:
    assert relation(said(f"{G} owns a boat."), said(f"{G} no longer owns a boat.", kind="decision")) == "apart"


def test_a_decision_stands_in_the_place_of_another_on_the_same_matter() -> None:
    older = said(f"{G} will take the ferry.", kind="decision", topic="crossing")
    newer = said(f"{G} will walk the long road instead.", kind="decision", topic="crossing")
    assert relation(older, newer) == "ends"
    assert relation(older, said(newer.content, kind="decision", topic="supper")) != "ends"


def test_strategies_are_one_only_with_the_same_trigger() -> None:
    one = said("Offer ale first.", kind="strategy", rationale="when a sailor is angry")
    assert relation(one, said("Offer ale first", kind="strategy", rationale="When a sailor is angry")) == "same"
    assert relation(one, said("Offer ale first.", kind="strategy", rationale="when a monk prays")) != "same"


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_nothing_contradicts_what_it_agrees_with(one: str, other: str) -> None:
    found = relation(said(one), said(other))
    if one == other:
        assert found == "same"
    if found in ("same", "more") and one != other:
        assert agree(one, other)
        assert referred(one) == referred(other)
    if found == "same":
        assert not richer(one, other)
    if richer(one, other):
        assert not richer(other, one)


@pytest.mark.parametrize("kind", ["fact", "decision", "strategy"])
def test_a_statement_is_the_same_as_itself(kind: KnowledgeKind) -> None:
    for text in TEXTS:
        assert relation(said(text, kind=kind), said(text, kind=kind)) == "same"


def test_statements_need_no_more_than_what_new_knowledge_has() -> None:
    new = said(f"{G} fears water.")
    assert isinstance(new, NewKnowledge)
