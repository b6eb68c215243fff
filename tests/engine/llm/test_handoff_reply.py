"""What the storyteller keeps of a candidate pool: never anything that was not in it."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.records.prompts import Message
from engine.records.wire import HandoffReply

PEOPLE = "P2: the wet stranger\nP3: the harbour master\nP4: the brass lantern"


async def keep(entries: str, round_: int = 3) -> HandoffReply:
    text = f"=== WHOSE MEMORY ===\nP1: Bryn Harrow\n\n=== PEOPLE ===\n{PEOPLE}\n\n=== ENTRIES ===\n{entries}"
    request = ModelRequest(task="handoff", entity="bryn", round=round_, seed=7, messages=(Message(role="user", content=text),))
    return HandoffReply.model_validate_json((await Storyteller().complete(request)).text)


SCENE = """M1 [done] a few hours ago, in the taproom: P1 wiped the counter. (Outcome: succeeded)
M2 [said] a few hours ago, in the taproom: P2 spoke to P1: "Tell me who put out the lantern on the night of the wreck."
M3 [said] a few hours ago, in the taproom: P1 spoke to P2: "Ask something else."
M4 [done] a few hours ago, in the taproom: P2 looked around. (Outcome: succeeded)
M5 [said] about half an hour ago, in the taproom: P3 spoke to P1, quietly: "Forty crowns by dawn, or I swear you will hang."
M6 [done] about half an hour ago, in the taproom: P1 counted the mugs on their hooks. (Outcome: succeeded)
M7 [said] about half an hour ago, in the taproom: P2 spoke to P1: "My name is Ines Calder." """


async def test_what_matters_is_kept_and_stage_business_is_forgotten() -> None:
    chunks = (await keep(SCENE)).chunks
    kept = {source for chunk in chunks for source in chunk.sourceEntryIds}
    assert {"M2", "M5"} <= kept
    assert not kept & {"M1", "M4", "M6"}
    assert len(chunks) >= 2
    assert all(len(chunk.content.split()) >= 4 for chunk in chunks)
    assert any("lantern" in chunk.content for chunk in chunks)


async def test_a_threat_is_grave_and_stays() -> None:
    [threat] = [chunk for chunk in (await keep(SCENE)).chunks if "M5" in chunk.sourceEntryIds]
    assert threat.retainInBuffer
    assert threat.importance >= 7
    assert threat.importance == max(chunk.importance for chunk in (await keep(SCENE)).chunks)
    assert any("by dawn" in quote for quote in threat.quotes)
    assert "P3" in threat.involvedEntityIds


@pytest.mark.parametrize(
    ("when", "later"),
    [
        ("a few days ago", ""),
        ("about half an hour ago", "\nM9 [done] just now, in the taproom: P1 gave P4 to P3. (Outcome: succeeded)"),
        ("about half an hour ago", '\nM9 [said] just now, in the taproom: P3 spoke to P1: "I am sorry. Forget it, we are even."'),
    ],
    ids=["old", "paid", "apologised"],
)
async def test_a_thread_that_is_settled_or_old_is_let_go(when: str, later: str) -> None:
    threat = f'M5 [said, pinned] {when}, in the taproom: P3 spoke to P1: "Forty crowns by dawn, or I swear you will hang."'
    chunks = (await keep(threat + later)).chunks
    assert chunks
    assert not any(chunk.retainInBuffer for chunk in chunks if "M5" in chunk.sourceEntryIds)


async def test_a_pool_of_stage_business_still_keeps_one_moment() -> None:
    [chunk] = (await keep("M1 [done] a few hours ago, in the taproom: P1 yawned. (Outcome: succeeded)")).chunks
    assert chunk.sourceEntryIds == ["M1"]
    assert chunk.importance <= 4


HANDLES = st.sampled_from(["P1", "P2", "P3"])
LETTERS = st.characters(whitelist_categories=["L", "N", "P", "Zs"], blacklist_characters='"\u201c\u201d')
WORDS = st.text(alphabet=LETTERS, min_size=1, max_size=70)
TIMES = st.sampled_from(["just now", "a few minutes ago", "earlier today, in the morning", "yesterday evening", "a few days ago"])


@st.composite
def pools(draw: Callable[..., str]) -> str:
    lines = []
    for number in range(1, draw(st.integers(1, 10)) + 1):  # type: ignore[operator]
        kind = draw(st.sampled_from(["said", "done", "thought"]))
        who, whom, words = draw(HANDLES), draw(HANDLES), " ".join(draw(WORDS).split()) or "x"
        told = f'{who} spoke to {whom}: "{words}"' if kind == "said" else f"{who} {words}." if kind == "done" else f"P1 thought: {words}"
        lines.append(f"M{number} [{kind}{draw(st.sampled_from(['', ', pinned']))}] {draw(TIMES)}, in the taproom: {told}")
    return "\n".join(lines)


@settings(max_examples=150, deadline=None)
@given(pools())
async def test_any_pool_gives_a_sound_reply(pool: str) -> None:
    chunks = (await keep(pool)).chunks
    handles = re.findall(r"^(M\d+) ", pool, re.MULTILINE)
    spoken = dict(re.findall(r'^(M\d+) \[said.*?: P\d spoke to P\d: "(.*)"$', pool, re.MULTILINE))
    used = [source for chunk in chunks for source in chunk.sourceEntryIds]
    assert chunks
    assert set(used) <= set(handles)
    assert len(used) == len(set(used)), "an event has one place in the ledger"
    for chunk in chunks:
        assert 1 <= chunk.importance <= 10
        assert chunk.content.strip()
        assert set(chunk.involvedEntityIds) <= {"P1", "P2", "P3", "P4"}
        for quote in chunk.quotes:
            assert any(quote in spoken.get(source, "") for source in chunk.sourceEntryIds)


async def test_the_same_pool_is_kept_the_same_way() -> None:
    assert await keep(SCENE) == await keep(SCENE)
