"""Names are learned from evidence in speech, and from nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mind.names import learned
from engine.mind.spoken import core, is_part, name_at
from engine.records.intents import Intent
from engine.records.memory import NewBufferEntry
from engine.records.world import World

if TYPE_CHECKING:
    from tests.engine.mind.conftest import Maker


@pytest.fixture(scope="module")
def inn(make: Maker) -> World:
    """Bryn Harrow keeps the inn; Ishmael Vane calls her Bryn; the viewer knows nobody. Mira Vale is in the cellar."""
    return make.world(
        make.entity("keeper", "Bryn Harrow", label="the innkeeper", order=1),
        make.entity("guest", "Ishmael Vane", label="the wet stranger", order=2, aliases={"keeper": "Bryn", "smith": "Old Hob"}),
        make.entity("viewer", "Tom Reed", label="the potboy", order=3),
        make.entity("smith", "Oswin Hobb", label="the burly man", order=4),
        make.entity("maid", "Mira Vale", label="the maid", order=5, place="cellar"),
    )


SELF = [
    ("I am Bryn.", "Bryn"),
    ("I'm Bryn", "Bryn"),
    ("I\u2019m Bryn Harrow, and I keep this house.", "Bryn Harrow"),
    ("Name's Bryn Harrow", "Bryn Harrow"),
    ("Aye, name's Bryn Harrow. And yours?", "Bryn Harrow"),
    ("The name is Harrow. Bryn Harrow.", "Bryn Harrow"),
    ("The name's Harrow.", "Harrow"),
    ("My name is Bryn Harrow, what of it?", "Bryn Harrow"),
    ("My true name is Aldreda Stone.", "Aldreda Stone"),
    ("my name's Bryn", "Bryn"),
    ("Call me Ish", "Ish"),
    ("You may call me Ish.", "Ish"),
    ("Just call me Ish!", "Ish"),
    ("They call me the Rook", "the Rook"),
    ("My friends call me Rook.", "Rook"),
    ("Folk call me Captain Salt, and you may too.", "Captain Salt"),
    ("Everyone calls me Nan.", "Nan"),
    ("I'm called Strider by some.", "Strider"),
    ("I go by Jack.", "Jack"),
    ("Bryn Harrow, at your service.", "Bryn Harrow"),
    ("Bryn's my name.", "Bryn"),
    ("Bryn Harrow is my name, and trouble my trade.", "Bryn Harrow"),
    ("It's me, Bryn.", "Bryn"),
    ("I am Sir Gareth of the Vale.", "Sir Gareth of the Vale"),
    ("I'm Anna van der Berg.", "Anna van der Berg"),
    ("I'm Bryn the Bold.", "Bryn the Bold"),
    ("I'm Dr. Harrow.", "Dr. Harrow"),
    ("I'm Bryn of course.", "Bryn"),
    ("I'm Bryn, who else? I'm Bryn Harrow!", "Bryn Harrow"),
    ("I am Zo\u00eb \u00c9lan.", "Zo\u00eb \u00c9lan"),
    ("I'm Seán O'Brien.", "Seán O'Brien"),
    ("Fear not: I'm Alfred.", "Alfred"),
    ("This is Bryn Harrow, open the door!", "Bryn Harrow"),
    ("I'm Bryn - the innkeeper.", "Bryn"),
    ('"I am Bryn."', "Bryn"),
    ("Harrow. Bryn Harrow. I keep this house.", "Bryn Harrow"),
    ("Harrow. Innkeeper. You have seen my name on the sign.", "Harrow"),
    ("Bryn Harrow, from the river. I had a boy aboard.", "Bryn Harrow"),
    ("You may call me Bryn Harrow. It is on my licence.", "Bryn Harrow"),
    ("I keep this house. Bryn Harrow.", "Bryn Harrow"),
]


@pytest.mark.parametrize(("text", "name"), SELF, ids=[text for text, _ in SELF])
def test_a_speaker_who_gives_its_name_is_known_by_it(make: Maker, inn: World, text: str, name: str) -> None:
    assert learned(inn, "viewer", make.said("keeper", text)) == [("keeper", name, "introduction")]


NOTHING = [
    "I'm sorry",
    "I'm Sorry",
    "I'm Tired",
    "I am Tired Of This",
    "I'm Leaving.",
    "I'm Finished!",
    "I'm Swedish.",
    "I'm Captain here.",
    "I'm the King.",
    "I'm the Rook's man.",
    "I'M BRYN AND I AM ANGRY",
    "I'm Bryn's brother.",
    "I'm Bryn Harrow\u2019s daughter.",
    "I am James' brother.",
    "I'm not Bryn.",
    "I'm Not Bryn.",
    "Don't call me Bryn.",
    "Never call me Bryn again.",
    "Nobody calls me Bryn.",
    "You call me Bryn, but I never liked it.",
    "Who says I am Bryn",
    "If I am Bryn, the sea is dry.",
    "Am I Bryn?",
    "You think I'm Gareth?",
    "So I'm Gareth?",
    "His name's Gareth.",
    "Your name is a mystery.",
    "My mother's name is Anna.",
    'He told me, "I am Gareth."',
    "He told me, \u201cI am Gareth.\u201d Then he left.",
    "I am from Salt Harbour.",
    "I'm Monday's child.",
    "My name is my own.",
    "I'm the taproom",
    "The name is of no matter.",
    "I'm",
    "",
    "   ",
    "Good evening, Gareth.",
    "Gareth is coming.",
    "Where is Bryn?",
    "Bryn Harrow? Never heard of her.",
    "Ishmael Vane? Never heard of him.",
    "Ask Ishmael Vane.",
    "Ishmael Vane is a liar.",
    "It was one of three: the maid, Ishmael Vane, or the smith.",
    "Gareth. He did it.",
]


@pytest.mark.parametrize("text", NOTHING)
def test_other_words_teach_no_name(make: Maker, inn: World, text: str) -> None:
    assert learned(inn, "viewer", make.said("guest", text)) == []
    assert learned(inn, "viewer", make.said("guest", text, "viewer")) == []


def test_a_places_name_is_nobodys(make: Maker) -> None:
    world = make.world(make.entity("keeper", "Bryn"), make.entity("viewer", "Tom"), places=(make.place("taproom", "the Salt Lantern"),))
    assert learned(world, "viewer", make.said("keeper", "I'm Salt Lantern bound")) == []
    assert learned(world, "viewer", make.said("keeper", "This is Salt Lantern.", "viewer")) == []


ADDRESS = [
    ("Bryn, the mugs", "Bryn"),
    ("Bryn! The mugs!", "Bryn"),
    ("Bryn?", "Bryn"),
    ("The mugs, Bryn.", "Bryn"),
    ("The mugs, Bryn, if you please.", "Bryn"),
    ("Good evening, Master Harrow", "Master Harrow"),
    ("Good evening, Mistress Bryn Harrow.", "Mistress Bryn Harrow"),
    ("Evening, Harrow.", "Harrow"),
    ("Thanks Bryn.", "Bryn"),
    ("Hello Bryn, any ale?", "Bryn"),
    ("You are Bryn Harrow.", "Bryn Harrow"),
    ("You must be Bryn Harrow, the innkeeper.", "Bryn Harrow"),
    ("So it is you, Bryn!", "Bryn"),
    ("Please, Bryn\u2014not now.", "Bryn"),
    ("And Bryn, lock the door.", "Bryn"),
]


@pytest.mark.parametrize(("text", "name"), ADDRESS, ids=[text for text, _ in ADDRESS])
def test_a_name_used_in_address_is_overheard(make: Maker, inn: World, text: str, name: str) -> None:
    assert learned(inn, "viewer", make.said("guest", text, "keeper")) == [("keeper", name, "overheard")]


@pytest.mark.parametrize(
    "text",
    [
        "Don't trust Bryn", "Don't trust Bryn.", "Bryn says the ale is off.", "Bryn's mugs, please.", "I spoke of Bryn and her debt.",
        "Gareth, the mugs", "Innkeeper, the mugs", "You are not Bryn Harrow.", "You look like Bryn Harrow, a little.",
        "They say that Harrow owes money.",
    ],
)  # fmt: skip
def test_a_name_that_is_only_mentioned_or_not_the_targets_teaches_nothing(make: Maker, inn: World, text: str) -> None:
    assert learned(inn, "viewer", make.said("guest", text, "keeper")) == []


def test_a_name_that_speaker_and_target_share_is_an_address(make: Maker) -> None:
    world = make.world(make.entity("a", "Bryn Harrow"), make.entity("b", "Perrin Harrow"), make.entity("viewer", "Tom"))
    assert learned(world, "viewer", make.said("a", "Harrow, come here!", "b")) == [("b", "Harrow", "overheard")]


def test_a_speaker_need_be_heard_addressing_somebody(make: Maker, inn: World) -> None:
    assert learned(inn, "viewer", make.said("guest", "Bryn, the mugs")) == []
    assert learned(inn, "viewer", make.said("guest", "Bryn, the mugs", "viewer")) == []
    assert learned(inn, "viewer", make.said("guest", "Hob, the mugs", "smith")) == [("smith", "Hob", "overheard")]


INTRODUCTIONS = [
    "This is Bryn Harrow",
    "This is Bryn.",
    "Meet Bryn.",
    "Come, meet Bryn!",
    "Her name is Bryn Harrow.",
    "That's Bryn over there.",
    "May I introduce Bryn Harrow?",
    "Have you met Bryn, our host",
    "Let me introduce you to Bryn.",
]


@pytest.mark.parametrize("text", [t for t in INTRODUCTIONS if not t.endswith("?")])
def test_a_third_who_is_present_can_be_introduced(make: Maker, inn: World, text: str) -> None:
    [(target, name, cause)] = learned(inn, "viewer", make.said("guest", text, "viewer"))
    assert (target, cause) == ("keeper", "overheard")
    assert name in text
    assert name.startswith("Bryn")


@pytest.mark.parametrize(
    "text",
    ["This is Mira Vale.", "Her name is Mira.", "That's Mira Vale's cat.", "Is this Bryn?", "This is Bryn?", "If this is Bryn, I'm done."],
)
def test_nobody_absent_or_asked_after_is_introduced(make: Maker, inn: World, text: str) -> None:
    assert learned(inn, "viewer", make.said("guest", text, "viewer")) == []


def test_a_lie_is_believed(make: Maker, inn: World) -> None:
    assert learned(inn, "viewer", make.said("guest", "I am Gareth.")) == [("guest", "Gareth", "introduction")]
    told = make.said("guest", "This is Gareth.", "viewer", "keeper")
    assert learned(inn, "viewer", told) == [("keeper", "Gareth", "overheard")]
    assert learned(inn, "smith", told) == [], "a bystander cannot tell which of the two was meant"


def test_two_who_are_called_the_same_are_not_told_apart_by_an_introduction(make: Maker) -> None:
    world = make.world(
        make.entity("a", "Tom Reed", order=1),
        make.entity("b", "Tom Moor", order=2),
        make.entity("guest", "Ish"),
        make.entity("viewer", "V"),
    )
    assert learned(world, "viewer", make.said("guest", "This is Tom.", "viewer")) == []


def test_nobody_learns_from_itself_or_about_itself(make: Maker, inn: World) -> None:
    assert learned(inn, "keeper", make.said("keeper", "I am Bryn. Hob, come here.", "smith", to="keeper")) == []
    assert learned(inn, "keeper", make.said("guest", "Bryn, the mugs", "keeper", to="keeper")) == []


def test_words_that_did_not_arrive_teach_nothing(make: Maker, inn: World) -> None:
    entry = make.said("keeper", "I am Bryn.")
    assert learned(inn, "viewer", entry.model_copy(update={"grasp": "faint"})) == []
    assert learned(inn, "viewer", entry.model_copy(update={"grasp": "seen"})) == []


@pytest.mark.parametrize("kind", ["action", "monologue"])
def test_only_speech_teaches(make: Maker, inn: World, kind: str) -> None:
    intent = Intent.model_validate({"type": kind, "text": "I am Bryn.", "summary": "said I am Bryn.", "actor": "keeper"})
    entry = NewBufferEntry(owner_id="viewer", timestamp=make.now, location_id="taproom", round=1, intent=intent)
    assert learned(inn, "viewer", entry) == []


@pytest.mark.parametrize(
    ("present", "text", "taught"),
    [
        ("Bryn Harrow", "I'm Bryn.", None),
        ("Bryn Harrow", "I'm Bryn Harrow.", None),
        ("Bryn Harrow", "I'm Mistress Harrow.", None),
        ("Bryn", "I'm Bryn Harrow.", "Bryn Harrow"),
        ("Bryn", "Call me Harrow.", "Harrow"),
        ("Mistress Harrow", "I'm Bryn Harrow.", "Bryn Harrow"),
        ("the Rook", "They call me Rook.", None),
        ("the wet woman", "I'm Bryn.", "Bryn"),
        ("Gareth", "I'm Bryn.", "Bryn"),
        ("bryn", "I'm Bryn.", None),
    ],
)
def test_a_name_replaces_no_longer_form_of_itself(make: Maker, present: str, text: str, taught: str | None) -> None:
    world = make.world(make.entity("keeper", "Bryn Harrow"), make.entity("viewer", "Tom", aliases={"keeper": present}))
    expected = [] if taught is None else [("keeper", taught, "introduction")]
    assert learned(world, "viewer", make.said("keeper", text)) == expected


def test_parts_of_one_name_do_not_take_turns(make: Maker) -> None:
    world = make.world(
        make.entity("keeper", "Bryn Harrow"), make.entity("viewer", "Tom", aliases={"keeper": "Bryn"}), make.entity("guest", "Ish")
    )
    assert learned(world, "viewer", make.said("guest", "Ale, Harrow!", "keeper")) == []
    assert learned(world, "viewer", make.said("guest", "Ale, Bryn Harrow!", "keeper")) == [("keeper", "Bryn Harrow", "overheard")]


def test_who_may_know_the_name_has_nothing_to_learn(make: Maker) -> None:
    world = make.world(make.entity("keeper", "Bryn Harrow", known_to=("viewer",)), make.entity("viewer", "Tom"))
    assert learned(world, "viewer", make.said("keeper", "I'm Bryn Harrow.")) == []


def test_one_line_can_teach_several_names(make: Maker, inn: World) -> None:
    told = make.said("guest", "I'm Ish, and this is Bryn. Hob, sit down.", "viewer", "smith")
    assert sorted(learned(inn, "viewer", told)) == [
        ("guest", "Ish", "introduction"), ("keeper", "Bryn", "overheard"), ("smith", "Hob", "overheard"),
    ]  # fmt: skip


@given(st.text(max_size=200))
def test_any_speech_is_survived_and_teaches_only_what_was_said(make: Maker, inn: World, text: str) -> None:
    for speech in (text, f"I'm {text}", f"Bryn {text}", f"{text}, Bryn.", f"This is {text}"):
        for target, name, _ in learned(inn, "viewer", make.said("guest", speech, "keeper", "viewer")):
            assert target in ("guest", "keeper", "smith")
            assert name in " ".join(speech.split())
            assert any(letter.isupper() for letter in name)


@given(st.text(max_size=80), st.integers(min_value=0, max_value=80))
def test_a_name_in_speech_ends_where_it_says(text: str, start: int) -> None:
    found = name_at(text, start)
    if found:
        assert text[start : found[1]] == found[0]


def test_parts_of_names() -> None:
    assert core("Master Bryn of the Vale") == ("bryn", "vale")
    assert core("the Captain") == ("the", "captain")
    assert is_part("Master Harrow", "Bryn Harrow")
    assert not is_part("Bryn Harrow", "Harrow")
