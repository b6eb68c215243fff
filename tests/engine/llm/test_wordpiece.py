"""The tokenizer of the minilm embedder against the numbers that the `tokenizers` wheel gives for the same vocabulary."""

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.embedders.wordpiece import WordPiece, bert_uncased

CASES = json.loads(Path(__file__).with_name("wordpiece_cases.json").read_text(encoding="utf-8"))
"""Made with tokenizers 0.23.3 and no special pieces, so that their names in a text are text."""
START, END, UNKNOWN = 101, 102, 100


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["text"][:24]))
def test_the_same_numbers_as_the_reference(case: dict[str, object]) -> None:
    assert bert_uncased().encode(str(case["text"]), 256) == case["ids"]


def test_the_vocabulary_is_the_published_one() -> None:
    folder = files("engine.llm.embedders") / "vocabulary"
    data = (folder / "bert-uncased.txt").read_bytes()
    assert hashlib.sha256(data).hexdigest() == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert "Apache License" in (folder / "LICENSE.txt").read_text(encoding="utf-8")
    assert "Apache License" in (folder / "NOTICE.txt").read_text(encoding="utf-8")


@given(text=st.text(max_size=300), limit=st.integers(2, 40))
def test_any_text_gives_known_numbers_within_the_limit(text: str, limit: int) -> None:
    numbers = bert_uncased().encode(text, limit)
    assert len(numbers) <= limit
    assert (numbers[0], numbers[-1]) == (START, END)
    assert all(0 <= number < 30_522 for number in numbers)
    whole = bert_uncased().encode(text, 10_000)
    assert numbers[:-1] == whole[: len(numbers) - 1]
    assert len(numbers) == min(limit, len(whole)), "nothing is left out that had room"


@given(text=st.text(alphabet="abcdefghij klmnopqrstuvwxyz'-,.", max_size=200))
def test_letters_are_neither_lost_nor_made(text: str) -> None:
    words = WordPiece(["[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz'-,.", *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz")])
    numbers = words.encode(text, 10_000)[1:-1]
    letters = "".join("".join("abcdefghijklmnopqrstuvwxyz'-,."[n - 3] if n < 33 else chr(ord("a") + n - 33)) for n in numbers)
    assert letters == "".join(text.split())


def test_a_text_of_a_million_characters_is_cut_and_not_read_through() -> None:
    assert len(bert_uncased().encode("the harbour " * 100_000, 256)) == 256


def test_a_piece_that_ends_nowhere_makes_the_whole_word_unknown() -> None:
    words = WordPiece(["[UNK]", "[CLS]", "[SEP]", "har", "##bo", "##bour"])
    assert words.encode("harbour harboux har", 10) == [1, 3, 5, 0, 3, 2]
