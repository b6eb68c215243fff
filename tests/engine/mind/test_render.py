"""Stored text as one viewer reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mind.render import NOBODY, capital, joined, render

NAMES = {"me": "you", "ish": "the wet stranger", "gar": "Gareth"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{e:ish}} came in. {{e:gar}} left! {{e:me}} stayed", "The wet stranger came in. Gareth left! You stayed"),
        ("poured ale for {{e:ish}} and {{e:me}}", "poured ale for the wet stranger and you"),
        ("{{e:me}} was tired; {{e:ish}} was not", "You were tired; the wet stranger was not"),
        ("{{e:me}} has {{e:me}}'s keys", "You have your keys"),
        ("{{e:me}} wasn't there. {{e:me}}\u2019s door is shut.", "You weren't there. Your door is shut."),
        ("{{e:me}} isolated {{e:ish}}'s crew", "You isolated the wet stranger's crew"),
        ('"{{e:ish}} lies." {{e:gar}} spat', '"The wet stranger lies." Gareth spat'),
        ("told {{e:stranger_9}} of {{e:gar}}", f"told {NOBODY} of Gareth"),
        ("two\n lines of\t{{e:gar}}", "two lines of Gareth"),
        ("no tokens. here", "no tokens. here"),
        ("{{e:gar}}{{e:gar}}", "GarethGareth"),
        ("{{e: gar}} {e:gar}", "{{e: gar}} {e:gar}"),
        ("", ""),
    ],
)
def test_render(text: str, expected: str) -> None:
    assert render(text, NAMES) == expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_reference_is_left_and_other_text_stands(before: str, after: str) -> None:
    shown = render(before + "{{e:ish}}" + after, NAMES)
    assert "{{e:ish}}" not in shown
    assert "wet stranger" in shown
    assert "\n" not in shown
    assert render(before, {}) == " ".join(before.split()) or "{{e:" in before


def test_words_for_lists_and_capitals() -> None:
    assert [joined(list("abc"[:n])) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert capital('"the inn') == '"The inn'
    assert capital("") == ""
    assert capital("...") == "..."


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ("{{e:me}} means to bring {{e:b}} the key.", "You mean to bring Bob the key."), ("{{e:me}} carries salt.", "You carry salt."),
        ("{{e:me}} watches {{e:b}}.", "You watch Bob."), ("{{e:me}} goes. {{e:me}} lies.", "You go. You lie."),
        ("{{e:me}} always owes {{e:b}} money.", "You always owe Bob money."), ("{{e:me}} passes.", "You pass."),
        ("{{e:me}}'s boats rot.", "Your boats rot."), ("{{e:b}} told {{e:me}} things.", "Bob told you things."),
        ("{{e:b}} means it.", "Bob means it."), ("{{e:me}} was at sea.", "You were at sea."),
        ("{{e:me}} perhaps sang.", "You perhaps sang."),
    ],
)  # fmt: skip
def test_what_one_does_now_reads_as_one_is_told_it(told: str, read: str) -> None:
    assert render(told, {"me": "you", "b": "Bob"}) == read
