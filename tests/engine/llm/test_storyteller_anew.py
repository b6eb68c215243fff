"""Asked anew, the storyteller remembers the same moments differently: every answer is as true as the first, and the same in every play."""

import asyncio
import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.llm.storyteller.handoff.moments import read_story
from engine.llm.storyteller.handoff.writer import reported
from engine.llm.storyteller.phrases import lines
from engine.memory.handoff.selection import Brief, select
from engine.mind.aliases import own_name, vocabulary
from engine.prompts.handoff import build, people_of
from engine.records.memory import BufferEntry
from engine.records.prompts import Message, Prompt
from engine.records.wire import HandoffChunk, HandoffReply
from tests.engine.llm.test_storyteller_handoff import AMBIENT, NOW, OWNER, THREAT, WORLD, buffers, entry

ATTEMPTS = range(1, 8)
_OWN = {"p1", "and", "answered", "that", "spoke", "to", "was", "there", "passed", "a", "quiet", "while", "she", "he", "her", "him", "his"}
"""Who remembers, words with which accounts are put together, and with which one is made of what cannot be told; pronouns for names."""
_TALK = [
    ("said", "Who put out the lantern?", "en_sailor", (OWNER,)), ("said", "Ask me tomorrow.", OWNER, ("en_sailor",)),
    ("done", "wiped the counter from left to right", OWNER, ()), ("said", "Have you a room?", "en_nun", (OWNER,)),
    ("said", "Six crowns a night, and I ask no questions.", OWNER, ("en_nun",)), ("said", THREAT, "en_stranger", (OWNER,)),
    ("done", "gave {{e:th_key}} to {{e:en_sailor}}", OWNER, ()), ("thought", "I must not let them see my hands.", OWNER, ()),
    ("said", "You lied to me.", OWNER, ("en_stranger",)), ("said", "I killed him. I had to.", "en_stranger", (OWNER,)),
]  # fmt: skip
POOL = [entry(n, kind, text, by=by, to=to, ago=300 - n) for n, (kind, text, by, to) in enumerate(_TALK, 1)]


def reply(prompt: Prompt | str, attempt: int, *, seed: int = 5) -> str:
    """What the storyteller answers to a handoff prompt, or to entries in plain text, for this attempt."""
    messages = (Message(role="user", content=prompt),) if isinstance(prompt, str) else prompt.messages
    request = ModelRequest(task="handoff", entity=OWNER, round=20, seed=seed, attempt=attempt, messages=messages)
    return asyncio.run(Storyteller().complete(request)).text


def chunks(entries: Sequence[BufferEntry], attempt: int) -> list[HandoffChunk]:
    """The chunks of an answer, which stands up to every check of the engine."""
    prompt, handles = build(WORLD, OWNER, entries, NOW)
    found = HandoffReply.model_validate_json(reply(prompt, attempt))
    people = people_of(OWNER, entries)
    names = vocabulary(WORLD, OWNER, people) | {own_name(WORLD.entities[OWNER]): OWNER}
    brief = Brief(
        owner=OWNER, candidates=entries, handles=handles, names=names, known=frozenset(people), world=WORLD,
        template=prompt.messages[0].content,
    )  # fmt: skip
    selection = select(found, brief)
    assert selection.notes == ()
    assert not selection.undecided
    assert len(selection.chunks) == len(found.chunks)
    spoken = {one.id: " ".join(one.intent.text.split()) for one in entries if one.intent.type == "dialogue" and one.grasp == "full"}
    for chunk in found.chunks:
        said = [spoken.get(handles.id(handle) or "", "") for handle in chunk.sourceEntryIds]
        assert all(any(quote in words for words in said) for quote in chunk.quotes)
        assert 1 <= chunk.importance <= 10
    return found.chunks


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


@settings(max_examples=150, deadline=None)
@given(buffers(), st.sampled_from(ATTEMPTS))
def test_every_attempt_stands_up_to_every_check(entries: list[BufferEntry], attempt: int) -> None:
    found = chunks(entries, attempt)
    assert found
    cited = [handle for chunk in found for handle in chunk.sourceEntryIds]
    assert len(cited) == len(set(cited))
    assert sum(len(chunk.sourceEntryIds) for chunk in found if chunk.retainInBuffer) <= 4


@settings(max_examples=150, deadline=None)
@given(buffers(), st.sampled_from(ATTEMPTS))
def test_no_attempt_tells_what_the_moments_do_not(entries: list[BufferEntry], attempt: int) -> None:
    prompt, _ = build(WORLD, OWNER, entries, NOW)
    story = read_story(prompt.messages[-1].content)
    known = words(" ".join(line.split(" :: ")[1] for line in lines("remembering_anew"))) | _OWN
    for report in reported(story):
        known |= words(f"{report.text} {report.moment.place} {' '.join(report.moment.to)}")
    for chunk in chunks(entries, attempt):
        assert words(chunk.content) <= known


@settings(max_examples=100, deadline=None)
@given(buffers())
def test_attempts_are_the_same_in_every_play_and_never_come_to_a_stop(entries: list[BufferEntry]) -> None:
    prompt, _ = build(WORLD, OWNER, entries, NOW)
    told = [reply(prompt, attempt) for attempt in (0, *ATTEMPTS)]
    assert told == [reply(prompt, attempt, seed=99) for attempt in (0, *ATTEMPTS)]
    if len(set(told)) > 1:
        assert all(one != following for one, following in pairwise(told))
    if len(set(told)) > 2:
        assert told[0] not in told[1:]


def speeches(entries: list[BufferEntry]) -> set[str]:
    """What was said and understood, each once, without what is no sentence."""
    said = (one.intent.text for one in entries if one.intent.type == "dialogue" and one.grasp == "full")
    return {text for text in said if len(text.split()) > 1}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(buffers().filter(lambda entries: len(speeches(entries)) > 3))
def test_where_much_was_said_an_attempt_differs(entries: list[BufferEntry]) -> None:
    prompt, _ = build(WORLD, OWNER, entries, NOW)
    assert len({reply(prompt, attempt) for attempt in (0, *ATTEMPTS)}) >= 3


def test_a_pool_of_ten_moments_has_many_answers() -> None:
    told = [chunks(POOL, attempt) for attempt in (0, *ATTEMPTS)]
    accounts = {tuple(chunk.content for chunk in answer) for answer in told}
    assert len(accounts) >= 4
    few, usual, many = sorted({len(answer) for answer in told})
    assert few < usual == len(told[0]) < many
    assert len({tuple(quote for chunk in answer for quote in chunk.quotes) for answer in told}) >= 2
    threat = next(chunk for chunk in told[0] if THREAT in chunk.quotes)
    assert threat.retainInBuffer
    assert any(not any(chunk.retainInBuffer for chunk in answer) for answer in told[1:])
    weights = {chunk.importance for answer in told for chunk in answer if chunk.sourceEntryIds == threat.sourceEntryIds}
    assert weights == {threat.importance - 1, threat.importance, threat.importance + 1}


def test_a_single_exchange_is_told_in_other_words() -> None:
    told = [[chunk.content for chunk in chunks(POOL[:2], attempt)] for attempt in (0, 1, 2, 3)]
    asked, anew, finer = told[0], told[1], told[2:]
    assert asked == ["P2 asked P1 who had put out the lantern; P1 would not say."]
    assert anew == ["P2 wanted to know from P1 who had put out the lantern; P1 declined to say."]
    assert all(set(re.findall(r"P\d", " ".join(other))) == {"P1", "P2"} for other in finer)


def test_one_small_moment_may_have_nothing_else_to_it() -> None:
    for deed in AMBIENT:
        first, *others = [chunks([entry(1, "done", deed)], attempt) for attempt in (0, 1, 2, 3)]
        assert {chunk.content for answer in others for chunk in answer} == {chunk.content for chunk in first}


def test_what_was_pinned_before_is_told_again_when_it_is_let_go() -> None:
    entries = [entry(1, "said", THREAT, by="en_sailor", to=(OWNER,), pinned="model"), entry(2, "said", "You look tired.", to=("en_nun",))]
    told = [chunks(entries, attempt) for attempt in (0, *ATTEMPTS)]
    assert all(any("M1" in chunk.sourceEntryIds for chunk in answer) for answer in told)
    assert {chunk.retainInBuffer for answer in told for chunk in answer if "M1" in chunk.sourceEntryIds} == {True, False}


OTHERWISE = {
    "P2 spoke to P1: \"Tell me who has the key.\"": "P2 wanted to know from P1 who had the key.",
    "P2 spoke to P1: \"May I have the iron key?\"": "P2 turned to P1 for the iron key.",
    "P2 spoke to P1: \"What do you know about the lantern?\"": "P2 questioned P1 about the lantern.",
    "P2 spoke to P1: \"I promise you to come back by dawn.\"": "P2 pledged to P1 to come back by dawn.",
    "P2 spoke to P1: \"You are hiding the letter.\"": "P2 charged P1 with hiding the letter.",
    "P2 spoke to P1: \"The letter was stolen from the house.\"": "P2 said to P1 that the letter was stolen from the house.",
    "P2 spoke to P1: \"Keep away from the cellar.\"": "P2 cautioned P1 against the cellar.",
    "P2 spoke to P1 and P3: \"Who put out the lantern?\"": "P2 wanted to know from P1 and P3 who had put out the lantern.",
    "P2 spoke: \"Who put out the lantern?\"": "P2 wanted to know who had put out the lantern.",
}


@pytest.mark.parametrize(("said", "told"), OTHERWISE.items())
def test_other_words_say_the_same(said: str, told: str) -> None:
    prompt = (
        "=== WHOSE MEMORY ===\nP1: Orla Venn\n\n=== PEOPLE ===\nP2: Joss Pellam\nP3: Ines Calder\n\n"
        f"=== ENTRIES ===\nM1 [said] a few hours ago, in the taproom: {said}"
    )
    [chunk] = HandoffReply.model_validate_json(reply(prompt, 1)).chunks
    assert chunk.content == told
