"""Prose into intents: what is said, thought and done, to whom, by which way."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.storyteller.decode.decoder import Decoder
from engine.llm.storyteller.language.roster import read_roster
from engine.llm.storyteller.phrases import lists
from engine.records.wire import WireIntent

Decode = Callable[..., list[WireIntent]]


def shown(intents: list[WireIntent]) -> list[str]:
    """One line an intent: `other: set a mug before P2 > P2`, `say/softly: Well? > P2`, `think: Liar.`"""
    lines = []
    for intent in intents:
        how = "/".join([intent.verb, *intent.modifiers])
        to = f" > {','.join(intent.targets)}" if intent.targets else ""
        lines.append(f"{how}: {intent.summary or intent.text}{to}")
    return lines


CASES: list[tuple[str, list[str]]] = [
    (
        'I set a mug before the wet stranger. "A room? Aye, if your coin is dry." *She is running from something.*',
        ["other: set a mug before P2 > P2", "say: A room? Aye, if your coin is dry. > P2", "think: She is running from something."],
    ),
    ("I set a mug before the wet stranger and hand her a candle.", ["other: set a mug before P2 and handed P2 a candle > P2"]),
    ("I set a mug before the wet stranger and hand her the key.", ["other: set a mug before P2 > P2", "give: handed P2 P4 > P4,P2"]),
    ('I say to the wet stranger, "You may have a room."', ["say: You may have a room. > P2"]),
    ('"A room," I say to the wet stranger, "if your coin is dry."', ["say: A room, if your coin is dry. > P2"]),
    ("\u201cGet out,\u201d I hiss, slamming the trap door.", ["say/sharply: Get out.", "close: slammed the trap door > L2"]),
    ("\u00ab Bonsoir, Gareth \u00bb, I say.", ["say: Bonsoir, Gareth > P6"]),
    ("'Come in,' I say to Gareth. The sailors' hall is cold.", ["say: Come in. > P6"]),
    ('I lean over the bar and whisper to Gareth, "Not here."', ["whisper/whispering: Not here. > P6"]),
    (
        '"Gareth, come here." I open the trap door and go down to the cellar.',
        ["say: Gareth, come here. > P6", "open: opened the trap door > L2", "go: went down to the cellar > L2"],
    ),
    ("I go to the quay.", ["go: went to the quay > L1"]),
    ("go upstairs", ["go: went upstairs > L3"]),
    ("I make my way to the quay.", ["go: went to the quay > L1"]),
    ("I step through the street door.", ["go: stepped through the street door > L1"]),
    ("I follow the tall sailor.", ["go: followed P5 > L1"]),
    ("I leave.", ["go: left > L1"]),
    ("go to the lighthouse", ["go: went to the lighthouse"]),
    ("I go to the trap door and listen.", ["other: went to the trap door and listened"]),
    ("I walk to the fire.", ["other: walked to the fire"]),
    ("I open the door.", ["open: opened the door > L2"]),
    ("I close the street door behind me.", ["close: closed the street door > L1"]),
    ("I push the trap door open.", ["open: pushed the trap door open > L2"]),
    ("I lock the street door with the iron key.", ["lock: locked the street door with P4 > L1"]),
    ("I try to unlock the trap door.", ["unlock: tried to unlock the trap door > L2"]),
    ("I pick up the brass lantern and go down.", ["take: picked up P3 > P3", "go: went down > L2"]),
    ("I reach for the lantern and take it.", ["take: took P3 > P3"]),
    ("I take a seat by the fire.", ["other: took a seat by the fire"]),
    ("I give Gareth a nod.", ["other: gave P6 a nod > P6"]),
    ("I slip the key to the stranger.", ["give: slipped P4 to P2 > P4,P2"]),
    ("hand gareth the key", ["give: handed P6 P4 > P4,P6"]),
    ("I put the iron key on the bar.", ["drop: put P4 on the bar > P4"]),
    ("I put the iron key away.", ["other: put P4 away > P4"]),
    ("I throw the key into the sea.", ["drop: threw P4 into the sea > P4"]),
    ("look at the lantern", ["look: looked at P3 > P3"]),
    ("I look around.", ["look: looked around"]),
    ("I examine the lantern closely.", ["look: examined P3 closely > P3"]),
    ("I look at Gareth a moment too long.", ["other: looked at P6 a moment too long > P6"]),
    ("I look across at the tall sailor.", ["other: looked across at P5"]),
    ("I look up.", ["other: looked up"]),
    ("I lie down and sleep.", ["sleep: lay down and slept"]),
    ("I go to bed.", ["sleep: went to bed"]),
    ("I wake Gareth.", ["wake: woke P6 > P6"]),
    ("I say nothing.", ["wait: said nothing"]),
    ("I nod", ["other: nodded"]),
    ("I shake my head and wipe my hands on a cloth.", ["other: gave a shake of the head and wiped both hands on a cloth"]),
    ("With a sigh, I sit down.", ["other: sat down with a sigh"]),
    ("When she looks up, I nod.", ["other: nodded when she looked up"]),
    ("I don't answer.", ["other: did not answer"]),
    ("I watch the wet stranger while I wipe the counter.", ["other: watched P2 while wiping the counter > P2"]),
    ("I feel in my pocket for a coin.", ["other: felt in the pocket for a coin"]),
    ("I feel cold.", ["think: I feel cold."]),
    ("I wonder what she wants.", ["think: I wonder what she wants."]),
    ("I wiped the counter and went to the quay.", ["other: wiped the counter", "go: went to the quay > L1"]),
    (
        'Bryn Harrow wipes the counter and turns to the wet stranger. "Well?" she asks.',
        ["other: wiped the counter and turned to P2 > P2", "say: Well? > P2"],
    ),
    ('She set down the mug. "Then go," said Bryn quietly.', ["other: set down the mug", "say/quietly: Then go."]),
    ('She laughs. I do not. "No," I tell Gareth.', ["other: did not", "say: No. > P6"]),
    ('*smiles at Gareth* "Evening."', ["other: smiled at P6 > P6", "say: Evening. > P6"]),
    ('"Help!" I shout.', ["shout/shouting: Help!"]),
    ("I call for help", ["shout/shouting: Help!"]),
    ("ask the wet stranger about the ship", ["say: What can you tell me about the ship? > P2"]),
    ("tell gareth that the ship is lost", ["say: The ship is lost. > P6"]),
    ("whisper to gareth that the stranger lies", ["whisper/whispering: The wet stranger lies. > P6"]),
    ("introduce myself to the stranger", ["say: I am Bryn Harrow. > P2"]),
    ('"No." I fold my arms. "Never."', ["say: No.", "other: folded both arms", "say: Never."]),
    ('I mutter to myself, "Fool."', ["say/muttering: Fool."]),
    ('To Gareth I say: "Mind her."', ["say: Mind her. > P6"]),
    ('"Take this," I say, and hand Gareth the iron key.', ["say: Take this.", "give: handed P6 P4 > P4,P6"]),
    ("The rain beats on the glass.", ["wait: waited"]),
    ("I frobnicate the gizmo.", ["other: frobnicated the gizmo"]),
    ("pry open the floorboard and look inside", ["other: pried open the floorboard and looked inside"]),
    ("I take the half coin from Gareth.", ["take: took P7 from P6 > P7,P6"]),
    ("read the letter", ["other: read P8 > P8"]),
    ("I open the letter.", ["other: opened P8 > P8"]),
    ("kill Bryn with a spoon", ["other: tried to come to harm with a spoon"]),
    ("kill Gareth with a spoon", ["other: killed P6 with a spoon > P6"]),
    ("hello there", ["say: Hello there."]),
    ("Fire!", ["shout/shouting: Fire!"]),
    ("shout fire", ["shout/shouting: Fire!"]),
    ("Mistress Venn put out the lantern!", ["say: Mistress Venn put out the lantern!"]),
    ("who are you?", ["say: Who are you?"]),
    ("thank you", ["say: Thank you."]),
    ("go north", ["go: went north"]),
    ("I look at the lantern before I know that I am doing it.", ["other: looked at P3 > P3"]),
    ("I draw my sleeve down further than I need to.", ["other: drew one sleeve down further than need be"]),
    ("I turn so that I face the fire and think of nothing.", ["other: turned so as to face the fire"]),
    ("I follow every movement that Gareth makes.", ["other: followed every movement that P6 made > P6"]),
    ("I look at Gareth as if I had never seen him.", ["other: looked at P6 > P6"]),
    ("I blow on my hands until I can feel them.", ["other: blew on both hands"]),
    ("I rub the burn on my thumb.", ["other: rubbed the burn on one thumb"]),
    ("I wipe my fingers on a cloth.", ["other: wiped the fingers of one hand on a cloth"]),
    ("I straighten the chain on my chest.", ["other: straightened the chain"]),
    ("I lift my chin at Gareth.", ["other: gave P6 a lift of the chin > P6"]),
    ("I tell Gareth what I know about the wreck.", ["other: told P6 what P1 knew about the wreck > P6"]),
]


@pytest.mark.parametrize(("prose", "expected"), CASES, ids=[prose[:40] for prose, _ in CASES])
def test_prose_is_taken_apart(decode: Decode, known: str, prose: str, expected: list[str]) -> None:
    who = f"{known}\nP7: the half coin (thing, held by Gareth)\nP8: the letter (thing, carried by you)"
    assert shown(decode(prose, who=who)) == expected


@pytest.mark.parametrize("prose", ["xyzzy plugh frobnicate", "n", "north", "inventory", "asdf", "...", "42", ""])
def test_what_means_nothing_is_not_taken_for_anything(decode: Decode, prose: str) -> None:
    assert decode(prose) == []


@given(st.sampled_from(["before", "until", "so that", "as if", "because", "than", "while", "what", "where", "that"]), st.sampled_from(
    ["I am doing it", "I need to", "I face the door", "I have to", "I can feel my hands", "I were not there", "they look at me"]
))  # fmt: skip
def test_nobody_is_left_as_subject_with_a_present_verb(joint: str, clause: str) -> None:
    roster = read_roster("P1: you, Bryn Harrow\nP2: the wet stranger (here)", "")
    [intent] = Decoder(roster).decode(f"I move the chair {joint} {clause}.")
    assert not re.search(r"\b(?:I|me|my)\b|P1 (?:am|need|have|can|face|look)\b", intent.summary)
    assert intent.summary.startswith("moved the chair")


def test_texts_are_the_words_of_the_prose(decode: Decode) -> None:
    prose = 'I set a mug before the stranger and hand her the key. "Take it," I say. *Poor thing.*'
    set_down, given, spoken, thought = decode(prose)
    assert set_down.text == "set a mug before the stranger"
    assert given.text == "hand her the key"
    assert spoken.text == "Take it."
    assert thought.text == "Poor thing."


def test_one_other_person_is_who_is_meant(decode: Decode) -> None:
    [spoken] = decode('"Good evening."', who="P1: you, Ann\nP2: the pilot (here)", ways="")
    assert spoken.targets == ["P2"]


def test_a_name_that_is_a_word_counts_only_as_a_name(decode: Decode) -> None:
    who = "P1: you, Ann\nP2: Rose (here)\nP3: Will Archer (here)"
    assert shown(decode("I will wait, and smell the rose.", who=who, ways="")) == ["other: waited and smelled the rose"]
    assert shown(decode("I nod to Rose and Will.", who=who, ways="")) == ["other: nodded to P2 and P3 > P2,P3"]


def test_nobody_is_called_you(decode: Decode) -> None:
    [spoken] = decode('"Are you there, you?"', who="P1: you, somebody", ways="")
    assert spoken.targets == []


@given(st.text(max_size=200))
def test_any_prose_gives_only_listed_handles_and_a_summary_for_each_deed(prose: str) -> None:
    roster = read_roster("P1: you, Bryn Harrow\nP2: the wet stranger (here)", "L1: the door, open, to the quay")
    intents = Decoder(roster).decode(prose)
    assert len(intents) <= 12
    for intent in intents:
        assert set(intent.targets) <= {"P2", "L1"}
        assert (intent.type == "dialogue") == (intent.verb in ("say", "whisper", "shout"))
        assert intent.type != "action" or intent.summary


@pytest.mark.parametrize("key", sorted(lists("stage")))
def test_stage_business_is_told_plainly(decode: Decode, known: str, key: str) -> None:
    slots = {"person": "Gareth", "thing": "the brass lantern", "door": "the trap door", "place": "the cellar"}
    for phrase in lists("stage")[key]:
        for intent in decode(f"I {phrase.format(**slots)}.", who=known):
            assert intent.type == "action", phrase
            assert not re.search(r"\b(?:I|me|my|P1|makes|looks|thinks|falls|is)\b|\bof P6\b", intent.summary), phrase
            assert (intent.verb == "go") == (key == "go"), phrase
            assert (intent.verb == "sleep") == (key == "sleep"), phrase
            assert intent.verb not in ("look", "drop", "give"), phrase
