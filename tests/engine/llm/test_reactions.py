"""What characters cannot let pass: cries, confessions, their names, their secrets, things they care about. And what they tell of it."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.llm.storyteller.actor.retelling import own_act, retold
from engine.llm.storyteller.language.persons import to_face

Make = Callable[..., ModelRequest]
SELF = "=== WHO YOU ARE ===\nName: Bryn Harrow\nAppearance: a broad woman\nSecret: She put out the lantern."
HERE = (
    "Here with you:\n  - the wet stranger: a thin woman\n  - Gareth: a tall man\n  - Mistress Venn: a broad woman\n"
    "Ways out:\n  - the street door, open, to the quay\n  - the cellar hatch, closed, to the cellar"
)
MEANS = (
    "Goals:\n  - find out who sank the brig\n  - keep the dark lantern secret\n  - warn Gareth about the wet stranger\n"
    "  - get the sealed letter from the wet stranger"
)


@pytest.fixture
def beat(make_request: Make) -> Callable[..., list[str]]:
    """The prose of Bryn Harrow over some rounds, after the given events."""
    import asyncio

    def run(
        *events: str, here: str = HERE, means: str = MEANS, memories: str = "", hour: str = "early evening", rounds: int = 16
    ) -> list[str]:
        async def play() -> list[str]:
            lines = "\n".join(f"  - {event}" for event in events)
            asked = [
                make_request(
                    "actor", ("This moment", f"It is {hour}, the first day of March.\nYou are in the taproom. A long low room."),
                    ("What you perceive", here), ("What you mean to do", means), ("Your memories", memories),
                    ("Recent events", f"Just now\n{lines}" if events else ""), system=SELF, round_=n,
                )
                for n in range(1, rounds + 1)
            ]  # fmt: skip
            return [(await Storyteller().complete(one)).text for one in asked]

        return asyncio.run(play())

    return run


def test_a_cry_is_answered_at_once(beat: Callable[..., list[str]]) -> None:
    said = beat('The wet stranger shouted: "Fire!"')
    assert all('"' in one and "the wet stranger" in one for one in said)
    assert sum(bool(re.search(r"[Ww]here|smoke|[Ww]ater|[Oo]ut|doors|burning", one)) for one in said) >= 12


def test_a_confession_overheard_is_not_let_pass(beat: Callable[..., list[str]]) -> None:
    said = beat('The wet stranger spoke to Gareth: "It was I who sank the brig. I opened the seacocks."')
    assert all('"' in one and "the wet stranger" in one for one in said)


def test_ones_own_name_in_an_accusation_is_answered(beat: Callable[..., list[str]]) -> None:
    said = beat('The wet stranger spoke to Gareth: "Bryn put out the lantern. Everybody knows it."')
    assert sum(bool(re.search(r"\b(?:me|my|I)\b", one.split('"')[1])) for one in said) >= 14


def test_an_accusation_of_another_is_taken_up(beat: Callable[..., list[str]]) -> None:
    said = beat('The wet stranger spoke to Gareth: "Mistress Venn put out the lantern."')
    assert sum("Mistress Venn" in one for one in said) >= 14


def test_a_friend_is_defended(beat: Callable[..., list[str]]) -> None:
    said = beat('The wet stranger spoke to Gareth: "Pay me by dawn, or I swear you will hang."')
    assert all("step between Gareth and the wet stranger" in one for one in said)


@pytest.mark.parametrize("deed", ["took the sealed letter", "hid the sealed letter under the bench", "gave the sealed letter to Gareth"])
def test_a_thing_cared_about_is_asked_about_when_it_is_handled(beat: Callable[..., list[str]], deed: str) -> None:
    said = beat(f"The wet stranger {deed}. (Outcome: succeeded)")
    assert all("the wet stranger" in one and '"' in one for one in said)
    assert sum("sealed letter" in one for one in said) >= 14


def test_talk_near_the_secret_is_turned_aside(beat: Callable[..., list[str]]) -> None:
    said = beat('Gareth spoke to Mistress Venn: "Somebody kept that lantern dark on purpose."', rounds=30)
    assert sum("lantern" in one.split("*")[1] for one in said if "*" in one) >= 5
    assert not any("lantern" in one.split('"')[1] for one in said if '"' in one)


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("How many casks are down there?", r"count|number|many|more|fewer|some"),
        ("Where is the boy?", r"where|place|here|outside|close|sight|begin|look|tell you more|ask|try|speak|closer|straight|say, it"),
        ("Who do you trust in this place?", r"trust|gareth|venn|nobody|myself|dog|person|you, a little|wait and see|too late|asked for it"),
    ],
)
def test_answers_are_of_the_kind_that_was_asked_for(beat: Callable[..., list[str]], question: str, fits: str) -> None:
    said = beat(f'The wet stranger spoke to you: "{question}"', means="", rounds=24)
    fitting = [one for one in said if re.search(fits, one.split('"')[1], re.IGNORECASE)]
    assert len(fitting) >= 18, said
    assert not any("have not looked for it" in one for one in said)


def test_a_question_in_somebodys_own_words_is_not_lost_among_others(beat: Callable[..., list[str]]) -> None:
    events = ('Gareth spoke to you: "How many casks are down there?"', 'The wet stranger spoke to you: "Did anybody come asking for me?"')
    assert sum("Gareth" in one for one in beat(*events, means="")) >= 12


def test_what_only_oneself_can_know_is_not_called_unknown(beat: Callable[..., list[str]]) -> None:
    said = beat('The wet stranger spoke to you: "Tell me what you have in your pocket."', means="")
    unknown = ("I have not looked for it", "I could not tell you.", "Nobody has told me", "That I do not know", "I was not there")
    assert not any(words in one for one in said for words in unknown)


def test_a_thing_held_out_is_spoken_of(beat: Callable[..., list[str]]) -> None:
    events = ("Gareth held out the half coin to you. (Outcome: succeeded)", 'Gareth spoke to you: "Do you know whose this was?"')
    said = beat(*events, means="")
    assert all("look at the half coin" in one for one in said)


def test_nobody_is_asked_the_same_a_third_time(beat: Callable[..., list[str]]) -> None:
    means = "Goals:\n  - ask Gareth about the wreck"
    memories = (
        "About an hour ago\n  - You asked Gareth about the wreck; Gareth could not say.\n"
        "About half an hour ago\n  - You asked Gareth about the wreck; Gareth would not say."
    )
    assert any("wreck" in one and "Gareth" in one for one in beat(means=means, rounds=30))
    asked = [one for one in beat(means=means, memories=memories, rounds=30) if "wreck" in one.split("*")[0] and "to Gareth" in one]
    assert asked == []


def test_a_locked_up_matter_makes_one_go_and_look(beat: Callable[..., list[str]]) -> None:
    means = "Goals:\n  - find out what is in the cellar"
    events = ['You spoke to Gareth: "Do you know what is in the cellar?"', 'Gareth spoke to you: "I could not tell you."'] * 2
    said = beat(*events, "Mistress Venn wiped the counter.", means=means, rounds=24)
    going = re.compile(r"\b(?:go|walk|slip|head|leave|cross|make my way|step|hurry|open)\b")
    assert any("cellar" in one and going.search(one) for one in said)


def test_on_coming_back_one_tells_what_one_saw(beat: Callable[..., list[str]]) -> None:
    events = [
        "You searched the cellar. (Outcome: succeeded, Dark and wet. Here: the ninth cask, the rope)",
        "You went from the cellar to the taproom. (Outcome: succeeded)",
    ]
    said = beat(*events, means="Goals:\n  - find out what is in the cellar")
    assert sum("the ninth cask" in one for one in said) >= 12


def test_one_alone_for_long_seeks_company(beat: Callable[..., list[str]]) -> None:
    here = "You are alone.\nBeyond:\n  - Gareth, on the quay\nWays out:\n  - the street door, closed, to the quay"
    alone = [f"You {deed}. (Outcome: succeeded)" for deed in ("sat down", "hummed a tune", "looked up")]
    assert sum("the quay" in one for one in beat(*alone, here=here, means="")) >= 14


def test_nobody_lies_down_among_people_in_the_evening(beat: Callable[..., list[str]]) -> None:
    for hour in ("evening", "late evening", "night"):
        deeds = [re.sub(r'"[^"]*"|\*[^*]*\*', "", one) for one in beat(means="", hour=hour, rounds=60)]
        assert not any("sleep" in deed for deed in deeds), hour
    here = "You are alone."
    assert any("sleep" in one for one in beat(means="", hour="late night, before dawn", here=here, rounds=40))


def test_habits_are_done_plainly_and_where_they_fit(beat: Callable[..., list[str]]) -> None:
    means = "Habits:\n  - hums the hauling song\n  - counts the mugs\n  - draws a fish in the sand with her toe\n  - feeds the goats"
    said = beat(means=means, rounds=60)
    assert sum("I hum the hauling song." in one for one in said) >= 2
    assert not any(re.search(r"hauling song,|sand|goats", one) for one in said)
    hummed = [n for n, one in enumerate(said) if "hauling song" in one]
    assert all(later - earlier > 10 for earlier, later in pairwise(hummed))


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        ("You asked Gareth who sank the brig; Gareth could not say.", []),
        ("Gareth asked Mistress Venn how many casks there were; Mistress Venn would not say.", []),
        (
            "You asked Gareth who sank the brig; Gareth answered that the pilot had been drunk.",
            ["Gareth said that the pilot had been drunk."],
        ),
        (
            "Joss Pellam threatened Orla Venn: forty crowns by dawn, or the assessor would hear whose fingers were on that wick.",
            ["Joss Pellam threatened Orla Venn over forty crowns by dawn. I heard it."],
        ),
        ("You found the wet stranger by the door, soaked. She did not speak.", ["I found the wet stranger by the door, soaked."]),
        ("You thought that Gareth was lying.", []),
        ("You gave Gareth your name; Gareth gave you his name.", []),
    ],
)
def test_what_is_retold_is_one_clause_and_no_mere_question(memory: str, told: list[str]) -> None:
    assert retold(memory) == told


def test_nobody_is_told_what_they_did_themselves() -> None:
    assert own_act("Gareth took the key from the hook.", "Gareth")
    assert own_act("Mistress Venn had it from Gareth.", "Gareth")
    assert not own_act("Mistress Venn took the key from the hook.", "Gareth")


def test_you_has_a_capital_at_the_start_of_each_sentence() -> None:
    text = to_face("The old man asked me once. The old man thanked me.", "the old man")
    assert text == "You asked me once. You thanked me."
