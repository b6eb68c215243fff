"""A person's question to somebody's memory: whom it names, and what is left of it for the vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.recall.names import known_names, marked
from engine.memory.recall.query import asked_query
from engine.records.tokens import referred

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

NAMES = {"Tom Reed": "en_sailor", "Tom": "en_sailor", "Will": "en_will", "the wet stranger": "en_stranger", "Bryn Harrow": "en_bryn"}


def test_an_owner_knows_names_labels_and_itself(inn: Inn) -> None:
    found = known_names(inn.world(), "en_bryn", ("en_stranger",))
    assert found["Tom Reed"] == found["Reed"] == found["the tall sailor"] == "en_sailor"
    assert found["the wet stranger"] == "en_stranger"
    assert found["Bryn Harrow"] == found["Bryn"] == "en_bryn"
    assert "Gareth Vale" not in found
    assert "the quiet monk" not in found


@pytest.mark.parametrize(
    ("question", "named", "dense"),
    [
        ("What did Tom Reed's brother say to Bryn Harrow?", ("en_sailor", "en_bryn"), "What did brother say to?"),
        ("The wet stranger, what of Tom?", ("en_stranger", "en_sailor"), ""),
        ("What of it, Tom?", ("en_sailor",), ""),
        ("Who paid for the room?", (), "Who paid for the room?"),
        ("Will you, Tom Reed?", ("en_will", "en_sailor"), ""),
        ("Will you sing, Tom Reed?", ("en_will", "en_sailor"), "you sing?"),
        ("what did tom reed say, and will it rain?", ("en_sailor",), "what did say, and will it rain?"),
        ("WHAT OF TOM?", (), "WHAT OF TOM?"),
        ("what?", (), ""),
        ("Tom", ("en_sailor",), ""),
        ("Tomorrow?", (), "Tomorrow?"),
        ("", (), ""),
    ],
)  # fmt: skip
def test_names_leave_the_dense_query_and_stay_in_the_words(question: str, named: tuple[str, ...], dense: str) -> None:
    found = asked_query(question, NAMES)
    assert (found.named, found.dense, found.text) == (named, dense, question)
    if "Tom Reed" in question:
        assert {"tom", "reed"} <= {term.split("'")[0] for term in found.terms}


def test_a_token_in_a_question_names_nobody() -> None:
    assert asked_query("What of {{e:en_sailor}}?", NAMES).named == ()


@given(st.text(max_size=80))
def test_any_question_can_be_asked(text: str) -> None:
    found = asked_query(text, NAMES | {text[:9]: "en_any"})
    assert set(found.named) <= {*NAMES.values(), "en_any"}
    assert found.text == text
    assert "{{e:" not in found.dense


@given(st.lists(st.sampled_from(sorted(NAMES)), max_size=5))
def test_whoever_is_named_is_found_in_order(names: list[str]) -> None:
    assert referred(marked(" and ".join(names), NAMES)) == tuple(dict.fromkeys(NAMES[name] for name in names))
