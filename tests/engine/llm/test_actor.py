"""Characters over many rounds: they answer, pursue, learn names, move, and never say the same thing twice."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.llm.storyteller.actor.dice import FILES
from engine.llm.storyteller.phrases import lists

Make = Callable[..., ModelRequest]
SELF = "=== WHO YOU ARE ===\nName: Bryn Harrow\nAppearance: a broad woman\nSecret: She owes the harbour master forty crowns."
HERE = "Here with you:\n  - the wet stranger: a thin woman\n  - Gareth: a tall man\nWays out:\n  - the street door, open, to the quay"


async def act(make_request: Make, event: str, *, here: str = HERE, means: str = "", round_: int = 1, **more: str) -> str:
    request = make_request(
        "actor", ("This moment", more.get("moment", "It is early evening, the first day of March.\nYou are in the taproom. It smells.")),
        ("What you perceive", here), ("What you mean to do", means), ("What you know", more.get("known", "")),
        ("Your memories", more.get("memories", "")), ("Recent events", f"Just now\n  - {event}" if event else ""),
        system=more.get("self", SELF), round_=round_,
    )  # fmt: skip
    return (await Storyteller().complete(request)).text


async def over_rounds(make_request: Make, event: str, rounds: int = 24, **more: str) -> list[str]:
    return [await act(make_request, event, round_=n, **more) for n in range(1, rounds + 1)]


def repeats(played: list[tuple[int, str, str]], within: int = 10) -> list[tuple[int, str, str]]:
    last: dict[tuple[str, str], int] = {}
    found = []
    for round_, who, line in played:
        if round_ - last.get((who, line), -99) <= within:
            found.append((round_, who, line))
        last[who, line] = round_
    return found


async def test_nothing_is_said_done_or_thought_twice_within_ten_rounds(inn: Any) -> None:
    await inn.play(40)
    lines = [(round_, who, intent.summary or intent.text) for round_, who, intent in inn.said if intent.verb not in ("go", "wait")]
    assert len(lines) > 300
    assert repeats(lines) == []


async def test_a_tale_has_speech_deeds_thoughts_and_journeys(inn: Any) -> None:
    await inn.play(40)
    kinds = [intent.type for *_, intent in inn.said]
    assert 0.3 < kinds.count("dialogue") / len(kinds) < 0.8
    assert kinds.count("monologue") > 20
    assert sum(intent.verb == "go" for *_, intent in inn.said) >= 8
    told = " ".join(intent.text for *_, intent in inn.said if intent.type == "dialogue")
    names = [player.name for player in inn.players if player.name in told]
    assert len(names) >= 4, "people introduce themselves"
    assert all(len([1 for who_round, who, _ in inn.said if who == player.id]) >= 30 for player in inn.players), "everybody acts"


async def test_speech_is_spread_and_aimed(inn: Any) -> None:
    await inn.play(30)
    speech = [(who, intent) for _, who, intent in inn.said if intent.type == "dialogue"]
    assert sum(bool(intent.targets) for _, intent in speech) / len(speech) > 0.9
    assert max(sum(who == player.id for who, _ in speech) for player in inn.players) < len(speech) / 2


async def test_talk_between_two_does_not_go_on_for_ever(make_theatre: Any, make_player: Any) -> None:
    pair = [
        make_player("a", "Ann Lee", "the pilot", "a pale woman", "the cabin", goals=["ask the mechanic about the leak"]),
        make_player("b", "Bo Sand", "the mechanic", "a short man", "the cabin", goals=["keep the leak secret"], habits=["turns a wrench"]),
    ]
    stage = make_theatre(pair, {})
    await stage.play(30)
    speaking = [round_ for round_, _, intent in stage.said if intent.type == "dialogue"]
    silent = set(range(1, 31)) - set(speaking)
    assert len(silent) >= 3
    assert len(set(speaking)) >= 10


async def test_one_alone_and_forty_together_can_be_played(make_theatre: Any, make_player: Any) -> None:
    alone = make_theatre([make_player("a", "Ann", "the hermit", "an old woman", "the hut", habits=["feeds the fire"])], {})
    await alone.play(25)
    assert all('"' not in prose for _, _, prose in alone.prose)
    villagers = [make_player(f"v{n}", f"Ada Hill{n}", f"the villager number {n}", "a villager", "the green") for n in range(40)]
    crowd = make_theatre(villagers, {})
    await crowd.play(3)
    assert len({prose for _, _, prose in crowd.prose}) > 60


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ('The wet stranger spoke to you: "What is your name?"', "Bryn Harrow"),
        ('The wet stranger spoke to you: "My name is Ines Calder."', "Bryn Harrow"),
    ],
)
async def test_a_name_asked_or_given_is_answered_with_ones_own(make_request: Make, event: str, expected: str) -> None:
    said = await over_rounds(make_request, event)
    assert sum(expected in one for one in said) >= 18


async def test_a_question_is_answered_from_what_is_known(make_request: Make) -> None:
    known = "  - The lantern is lit only when a ship is lost."
    said = await over_rounds(make_request, 'The wet stranger spoke to you: "What do you know about the lantern?"', known=known)
    assert sum("lit only when a ship is lost" in one for one in said) >= 20
    assert all("the wet stranger" in one for one in said)


async def test_a_memory_is_told_in_the_first_person_and_to_the_listeners_face(make_request: Make) -> None:
    memories = "A few days ago\n  - You found the wet stranger lying against the street door, soaked."
    said = await over_rounds(make_request, 'The wet stranger spoke to you: "Who found me soaked?"', memories=memories)
    assert sum("I found you lying against the street door" in one for one in said) >= 18


async def test_a_question_near_the_secret_is_not_answered_with_it(make_request: Make) -> None:
    memories = "A month ago\n  - You borrowed forty crowns from the harbour master."
    question = 'The wet stranger spoke to you: "Do you owe the harbour master money, forty crowns?"'
    means = "Goals:\n  - keep the debt secret"
    said = await over_rounds(make_request, question, memories=memories, means=means)
    assert not any("forty crowns" in one.replace("forty crowns?", "") for one in said)
    assert any("*" in one for one in said), "it weighs on the mind"


async def test_threats_are_met(make_request: Make) -> None:
    said = await over_rounds(make_request, 'Gareth spoke to you: "Pay me by dawn, or I swear you will hang."')
    assert all('"' in one for one in said)
    assert len(set(said)) >= 12


async def test_a_thing_asked_for_is_refused_or_handed_over(make_request: Make) -> None:
    moment = "It is evening, the first day of March.\nYou are in the taproom. It smells.\nYou carry: the iron key."
    said = await over_rounds(make_request, 'The wet stranger spoke to you: "Give me the iron key."', moment=moment)
    assert any("hand the iron key to the wet stranger" in one for one in said)
    assert sum("hand the iron key" not in one for one in said) >= 12


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("ask the wet stranger about the wreck", "the wreck"),
        ("ask the wet stranger who pulled her out of the sea", "who pulled you out of the sea"),
        ("find out who put out the light", "who put out the light"),
        ("warn the wet stranger about Gareth", "Gareth"),
        ("warn the wet stranger to say nothing", "say nothing"),
        ("get the sealed letter from the wet stranger", "the sealed letter"),
        ("listen at the street door", "the street door"),
        ("go to the quay", "quay"),
        ("win the race", "win the race"),
    ],
)
async def test_goals_are_pursued(make_request: Make, goal: str, words: str) -> None:
    here = HERE.replace("door, open", "door, closed")
    said = await over_rounds(make_request, "", rounds=40, here=here, means=f"Goals:\n  - {goal}")
    assert sum(words in one for one in said) >= 3


async def test_a_goal_to_tell_is_told_from_memory(make_request: Make) -> None:
    memories = "A few days ago\n  - The boy at the pump gave you the rope and said that he could swim."
    said = await over_rounds(make_request, "", rounds=40, means="Goals:\n  - tell Gareth about the boy on the rope", memories=memories)
    assert any("gave me the rope" in one and "Gareth" in one for one in said)


async def test_sleepers_are_not_spoken_to(make_request: Make) -> None:
    here = "Here with you:\n  - the wet stranger: a thin woman (asleep)"
    said = await over_rounds(make_request, "", here=here, means="Goals:\n  - ask the wet stranger about the wreck")
    assert not any('"' in one for one in said)


async def test_at_night_people_yawn_and_lie_down(make_request: Make) -> None:
    moment = "It is midnight, or not long past it, the first day of March.\nYou are in the taproom. It smells."
    said = await over_rounds(make_request, "", rounds=30, moment=moment, here="You are alone.")
    assert any("sleep" in one for one in said)


async def test_by_day_nobody_speaks_of_tonight(make_request: Make) -> None:
    moment = "It is late morning, the first day of March.\nYou are in the taproom. It smells."
    events = ['Gareth spoke to you: "Tell me about the wreck."', 'Gareth spoke to you: "It is cold."', ""]
    for event in events:
        assert not any("tonight" in one.lower() for one in await over_rounds(make_request, event, moment=moment))


async def test_streams_join_to_the_whole(make_request: Make) -> None:
    events = 'Just now\n  - Gareth spoke to you: "Who are you?"'
    request = make_request("actor", ("What you perceive", HERE), ("Recent events", events), system=SELF)
    storyteller = Storyteller()
    pieces: list[str | None] = []
    completion = await storyteller.complete(request, pieces.append)
    assert len(pieces) > 3
    assert "".join(piece or "" for piece in pieces) == completion.text == (await storyteller.complete(request)).text


async def test_an_empty_prompt_and_a_strange_one_are_survived(make_request: Make) -> None:
    assert (await Storyteller().complete(make_request("actor"))).text
    here = "Here with you:\n  - (\\d+ [x: {y}"
    odd = make_request("actor", ("What you perceive", here), ("Recent events", 'Just now\n  - {z} said: "{}"'))
    for n in range(12):
        assert (await Storyteller().complete(odd.model_copy(update={"round": n}))).text


_PLAY = """
import asyncio, hashlib, sys
sys.path.insert(0, "tests/engine/llm")
import conftest
theatre = conftest.inn.__wrapped__() if hasattr(conftest.inn, "__wrapped__") else conftest.inn.__pytest_wrapped__.obj()
asyncio.run(theatre.play(6))
print(hashlib.sha256(repr(theatre.prose).encode()).hexdigest())
"""


def test_the_same_in_every_process() -> None:
    digests = set()
    for seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", _PLAY], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1


async def test_another_seed_tells_another_tale(inn: Any) -> None:
    await inn.play(3)
    first = [prose for *_, prose in inn.prose]
    inn.seed, inn.round, inn.prose = 8, 0, []
    for player in inn.players:
        player.events = []
    await inn.play(3)
    assert first != [prose for *_, prose in inn.prose]


def test_every_list_is_long_enough_and_says_nothing_twice() -> None:
    for file in FILES:
        for key, phrases in lists(file).items():
            rotation = len(phrases) // 2 if len(phrases) >= 22 else len(phrases)
            assert rotation >= 11, (file, key)
            assert len(set(phrases)) == len(phrases), (file, key)
            assert all(not any(mark in phrase for mark in '"*_') for phrase in phrases), (file, key)
