"""What only says that a story is told again comes off it, and nothing else does."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.handoff.echoes import Voice, echoed, sentence_of, tale, tells
from engine.memory.handoff.retold import retold
from engine.memory.wording import before_denial, begins, sentences
from tests.engine.memory.test_finding import KNOWN, OWN, entry
from tests.engine.memory.test_merging import ECHOES, HOUR, TOLD, hand_over, held

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

STORY = "Tom hid the lantern under the third step."


@pytest.mark.parametrize(
    ("said", "story"),
    [
        (f"They say {STORY}", [STORY]),
        (f"They say {STORY} And I do not forget it.", [STORY]),
        (f"'They say {STORY}' and I'll never forget it.", [STORY]),
        ("Do you remember Tom hid the lantern under the third step?", ["Tom hid the lantern under the third step"]),
        ("Do you remember that the brig struck? It was loud. Was it?", ["the brig struck", "It was loud.", "Was it?"]),
        ("Do you remember you heard the brig strike. It was not loud. It sounded like a?",
         ["you heard the brig strike.", "It was not loud.", "It sounded like a"]),
        ("They say a boy heard the brig strike.", ["they heard the brig strike."]),
        ("They say a boy said that they said a boy said that Tom hid it.", ["Tom hid it."]),
        ("It is said that an old man hid it.", ["they hid it."]),
    ],
)  # fmt: skip
def test_the_story_is_left(said: str, story: list[str]) -> None:
    assert retold(said) == story


@pytest.mark.parametrize(
    "said",
    [
        "Do you remember who hid the lantern?", "Did you know that Tom hid it?", "I never forget a face.", "I do not forget to pay.",
        "A boy hid the lantern.", "They hid the lantern.", "I have not forgotten what you told me.", "Tom said that a boy hid it.",
        "I forget most things, ma'am.", "Do you remember this?",
    ],
)  # fmt: skip
def test_what_is_no_frame_stays(said: str) -> None:
    assert retold(said) == sentences(said)


@given(st.lists(st.sampled_from([*"ab.?!,' ", "They say ", "and I do not forget it", "Do you remember ", "a boy ", "said that ", "Tom"])))
def test_no_words_are_made_up(words: list[str]) -> None:
    said = "".join(words)
    left = Counter(re.findall(r"\w+", " ".join(retold(said))))
    left["they"] = 0
    assert left <= Counter(re.findall(r"\w+", said))


@pytest.mark.parametrize("told", ["They say {}", "They say a boy said that they said {}", "{} And I do not forget it.",
                                  "They say {} And I'll never forget it."])  # fmt: skip
@pytest.mark.parametrize("speech", ECHOES[:1])
async def test_a_story_passed_on_and_on_goes_into_its_memory(desk: Desk, wire: Any, told: str, speech: str) -> None:
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar", importance=6)
    event = desk.inn.said(told.format(speech), HOUR, by="en_bryn", to=("en_stranger",))
    run = await hand_over(desk, [event], wire.chunk(["M1"], "P1 said that they said a boy said that it was hidden.", quotes=[speech]))
    assert await desk.ledger() == [memory]
    assert (run.added, len(await desk.sources(memory.id))) == (0, 1)


SHORT = "{{e:en_bryn}} heard the brig strike. It was not loud. It sounded like a cart of planks let down with care."


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("You heard the brig strike. It was not loud. It sounded like a cart of planks let down with care.", True),
        ("It sounded like a cart of planks let down with care. It was not dark.", False),
        ("It sounded like a cart of planks let down with care. It was loud.", False),
        ("It sounded like a cart of planks let down with care. The brig struck.", True),
        ("It was not loud.", False),
        ("It sounded like a cart of planks let down with care. I was not loud.", False),
    ],
)
def test_a_short_sentence_is_told_by_the_same_words_beside_others(inn: Inn, said: str, known: bool) -> None:
    lines = [sentence_of(line, (), KNOWN) for line in retold(said)]
    assert (echoed(lines, [tale(entry(inn, SHORT), KNOWN)], OWN) is not None) is known


BROKEN = "{{e:en_sailor}} took a candle to the cellar and counted the casks by the wall, and found nine, but not one of them was full."


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("Tom Reed took a candle to the cellar and counted the casks by the wall.", True),
        ("Tom Reed took a candle to the cellar and counted the casks by the wall, and not one of them was full.", True),
        ("Tom Reed took a candle to the cellar and counted the full casks by the wall.", False),
        ("Tom Reed took no candle to the cellar and counted the casks by the wall.", False),
        ("Tom Reed took a candle to the cellar and never counted the casks by the wall.", False),
    ],
)
def test_a_sentence_broken_off_before_it_denies_is_told(inn: Inn, said: str, known: bool) -> None:
    assert tells(tale(entry(inn, BROKEN), KNOWN), sentence_of(said, (), KNOWN), OWN) is known


def test_three_words_that_begin_a_memory_are_told_by_its_owner_only(inn: Inn) -> None:
    told = tale(entry(inn, "{{e:en_sailor}} ordered {{e:en_bryn}} to the woodpile and waited until the door had closed."), KNOWN)
    begun = sentence_of("Tom Reed ordered you to the woodpile and waited.", (), KNOWN)
    assert tells(told, begun, OWN)
    assert not tells(told, begun, Voice("en_stranger", "en_bryn"))
    assert not tells(told, sentence_of("Tom Reed ordered you to the door and waited.", (), KNOWN), OWN)
    assert not tells(told, sentence_of("Tom Reed never ordered you to the woodpile.", (), KNOWN), OWN)


def test_clauses_before_a_denial() -> None:
    assert before_denial("He came, and saw, but did not stay.") == "He came, and saw, "
    assert before_denial("He did not stay, but came.") == ""
    assert before_denial("He came.") == "He came."
    assert begins("The brig struck the rock at dawn.", "the brig strikes")
    assert not begins("The brig struck the rock at dawn.", "the rock")
