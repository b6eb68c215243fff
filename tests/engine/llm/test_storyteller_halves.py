"""The storyteller in place of a small model that is away: both halves of a handoff stand up to every check."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given, settings

from engine.llm.observed import Wrapped
from engine.llm.storyteller import Storyteller
from engine.memory.handoff.asking import selected
from engine.memory.handoff.selection import Selection
from engine.memory.handoff.slicing import first_slice
from engine.prompts.halves import most_groups
from engine.records.memory import BufferEntry
from tests.engine.llm.test_storyteller_handoff import OWNER, THREAT, WORLD, buffers, entry


class Small(Wrapped):
    """The storyteller asked as a small model is."""

    @property
    def small(self) -> bool:
        return True


@dataclass
class Log:
    prompt: str = ""
    reply: str = ""
    model: str = ""
    template: str = ""


def remember(entries: list[BufferEntry], attempt: int = 0) -> tuple[Selection, Log]:
    model, log = Small(Storyteller()), Log()
    return asyncio.run(selected(WORLD, first_slice(WORLD, OWNER, entries, model), model, log, attempt)), log


@settings(max_examples=100, deadline=None)
@given(buffers())
def test_whatever_happened_both_replies_pass_every_check(entries: list[BufferEntry]) -> None:
    selection, log = remember(entries)
    assert log.template == "choose.1+tell.1"
    assert selection.chunks
    assert all(note.endswith("it is blank") for note in selection.notes)
    if selection.undecided:
        assert len(selection.chunks) == most_groups(len(entries))


def test_a_threat_is_chosen_told_quoted_and_kept_in_mind() -> None:
    entries = [
        entry(1, "done", "wiped the counter from left to right", ago=302), entry(2, "said", THREAT, by="en_sailor", to=(OWNER,), ago=300),
        entry(3, "done", "hummed one verse of the hauling song", ago=299),
    ]  # fmt: skip
    selection, _ = remember(entries)
    [chunk] = selection.chunks
    assert (chunk.source_ids, chunk.quotes, chunk.retain) == (("buf-000002",), (THREAT,), True)
    assert chunk.importance >= 8
    assert chunk.content.startswith("{{e:en_sailor}} threatened {{e:en_bryn}}")


@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_asked_again_it_answers_otherwise(attempt: int) -> None:
    speeches = ("Have you a room?", "Six crowns a night, and I ask no questions.", "Who put out the lantern?", "I killed him. I had to.")
    entries = [entry(n, "said", words, by="en_sailor", to=(OWNER,), ago=300 - n) for n, words in enumerate(speeches, 1)]
    assert remember(entries, attempt)[1].reply != remember(entries)[1].reply
