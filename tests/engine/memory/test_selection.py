from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import HandoffError
from engine.memory.handoff.selection import Brief, Selection, select
from engine.mind.aliases import own_name, vocabulary
from engine.prompts.handoff import build, people_of
from engine.records.tokens import referred, token
from engine.records.wire import HandoffReply

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

BRYN, STRANGER, SAILOR = token("en_bryn"), token("en_stranger"), token("en_sailor")


def brief(inn: Inn) -> Brief:
    """M1 said by P2 (the stranger), M2 done by P3 (Tom Reed) to P2, M3 thought by P1 (Bryn), M4 a voice that did not carry."""
    world = inn.world()
    entries = inn.numbered([
        inn.said("Have you a room? The harbour master is after me.", 240),
        inn.did("showed {{e:en_stranger}} a knife", 230, by="en_sailor", to=("en_stranger",)),
        inn.thought("She is running.", 220),
        inn.said("", 210, by="en_monk", to=(), grasp="faint", place="pl_cellar", heard_in="pl_bar"),
    ])  # fmt: skip
    prompt, handles = build(world, "en_bryn", entries, inn.now)
    people = people_of("en_bryn", entries)
    names = vocabulary(world, "en_bryn", people) | {own_name(world.entities["en_bryn"]): "en_bryn"}
    return Brief("en_bryn", entries, handles, names, frozenset(people), world, prompt.messages[0].content)


def run(inn: Inn, *chunks: dict[str, Any]) -> Selection:
    return select(HandoffReply.model_validate({"chunks": list(chunks)}), brief(inn))


def test_a_good_chunk_as_it_is_kept(inn: Inn, wire: Any) -> None:
    found = run(inn, wire.chunk(["M2", "m1"], "P2 asked P1 for a room, and Tom Reed showed the wet stranger a knife.",
                                quotes=['"The harbour master is after me."'], importance=7, involvedEntityIds=["P3"]))  # fmt: skip
    [chunk] = found.chunks
    assert chunk.source_ids == ("buf-000001", "buf-000002")
    assert chunk.content == f"{STRANGER} asked {BRYN} for a room, and {SAILOR} showed {STRANGER} a knife."
    assert chunk.quotes == ("The harbour master is after me.",)
    assert (chunk.importance, chunk.retain, chunk.updates) == (7, False, None)
    assert set(chunk.involved_entity_ids) == {"en_stranger", "en_sailor"}
    assert found.notes == ()


def test_sources_that_are_no_candidates_are_dropped_and_reported(inn: Inn, wire: Any) -> None:
    found = run(inn, wire.chunk(["M3", "4", "M99", "P2", "buf-000001", ""], "P1 thought that P2 was running."))
    assert found.chunks[0].source_ids == ("buf-000003", "buf-000004")
    assert len(found.notes) == 4


def test_a_chunk_without_sources_is_rejected_and_all_rejected_fail(inn: Inn, wire: Any) -> None:
    good = wire.chunk(["M1"], "P2 asked for a room.")
    assert len(run(inn, wire.chunk(["M99"], "P2 left."), good).chunks) == 1
    with pytest.raises(HandoffError, match="none of its sources"):
        run(inn, wire.chunk(["M99"], "P2 left."))


def test_no_chunk_at_all_fails(inn: Inn) -> None:
    with pytest.raises(HandoffError):
        run(inn)


@pytest.mark.parametrize(
    "content",
    [
        "", "   ", "...", "string", "What happened", "I saw P2 come in.", "P2 asked me for a room.", "We talked about the room.",
        "You met a stranger.", "P2 asked you for a room.", '{"chunks": []}', "sourceEntryIds are the handles of the moments",
        "content: what happened, in the third person and the past tense, one to three sentences.",
        "P3 demanded the toll from P1 and swore to come back at dawn.", "P2 demanded the toll from P1 and swore to come back at dawn.",
        "I'm sorry, but I can't help with that.",
        "As an AI language model I cannot summarize this.", "Sorry, this cannot be summarized.",
        "[said] a few hours ago: P2 spoke to P1", "M1 and then M2 happened.", "It follows from buf-000001.", "buf-000001 tells of P2.",
        "P1 P2.", "x" * 2001, '"Have you a room?"',
    ],
)  # fmt: skip
def test_content_that_is_no_account_is_rejected_and_its_sources_are_not_forgotten(inn: Inn, wire: Any, content: str) -> None:
    found = run(inn, wire.chunk(["M1", "M2"], content), wire.chunk(["M3"], "P1 thought that P2 was running."))
    assert [c.source_ids for c in found.chunks] == [("buf-000003",)]
    assert found.undecided == {"buf-000001", "buf-000002"}


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ('P2 said "The harbour master is after me" and wept.', f'{STRANGER} said "The harbour master is after me" and wept.'),
        ("P2 said 'Have you a room?' to P1.", f"{STRANGER} said 'Have you a room?' to {BRYN}."),
        ("Bryn Harrow's guest, [P2], sat down (M1, M2).", f"{BRYN}'s guest, {STRANGER}, sat down."),
        ("P9 came with P2.", f"somebody came with {STRANGER}."),
        ("en_monk and en_stranger talked.", f"somebody and {STRANGER} talked."),
        ("{{e:en_smith}} spoke to {{e:en_stranger}}.", f"somebody spoke to {STRANGER}."),
        ('The Wet Stranger said "Have you a room?" to Reed.', f'{STRANGER} said "Have you a room?" to {SAILOR}.'),
        ("P2 asked\n  for\ta room.", f"{STRANGER} asked for a room."),
        ("P2 paid Mr. I. Vane for the mine.", f"{STRANGER} paid Mr. I. Vane for the mine."),
    ],
)
def test_entities_stand_in_content_by_tokens_only(inn: Inn, wire: Any, content: str, kept: str) -> None:
    assert run(inn, wire.chunk(["M1"], content)).chunks[0].content == kept


def test_quotes_of_others_or_changed_by_a_word_are_dropped(inn: Inn, wire: Any) -> None:
    said = ["Have you a bed?", "Have you a room?", "She is running.", "showed a knife", "Have you a room?"]
    found = run(inn, wire.chunk(["M1", "M2", "M3"], "P2 asked for a room.", quotes=said))
    assert found.chunks[0].quotes == ("Have you a room?",)
    assert len(found.notes) == 3


def test_a_quote_from_a_moment_that_is_no_source_is_dropped(inn: Inn, wire: Any) -> None:
    found = run(inn, wire.chunk(["M2"], "P3 showed P2 a knife.", quotes=["Have you a room?"]))
    assert found.chunks[0].quotes == ()


def test_unknown_people_are_dropped_and_known_ones_may_be_named(inn: Inn, wire: Any) -> None:
    found = run(inn, wire.chunk(["M3"], "P1 mused.", involvedEntityIds=["P9", "nobody", "tom reed", "P1", "M1"]))
    assert found.chunks[0].involved_entity_ids == ("en_sailor",)
    assert len(found.notes) == 3


def test_a_voice_that_did_not_carry_involves_nobody(inn: Inn, wire: Any) -> None:
    found = run(inn, wire.chunk(["M4"], "Somebody spoke in the cellar."))
    assert found.chunks[0].involved_entity_ids == ()
    assert "en_monk" not in people_of("en_bryn", brief(inn).candidates)


@pytest.mark.parametrize(("said", "kept"), [(0, 1), (-5, 1), (11, 10), (10, 10)])
def test_importance_is_brought_into_bounds(inn: Inn, wire: Any, said: int, kept: int) -> None:
    found = run(inn, wire.chunk(["M1"], "P2 asked for a room.", importance=said))
    assert found.chunks[0].importance == kept
    assert bool(found.notes) == (said != kept)


def test_an_event_has_one_place(inn: Inn, wire: Any) -> None:
    found = run(inn, wire.chunk(["M1", "M2"], "P2 came in."), wire.chunk(["M2", "M3"], "P1 wondered."),
                wire.chunk(["M1"], "P2 spoke of the harbour.", importance=9, retainInBuffer=True))  # fmt: skip
    first, second = found.chunks
    assert first.source_ids == ("buf-000001", "buf-000002")
    assert first.content == f"{STRANGER} came in. {STRANGER} spoke of the harbour."
    assert (first.importance, first.retain) == (9, True)
    assert second.source_ids == ("buf-000003",)


TEXTS = st.text(st.sampled_from("PM123 .,\"'[](){}:e_enIyou abcTomReed\n"), max_size=60)
CHUNKS = st.lists(
    st.fixed_dictionaries(
        {
            "sourceEntryIds": st.lists(st.sampled_from(["M1", "M2", "M3", "M4", "M5", "P1", "3", ""]), max_size=4),
            "content": TEXTS | st.just("P2 came in."), "quotes": st.lists(TEXTS | st.just("Have you a room?"), max_size=2),
            "importance": st.integers(-3, 14), "involvedEntityIds": st.lists(st.sampled_from(["P1", "P2", "P7", "en_monk"]), max_size=3),
            "retainInBuffer": st.booleans(),
        }
    ),
    max_size=5,
)


@given(CHUNKS)
def test_whatever_a_model_says_only_sound_chunks_pass(inn: Inn, chunks: list[dict[str, Any]]) -> None:
    asked = brief(inn)
    try:
        found = select(HandoffReply.model_validate({"chunks": chunks}), asked)
    except HandoffError:
        return
    used = [source for chunk in found.chunks for source in chunk.source_ids]
    assert len(used) == len(set(used))
    assert set(used) <= {entry.id for entry in asked.candidates}
    assert not found.undecided & set(used)
    speech = asked.candidates[0].intent.text
    for chunk in found.chunks:
        assert chunk.content.strip()
        assert set(referred(chunk.content)) <= set(asked.known)
        assert "en_bryn" not in chunk.involved_entity_ids
        assert set(chunk.involved_entity_ids) <= set(asked.world.entities)
        assert all(quote in speech for quote in chunk.quotes)
        plain = chunk.content
        for entity in asked.world.entities:
            plain = plain.replace(token(entity), "")
            assert entity not in plain
