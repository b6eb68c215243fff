"""What replies about memories may hold under a grammar: handles of their prompt and words that were said, in the room that there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.scripted import Scripted
from engine.llm.tokens import estimate_tokens
from engine.memory.closing import compress_reply, handoff_reply, quotable
from engine.memory.handoff.quotes import verbatim
from engine.memory.handoff.slicing import first_slice
from engine.prompts.compression import build as build_compression
from engine.records.limits import fullest, room
from engine.records.memory import LedgerEntry
from engine.records.wire import HandoffReply

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

SPEECH = st.text("ab .!?_'\"\u201c\u2026-\n*", max_size=40) | st.text(max_size=20) | st.sampled_from(
    ["Have you a room?", "word " * 100, "This is a sentence of some length. " * 20, "x" * 500, "1,000 crowns. No."]
)  # fmt: skip


async def test_a_handoff_says_what_may_stand_in_its_reply(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    asked = Scripted([str(wire.reply(wire.chunk(["M1"], "P2 asked P1 for a room.")))])
    await desk.thinking(lambda request: _reply(asked, request)).run_all(desk.world)
    [request] = asked.requests
    assert request.template == "handoff.1"
    assert request.choices == {
        "sourceEntryIds": ("M1", "M2", "M3", "M4"), "involvedEntityIds": ("P1", "P2"),
        "quotes": ("Have you a room? The harbour master is after me.",),
    }  # fmt: skip
    assert request.response is not None
    assert issubclass(request.response, HandoffReply)
    assert room(request.response, request.choices, estimate_tokens) <= request.max_tokens


async def _reply(model: Scripted, request: Any) -> str:
    return (await model.complete(request)).text


@settings(max_examples=100, deadline=None)
@given(st.lists(SPEECH, max_size=8), st.integers(20, 400))
def test_whatever_may_be_quoted_is_verbatim(speeches: list[str], longest: int) -> None:
    found = quotable(speeches, longest)
    assert all(verbatim(quote, speeches) is not None for quote in found)
    assert all(len(quote) <= longest and "\n" not in quote for quote in found)
    assert len(set(found)) == len(found) <= 40


def test_of_long_speech_its_sentences_may_be_quoted() -> None:
    speech = "Have you a room? " + "The harbour master is after me, and he has asked at every door. " * 6
    assert quotable(["No.", speech, "No."]) == (
        "No.", "Have you a room?", "The harbour master is after me, and he has asked at every door.",
    )  # fmt: skip
    assert quotable(["_", "\u2026", ""]) == ()


def test_there_is_an_end_to_what_may_be_quoted() -> None:
    assert sum(map(len, quotable(f"Line {n} of a tale that goes on and on for a good while. " * 4 for n in range(100)))) <= 6_000
    assert len(quotable(f"Line {n}." for n in range(100))) == 40


@settings(max_examples=60, deadline=None)
@given(st.lists(SPEECH.filter(str.strip), min_size=1, max_size=25))
def test_the_longest_handoff_fits_its_room(inn: Inn, speeches: list[str]) -> None:
    entries = inn.numbered([inn.said(text, 400 - n) for n, text in enumerate(speeches)])
    piece = first_slice(inn.world(), "en_bryn", entries, Scripted(context_window=100_000))
    closed = handoff_reply(piece.candidates, piece.handles, estimate_tokens, piece.prompt.report.reserved)
    assert room(closed.shape, closed.choices, estimate_tokens) <= closed.max_tokens == piece.prompt.report.reserved
    reply = HandoffReply.model_validate_json(fullest(closed.shape, closed.choices))
    assert 1 <= len(reply.chunks) <= len(entries)
    if len(entries) >= 8 and max(map(len, speeches)) <= 120:
        assert len(reply.chunks) >= 3


@pytest.mark.parametrize("count", [2, 8, 40])
def test_the_longest_compression_fits_its_room(inn: Inn, count: int) -> None:
    memories = [
        LedgerEntry(id=f"led-{n:06}", seq=n, **inn.memory("P2 asked for a room.", 900 - n, quotes=(f"Number {n}. " * 14,)).model_dump())
        for n in range(1, count + 1)
    ]
    prompt, handles = build_compression(inn.world(), "en_bryn", memories, inn.now)
    closed = compress_reply(memories, handles, estimate_tokens, prompt.report.reserved)
    assert closed.choices["sourceEntryIds"] == tuple(f"M{n}" for n in range(1, count + 1))
    assert all(verbatim(quote, [memories[at].quotes[0]]) for at, quote in enumerate(closed.choices["quotes"]))
    assert room(closed.shape, closed.choices, estimate_tokens) <= closed.max_tokens == prompt.report.reserved
    assert len(closed.shape.model_validate_json(fullest(closed.shape, closed.choices)).sourceEntryIds) == count
