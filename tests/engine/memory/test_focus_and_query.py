from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.recall.focus import focus
from engine.memory.recall.query import plain_query, scene_query
from engine.memory.text import bare, plain
from engine.records.policies import RecallPolicy

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

NAMED = {"Tom Reed": "en_sailor"}
ALL = ("en_stranger", "en_sailor", "en_monk", "en_smith")


def attend(inn: Inn, entries: list[Any], present: tuple[str, ...]) -> tuple[str, ...]:
    return focus("en_bryn", inn.numbered(entries), present, NAMED, RecallPolicy())


def test_with_few_present_all_of_them_count_those_in_focus_first(inn: Inn) -> None:
    assert attend(inn, [], ("en_stranger", "en_monk")) == ("en_stranger", "en_monk")
    assert attend(inn, [inn.said("Hm.", by="en_monk")], ("en_stranger", "en_monk")) == ("en_monk", "en_stranger")


def test_in_a_crowd_the_three_latest_in_focus_count(inn: Inn) -> None:
    spoke = [inn.said("Hm.", by=who) for who in ("en_stranger", "en_monk", "en_smith", "en_sailor")]
    assert attend(inn, spoke, ALL) == ("en_sailor", "en_smith", "en_monk")
    assert attend(inn, [], ALL) == ("en_stranger", "en_sailor", "en_monk")


@pytest.mark.parametrize(
    "event",
    [("said", "Tom Reed drinks.", {"by": "en_stranger"}), ("did", "waved at {{e:en_sailor}}", {"by": "en_stranger"}),
     ("said", "You there.", {"by": "en_bryn", "to": ("en_sailor",)}), ("thought", "Where is Tom Reed?", {})],
)  # fmt: skip
def test_the_absent_who_are_meant_or_mentioned_count(inn: Inn, event: tuple[str, str, dict[str, Any]]) -> None:
    kind, text, more = event
    assert "en_sailor" in attend(inn, [getattr(inn, kind)(text, **more)], ("en_monk",))


def test_only_the_last_ten_entries_are_scanned_and_faint_voices_have_no_owner(inn: Inn) -> None:
    entries = [inn.said("Hm.", by="en_smith"), *(inn.thought("Hm.") for _ in range(10))]
    assert attend(inn, entries, ()) == ()
    assert attend(inn, [inn.said("", by="en_smith", to=(), grasp="faint")], ()) == ()


@given(st.lists(st.sampled_from(ALL), max_size=14), st.lists(st.sampled_from(ALL), unique=True))
def test_focus_is_small_and_never_oneself(inn: Inn, speakers: list[str], present: list[str]) -> None:
    found = attend(inn, [inn.said("Hm.", by=who) for who in speakers], tuple(present))
    assert len(found) == len(set(found))
    assert "en_bryn" not in found
    assert len(found) <= 3 if len(present) > 3 else set(present) <= set(found)


def test_names_are_taken_out_of_the_dense_query_only(inn: Inn) -> None:
    entries = inn.numbered([
        inn.said("Tom Reed's knife? Ask Reed, or Bryn Harrow.", 3), inn.did("gave {{e:en_sailor}} a rope", 2),
        inn.said("The wet stranger cheats at cards.", 1),
    ])  # fmt: skip
    found = scene_query(inn.world(), "en_bryn", entries, ("en_sailor", "en_stranger"))
    for name in ("Tom", "Reed", "Bryn", "Harrow", "wet stranger", "en_"):
        assert name not in found.dense
    assert "cheats at cards" in found.dense
    assert "Tom Reed" in found.text
    assert "en_" not in found.text
    assert {"reed", "knife", "cheats", "cards", "rope", "taproom"} <= set(found.terms)
    assert "the" not in found.terms
    assert found.terms[0] == "wet"


def test_names_of_those_who_stand_by_are_taken_out_too(inn: Inn) -> None:
    entries = inn.numbered([inn.said("The sooty smith and the quiet monk dance.", 1)])
    assert "smith" in scene_query(inn.world(), "en_bryn", entries, ()).dense
    found = scene_query(inn.world(), "en_bryn", entries, (), ("the sooty smith", "the quiet monk"))
    assert found.dense == "and dance. the taproom"
    assert {"smith", "monk"} <= set(found.terms)


def test_words_that_did_not_reach_the_owner_are_not_asked_for(inn: Inn) -> None:
    faint = inn.said("", 1, by="en_monk", grasp="faint")
    assert scene_query(inn.world(), "en_bryn", inn.numbered([faint]), ()).text == "the taproom"


@given(st.text(max_size=200))
def test_any_text_makes_a_query(text: str) -> None:
    found = plain_query(text, names=[text[:5], "you", ""])
    assert len(found.terms) <= 24
    assert all(term.strip() for term in found.terms)


def test_plain_text_has_neither_tokens_nor_their_possessives() -> None:
    assert bare("{{e:a}}'s purse was {{e:b}}.") == "purse was ."
    assert plain("{{e:a}} sang.", ["La  la.", ""]) == "sang. La la."
