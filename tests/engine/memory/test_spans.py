"""What an account may put between quotation marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory.handoff.quotes import verbatim
from engine.memory.handoff.selection import Selection, select
from engine.memory.handoff.spans import QUOTED, Said, outside_quotes, quoted_in, settled
from engine.records.tokens import token
from engine.records.wire import HandoffReply
from tests.engine.memory.test_selection import brief

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

BRYN, STRANGER, SAILOR = token("en_bryn"), token("en_stranger"), token("en_sailor")
SPEECH = "Have you a room? The harbour master is after me."


def kept(inn: Inn, wire: Any, content: str, sources: tuple[str, ...] = ("M1",)) -> Selection:
    return select(HandoffReply.model_validate({"chunks": [wire.chunk(sources, content), wire.chunk(["M3"], "P1 mused.")]}), brief(inn))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('P2 asked P1 "Have you a room?" and waited.', f'{STRANGER} asked {BRYN} "Have you a room?" and waited.'),
        ('"Have you a room," P2 asked P1.', f'"Have you a room," {STRANGER} asked {BRYN}.'),
        ("P2 begged: \u201cThe  harbour\nmaster is after me.\u201d", f"{STRANGER} begged: \u201cThe harbour master is after me.\u201d"),
        ('P2 begged: "The harbour master is after me.', f'{STRANGER} begged: "The harbour master is after me."'),
        ("P2 asked 'Have you a room?' of P1.", f"{STRANGER} asked 'Have you a room?' of {BRYN}."),
        ('P2 wanted a "room" that night.', f'{STRANGER} wanted a "room" that night.'),
        ("'Twas late when the sailors' guest came.", "'Twas late when the sailors' guest came."),
        ('P2 nailed a 6" plank down.', f'{STRANGER} nailed a 6" plank down.'),
    ],
)
def test_what_was_said_stays_between_its_marks(inn: Inn, wire: Any, content: str, told: str) -> None:
    found = kept(inn, wire, content)
    assert found.chunks[0].content == told
    assert found.notes == ()


FALSE = "The harbour keeper is after her"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f'P2 asked for a room and cried "{FALSE}!" to P1.', f"{STRANGER} asked for a room and cried {FALSE}! to {BRYN}."),
        (f"P2 asked for a room: \u201c{FALSE}\u201d.", f"{STRANGER} asked for a room: {FALSE}."),
        (f"P2 asked for a room: \u201e{FALSE}\u201c.", f"{STRANGER} asked for a room: {FALSE}."),
        (f"P2 asked for a room: \u00ab{FALSE}\u00bb.", f"{STRANGER} asked for a room: {FALSE}."),
        (f"P2 asked for a room: '{FALSE}'.", f"{STRANGER} asked for a room: {FALSE}."),
        (f"P2 asked for a room: \u201c{FALSE}\".", f"{STRANGER} asked for a room: {FALSE}."),
        (f"P2 asked for a room: ``{FALSE}''.", f"{STRANGER} asked for a room: {FALSE}."),
        (f'P2 asked for a room: "{FALSE}', f"{STRANGER} asked for a room: {FALSE}"),
        (f'P2 asked for a room: "\u201c{FALSE}\u201d"', f"{STRANGER} asked for a room: {FALSE}"),
        ('P2 asked for a room: "P3 hunts P2 by night".', f"{STRANGER} asked for a room: {SAILOR} hunts {STRANGER} by night."),
        ('P2 asked for a room and was a "ghost".', f"{STRANGER} asked for a room and was a ghost."),
    ],
)
def test_what_nobody_said_is_told_without_marks(inn: Inn, wire: Any, content: str, told: str) -> None:
    found = kept(inn, wire, content)
    assert found.chunks[0].content == told
    assert found.notes[0].startswith('chunk 1: nobody said "')
    assert found.notes[0].endswith('": told without quotation marks')


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('P2 asked for a room and swore: "I drowned them all, every one."', f"{STRANGER} asked for a room and swore."),
        ('"I drowned them all," P2 swore, and asked for a room.', f"{STRANGER} swore, and asked for a room."),
        ('P2 asked for a room, said "You will regret it", and wept.', f"{STRANGER} asked for a room, said and wept."),
        ('P2 asked for a room. "I drowned them all!" P1 set a mug down.', f"{STRANGER} asked for a room. {BRYN} set a mug down."),
    ],
)
def test_what_nobody_said_and_nobody_could_tell_is_left_out(inn: Inn, wire: Any, content: str, told: str) -> None:
    found = kept(inn, wire, content)
    assert found.chunks[0].content == told
    assert found.notes[0].endswith('": left out')


@pytest.mark.parametrize(
    "content",
    [
        'Somebody swore to P1: "I drowned them all, every one, number 7."', 'P2 told P1: "The harbour keeper is after her."',
        "\u201cThe harbour keeper is after her\u201d, said P2.",
    ],
)  # fmt: skip
def test_an_account_that_is_little_but_a_false_quotation_is_rejected(inn: Inn, wire: Any, content: str) -> None:
    found = kept(inn, wire, content)
    assert [chunk.source_ids for chunk in found.chunks] == [("buf-000003",)]
    assert found.undecided == {"buf-000001"}
    assert found.notes == ("chunk 1 rejected: it says little but what nobody said",)


def test_speech_of_a_moment_that_is_no_source_is_no_quotation(inn: Inn, wire: Any) -> None:
    content = 'P3 showed P2 a knife and heard "The harbour master is after her now".'
    found = kept(inn, wire, content.replace("her now", "me"), ("M2",))
    assert '"' not in found.chunks[0].content
    assert len(found.notes) == 1


def test_a_name_stands_in_speech_and_no_token(inn: Inn) -> None:
    said = Said(("Tom Reed hunts me.",))
    assert said.has("Tom Reed hunts me")
    looked = settled('P2 said "x", then "y".', lambda words: "Tom Reed hunts me" if words == "x" else None, lambda words: True)
    assert [piece.text for piece in looked.pieces if piece.spoken] == ['"Tom Reed hunts me"']
    assert looked.unsaid == ("y",)


def test_one_or_two_words_are_compared_in_any_case_and_whole() -> None:
    said = Said((), ("showed a Brass lantern",))
    assert said.has("brass lantern")
    assert not said.has("bras")
    assert not said.has("showed a brass lantern")
    assert not said.has("")
    assert not Said(("A lamp.",)).has("a lamp")  # too much for a word set apart? no: it is in no text
    assert quoted_in("He said \u201cno\u201d and 'yes'.") == ("no", "yes")


MARKED = st.lists(
    st.sampled_from(
        ['"', "'", "\u201c", "\u201d", "\u201e", "\u00ab", "\u00bb", "\u2018", "\u2019", "``", "''", " ", SPEECH, "Have you a room?",
         "P2 swore", "the ship sank", "number 6", "room", "I lied", ", ", ". "]
    ), max_size=24,
)  # fmt: skip


@settings(deadline=None)
@given(MARKED)
def test_whatever_is_written_only_speech_is_left_between_marks(parts: list[str]) -> None:
    text = " ".join("".join(parts).split())
    said = Said((SPEECH,), (SPEECH,))
    looked = settled(text, lambda words: words if said.has(words) else None, lambda words: "I" not in words.split())
    for piece in looked.pieces:
        if piece.spoken:
            words = piece.text[1:-1]
            assert verbatim(words.rstrip(" ,.;:"), [SPEECH]) or re.findall(r"\w+", words.casefold()) == ["room"]
        else:
            assert not re.search("(?<!\\d)[\"\u201c\u201d\u201e\u00ab\u00bb]|\x00", piece.text)
    shown = quoted_in("".join(piece.text for piece in looked.pieces))
    assert [words for words in shown if len(words.split()) > 2 and not said.has(words)] == []  # a reader finds nothing else between marks
    assert len(looked.notes) == len(looked.unsaid)


@settings(deadline=None)
@given(MARKED)
def test_text_outside_of_quotations_is_what_is_changed(parts: list[str]) -> None:
    text = "".join(parts)
    assert outside_quotes(text, str) == text
    upper = outside_quotes(text, str.upper)
    assert [found.group() for found in QUOTED.finditer(text)] == [text[found.start() : found.end()] for found in QUOTED.finditer(text)]
    assert len(upper) == len(text)
    assert all(upper[found.start() : found.end()] == found.group() for found in QUOTED.finditer(text))
