"""Little scenes and how they are remembered: what is said becomes what was said, what is small is gone."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.llm.storyteller.phrases import lines, lists
from engine.records.wire import HandoffReply

PEOPLE = """P2: the woman in the borrowed coat
P3: Joss Pellam
P4: the pot boy
P5: the iron key
P6: the scarred diver"""


TAPROOM, QUAY, CELLAR = "a few hours ago, in the taproom", "a few hours ago, on the quay", "about an hour ago, in the cellar"
FORTY = "Forty crowns by dawn, Orla, or I swear the assessor hears whose fingers were on that wick."
PACKET = "The packet sails at first light. Be on it, or I swear the sea will have its ninth, and nobody here will look for you."
HANG = "Bring me her letter by dawn, or I swear you will hang."


class Memory(NamedTuple):
    """What is kept of a scene."""

    importance: int
    sources: str
    content: str
    quotes: tuple[str, ...] = ()
    pinned: bool = False


def said(who: str, to: str, words: str, at: str = TAPROOM, mark: str = "said") -> str:
    """An entry of speech, without its handle."""
    return f'[{mark}] {at}: {who} spoke to {to}: "{words}"'


def did(deed: str, at: str = TAPROOM, outcome: str = "succeeded") -> str:
    """An entry of a deed."""
    return f"[done] {at}: {deed} (Outcome: {outcome})"


def thought(words: str, at: str = TAPROOM) -> str:
    """An entry of a thought of the owner's."""
    return f"[thought] {at}: P1 thought: {words}"


SCENES: Mapping[str, tuple[list[str], list[Memory]]] = {
    "a room and a price": (
        [
            said("P2", "P1", "Good evening. Have you a room?"),
            said("P1", "P2", "Six crowns a night, and I ask no questions."),
            did("P1 wiped the counter from left to right."),
            did("P2 paid P1 six crowns."),
        ],
        [
            Memory(
                6, "M1 M2 M4", "P2 asked P1 for a room; P1 named a price, six crowns a night. P2 paid P1 six crowns.",
                ("Six crowns a night, and I ask no questions.",),
            ),
        ],
    ),
    "a question that is not answered": (
        [
            said("P3", "P6", "Eleven casks I can explain. A living woman I cannot. Who brought her in?", QUAY),
            said("P6", "P3", "Ask me tomorrow.", QUAY),
            said("P3", "P6", "You look tired.", QUAY),
        ],
        [Memory(3, "M1 M2", "P3 asked P6 who had brought the living woman in; P6 would not say.")],
    ),
    "a boy is missed": (
        [
            said("P1", "P2", "You were aboard her. Did you see my boy? Fair, with a chipped tooth.", QUAY),
            said("P2", "P1", "There was no light to see anybody by. I am sorry.", QUAY),
            thought("She looked at my hands when she said it.", QUAY),
            did("P1 sat on a lobster pot and ate a heel of bread.", QUAY),
        ],
        [
            Memory(
                4, "M1 M2 M3", "P1 asked P2 whether she had seen P1's boy; P2 answered that there was no light to see anybody by. "
                "P1 thought that P2 looked at P1's hands when she said it.",
            ),
        ],
    ),
    "a demand with a term, and a reproach": (
        [
            said("P3", "P1, quietly", FORTY),
            said("P1", "P3", "You told me a night boat. You told me nobody would be hurt."),
            said("P3", "P1, quietly", "I told you a price. It was you that climbed the ladder."),
        ],
        [
            Memory(
                8, "M1", "P3 threatened P1: forty crowns by dawn, or the assessor would hear whose fingers were on that wick.",
                (FORTY,), True,
            ),
            Memory(
                7, "M2 M3", "P1 held it against P3 that he had told P1 nobody would be hurt; "
                "he answered that it was P1 that climbed the ladder.",
                ("You told me nobody would be hurt.", "It was you that climbed the ladder."),
            ),
        ],
    ),
    "an order with an or else": (
        [said("P3", "P1, politely", PACKET, QUAY), thought("He never asked my name. He asked what I was carrying.", QUAY)],
        [
            Memory(
                8, "M1", "P3 told P1 that the packet sailed at first light and ordered P1 to be on it, or the sea would have its ninth, "
                "and nobody here would look for P1.", (PACKET,), True,
            ),
            Memory(4, "M2", "P1 thought that P3 never asked P1's name, and that P3 asked what P1 was carrying."),
        ],
    ),
    "names are exchanged": (
        [
            said("P2", "P1", "My name is Ines Calder. I keep other people's accounts."),
            said("P1", "P2", "I am Orla Venn. The house is mine."),
            said("P2", "P1", "Thank you."),
        ],
        [Memory(4, "M1 M2", "P2 gave P1 her name; P1 gave her P1's name.", ("My name is Ines Calder.", "I am Orla Venn."))],
    ),
    "a murder owned to, and a promise": (
        [
            said("P2", "P1, softly", "I killed him, Orla. I did not mean to."),
            said("P1", "P2, softly", "Say nothing to anyone. I'll come for you at midnight."),
            did("P1 gave P5 to P2."),
        ],
        [
            Memory(7, "M1 M3", "P2 owned to P1 that she killed him. P1 gave P5 to P2.", ("I killed him, Orla.",)),
            Memory(7, "M2", "P1 promised P2 to come for her at midnight.", ("I'll come for you at midnight.",), True),
        ],
    ),
    "what failed is told as failed": (
        [
            did("P1 hummed a tune.", CELLAR),
            did("P1 unlocked the hatch with P5.", CELLAR, "failed, the lock is rusted shut"),
            did("P6 struck P1.", CELLAR, "failed"),
        ],
        [
            Memory(4, "M2", "P1 tried to unlock the hatch with P5, but the lock was rusted shut."),
            Memory(7, "M3", "P6 tried to strike P1 and could not."),
        ],
    ),
    "two pairs talk criss-cross in one room": (
        [
            said("P2", "P1", "Who tends the lantern in this house?"),
            said("P4", "P6", "They say you walked out of the sea. Did you?"),
            said("P1", "P2", "The house tends it. Eat while it's hot."),
            said("P6", "P4", "I was carried. I never saw by whom."),
        ],
        [
            Memory(4, "M1 M3", "P2 asked P1 who tended the lantern in this house; P1 answered that the house tended it."),
            Memory(
                3, "M2 M4", "P4 asked P6 whether P6 walked out of the sea; "
                "P6 answered that P6 was carried, and that P6 never saw by whom.",
            ),
        ],
    ),
    "counting casks": (
        [
            did("P1 took a candle down to the cellar and counted the casks along the seaward wall.", CELLAR),
            thought("Eleven. There were nine on Tuesday, and not one of them is mine.", CELLAR),
            did("P4 washed eleven mugs and dropped one."),
        ],
        [
            Memory(
                3, "M1 M2", "P1 took a candle down to the cellar and counted the casks along the seaward wall, "
                "and thought that there were nine on Tuesday, and not one of them belonged to P1.",
            ),
        ],
    ),
    "far from any harbour": (
        [
            said("P6", "P1", "The reactor's coolant is leaking. We've got six hours before the core melts."),
            said("P1", "P6", "Can you fix it?"),
            said("P6", "P1", "Not without the spare valve, and somebody took it from stores."),
            did("P1 searched the lockers.", CELLAR),
            did("P1 found the valve behind the samples.", CELLAR),
        ],
        [
            Memory(
                4, "M1 M2 M3", "P6 told P1 that the reactor's coolant was leaking; P1 asked P6 whether P6 could fix it. "
                "P6 told P1 that somebody took it from stores.",
            ),
            Memory(5, "M4 M5", "P1 searched the lockers and found the valve behind the samples."),
        ],
    ),
    "a hypothetical question, and a vow": (
        [
            said("P2", "P1", "If somebody put that light out, would you know what to do with the name?"),
            said("P1", "P2", "I would kill him. I'd take my cap off first."),
        ],
        [
            Memory(
                7, "M1 M2", "P2 asked P1 whether P1 would know what to do with the name, if somebody put that light out; "
                "P1 answered that P1 would kill him.", ("I would kill him.",),
            ),
        ],
    ),
    "a pinned threat is paid off": (
        [said("P3", "P1", HANG, mark="said, pinned"), did("P1 handed the letter to P3.", QUAY)],
        [Memory(9, "M1 M2", "P3 ordered P1 to bring her letter by dawn, or P1 would hang. P1 handed the letter to P3.", (HANG,))],
    ),
    "only business": (
        [
            did("P4 stacked the bowls by size."),
            f"[said] {TAPROOM}: Somebody was speaking in the cellar, but the words did not carry.",
            said("P4", "P1", "There is a draught from somewhere."),
        ],
        [Memory(1, "M1", "P4 stacked the bowls by size.")],
    ),
}  # fmt: skip


async def remembered(make_request: Callable[..., ModelRequest], *entries: str, people: str = PEOPLE) -> HandoffReply:
    """The reply to a prompt with these entries."""
    told = "\n".join(f"M{number} {line}" for number, line in enumerate(entries, 1))
    request = make_request("handoff", ("Whose memory", "P1: Orla Venn"), ("People", people), ("Entries", told))
    return HandoffReply.model_validate_json((await Storyteller().complete(request)).text)


@pytest.mark.parametrize("name", SCENES)
async def test_a_scene_is_remembered_like_this(make_request: Callable[..., ModelRequest], name: str) -> None:
    entries, kept = SCENES[name]
    chunks = (await remembered(make_request, *entries)).chunks
    assert [
        Memory(one.importance, " ".join(one.sourceEntryIds), one.content, tuple(one.quotes), one.retainInBuffer) for one in chunks
    ] == kept


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Have you a room?", "P2 asked P1 for a room"),
        ("Where is the key?", "P2 asked P1 where the key was"),
        ("Who has the key to the trap door?", "P2 asked P1 who had the key to the trap door"),
        ("Why is the cellar kept so dark?", "P2 asked P1 why the cellar was kept so dark"),
        ("Tell me who put out the lantern.", "P2 asked P1 who had put out the lantern"),
        ("Do you know how many casks were carried into the cellar?", "P2 asked P1 how many casks were carried into the cellar"),
        ("Will you help me to find my brother?", "P2 asked P1 whether P1 would help her to find her brother"),
        ("What are you hiding under the bar?", "P2 asked P1 what P1 was hiding under the bar"),
        ("Is it true that you owe him money?", "P2 asked P1 whether it was true that P1 owed him money"),
        ("What do you know about the boy at the pump?", "P2 asked P1 about the boy at the pump"),
        ("Don't you remember the night of the wreck?", "P2 asked P1 whether P1 did not remember the night of the wreck"),
        ("How long has your daughter been gone?", "P2 asked P1 how long P1's daughter had been gone"),
        ("The rope, the boy, the money?", "P2 asked P1 about the rope and the money"),
    ],
)
async def test_questions_are_told_as_reported_clauses(make_request: Callable[..., ModelRequest], asked: str, told: str) -> None:
    reply = await remembered(make_request, said("P2", "P1", asked))
    assert reply.chunks[0].content == f"{told}."


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("I owe the harbour master forty crowns.", "P2 owned to P1 that she owed the harbour master forty crowns"),
        ("You are hiding my letter.", "P2 accused P1 of hiding her letter"),
        ("You stole my letter!", "P2 accused P1 of stealing her letter"),
        ("I promise to bring you the money.", "P2 promised P1 to bring P1 the money"),
        ("Beware of the harbour master.", "P2 warned P1 against the harbour master"),
        ("The guards know your face, and the captain wants you dead.",
         "P2 told P1 that the guards knew P1's face, and the captain wanted P1 dead"),
        ("My husband isn't dead. He sails with the smugglers.",
         "P2 told P1 that her husband was not dead, and that he sailed with the smugglers"),
        ("I'll pay you twelve crowns for the key.", "P2 offered P1 twelve crowns for the key"),
        ("We buried our gold under the mill, you and I.", "P2 spoke to P1 of the mill"),
    ],
)  # fmt: skip
async def test_statements_are_told_in_the_third_person_and_the_past(
    make_request: Callable[..., ModelRequest], words: str, told: str
) -> None:
    reply = await remembered(make_request, said("P2", "P1", words))
    assert reply.chunks[0].content == f"{told}."


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("I must find out where he sleeps.", "P1 meant to find out where he slept"),
        ("She is lying about the key.", "P1 suspected that she was lying about the key"),
        ("Nobody who has ropes for sale ought to talk so much about hanging.",
         "P1 thought that nobody who had ropes for sale ought to talk so much about hanging"),
        ("New chalk on the hatch boards, and a house that buys its beer across the street.",
         "P1 thought of new chalk on the hatch boards, and a house that bought its beer across the street"),
        ("Does he know about the wick?", "P1 wondered whether he knew about the wick"),
    ],
)  # fmt: skip
async def test_thoughts_are_told_as_thoughts_and_weigh_little(make_request: Callable[..., ModelRequest], words: str, told: str) -> None:
    [chunk] = (await remembered(make_request, thought(words))).chunks
    assert chunk.content == f"{told}."
    assert chunk.importance <= 4
    assert not chunk.quotes


@pytest.mark.parametrize(
    ("people", "words", "told"),
    [
        ("P2: the fishwife", "Did you see my boy?", "P2 asked P1 whether P1 had seen her boy"),
        ("P2: Mr Crane", "Did you see my boy?", "P2 asked P1 whether P1 had seen his boy"),
        ("P2: the captain", "Did you see my boy?", "P2 asked P1 whether P1 had seen P2's boy"),
    ],
)
async def test_pronouns_follow_what_is_known_of_people(
    make_request: Callable[..., ModelRequest], people: str, words: str, told: str
) -> None:
    reply = await remembered(make_request, said("P2", "P1", words), people=people)
    assert reply.chunks[0].content == f"{told}."


async def test_a_prompt_without_entries_leaves_nothing(make_request: Callable[..., ModelRequest]) -> None:
    assert (await remembered(make_request)).chunks == []


async def test_the_owner_need_not_be_the_first_handle(make_request: Callable[..., ModelRequest]) -> None:
    request = make_request(
        "handoff", ("Whose memory", "P7: Orla Venn"), ("People", "P1: the pot boy"),
        ("Entries", 'M1 [said] about an hour ago, in Hold 3: aft deck: P1 spoke to P7: "You will hang for this, I swear it."'),
    )  # fmt: skip
    [chunk] = HandoffReply.model_validate_json((await Storyteller().complete(request)).text).chunks
    assert chunk.content == "P1 threatened P7: P7 would hang for this, he swore it."
    assert chunk.involvedEntityIds == ["P1"]
    assert chunk.retainInBuffer


def test_the_phrases_it_knows_again_are_phrases_that_are_said() -> None:
    named = [line.split(" :: ")[0].partition(".") for line in lines("remembering_bank")]
    assert [f"{file}.{heading}" for file, _, heading in named if not lists(file).get(heading)] == []
