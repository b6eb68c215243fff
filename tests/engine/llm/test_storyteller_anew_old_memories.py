"""Asked anew, the storyteller tells old memories as one differently, and still nothing that does not stand there."""

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.llm.storyteller.phrases import lines
from engine.memory.compression.telling import select
from engine.prompts.compression import build
from engine.records.memory import LedgerEntry, Mode
from engine.records.tokens import token
from engine.records.wire import CompressReply
from tests.engine.llm.test_storyteller_handoff import MINDS, NOW, OWNER, WORLD

A, B, C, D = (token(key) for key in MINDS)
ATTEMPTS = range(1, 7)
_JOINING = {"and", "also", "spoke", "to", "more", "than", "once", "had", "do", "with", "passed", "a", "while", "in", "the", "taproom"}
Told = tuple[int, Mode, str, tuple[str, ...]]


def memories(told: Sequence[Told]) -> list[LedgerEntry]:
    """Old memories of Bryn's, ten minutes apart."""
    found = []
    for number, (importance, mode, content, quotes) in enumerate(told, 1):
        at = NOW - timedelta(days=5) + timedelta(minutes=10 * number)
        found.append(
            LedgerEntry(
                id=f"led-{number:06d}", seq=number, owner_id=OWNER, timestamp=at, ended=at, location_id="pl_bar", content=content,
                quotes=quotes, importance=importance, mode=mode, origin="handoff",
            )
        )
    return found


def told_as_one(entries: Sequence[LedgerEntry], attempt: int) -> CompressReply:
    """The answer of this attempt, which stands up to every check of the engine."""
    prompt, handles = build(WORLD, OWNER, entries, NOW)
    request = ModelRequest(task="handoff", entity=OWNER, round=3, seed=5, attempt=attempt, messages=prompt.messages)
    found = CompressReply.model_validate_json(asyncio.run(Storyteller().complete(request)).text)
    chunk, notes = select(found, WORLD, entries, prompt, handles)
    assert notes == ()
    assert len(chunk.source_ids) == len(entries)
    known = set(re.findall(r"\w+", prompt.messages[-1].content.lower())) | _JOINING
    known |= set(re.findall(r"\w+", " ".join(line.split(" :: ")[1] for line in lines("remembering_anew"))))
    assert set(re.findall(r"\w+", found.content.lower())) <= known
    return found


NAMES = st.sampled_from([A, B, C, D])
DEEDS = st.sampled_from(["swept the floor", "was afraid of the dark", "thought of home", "meant to go"])
TELLINGS = st.one_of(
    st.builds(lambda a, b, t: f"{a} asked {b} {t}", NAMES, NAMES, st.sampled_from(["about the tide", "who sang", "why it rained"])),
    st.builds(lambda a, b: f"{a} told {b} to go; {b} would not say", NAMES, NAMES),
    st.builds(lambda a, deed: f"{a} {deed}", NAMES, DEEDS),
    st.sampled_from(["The tide came in", "I saw it", "Nobody spoke", "Rain: all day"]),
)
CONTENTS = st.lists(TELLINGS, min_size=1, max_size=3).map(lambda parts: ". ".join(parts) + ".")
MODES: st.SearchStrategy[Mode] = st.sampled_from(["said", "done", "thought"])
QUOTES = st.sampled_from([(), ("The mill is gone.",), ("Go home.", "I will not.")])
GIVEN = st.lists(st.tuples(st.integers(1, 4), MODES, CONTENTS, QUOTES), min_size=2, max_size=10)


@settings(max_examples=100, deadline=None)
@given(GIVEN)
def test_every_attempt_can_be_kept_and_none_comes_to_a_stop(told: list[Told]) -> None:
    entries = memories(told)
    found = [told_as_one(entries, attempt) for attempt in (0, *ATTEMPTS)]
    assert found == [told_as_one(entries, attempt) for attempt in (0, *ATTEMPTS)]
    different = {answer.model_dump_json() for answer in found}
    if len(different) > 1:
        assert all(one != following for one, following in pairwise(found))
    if len(different) > 2:
        assert found[0] not in found[1:]


def test_several_questions_are_told_in_several_ways() -> None:
    entries = memories([
        (3, "said", f"{B} asked {A} about the tide. {A} would not say.", ()), (4, "said", f"{C} told {B} that the mill had burned.", ()),
        (2, "done", f"{D} left the house.", ()), (2, "said", f"{D} asked {C} who sang.", ()),
    ])  # fmt: skip
    accounts = [told_as_one(entries, attempt).content for attempt in (0, *ATTEMPTS)]
    assert len(set(accounts)) >= 4
    assert "P2 questioned P1 about the tide" in accounts[1]
    assert "P3 said to P2 that the mill had burned" in accounts[1]


def test_what_came_again_keeps_its_words() -> None:
    asked = f"{B} asked {A} who had put out the lantern; {A} would not say."
    for attempt in (0, *ATTEMPTS):
        account = told_as_one(memories([(3, "said", asked, ())] * 3), attempt).content
        assert "P2 asked P1 more than once who had put out the lantern" in account
