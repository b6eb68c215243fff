"""Tables for people fit their terminal, whatever stands in them."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.tables import hanging, table, wrapped

WORDS = st.text(max_size=60)


def test_columns_are_as_wide_as_what_they_hold_and_the_last_is_wrapped() -> None:
    rows = [("a", "one two three four"), ("long", "five")]
    assert list(table(("k", "words"), rows, 27)) == ["k     words", "a     one two three four", "long  five"]
    assert list(table(("k", "words"), rows, 5)) == ["k     words", "a     one two three four", "long  five"]  # never narrower than 20 cells
    assert list(table(("k", "words"), [("a", "one two three four five six")], 24)) == ["k  words", "a  one two three four", "   five six"]
    assert list(table(("k", "words"), [])) == []
    assert list(hanging("note: ", "one two three four five", 26)) == ["note: one two three four", "      five"]


@given(texts=st.lists(st.tuples(st.text(max_size=8), WORDS), min_size=1, max_size=4))
def test_no_line_is_too_long_and_no_word_lost(texts: list[tuple[str, str]]) -> None:
    lines = list(table(("k", "v"), texts, 60))
    assert all(cell_len(line) <= 60 for line in lines)
    assert not any(sign in line for line in lines for sign in "\x1b\n\r\x07")


@given(text=WORDS, room=st.integers(2, 30))
def test_words_are_kept_in_order(text: str, room: int) -> None:
    assert "".join(wrapped(text, room)).replace(" ", "") == "".join(text.split())
