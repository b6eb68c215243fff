"""Authored deeds in the past tense."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.phrasing import deed, past


@pytest.mark.parametrize(
    ("verb", "told"),
    [
        ("wipes", "wiped"), ("hums", "hummed"), ("stops", "stopped"), ("cleans", "cleaned"), ("opens", "opened"), ("carries", "carried"),
        ("plays", "played"), ("watches", "watched"), ("passes", "passed"), ("fixes", "fixed"), ("goes", "went"), ("lies", "lay"),
        ("dies", "died"), ("ties", "tied"), ("throws", "threw"), ("sees", "saw"), ("is", "was"), ("has", "had"), ("does", "did"),
        ("begins", "began"), ("prefers", "preferred"), ("shows", "showed"), ("reaches", "reached"), ("puts", "put"),
    ],
)  # fmt: skip
def test_third_persons_become_past(verb: str, told: str) -> None:
    assert past(verb) == told


@pytest.mark.parametrize("word", ["wiped", "went", "was", "always", "perhaps", "towards", "sat", "press", "his"])
def test_other_words_stay(word: str) -> None:
    assert past(word) == word


@pytest.mark.parametrize(
    ("sentence", "summary"),
    [
        ("wipes the counter.", "wiped the counter"),
        ("Wiped the counter", "wiped the counter"),
        ("takes the mugs and glasses, then goes out.", "took the mugs and glasses, then went out"),
        ("nods at {{e:bob}} and says nothing.", "nodded at {{e:bob}} and said nothing"),
        ("sat down and watches", "sat down and watches"),
    ],
)
def test_deeds(sentence: str, summary: str) -> None:
    assert deed(sentence) == summary


@given(st.text(max_size=60))
def test_only_verbs_change(text: str) -> None:
    before = text.strip().removesuffix(".").rstrip().split(" ")
    after = deed(text).split(" ")
    assert text.strip().endswith("..") or len(before) == len(after)
    for old, new in zip(before, after, strict=False):
        assert new.startswith(old.rstrip(".")) or new in (old.lower(), past(old), past(old.lower()))
