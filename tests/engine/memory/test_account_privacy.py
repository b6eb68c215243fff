"""Whatever is written into an account, by a model or a person: no id, and no name that its owner has not heard, is kept or shown."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CommandError, HandoffError
from engine.memory.compression.telling import select as select_compressed
from engine.memory.hand_words import account, spoken
from engine.memory.handoff.selection import select
from engine.memory.handoff.spans import QUOTED
from engine.memory.ids import first_id, replace_ids, with_plain_tokens
from engine.mind.unheard import full_names, without_unheard
from engine.mind.voice import memories_section
from engine.prompts.compression import build
from engine.records.memory import Chunk, LedgerEntry
from engine.records.tokens import substitute, token
from engine.records.wire import CompressReply, HandoffReply
from engine.records.world import World
from tests.engine.memory.test_selection import brief

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

OWNER = "en_bryn"
UNHEARD = ("Gareth Vale", "Brother Odo", "Ansa Pike")
WORDS = ("Gareth", "Vale", "Odo", "Ansa", "Pike")
IDS = ("en_bryn", "en_stranger", "en_monk", "en_smith", "th_lantern", "pl_bar", "pl_quay", "po_trap")
SPEECH = "Have you a room? The harbour master is after me."

PARTS = st.sampled_from(
    [*IDS, *UNHEARD, *WORDS, *(name.upper() for name in UNHEARD), *(name.lower() for name in UNHEARD), "EN_MONK", "en_monk2", "xen_smith",
     "{{e:en_monk}}", "{{e: en_smith }}", "{{e:en_stranger", "{{e:pl_bar}}", "@en_monk", "P1", "P2", "[P3]", "P9", "Tom Reed",
     "Bryn Harrow", "the wet stranger", '"', '"', "\u201c", "\u201d", "'", "\u00ab", "\u00bb", SPEECH, "Have you a room?",
     "asked for a room", "wept", "I lied", "cried:", ",", ".", "'s", "Old", "_"]
)  # fmt: skip
TEXTS = st.lists(st.tuples(PARTS, st.sampled_from([" ", " ", " ", ""])), max_size=14).map(
    lambda parts: "".join(part + space for part, space in parts)
)
ACCOUNTS = TEXTS | TEXTS.map("P2 asked P1 for a warm room by the water and {}".format)


def leaks(text: str, world: World) -> list[str]:
    """Ids, and names that Bryn has not heard, that stand in a text."""
    low = " ".join(text.casefold().split())
    found = [key for key in (*world.entities, *world.places, *world.portals) if key in low]
    found += [name for name in UNHEARD if re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", low)]
    return found + [word for word in WORDS if re.search(rf"(?<!\w)(?:{word}|{word.upper()})(?!\w)", text)]


def shown(world: World, chunk: Chunk) -> str:
    """A chunk as its owner's prompts show it: among its memories, and where it is told as one with others."""
    memory = LedgerEntry(
        id="led-000001", seq=1, owner_id=OWNER, timestamp=world.now - timedelta(days=2), ended=world.now - timedelta(days=2),
        location_id="pl_bar", involved_entity_ids=chunk.involved_entity_ids, content=chunk.content, quotes=chunk.quotes, importance=3,
    )
    prompt, _ = build(world, OWNER, [memory, memory], world.now)
    return memories_section(world, OWNER, [memory], world.now) + prompt.text


def check(world: World, chunk: Chunk) -> None:
    assert leaks(substitute(chunk.content, lambda _: " "), world) == []
    assert leaks(" ".join(chunk.quotes), world) == []
    assert leaks(shown(world, chunk), world) == []
    assert not any("{{e:" in found.group() for found in QUOTED.finditer(chunk.content))


@settings(deadline=None)
@given(st.lists(st.tuples(ACCOUNTS, st.lists(TEXTS, max_size=2)), min_size=1, max_size=3))
def test_what_a_model_tells_of_moments_holds_no_id_and_no_unheard_name(inn: Inn, wire: Any, told: list[tuple[str, list[str]]]) -> None:
    chunks = [wire.chunk([f"M{at}"], content, quotes=quotes) for at, (content, quotes) in enumerate(told, 1)]
    asked = brief(inn)
    try:
        found = select(HandoffReply.model_validate({"chunks": chunks}), asked)
    except HandoffError:
        return
    for chunk in found.chunks:
        check(asked.world, chunk)


@settings(deadline=None)
@given(ACCOUNTS, st.lists(TEXTS, max_size=2))
def test_what_a_model_tells_of_memories_holds_none_either(inn: Inn, content: str, quotes: list[str]) -> None:
    world = inn.world()
    new = [inn.memory(f"{token('en_stranger')} asked for a room, {at}.", 90 - at, quotes=[SPEECH]) for at in range(2)]
    memories = [LedgerEntry(id=f"led-{at:06d}", seq=at, **one.model_dump()) for at, one in enumerate(new, 1)]
    prompt, handles = build(world, OWNER, memories, world.now)
    told = {"sourceEntryIds": ["M1", "M2"], "content": content, "quotes": quotes, "involvedEntityIds": ["P2"]}
    reply = CompressReply.model_validate(told)
    try:
        chunk, _ = select_compressed(reply, world, memories, prompt, handles)
    except HandoffError:
        return
    check(world, chunk)


@settings(deadline=None)
@given(TEXTS)
def test_what_a_person_writes_holds_no_id_and_no_true_name_outside_of_speech(inn: Inn, text: str) -> None:
    world = inn.world()
    try:
        kept = account(world, OWNER, text)
    except CommandError:
        return
    assert first_id(substitute(kept, lambda _: " "), (*world.entities, *world.places, *world.portals)) == ""
    told = QUOTED.sub(" ", substitute(kept, lambda _: " "))
    assert [name for name in UNHEARD if re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", told.casefold())] == []
    assert not any("{{e:" in found.group() for found in QUOTED.finditer(kept))


@pytest.mark.parametrize(
    "text",
    [
        'She said "en_monk did it with po_trap".', "He whispered 'en_sailor knows'.", "\u201cen_smith\u201d was written on the wall.",
        'She said "EN_MONK did it".', "She went with en_monk2.", "PL_QUAY was cold.", 'He wrote "led-000001".',
    ],
)  # fmt: skip
def test_ids_in_a_persons_quotations_are_refused_with_advice(inn: Inn, text: str) -> None:
    with pytest.raises(CommandError, match="nobody in a world knows ids") as refused:
        account(inn.world(), OWNER, text)
    assert refused.value.advice == "Say it in words."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("GARETH VALE came.", f"{token('en_stranger')} came."),
        ("gareth  vale came.", f"{token('en_stranger')} came."),
        ("EN_MONK prayed.", f"{token('en_monk')} prayed."),
        ("{{e: en_monk }} prayed.", f"{token('en_monk')} prayed."),
        ("{ {e:en_monk}} prayed.", f"{token('en_monk')} prayed."),
        ("{{e:en_monk prayed.", f"{token('en_monk')} prayed."),
        ('She read "Ansa Pike" on the door.', 'She read "Ansa Pike" on the door.'),
        ('She cried "Nobody ever said this!" and left.', 'She cried "Nobody ever said this!" and left.'),
        (f'She said "{token("en_monk")} saw {token("en_bryn")} and {token("en_sailor")}".',
         'She said "the quiet monk saw Bryn Harrow and Tom Reed".'),
    ],
)  # fmt: skip
def test_a_person_may_write_names_in_any_case_and_quote_what_they_like(inn: Inn, text: str, kept: str) -> None:
    assert account(inn.world(), OWNER, text) == kept


def test_a_quote_by_hand_speaks_in_no_ids_of_any_case(inn: Inn) -> None:
    with pytest.raises(CommandError):
        spoken(inn.world(), ["EN_MONK did it"])
    assert spoken(inn.world(), ["The monk did it"]) == ("The monk did it",)


def test_whom_one_has_heard_of_may_be_named(inn: Inn) -> None:
    world = inn.world()

    def told(heard: str, text: str) -> str:
        return without_unheard(text, world, OWNER, heard, lambda entity: f"<{entity}>")

    text = "They spoke of Gareth Vale, and ANSA PIKE, and of Pike again; Bryn Harrow listened to ansa."
    assert told("", text) == "They spoke of <en_stranger>, and <en_smith>, and of <en_smith> again; Bryn Harrow listened to ansa."
    assert told("Where is Gareth Vale? And Pike's boat?", text) == (
        "They spoke of Gareth Vale, and <en_smith>, and of Pike again; Bryn Harrow listened to ansa."
    )
    renamed = inn.changed(world, OWNER, aliases={"en_stranger": "Gareth", "en_smith": "Ansa Pike"})
    assert without_unheard("Gareth met Ansa Pike.", renamed, OWNER, "", lambda _: "x") == "Gareth met Ansa Pike."
    assert full_names(f"{token('a')} saw ANSA pike", {"Ansa Pike": "en_smith"}) == f"{token('a')} saw {token('en_smith')}"


def test_ids_are_found_in_any_case_and_words_are_left_alone() -> None:
    ids = ("en_monk", "harbour-master", "rose")
    assert replace_ids("EN_MONK, xen_monk_2, a harbour-master, harbour-masters, a rose", ids, lambda found: f"<{found}>") == (
        "<EN_MONK>, <xen_monk_2>, a <harbour-master>, harbour-masters, a rose"
    )
    assert replace_ids(token("en_monk"), ids, lambda _: "x") == token("en_monk")
    assert (first_id(token("en_monk"), ids), first_id("of en_monk", ids)) == ("", "en_monk")
    assert with_plain_tokens("{{ e: en_monk}} {{e:ghost}} {e:rose", ids) == f"{token('en_monk')} {token('ghost')} {token('rose')}"
