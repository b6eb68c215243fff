"""A question and an answer that only repeats a memory go into that memory; what tells, accuses or answers beside it stays."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.records.authored import AuthoredWorld
from engine.records.base import EntityId
from engine.records.memory import NewBufferEntry
from engine.storage.store import Store
from tests.engine.memory.test_merging import HOUR, TOLD, hand_over, held, homes

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

ECHO = "Tom Reed hid the silver lantern under the third step of the quay."
ANSWERED = "P1 answered that Tom Reed hid the silver lantern under the third step of the quay."


def asked(
    inn: Inn, question: str, answer: str = ECHO, *, thought: bool = False, by: EntityId = "en_stranger", ago: float = HOUR
) -> list[NewBufferEntry]:
    """Somebody asks, the owner answers or thinks."""
    reply = inn.thought(answer, ago - 1) if thought else inn.said(answer, ago - 1, by="en_bryn", to=(by,))
    return [inn.said(question, ago, by=by), reply]


EMPTY = {
    "What do you know about the lantern?": "P2 asked P1 about the lantern",
    "Did I hear the lantern? Then I want to hear the rest.": "P2 asked P1 about the lantern",
    "You spoke of the lantern. What do you know about it?": "P2 asked P1 about the lantern",
    "Speak to me about the night of the wreck. Anything you have.": "P2 asked P1 about the night of the wreck",
    "They tell me you know something about the quay. Do you?": "P2 asked P1 about the quay",
    "My name comes up a good deal tonight. Why is that?": "P2 asked P1 what had been said",
    "Wait. The silver lantern. Say that again.": "P2 asked P1 about the silver lantern",
    "What are you two talking about?": "P2 wanted to know what was said",
    "So the lantern is no secret to you. Will you tell me?": "P2 asked P1 about the lantern",
    "Who mended the lantern?": "P2 asked P1 who had mended the lantern",
    "I want to know what you have in your pocket.": "P2 asked P1 what was in the pocket",
}
"""Questions that tell nothing, with what an account makes of them. Somebody mended the lantern before."""


@pytest.mark.parametrize("question", EMPTY)
@pytest.mark.parametrize("thought", [True, False])
async def test_a_question_with_an_echo_for_an_answer_goes_into_the_memory(desk: Desk, wire: Any, question: str, thought: bool) -> None:
    mended = await held(desk, "{{e:en_smith}} mended the lantern.", 44)
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar", importance=6)
    account = f"{EMPTY[question]}; {ANSWERED}"
    run = await hand_over(desk, asked(desk.inn, question, thought=thought), wire.chunk(["M1", "M2"], account, quotes=[ECHO]))
    assert await desk.ledger() == [mended, memory]
    assert (run.added, run.updated, run.promoted) == (0, 0, 2)
    assert set((await homes(desk)).values()) == {memory.id}
    assert any("recalled" in note for note in run.notes)


NEWS = {
    "Who burned the bridge?": "P2 asked P1 who had burned the bridge",
    "Have you heard about the fire?": "P2 asked P1 about the fire",
    "Did you hear that the bridge burned?": "P2 asked P1 whether the bridge had burned",
    "The captain drowned at dawn. What do you know?": "P2 said that the captain had drowned at dawn and asked what P1 knew",
    "The captain drowned. What do you know about the lantern?": "P2 told P1 that the captain was dead and asked about the lantern",
    "Why did you hide the silver lantern?": "P2 asked P1 why P1 had hidden the silver lantern",
    "Was it you who hid the lantern?": "P2 asked P1 about the lantern",
    "Where are the seven lanterns?": "P2 asked P1 about the seven lanterns",
    "What did old Hagen do with the lantern?": "P2 asked P1 what old Hagen did with the lantern",
    "It was Brother Odo. What do you say about the lantern?": "P2 said that it was P3, and asked about the lantern",
    "I will help you.": "P2 promised to help P1",
    "No.": "P2 denied it",
    "I am Gareth Vale. What do you know about the lantern?": "P2 gave the name Gareth Vale and asked about the lantern",
    "Leave the lantern alone.": "P2 warned P1 off the lantern",
    "The lantern is mine. Where is it?": "P2 claimed the lantern",
}


@pytest.mark.parametrize("line", NEWS)
async def test_what_another_says_around_an_echo_stays_when_it_tells_something(desk: Desk, wire: Any, line: str) -> None:
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar")
    events = asked(desk.inn, line)
    events[0] = events[0].model_copy(update={"intent": events[0].intent.model_copy(update={"targets": ("en_bryn", "en_monk")})})
    await hand_over(desk, events, wire.chunk(["M1", "M2"], f"{NEWS[line]}; {ANSWERED}"))
    [new] = [entry for entry in await desk.ledger() if entry.id != memory.id]
    assert memory in await desk.ledger()
    assert len(await desk.sources(new.id)) == 2


OWN_NEWS = (
    "Tom Reed hid the silver lantern under the fourth step of the quay.",
    "Tom Reed never hid the silver lantern under the third step of the quay.",
    "Brother Odo hid the silver lantern under the third step of the quay.",
    "I hid the silver lantern under the third step of the quay.",
    "Tom Reed hid the silver lantern over the third step of the quay.",
    "Tom Reed hid the silver lantern under the third step of the quay. The smith pays gold for copper bells.",
    "Did Tom Reed hide the silver lantern under the third step of the quay?",
)


@pytest.mark.parametrize("answer", OWN_NEWS)
@pytest.mark.parametrize("frame", ["{}", "They say {}", "{} And I do not forget it."])
async def test_an_answer_that_says_otherwise_stays(desk: Desk, wire: Any, answer: str, frame: str) -> None:
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar")
    told = f"P2 asked P1 about the lantern; P1 answered that {answer[:-1]}."
    events = asked(desk.inn, "What do you know about the lantern?", frame.format(answer))
    await hand_over(desk, events, wire.chunk(["M1", "M2"], re.sub(r"\bI\b", "P1", told).replace("?", "")))
    assert [entry for entry in await desk.ledger() if entry.id != memory.id] != []
    assert memory in await desk.ledger()


async def test_who_asks_after_somebody_the_memory_does_not_know_is_remembered(desk: Desk, wire: Any) -> None:
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar")
    events = asked(desk.inn, "What do you know about the quiet monk?")
    events[1] = events[1].model_copy(update={"intent": events[1].intent.model_copy(update={"targets": ("en_stranger",)})})
    saw = desk.inn.did("looked for the lantern", 2 * HOUR, by="en_monk")
    await hand_over(desk, [saw, *events], wire.chunk(["M2", "M3"], f"P3 asked P1 about P2; {ANSWERED}"))
    assert len(await desk.ledger()) == 2
    assert memory in await desk.ledger()


async def test_a_deed_between_question_and_answer_keeps_them(desk: Desk, wire: Any) -> None:
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar")
    events = [*asked(desk.inn, "What do you know about the lantern?"), desk.inn.did("drew a knife", HOUR - 2)]
    await hand_over(desk, events, wire.chunk(["M1", "M2", "M3"], f"P2 asked about the lantern; {ANSWERED} P2 drew a knife."))
    assert len(await desk.ledger()) == 2
    assert memory in await desk.ledger()


async def test_the_same_answer_to_two_questions_of_one_reply_is_remembered_once(desk: Desk, wire: Any) -> None:
    answer = "The old ferryman buried a chest of copper bells behind the chapel."
    events = [
        *asked(desk.inn, "What do you know about the mill?", answer, ago=2 * HOUR), *asked(desk.inn, "What of the weir?", answer)
    ]  # fmt: skip
    chunks = [
        wire.chunk([f"M{n}", f"M{n + 1}"], f"P2 asked P1 about the {topic}; P1 answered that {answer}")
        for n, topic in ((1, "mill"), (3, "weir"))
    ]
    run = await hand_over(desk, events, *chunks)
    [entry] = await desk.ledger()
    assert (run.added, len(await desk.sources(entry.id))) == (1, 4)


QUESTIONS = {
    "What do you know about the boat?": "asked P1 about the boat", "Who stole the boat?": "asked P1 who had stolen the boat",
    "The boat sank. What do you know?": "said that the boat had sunk",
}  # fmt: skip
TALK = st.lists(
    st.tuples(
        st.sampled_from(["en_stranger", "en_smith"]),
        st.sampled_from(sorted(QUESTIONS)), st.sampled_from(["three", "five"]),
        st.sampled_from(["paid", "never paid"]), st.sampled_from(["Tom Reed", "the quiet monk"]),
    ),
    min_size=1, max_size=4,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(TALK)
def test_a_memory_takes_only_the_answers_that_repeat_it(inn: Inn, wire: Any, talk: list[tuple[str, str, str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(answered(inn, wire, Path(folder), talk))


async def answered(inn: Inn, wire: Any, folder: Path, talk: list[tuple[str, str, str, str, str]]) -> None:
    world = inn.changed(inn.world(), "en_bryn", aliases={"en_sailor": "Tom Reed", "en_monk": "the quiet monk"})
    store = await Store.create(folder / "inn.db", AuthoredWorld(world=world))
    desk: Desk = wire.desk(inn, store, inn.moved(world, "en_bryn", "pl_quay"))
    told = "{{e:en_sailor}} paid three coins for the old boat of the miller."
    memory = await held(desk, told, 50, who=("en_sailor",), importance=8)
    events: list[NewBufferEntry] = []
    chunks = []
    for number, (by, question, count, paid, who) in enumerate(talk):
        answer = f"{who} {paid} {count} coins for the old boat of the miller."
        events += asked(inn, question, answer, by=by, ago=HOUR + 10 * (len(talk) - number))
        account = f"Somebody {QUESTIONS[question]}; P1 answered that {answer}"
        chunks.append(wire.chunk([f"M{2 * number + 1}", f"M{2 * number + 2}"], account))
    await hand_over(desk, events, *chunks)
    sources = set(await desk.sources(memory.id))
    texts = {gone.entry.id: gone.entry.intent.text for gone in await desk.store.db.read(lambda c: desk.store.buffer.archived(c, "en_bryn"))}
    taken = [texts[source] for source in sources if source in texts]
    assert {text for text in taken if "coins" in text} <= {"Tom Reed paid three coins for the old boat of the miller."}
    assert not [text for text in taken if "sank" in text or "stole" in text]
    assert memory in await desk.ledger()
    await store.close()
