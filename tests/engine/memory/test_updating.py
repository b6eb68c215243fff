from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.memory.handoff.selection import joined
from engine.memory.handoff.updating import let_go, with_updates
from engine.records.memory import Chunk, LedgerEntry, Origin

THEN = datetime(1247, 3, 1)
ORDER = {f"b{n}": n for n in range(12)}


def chunk(*sources: str, content: str = "New.", **more: Any) -> Chunk:
    return Chunk(source_ids=sources, content=content, importance=more.pop("importance", 5), **more)


def entry(seq: int, content: str = "Old.", origin: Origin = "handoff") -> LedgerEntry:
    return LedgerEntry(
        id=f"l{seq}", seq=seq, owner_id="x", timestamp=THEN, ended=THEN, location_id=None, content=content, importance=5, version=seq,
        origin=origin,
    )


def updated(
    chunks: list[Chunk], sources: dict[str, list[str]], contents: dict[str, str] | None = None, origin: Origin = "handoff"
) -> list[Chunk]:
    entries = {key: entry(int(key[1:]), (contents or {}).get(key, "Old."), origin) for key in sources}
    holding = {source: key for key in sorted(sources, reverse=True) for source in sources[key]}
    return with_updates(chunks, holding, entries, sources, ORDER)


def test_the_entry_that_most_sources_belong_to_is_rewritten() -> None:
    [found] = updated([chunk("b1", "b2", "b3")], {"l1": ["b1"], "l2": ["b2", "b3"]})
    assert (found.updates, found.version, found.content) == ("l2", 2, "New.")


def test_of_equal_claims_the_older_entry_wins() -> None:
    assert updated([chunk("b1", "b2")], {"l1": ["b1"], "l2": ["b2"]})[0].updates == "l1"


def test_what_was_told_of_unseen_sources_stays() -> None:
    assert updated([chunk("b1")], {"l1": ["b1", "b9"]})[0].content == "Old. New."


def test_a_person_s_words_stay_and_are_added_to_for_new_events_only() -> None:
    assert updated([chunk("b1")], {"l1": ["b1"]}, origin="hand")[0].content == "Old."
    assert updated([chunk("b1", "b2")], {"l1": ["b1"]}, origin="hand")[0].content == "Old. New."


def test_a_thread_told_once_more_in_fewer_words_is_not_told_twice() -> None:
    old = {"l1": "The sailor lost his red boat in the storm off the cape."}
    [found] = updated([chunk("b1", content="The sailor lost his boat in the storm.")], {"l1": ["b1", "b9"]}, old)
    assert found.content == old["l1"]
    [found] = updated([chunk("b1", content="The sailor never lost his boat in the storm.")], {"l1": ["b1", "b9"]}, old)
    assert found.content.startswith(old["l1"] + " The sailor never")


def test_an_account_that_would_grow_too_long_becomes_a_new_entry() -> None:
    [found] = updated([chunk("b1")], {"l1": ["b1", "b9"]}, {"l1": "Old. " * 300})
    assert (found.updates, found.content) == (None, "New.")


def test_a_second_chunk_over_the_same_thread_joins_the_first_unless_it_brings_something() -> None:
    found = updated([chunk("b1", content="One."), chunk("b2", content="Two.", quotes=("Q",))], {"l1": ["b1", "b2"]})
    assert [(c.source_ids, c.updates, c.quotes) for c in found] == [(("b1", "b2"), "l1", ("Q",))]
    assert "Two." in found[0].content
    found = updated([chunk("b1"), chunk("b2", "b3")], {"l1": ["b1", "b2"]})
    assert [c.updates for c in found] == ["l1", None]


def test_joined_says_nothing_twice() -> None:
    assert joined("He left.", "he left.") == "He left."
    assert joined("He left", "She stayed.") == "He left. She stayed."
    assert joined("He left.", "He left. She stayed.") == "He left. She stayed."


CHUNKS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 10), st.booleans()), max_size=8)


@given(CHUNKS, st.integers(0, 20))
def test_no_more_stays_pinned_than_the_limit_and_the_important_stay(rows: list[tuple[int, int, bool]], limit: int) -> None:
    chunks = [chunk(*(f"{n}-{m}" for m in range(size)), importance=weight, retain=keep) for n, (size, weight, keep) in enumerate(rows)]
    found, notes = let_go(chunks, limit)
    pinned = [c for c in found if c.retain]
    assert sum(len(c.source_ids) for c in pinned) <= limit
    assert len(notes) == sum(c.retain for c in chunks) - len(pinned)
    assert [c.model_copy(update={"retain": False}) for c in found] == [c.model_copy(update={"retain": False}) for c in chunks]
    if sum(len(c.source_ids) for c in chunks if c.retain) <= limit:
        assert found == chunks
