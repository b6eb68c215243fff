"""Handles stand for ids in model calls and map back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mind.handles import Handles
from engine.records.tokens import token

IDS = st.text(alphabet="abP1_.-", min_size=1, max_size=6)


def test_handles_are_given_in_call_order_by_kind() -> None:
    handles = Handles()
    assert [handles.of("bob"), handles.of("ann"), handles.of("bob")] == ["P1", "P2", "P1"]
    assert [handles.entry("buf-000009"), handles.entry("buf-000001")] == ["M1", "M2"]
    assert [handles.way("bob"), handles.way("door")] == ["L1", "L2"]
    assert [handles.id(each) for each in ("P1", "P2", "M2", "L1", "L2")] == ["bob", "ann", "buf-000001", "bob", "door"]


@pytest.mark.parametrize("written", ["P2", "p2", "[P2]", " P2 ", "(p2)", "P02", "P2:", "<P2>"])
def test_a_handle_is_read_as_models_write_it(written: str) -> None:
    handles = Handles()
    handles.of("bob")
    handles.of("ann")
    assert handles.id(written) == "ann"
    assert handles.id(written, "P") == "ann"
    assert handles.id(written, "L") is None


@pytest.mark.parametrize("written", ["P3", "M1", "P0", "P", "2", "", "P1 P2", "bob", "XP1", "P1x", "{{e:bob}}"])
def test_what_is_no_handle_means_nothing(written: str) -> None:
    handles = Handles()
    handles.of("bob")
    handles.of("ann")
    assert handles.id(written) is None


def test_tokens_and_handles_in_text() -> None:
    handles = Handles()
    assert handles.replace_tokens("{{e:bob}} met {{e:ann}}; {{e:bob}}'s hat") == "P1 met P2; P1's hat"
    assert handles.tokens("P1 met [P2], P1's hat, P12, XP1, P1x, P3, p1") == (
        "{{e:bob}} met {{e:ann}}, {{e:bob}}'s hat, P12, XP1, P1x, P3, p1"
    )
    assert handles.tokens("M1 L1") == "M1 L1"


@given(st.lists(IDS, max_size=15), st.lists(st.sampled_from([" saw ", "'s ", ", ", " "]), min_size=15, max_size=15))
def test_text_survives_the_way_out_and_back(ids: list[str], filler: list[str]) -> None:
    handles = Handles()
    text = "".join(token(id_) + gap for id_, gap in zip(ids, filler, strict=False))
    wire = handles.replace_tokens(text)
    assert "{{" not in wire
    assert handles.tokens(wire) == text
    assert all(handles.id(handles.of(id_)) == id_ for id_ in ids)
