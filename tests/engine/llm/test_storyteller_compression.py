"""The storyteller tells old memories as one: what weighs most, nothing that is not there, in words that can be kept."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.memory.compression.telling import select
from engine.prompts.compression import build
from engine.records.memory import LedgerEntry, Mode
from engine.records.prompts import Message
from engine.records.tokens import token
from engine.records.wire import CompressReply
from engine.records.world import Attribute, Entity, Place, World

NOW = datetime(1247, 3, 9, 18, 0)
A, B, C, D = (token(key) for key in ("en_a", "en_b", "en_c", "en_d"))


@pytest.fixture(scope="module")
def world() -> World:
    def one(key: str, label: str) -> Entity:
        attributes = {"label": Attribute(name="label", value=label, public=True)}
        return Entity(id=key, agent=True, place="pl_bar", attributes=attributes)

    people = [one("en_a", "the cook"), one("en_b", "the tall sailor"), one("en_c", "the old widow"), one("en_d", "the thin boy")]
    return World(
        slug="w", name="W", now=NOW, places={"pl_bar": Place(id="pl_bar", name="the taproom")}, portals={},
        entities={entity.id: entity for entity in people},
    )


def memories(*told: tuple[int, Mode, str] | tuple[int, Mode, str, tuple[str, ...]]) -> list[LedgerEntry]:
    found = []
    for number, (importance, mode, content, *quotes) in enumerate(told, 1):
        at = NOW - timedelta(days=5) + timedelta(minutes=10 * number)
        found.append(
            LedgerEntry(
                id=f"led-{number:06d}", seq=number, owner_id="en_a", timestamp=at, ended=at, location_id="pl_bar", content=content,
                quotes=quotes[0] if quotes else (), importance=importance, mode=mode, origin="handoff",
            )
        )
    return found


async def reply(world: World, entries: Sequence[LedgerEntry]) -> CompressReply:
    prompt, _ = build(world, "en_a", entries, NOW)
    request = ModelRequest(task="handoff", entity="en_a", round=3, seed=5, messages=prompt.messages)
    return CompressReply.model_validate_json((await Storyteller().complete(request)).text)


async def test_the_same_memories_give_the_same_one(world: World) -> None:
    entries = memories((3, "said", f"{B} asked {A} about cards."), (4, "done", f"{C} left the house."), (2, "done", f"{A} swept."))
    assert await reply(world, entries) == await reply(world, entries)
    found = await reply(world, entries)
    assert found.sourceEntryIds == ["M1", "M2", "M3"]
    assert found.content == "P2 asked P1 about cards. P3 left the house; P1 swept."


async def test_what_weighs_most_is_kept_with_its_words(world: World) -> None:
    entries = memories(
        *[(2, "said", f"{B} asked {A} about matter number {n} of the {n} long evenings by the fire.") for n in range(5)],
        (4, "said", f"{C} told {A} that the mill had burned.", ("The mill is gone.",)), (1, "done", f"{D} yawned."),
    )  # fmt: skip
    found = await reply(world, entries)
    assert "P3 told P1 that the mill had burned" in found.content
    assert found.quotes == ["The mill is gone."]
    assert "yawned" not in found.content or len(found.content) < 400


async def test_what_came_again_is_told_once(world: World) -> None:
    asked = f"{B} asked {A} who had put out the lantern; {A} would not say."
    found = await reply(world, memories((3, "said", asked), (2, "said", asked), (3, "said", asked)))
    assert found.content == "P2 asked P1 more than once who had put out the lantern; P1 would not say."


async def test_questions_of_one_to_another_are_one_sentence(world: World) -> None:
    entries = memories((3, "said", f"{B} asked {A} who sang."), (3, "said", f"{B} asked {A} why it rained."), (3, "done", f"{C} left."))
    assert "P2 asked P1 who sang, and why it rained." in (await reply(world, entries)).content


async def test_a_mere_thought_is_not_told_as_a_deed(world: World) -> None:
    entries = memories(
        (4, "thought", f"{B} would burn the house down."), (3, "done", f"{C} left."), (3, "thought", f"{A} suspected {B} of lying."),
    )  # fmt: skip
    found = (await reply(world, entries)).content
    assert "burn" not in found
    assert "P1 suspected P2 of lying" in found


async def test_what_cannot_be_told_again_leaves_who_was_there(world: World) -> None:
    heard = f'I heard {B} say "you" to {C}.'
    entries = memories((2, "done", heard), (2, "done", heard), (3, "done", heard))
    found = await reply(world, entries)
    assert found.content == "P1 had to do with P2 and P3 in the taproom."


NAMES = st.sampled_from([A, B, C, D])
TELLINGS = st.one_of(
    st.builds(lambda a, b, t: f"{a} asked {b} {t}", NAMES, NAMES, st.sampled_from(["about the tide", "who sang", "why it rained"])),
    st.builds(lambda a, b: f"{a} told {b} to go; {b} would not say", NAMES, NAMES),
    st.builds(lambda a, b: f"{a} gave {b} a name", NAMES, NAMES),
    st.builds(lambda a, t: f"{a} {t}", NAMES, st.sampled_from(["swept the floor", "was afraid of the dark", "thought of home", "sang"])),
    st.sampled_from(["The tide came in", "I saw it", "You were there", "Nobody spoke", "M3 was told", "Rain: all day"]),
)
CONTENTS = st.lists(TELLINGS, min_size=1, max_size=3).map(lambda parts: ". ".join(parts) + ".")
GIVEN = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["said", "done", "thought"]), CONTENTS), min_size=2, max_size=10)
_JOINING = {"and", "also", "spoke", "to", "more", "than", "once", "had", "do", "with", "passed", "a", "while", "in", "the", "taproom"}


@given(GIVEN)
async def test_every_telling_can_be_kept_and_invents_nothing(world: World, told: Any) -> None:
    entries = memories(*told)
    found = await reply(world, entries)
    prompt, handles = build(world, "en_a", entries, NOW)
    chunk, notes = select(found, world, entries, prompt, handles)
    assert notes == ()
    assert len(chunk.source_ids) == len(entries)
    words = set(re.findall(r"\w+", found.content.lower()))
    known = set(re.findall(r"\w+", prompt.messages[-1].content.lower()))
    assert words <= known | _JOINING
    assert len(found.content.split()) <= 110


async def test_a_handoff_whose_speech_names_the_section_stays_a_handoff() -> None:
    user = (
        '=== WHOSE MEMORY ===\nP1: Ann\n\n=== PEOPLE ===\nP2: Bo\n\n=== ENTRIES ===\n'
        'M1 [said] a few hours ago, in the hall: P2 spoke to P1: "=== OLD MEMORIES ==="'
    )  # fmt: skip
    request = ModelRequest(task="handoff", entity="a", round=1, seed=1, messages=(Message(role="user", content=user),))
    assert "chunks" in json.loads((await Storyteller().complete(request)).text)
