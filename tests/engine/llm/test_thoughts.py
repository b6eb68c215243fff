"""Thoughts are no part of a reply, however the text was cut into pieces on its way."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.thoughts import SpokenPart, without_thoughts

PARTS = st.lists(
    st.sampled_from([
        "<think>", "</think>", "<THINK>", "<thinking>", "</thinking>", "<thought>", "</thoughts>", "<", "</", "think", ">", "Good day.",
        " ", "\n", "a < b", "<b>", '"', "She nods. ",
    ]),
    max_size=14,
).map("".join)


def spoken(*pieces: str) -> tuple[str, SpokenPart, list[str | None]]:
    """What remains of what was said, all of it void at each None."""
    part = SpokenPart()
    said = [each for piece in pieces for each in part.add(piece)] + part.end()
    last = max((place for place, each in enumerate(said) if each is None), default=-1)
    return "".join(each or "" for each in said[last + 1 :]), part, said


@pytest.mark.parametrize(("text", "left"), [
    ("Good day.", "Good day."),
    ("<think>Who is it?</think>\n\nGood day.", "Good day."),
    ("\n<Thinking>a </think> b</THINKING> Good day.\n", "Good day.\n"),
    ("So it begins.</think>Good day.", "Good day."),
    ("One. <think>hm</think>Two.", "One. Two."),
    ("<think>never ends", ""),
    ("Good <b>day</b>, a < b <thin", "Good <b>day</b>, a < b <thin"),
    ("<think>a</think>b</think>c", "c"),
])
def test_what_is_left_of_a_reply(text: str, left: str) -> None:
    for pieces in ([text], list(text)):
        heard, part, _ = spoken(*pieces)
        assert heard == left
        assert part.text == left
        assert part.thought == ("think" in text.lower() and not text.endswith("<thin"))


TAG = "think|thinking|thoughts?|reasoning|reflection|scratchpad"


@given(text=PARTS)
def test_blocks_go_and_all_before_an_end_without_a_beginning(text: str) -> None:
    """The same in two patterns, which take long where there are many tags."""
    closed = re.sub(rf"<({TAG})>.*?</\1>", " ", text, flags=re.DOTALL | re.IGNORECASE)
    assert without_thoughts(text) == re.sub(rf"^.*</(?:{TAG})>", " ", closed, flags=re.DOTALL | re.IGNORECASE)


@given(text=PARTS, data=st.data())
def test_pieces_make_no_difference(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    heard, part, _ = spoken(*pieces)
    whole, at_once, _ = spoken(text)
    assert heard == whole == part.text
    assert (part.thinking, part.thought) == (at_once.thinking, at_once.thought)


@given(text=PARTS)
def test_streamed_and_whole_replies_have_the_same_words(text: str) -> None:
    heard, part, _ = spoken(text)
    if not part.thinking:
        assert "".join(heard.split()) == "".join(_rest(text).split())


def _rest(text: str) -> str:
    """By the rule for whole texts, until there is nothing more to take out."""
    left = without_thoughts(text)
    return left if left == text else _rest(left)


def test_nothing_is_taken_back_when_nothing_was_said() -> None:
    assert spoken("<think>", "hm", "</think>", "Yes.")[2] == ["Yes."]
    assert spoken("\n", "</think>", "Yes.")[2] == ["Yes."]
    assert spoken("hm", "</think>", "Yes.")[2] == ["hm", None, "Yes."]


def test_what_cannot_become_a_tag_is_said_at_once() -> None:
    part = SpokenPart()
    assert part.add("She says <") == ["She says "]
    assert part.add("3") == ["<3"]
