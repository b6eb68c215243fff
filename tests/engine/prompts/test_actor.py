from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.llm.tokens import estimate_tokens
from engine.mind.voice import events_section, memories_section
from engine.prompts.actor import ANSWER_TOKENS, Room, build
from engine.prompts.scene import Scene, told_of
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.policies import RecallPolicy
from engine.records.prompts import KnownThing, Prompt, Recollection, split_sections
from engine.records.world import World

Entry = Callable[[int, str, int], BufferEntry]
Memory = Callable[[int, str, int], LedgerEntry]


def draft(
    world: World, entries: Sequence[BufferEntry] = (), memories: Sequence[LedgerEntry] = (), known: Sequence[KnownThing] = (),
    window: int = 8192,
) -> Prompt:
    recalled = Recollection(query="", entries=tuple(memories))
    return build(world, "ada_1", entries, recalled, known, Room(window, estimate_tokens), RecallPolicy())


def test_the_whole_text(room: World, entry: Entry, memory: Memory) -> None:
    prompt = draft(room, [entry(1, "Have you the soup?", 2)], [memory(1, "{{e:bo_1}} lost at cards to {{e:ada_1}}.", 2)],
                   [KnownThing(source="lore", text="{{e:bo_1}} is never late.")])
    system, user = (message.content for message in prompt.messages)
    assert system.startswith("You play one character")
    assert split_sections(system)["WHO YOU ARE"] == (
        'Name: Ada Finch\nSecret: The old porter owes her forty crowns.\nYou speak like this:\n  "Soup\'s on."'
    )
    assert user == (
        "=== THIS MOMENT ===\nIt is early evening, the first day of March.\nYou are in the hall. Stone and smoke.\n"
        "You carry: the brass key.\n\n"
        "=== WHAT YOU PERCEIVE ===\nHere with you:\n  - the old porter: an old porter with a limp\nWays out:\n"
        "  - the arch, closed, to the quay\n\n"
        "=== WHAT YOU MEAN TO DO ===\nGoals:\n  - get the money from the old porter\n\n"
        "=== WHAT YOU KNOW ===\n  - The old porter is never late.\n\n"
        "=== YOUR MEMORIES ===\nA couple days ago\n  - The old porter lost at cards to you.\n    Quote: \"You cheat.\"\n\n"
        "=== RECENT EVENTS ===\nMoments ago\n  - The old porter spoke to you: \"Have you the soup?\"\n\n"
        "What do you do now?"
    )
    assert prompt.text == f"{system}\n\n{user}"
    assert prompt.template == "actor.1"


def test_empty_sections_say_why_and_are_left_out(room: World) -> None:
    prompt = draft(room)
    empty = {s.key: s.why_empty for s in prompt.sections if not s.text}
    assert set(empty) == {"knowledge", "memories", "events"}
    assert all(empty.values())
    assert "RECENT EVENTS" not in prompt.text


def test_memories_are_cut_whole_before_events(room: World, entry: Entry, memory: Memory) -> None:
    entries = [entry(n, f"Line {n} of a long and winding tale about the harbour.", 200 - n) for n in range(1, 60)]
    memories = [memory(n, f"The {n}th quarrel about the money and the soup.", n) for n in range(1, 40)]
    prompt = draft(room, entries, memories, window=2600)
    assert prompt.report.tokens + ANSWER_TOKENS <= 2600
    kept = {s.key: set(s.sources) for s in prompt.sections}
    assert kept["events"] == {e.id for e in entries}
    lost = [cut.source for cut in prompt.report.cuts if cut.section == "memories"]
    assert lost == [m.id for m in memories[len(kept["memories"]):]]  # best first: the tail goes
    assert kept["memories"] | set(lost) == {m.id for m in memories}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(count=st.integers(0, 60), words=st.integers(1, 40), memories=st.integers(0, 20), window=st.integers(900, 6000))
def test_no_entry_is_missing_without_a_word_and_nothing_overflows(
    room: World, entry: Entry, memory: Memory, count: int, words: int, memories: int, window: int
) -> None:
    entries = [entry(n, "word " * words, 100 - n) for n in range(1, count + 1)]
    remembered = [memory(n, "deed " * words, n) for n in range(1, memories + 1)]
    prompt = draft(room, entries, remembered, window=window)
    shown = {source for section in prompt.sections for source in section.sources}
    told = {cut.source for cut in prompt.report.cuts}
    assert shown | told == {e.id for e in entries} | {m.id for m in remembered}
    assert not shown & told
    assert prompt.report.tokens + ANSWER_TOKENS <= max(window, prompt.report.tokens + ANSWER_TOKENS if not shown else 0)


def test_ids_never_enter_the_text(room: World, entry: Entry, memory: Memory) -> None:
    prompt = draft(room, [entry(1, "Hello.", 1)], [memory(1, "{{e:bo_1}} sang.", 3)], [KnownThing(source="lore_x", text="A song.")])
    for hidden in ("bo_1", "ada_1", "th_key", "pl_hall", "po_1", "buf-", "led-", "lore_x", "{{e:", "Bo Reed", "fears the dark"):
        assert hidden not in prompt.text


@pytest.mark.parametrize("window", [10, 400])
def test_a_window_too_small_for_anything_still_gives_a_prompt(room: World, entry: Entry, window: int) -> None:
    prompt = draft(room, [entry(1, "Hello.", 1)], window=window)
    assert "What do you do now?" in prompt.text
    assert [cut.source for cut in prompt.report.cuts] == ["buf-000001"]


def test_what_was_told_of_somebody_present_is_known(room: World) -> None:
    assert [k.text for k in told_of(Scene(room, "ada_1"))] == ["the old porter, hurt: the left knee"]
    assert told_of(Scene(room, "bo_1")) == []


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(st.integers(0, 4000), max_size=12), memories=st.integers(0, 8), window=st.integers(700, 3000))
def test_what_is_kept_reads_as_its_section_does_alone(
    room: World, entry: Entry, memory: Memory, events: list[int], memories: int, window: int
) -> None:
    entries = [entry(n, f"Line {n} of a tale.", minutes) for n, minutes in enumerate(sorted(events, reverse=True), 1)]
    recalled = [memory(n, f"{{{{e:bo_1}}}} lost {n} crowns.", n) for n in range(1, memories + 1)]
    prompt = draft(room, entries, recalled, window=window)
    sections, names = {s.key: s for s in prompt.sections}, Scene(room, "ada_1", ["bo_1"]).names
    kept = [e for e in entries if e.id in sections["events"].sources]
    assert sections["events"].text == events_section(room, "ada_1", kept, room.now, names)
    assert entries[len(entries) - len(kept) :] == kept, "the newest stay"
    found = [m for m in recalled if m.id in sections["memories"].sources]
    assert sections["memories"].text == memories_section(room, "ada_1", found, room.now, names)
    assert all(s.tokens == (estimate_tokens(f"=== {s.title.upper()} ===\n{s.text}") if s.text else 0) for s in prompt.sections)
