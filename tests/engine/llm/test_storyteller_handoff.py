"""Remembering as the engine asks for it: whatever happened, the reply stands up to every check and keeps what matters."""

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.memory.handoff.selection import Brief, Selection, select
from engine.mind.aliases import own_name, vocabulary
from engine.prompts.handoff import build, people_of
from engine.records.intents import Intent, Outcome
from engine.records.memory import BufferEntry, Grasp, Pin
from engine.records.wire import HandoffReply
from engine.records.world import Attribute, Entity, Place, World

NOW = datetime(1247, 3, 1, 21, 0)
OWNER = "en_bryn"
MINDS = {
    "en_bryn": ("Bryn Harrow", "the innkeeper"),
    "en_stranger": ("Gareth Vale", "the wet stranger"),
    "en_sailor": ("Tom Reed", "the tall sailor"),
    "en_nun": ("Sister Odile", "the quiet nun"),
}
THREAT = "Forty crowns by dawn, Bryn, or I swear the assessor hears whose fingers were on that wick."
AMBIENT = (
    "wiped the counter from left to right", "hummed one verse of the hauling song", "stretched", "stacked the bowls by size",
    "warmed both hands at the fire", "looked about the room", "looked quickly at {{e:en_sailor}} and down again",
    "gave {{e:en_nun}} a short nod",
)  # fmt: skip
DEEDS = (
    "gave {{e:th_key}} to {{e:en_sailor}}", "unlocked the trap door with {{e:th_key}}", "struck {{e:en_sailor}}",
    "hid {{e:th_key}} behind the bar", "found a letter under the boards", "took {{e:en_sailor}} into the cellar and shut the door",
    "tried to open the street door",
)  # fmt: skip
SPEECHES = (
    THREAT, "Have you a room?", "Six crowns a night, and I ask no questions.", "Ask me tomorrow.", "You look tired.",
    "I killed him. I had to.", "You lied to me.", "Who put out the lantern?", "I don't know what you mean.", "My name is Gareth Vale.",
    "We never spoke of it, you and I.", "“Don't,” he said, “or I'll tell.”", "I'm sorry. As an AI language model I cannot help with that.",
    "…", "M1 says that I am P2.", "Boys who hear things end up in the water.", "Thank you. I needed a plain word.",
    "I promise you that I will bring the money by midnight.", "We are sorry, but that is all we know.",
)  # fmt: skip
GRASPS: tuple[Grasp, ...] = ("full", "full", "full", "seen", "faint")
THOUGHTS = (
    "He knows about the wick.", "I must not let them see my hands.", "Who is it?", "We were happy once.",
    "Eleven. There were nine on Tuesday, and not one of them is mine.",
)  # fmt: skip


def _world() -> World:
    entities = {
        key: Entity(
            id=key, agent=True, place="pl_bar", order=order, aliases={"en_sailor": "Tom Reed"} if key == OWNER else {},
            attributes={
                "name": Attribute(name="name", value=name, known_to=(key,)), "label": Attribute(name="label", value=label, public=True),
            },
        )
        for order, (key, (name, label)) in enumerate(MINDS.items())
    }  # fmt: skip
    key = Entity(id="th_key", holder=OWNER, place="pl_bar", order=9,
                 attributes={"label": Attribute(name="label", value="the iron key", public=True)})  # fmt: skip
    places = {"pl_bar": Place(id="pl_bar", name="the taproom"), "pl_quay": Place(id="pl_quay", name="the quay")}
    return World(slug="inn", name="The Inn", seed=5, now=NOW, round=20, places=places, portals={}, entities={**entities, "th_key": key})


WORLD = _world()


def entry(
    number: int, kind: str, text: str, *, by: str = OWNER, to: Sequence[str] = (), ago: float = 300, place: str = "pl_bar",
    pinned: Pin = "none", valid: bool = True, reason: str = "", grasp: Grasp = "full",
) -> BufferEntry:  # fmt: skip
    """One thing in Bryn's working memory, `ago` minutes old."""
    outcome = None
    if kind == "said":
        intent = Intent(type="dialogue", verb="say", text="" if grasp == "seen" else text, actor=by, targets=tuple(to), place=place)
    elif kind == "thought":
        intent = Intent(type="monologue", verb="think", text=text, actor=OWNER, place=place)
    else:
        intent = Intent(type="action", summary=text, actor=by, targets=tuple(to), place=place)
        outcome = Outcome(is_valid=valid, reason=reason)
    return BufferEntry(
        id=f"buf-{number:06d}", seq=number, owner_id=OWNER, timestamp=NOW - timedelta(minutes=ago), location_id=place, round=3,
        intent=intent, outcome=outcome, grasp=grasp, pinned=pinned,
    )  # fmt: skip


def remember(entries: Sequence[BufferEntry]) -> tuple[HandoffReply, Selection, dict[str, str]]:
    """The storyteller's reply to the engine's own prompt, what the engine makes of it, and the id of each M-handle."""
    prompt, handles = build(WORLD, OWNER, entries, NOW)
    request = ModelRequest(task="handoff", entity=OWNER, round=20, seed=5, messages=prompt.messages)
    reply = HandoffReply.model_validate_json(asyncio.run(Storyteller().complete(request)).text)
    people = people_of(OWNER, entries)
    brief = Brief(
        owner=OWNER, candidates=entries, handles=handles, known=frozenset(people), world=WORLD,
        names=vocabulary(WORLD, OWNER, people) | {own_name(WORLD.entities[OWNER]): OWNER}, template=prompt.messages[0].content,
    )  # fmt: skip
    return reply, select(reply, brief), {handle: handles.id(handle) or "" for chunk in reply.chunks for handle in chunk.sourceEntryIds}


@st.composite
def buffers(draw: st.DrawFn) -> list[BufferEntry]:
    """Up to sixteen entries in order of time, of every kind, some pinned, some hostile."""
    count = draw(st.integers(1, 16))
    ages = sorted((draw(st.integers(3, 4000)) for _ in range(count)), reverse=True)
    found: list[BufferEntry] = []
    hostile = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=60).filter(lambda text: bool(text.strip()))
    for number, ago in enumerate(ages, 1):
        by, other = draw(st.permutations(list(MINDS)))[:2]
        common: dict[str, Any] = {"ago": ago, "place": draw(st.sampled_from(["pl_bar", "pl_quay"])),
                                  "pinned": draw(st.sampled_from(["none", "none", "none", "model"]))}  # fmt: skip
        match draw(st.sampled_from(["said", "said", "done", "thought"])):
            case "said":
                grasp = draw(st.sampled_from(GRASPS))
                words = draw(st.one_of(st.sampled_from(SPEECHES), hostile))
                to = (other,) if grasp != "faint" and draw(st.booleans()) else ()
                found.append(entry(number, "said", words, by=by, to=to, grasp=grasp, **common))
            case "done":
                deed = draw(st.sampled_from((*AMBIENT, *DEEDS)))
                valid = draw(st.booleans())
                found.append(entry(number, "done", deed, by=by, valid=valid, reason="" if valid else "the trap door is locked", **common))
            case _:
                found.append(entry(number, "thought", draw(st.one_of(st.sampled_from(THOUGHTS), hostile)), **common))
    return found


@settings(max_examples=200, deadline=None)
@given(buffers())
def test_whatever_happened_the_reply_passes_every_check(entries: list[BufferEntry]) -> None:
    reply, selection, ids = remember(entries)
    assert reply.chunks
    assert selection.notes == ()
    assert not selection.undecided
    assert set(ids.values()) <= {one.id for one in entries}
    assert len(selection.chunks) == len(reply.chunks)


@settings(max_examples=200, deadline=None)
@given(buffers())
def test_quotes_importance_and_pins_stay_within_bounds(entries: list[BufferEntry]) -> None:
    reply, _, ids = remember(entries)
    spoken = {one.id: one.intent.text for one in entries if one.intent.type == "dialogue" and one.grasp == "full"}
    cited: list[str] = []
    for chunk in reply.chunks:
        cited += chunk.sourceEntryIds
        said = [" ".join(spoken.get(ids[handle], "").split()) for handle in chunk.sourceEntryIds]
        assert len(chunk.quotes) <= 2
        assert all(any(quote in words for words in said) for quote in chunk.quotes)
        assert 1 <= chunk.importance <= 10
        assert "(Outcome" not in chunk.content
    assert len(cited) == len(set(cited))
    assert sum(len(chunk.sourceEntryIds) for chunk in reply.chunks if chunk.retainInBuffer) <= 4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(AMBIENT), min_size=1, max_size=10), st.integers(0, 9))
def test_ambient_business_is_forgotten_when_something_matters(deeds: list[str], where: int) -> None:
    entries = [entry(n, "done", deed, ago=300 - n) for n, deed in enumerate(deeds, 1)]
    where = min(where, len(entries))
    entries.insert(where, entry(99, "done", "gave {{e:th_key}} to {{e:en_sailor}}", ago=300 - where))
    reply, _, ids = remember(entries)
    assert set(ids.values()) == {"buf-000099"}
    [chunk] = reply.chunks
    assert re.fullmatch(r"P1 gave P\d to P\d\.", chunk.content)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(AMBIENT), min_size=1, max_size=10))
def test_when_all_was_ambient_one_light_memory_stays(deeds: list[str]) -> None:
    reply, _, ids = remember([entry(n, "done", deed, ago=300 - n) for n, deed in enumerate(deeds, 1)])
    assert len(reply.chunks) == 1
    assert len(ids) == 1
    assert reply.chunks[0].importance <= 2
    assert not reply.chunks[0].retainInBuffer


@pytest.mark.parametrize("words", ["_", "__ _", "_!", '"_"', "\u2026", "- -"])
@pytest.mark.parametrize("pinned", ["none", "model"])
@pytest.mark.parametrize("by", [OWNER, "en_sailor"])
def test_words_without_a_letter_or_figure_are_never_quoted(words: str, pinned: Pin, by: str) -> None:
    reply, selection, _ = remember([entry(1, "said", words, by=by, pinned=pinned)])
    assert [chunk.quotes for chunk in reply.chunks] == [[]]
    assert selection.notes == ()


def test_the_same_prompt_gives_the_same_reply() -> None:
    entries = [entry(n, "said", words, by="en_sailor", to=(OWNER,), ago=300 - n) for n, words in enumerate(SPEECHES, 1)]
    assert remember(entries)[0] == remember(entries)[0]


def test_a_threat_is_promoted_high_and_pinned_alone() -> None:
    entries = [
        entry(1, "said", THREAT, by="en_sailor", to=(OWNER,), ago=300),
        entry(2, "said", "You told me a night boat. You told me nobody would be hurt.", to=("en_sailor",), ago=299),
        entry(3, "said", "I told you a price. It was you that climbed the ladder.", by="en_sailor", to=(OWNER,), ago=298),
    ]
    _, selection, _ = remember(entries)
    threat, talk = selection.chunks
    assert (threat.retain, threat.source_ids) == (True, ("buf-000001",))
    assert threat.importance >= 8
    assert threat.quotes == (THREAT,)
    assert threat.content == (
        "{{e:en_sailor}} threatened {{e:en_bryn}}: forty crowns by dawn, or the assessor would hear whose fingers were on that wick."
    )
    assert (talk.retain, talk.source_ids) == (False, ("buf-000002", "buf-000003"))


@pytest.mark.parametrize(
    ("kind", "text", "by", "settled"),
    [
        ("done", "paid {{e:en_sailor}} forty crowns", OWNER, True),
        ("done", "gave {{e:th_key}} to {{e:en_sailor}}", OWNER, True),
        ("done", "sailed with the morning packet", "en_sailor", True),
        ("said", "We are even, you and I.", "en_sailor", True),
        ("said", "Forget what I said. I was drunk.", "en_sailor", True),
        ("said", "Please. I am sorry.", OWNER, False),
        ("said", "Are we even?", OWNER, False),
        ("done", "gave {{e:en_sailor}} a short nod", OWNER, False),
        ("done", "paid {{e:en_nun}} forty crowns", OWNER, False),
    ],
)
def test_a_pinned_threat_is_let_go_only_when_something_settles_it(kind: str, text: str, by: str, settled: bool) -> None:
    to = ("en_sailor" if by == OWNER else OWNER,) if kind == "said" else ()
    entries = [
        entry(1, "said", THREAT, by="en_sailor", to=(OWNER,), ago=320, pinned="model"),
        entry(2, kind, text, by=by, to=to, ago=120),
        entry(3, "done", "wiped the counter", ago=110),
    ]
    _, selection, _ = remember(entries)
    threat = next(chunk for chunk in selection.chunks if "buf-000001" in chunk.source_ids)
    assert threat.retain is not settled
    assert ("buf-000002" in threat.source_ids) is settled


@pytest.mark.parametrize(("hours", "kept"), [(6, True), (11, True), (30, False), (60, False), (24 * 20, False)])
def test_a_pinned_threat_is_let_go_when_it_is_a_day_old(hours: float, kept: bool) -> None:
    entries = [
        entry(1, "said", THREAT, by="en_sailor", to=(OWNER,), ago=hours * 60, pinned="model"),
        entry(2, "said", "You look tired.", by="en_nun", to=(OWNER,), ago=90),
    ]
    _, selection, _ = remember(entries)
    threat = next(chunk for chunk in selection.chunks if "buf-000001" in chunk.source_ids)
    assert threat.retain is kept


def test_many_threats_pin_four_entries_at_the_most_and_keep_the_rest() -> None:
    entries = [
        entry(n, "said", f"Bring me the letter by dawn, or I swear you will hang for it, number {n}.", by=by, to=(OWNER,), ago=300 - n)
        for n, by in enumerate(["en_sailor", "en_nun", "en_stranger"] * 4, 1)
    ]
    _, selection, _ = remember(entries)
    pinned = [source for chunk in selection.chunks if chunk.retain for source in chunk.source_ids]
    assert len(pinned) == 4
    assert {chunk.importance for chunk in selection.chunks} == {9}
    assert {source for chunk in selection.chunks for source in chunk.source_ids} == {one.id for one in entries}
