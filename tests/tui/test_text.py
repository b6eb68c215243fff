"""Texts are drawn as they stand, and nothing in them reaches the terminal as a command."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from tui.text import ControlFilter, capital, count, paragraphs, plain, prose, short_name, without_article

ODD = st.text(st.characters(exclude_categories=()), max_size=60)


@given(ODD)
def test_plain_text_has_no_control_characters_and_is_stable(text: str) -> None:
    once = plain(text)
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in once)
    assert plain(once) == once


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=60))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert plain(text).replace("\ufe0f", "") == text.replace("\u3164", "").replace("\u200e", "").replace("\u200f", "")


@given(st.lists(ODD, max_size=5))
def test_the_last_guard_lets_no_escape_through_and_keeps_widths(texts: list[str]) -> None:
    segments = ControlFilter().apply([Segment(text) for text in texts], Color(0, 0, 0))
    drawn = "".join(segment.text for segment in segments)
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in drawn)
    assert "\u202e" not in drawn
    assert [cell_len(segment.text) for segment in segments] == [cell_len(text) for text in texts]


def test_signs_that_terminals_measure_differently_are_taken_apart() -> None:
    assert plain("\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \U0001f44d\U0001f3fd") == (
        "\U0001f468\U0001f469\U0001f467 \u2764 \U0001f44d"
    )
    assert plain("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e"


def test_lines_are_joined_or_kept() -> None:
    assert plain("one\r\ntwo\tthree") == "one two three"
    assert paragraphs("one\ntwo") == ["one", "two"]
    assert prose("one\ntwo\n\nthree\n") == ["one two", "", "three"]
    assert prose("") == []


@pytest.mark.parametrize(("name", "short"), [
    ("Bryn Harrow", "Bryn"), ("the wet stranger", "wet stranger"), ("Mira", "Mira"), ("a", "a"), ("an old man", "old man"), ("", ""),
])
def test_short_names(name: str, short: str) -> None:
    assert short_name(name) == short


def test_small_words() -> None:
    assert capital("the quay") == "The quay"
    assert without_article("The quay") == "quay"
    assert (count(1, "memory", "memories"), count(1200, "entry", "entries")) == ("1 memory", "1,200 entries")
