"""Text made fit for terminals and databases."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.records.clean import clean, one_line

NASTY = st.text(st.sampled_from("\x1b[]m;0H\x07\\\x9b\x9d\x9c\u202e\u2066\ufeff\ud800\x00\x7f\r\n\t\x85\u2028aé界"), max_size=30)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;aGk=\x1b\\text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never closed", "never closed"),
        ("\x9b2Jgone", "gone"),
        ("a\x00b\x07c\x7fd", "abcd"),
        ("\u202eevil\u202c \u2066x\u2069", "evil x"),
        ("half \ud83d emoji", "half \ufffd emoji"),
        ("one\r\ntwo\rthree\x85four\u2028five", "one\ntwo\nthree\nfour\nfive"),
        ("\ufefftop \u200bzero", "top zero"),
        ("tags \U000e0041\U000e0042", "tags "),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("[red] [/] {{char}} 'Tis\ttab", "[red] [/] {{char}} 'Tis\ttab"),
    ],
)
def test_what_goes_and_what_stays(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text() | NASTY)
@example("\x1b\x1b[[31m\x9d\x9d")
def test_cleaned_text_is_harmless_and_cleaning_again_changes_nothing(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", cleaned)
    assert clean(cleaned) == cleaned
    assert one_line(one_line(text)) == one_line(text)


def test_a_long_hostile_text_takes_no_time() -> None:
    assert clean("\x1b]" * 200_000 + "end") == "end"
    assert clean("\x1b[" + "1;" * 200_000).endswith("1;")
