import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.handoff.quotes import verbatim

SPEECH = "Have you a room?  My boat \u2018Merry Ann\u2019 is gone,\nand I don't know \u201cwhy\u201d."


@pytest.mark.parametrize(
    ("quote", "kept"),
    [
        ("Have you a room?", "Have you a room?"),
        ('"Have you a room?"', "Have you a room?"),
        ("\u201cHave  you a\nroom\u201d", "Have you a room"),
        ("is gone, and I don\u2019t know why", "is gone, and I don't know \u201cwhy"),
        ("My boat 'Merry Ann' is gone", "My boat \u2018Merry Ann\u2019 is gone"),
        ("Have you a bed?", None),
        ("have you a room?", None),
        ("Have a room?", None),
        ("Have you a roo", None),
        ("ave you a room?", None),
        ("Have you a room? My ship", None),
        ("Have you a room!", None),
        ("", None),
        ('""', None),
        ("?", None),
    ],
)
def test_only_what_was_said_is_a_quote(quote: str, kept: str | None) -> None:
    assert verbatim(quote, [SPEECH]) == kept


def test_a_quote_does_not_run_over_two_speeches() -> None:
    assert verbatim("Good day. Good night.", ["Good day.", "Good night."]) is None
    assert verbatim("Good night.", ["Good day.", "Good night."]) == "Good night."


WORDS = st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8), min_size=1, max_size=12)


@given(WORDS, st.data())
def test_any_run_of_words_of_a_speech_is_kept_and_one_word_changed_is_not(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    run = words[start : data.draw(st.integers(start + 1, len(words)))]
    speech = "  ".join(words)
    assert verbatim(f'"{" ".join(run)}"', [speech]) == " ".join(run)
    changed = [*run[:-1], run[-1] + "x"]
    if " ".join(changed) not in " ".join(words):
        assert verbatim(" ".join(changed), [speech]) is None


@given(st.text(max_size=40), st.text(max_size=80))
def test_what_is_kept_stands_in_the_speech(quote: str, speech: str) -> None:
    found = verbatim(quote, [speech])
    assert found is None or found in " ".join(speech.split())
