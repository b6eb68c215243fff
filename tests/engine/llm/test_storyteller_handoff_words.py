"""What an account must not lose: what was asked, said again, promised and seen; and who is who in it."""

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.llm.protocol import ModelRequest
from engine.llm.stems import STOP_WORDS, stem
from engine.llm.storyteller import Storyteller
from engine.llm.storyteller.actor.retelling import retold
from engine.llm.storyteller.handoff.wordforms import readings
from engine.llm.storyteller.phrases import lines, lists
from engine.records.wire import HandoffChunk, HandoffReply
from tests.engine.llm.test_storyteller_handoff_scenes import did, remembered, said, thought

Make = Callable[..., ModelRequest]
SKIFF = "Somebody under this roof knows who had a skiff out on the rocks that night."
_VAGUE = re.compile(r"\bsomething\b|words that had been|said before|what (?:P\d+|\w+) had said\.")


def whispered(who: str, to: str, words: str) -> str:
    """An entry of whispered speech."""
    return said(who, to, words).replace(" spoke to ", " whispered to ")


async def only(make_request: Make, *entries: str, people: str = "") -> HandoffChunk:
    """The one chunk of these entries."""
    [chunk] = (await remembered(make_request, *entries, **({"people": people} if people else {}))).chunks
    return chunk


@pytest.mark.parametrize(
    ("who", "to", "words", "told", "quotes"),
    [
        ("P3", "P2", f"'{SKIFF}' Those were your words. I have not repeated them. Yet.",
         "P3 let P2 know that she had been overheard asking who had a skiff out on the rocks that night", []),
        ("P1", "P2", "I have not forgotten what you told me. 'You will tell me what you did that night.'",
         "P1 reminded P2 that she had asked P1 what P1 did that night", []),
        ("P2", "P1", "You said something to me once. 'My husband sails with the smugglers.' I remember it.",
         "P2 reminded P1 that P1 had told her that P1's husband sailed with the smugglers", []),
        ("P2", "P1", "You should know what is being said. Joss was saying, 'I put out the lantern.'",
         "P2 told P1 that P3 had owned that he put out the lantern", ["I put out the lantern."]),
        ("P4", "P1", "I heard Pellam say a strange thing. 'I will kill him.'",
         "P4 told P1 that P3 had sworn to kill him", ["I will kill him."]),
        ("P2", "P1", "I have kept one thing you said. 'Hm, yes, perhaps.' I would like to know why you said it.",
         "P2 reminded P1 of words of P1's", ["Hm, yes, perhaps."]),
    ],
)  # fmt: skip
async def test_words_said_again_are_told(
    make_request: Make, who: str, to: str, words: str, told: str, quotes: list[str]
) -> None:
    chunk = await only(make_request, said(who, to, words))
    assert chunk.content == f"{told}."
    assert chunk.quotes == quotes


async def test_pressing_tells_what_is_asked_for(make_request: Make) -> None:
    asked = said("P1", "P2", "Who had a skiff out?")
    pressed = said("P1", "P2", "I have been patient with you. Answer me.")
    chunk = await only(make_request, asked, said("P2", "P1", "I could not put a name to it."), pressed, said("P2", "P1", "Prove it."))
    assert chunk.content == "P1 asked P2 who had a skiff out; she could name nobody. P1 pressed P2 for an answer; she denied it."


async def test_pressing_alone_tells_what_was_asked_before(make_request: Make) -> None:
    talk = [
        said("P1", "P2", "Who had a skiff out?"), said("P3", "P1", "Have you a room?"), did("P6 struck P1."),
        said("P1", "P2", "I have been patient with you. Answer me."),
        said("P2", "P1", "There is one thing I am sure of. My husband is dead."),
    ]  # fmt: skip
    told = " ".join(chunk.content for chunk in (await remembered(make_request, *talk)).chunks)
    assert "P1 asked P2 who had a skiff out and pressed her for an answer; she answered that her husband was dead." in told
    few = [talk[0].replace("a few hours ago", "about an hour ago"), *talk[3:]]
    assert "pressed" not in " ".join(chunk.content for chunk in (await remembered(make_request, *few)).chunks)


@pytest.mark.parametrize(
    "words", ["Say that again, with my name in it.", "Leave that alone, will you?", "That is my question too. Who will answer it?"]
)
async def test_what_says_nothing_gives_way_to_what_says_something(make_request: Make, words: str) -> None:
    chunk = await only(make_request, said("P3", "P1", words), said("P2", "P1", "Who has the key to the cellar?"))
    assert chunk.content == "P2 asked P1 who had the key to the cellar."
    assert chunk.sourceEntryIds == ["M2"]


async def test_a_reply_that_is_all_there_is_keeps_its_words(make_request: Make) -> None:
    chunk = await only(make_request, said("P2", "P1", "If I knew, I would be easier in my mind."))
    assert chunk.content == "P2 could not say."
    assert chunk.quotes == ["If I knew, I would be easier in my mind."]


@pytest.mark.parametrize(
    ("words", "told", "least"),
    [
        ("I saw the skiff myself.", "P1 told P2 that P1 saw the skiff", 6),
        ("I was in the loft that night.", "P1 told P2 that P1 was in the loft that night", 6),
        ("I know who had a skiff out.", "P1 told P2 of knowing who had a skiff out", 6),
        ("It was I who put out the lantern.", "P1 owned to P2 that P1 put out the lantern", 7),
        ("It was Joss who put out the lantern.", "P1 told P2 that it was Joss who put out the lantern", 6),
        ("Pellam put out the lantern.", "P1 told P2 that Pellam put out the lantern", 6),
        ("Do not tell anybody that I was there.", "P1 told P2 not to tell anybody that P1 was there", 6),
        ("Nobody must know about the letter.", "P1 told P2 that nobody must know about the letter", 6),
        ("I will pay you by dawn.", "P1 promised P2 to pay her by dawn", 6),
        ("I promise you that I will see it through.", "P1 promised P2 to see it through", 6),
    ],
)
async def test_admissions_charges_secrets_and_promises_weigh_and_keep_their_words(
    make_request: Make, words: str, told: str, least: int
) -> None:
    chunk = await only(make_request, said("P1", "P2", words))
    assert chunk.content == f"{told}."
    assert chunk.quotes == [words]
    assert least <= chunk.importance <= 8
    louder = await only(make_request, whispered("P1", "P2", words))
    assert louder.quotes == [words]
    assert chunk.importance <= louder.importance <= 8


async def test_a_whispered_question_weighs_more_than_a_loud_one(make_request: Make) -> None:
    loud, low = [await only(make_request, make("P2", "P1", "Do you know the way?")) for make in (said, whispered)]
    assert (loud.content, loud.quotes) == (low.content, [])
    assert low.quotes == ["Do you know the way?"]
    assert loud.importance < 6 <= low.importance


async def test_a_question_is_no_accusation(make_request: Make) -> None:
    chunk = await only(make_request, said("P2", "P1", "Who put out the lantern?"))
    assert chunk.content == "P2 asked P1 who had put out the lantern."


@pytest.mark.parametrize(
    ("deed", "weight"),
    [
        ("P1 pushed P5 deeper out of sight.", 1), ("P1 pushed P6 down the stairs.", 7), ("P1 struck P5 with a spoon.", 1),
        ("P1 struck P6 with a spoon.", 8), ("P1 gave P5 to P6.", 6), ("P1 took P5 from P6.", 6),
    ],
)  # fmt: skip
async def test_things_are_no_victims(make_request: Make, deed: str, weight: int) -> None:
    assert (await only(make_request, did(deed))).importance == weight


async def test_what_is_offered_is_a_thing(make_request: Make) -> None:
    chunk = await only(make_request, said("P2", "P1", "I will give you the letter by dawn."))
    assert chunk.content == "P2 offered P1 the letter by dawn."


@pytest.mark.parametrize(
    ("people", "told"),
    [
        ("P2: a boy of fourteen", "P1 asked P2 what he heard that night; he would not say"),
        ("P2: Tam Birrell", "P1 asked P2 what he heard that night; he would not say"),
        ("P2: the woman in the borrowed coat", "P1 asked P2 what she heard that night; she would not say"),
        ("P2: the scarred diver", "P1 asked P2 what P2 heard that night; P2 would not say"),
    ],
)
async def test_pronouns_only_where_somebody_is_known(make_request: Make, people: str, told: str) -> None:
    asked = said("P1", "P2", "You could tell me what you heard that night, I think. Could you not?")
    chunk = await only(make_request, asked, said("P2", "P1", "I answer to nobody for that."), people=people)
    assert chunk.content == f"{told}."


@pytest.mark.parametrize(
    ("asker", "told"),
    [
        ("P2", "P2 asked P8 who had a skiff out; P8 could name nobody"),
        ("P3", "P3 asked P8 who had a skiff out; she could name nobody"),
        ("P6", "P6 asked P8 who had a skiff out; P8 could name nobody"),
    ],
)
async def test_no_pronoun_that_two_could_be_meant_by(make_request: Make, asker: str, told: str) -> None:
    people = "P2: the woman in the borrowed coat\nP3: Joss Pellam\nP6: the scarred diver\nP8: Ines Calder"
    entries = said(asker, "P8", "Who had a skiff out?"), said("P8", asker, "I could not put a name to it.")
    assert (await only(make_request, *entries, people=people)).content == f"{told}."


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Ketil said that the tide was late.", "P2 told P1 that, according to Ketil, the tide was late"),
        ("Aldous said that Pellam said that the tide was late.", "P2 told P1 that, according to Pellam, the tide was late"),
        ("The old net mender said that the tide was late.", "P2 told P1 that, according to the old net mender, the tide was late"),
        ("The boy at the pump gave me the rope and said that he could swim.",
         "P2 told P1 that the boy at the pump gave her the rope and said that he could swim"),
        ("The Patient Margaret, brig, nine aboard. She struck the Teeth at midnight.",
         "P2 told P1 that the Patient Margaret struck the Teeth at midnight"),
        ("I went from the taproom to the cellar through the cellar hatch.", "P2 told P1 that she went from the taproom to the cellar"),
    ],
)  # fmt: skip
async def test_sentences_name_their_source_and_their_subject_once(make_request: Make, words: str, told: str) -> None:
    assert (await only(make_request, said("P2", "P1", words))).content == f"{told}."


async def test_the_same_demand_twice_is_told_once(make_request: Make) -> None:
    entries = [said("P2", "P1", words, mark="said, pinned") for words in ("Show me the letter, at least.", "Hand over the letter.")]
    chunk = await only(make_request, *entries)
    assert chunk.content == "P2 asked P1 for the letter."
    assert chunk.sourceEntryIds == ["M1", "M2"]


async def test_who_has_asked_is_not_told_to_wonder(make_request: Make) -> None:
    entries = said("P1", "P2", "Do you know who put out the lantern?"), thought("I wonder who put out the lantern.")
    assert (await only(make_request, *entries)).content == "P1 asked P2 who had put out the lantern."


async def test_small_talk_with_a_word_of_pardon_settles_nothing(make_request: Make) -> None:
    threats = [
        said("P3", "P1", "Bring me the letter by dawn, or I swear you will hang.", mark="said, pinned"),
        said("P3", "P1", "I could not help hearing that."), said("P3", "P1", "Forgive me. I was listening."),
    ]  # fmt: skip
    assert (await only(make_request, *threats)).retainInBuffer


async def test_nothing_is_a_source_twice(make_request: Make) -> None:
    entries = [
        said("P3", "P1", "Bring me the letter by dawn, or I swear you will hang.", mark="said, pinned"),
        said("P3", "P1", "I promise you that I will bring the money by midnight.", mark="said, pinned"),
        said("P3", "P1", "Forget what I said. I was drunk."),
    ]
    chunks = (await remembered(make_request, *entries)).chunks
    assert sorted(handle for chunk in chunks for handle in chunk.sourceEntryIds) == ["M1", "M2", "M3"]


QUOTES = st.sampled_from([
    SKIFF, "My husband sails with the smugglers.", "I will kill him.", "You will tell me what you did that night. I will not ask twice.",
    "Tell me why you were in the loft.", "Nobody must know about the letter.", "Hm, yes, perhaps.", "Beware of the harbour master.",
    "I owe him forty crowns.", "Not here.", "The Teeth, half a mile off.", "What is in the cellar?",
])  # fmt: skip
FRAMES = st.sampled_from(["overheard", "remind", "gossip"]).flatmap(lambda name: st.sampled_from(lists("pressing")[name]))
_TOLD = re.compile(r" (?:that,?|asking|saying|telling|warning|owning|swearing|threatening|claiming|ordering) ")
_GRAMMAR = STOP_WORDS | {"according", "overheard", "nobody", "somebody", "others", "would", "could", "whose"} | {
    "answered", "spoke", "said", "did",
}  # fmt: skip


def _roots(text: str) -> set[str]:
    """Words by their verbs' bases and their stems, so that `kept` meets `keep`."""
    found: set[str] = set()
    for word in re.findall(r"[a-z]+", text.casefold().replace("'s", "")):
        found |= {stem(word), *(stem(verb.base) for verb, _ in readings(word))}
    return found


def _telling_words() -> set[str]:
    """The closed list of words with which things are told."""
    files = ("remembering_bank", "remembering_speech", "remembering_thoughts", "remembering_anew")
    tellings = " ".join(line.split(" :: ")[-1] for file in files for line in lines(file))
    return _roots(re.sub(r"\{\w+\}", " ", tellings)) | _roots("threatened ordered learn gave until tried words")


TELLING = _telling_words()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FRAMES, QUOTES, st.sampled_from(["P2", "P3", "P6"])), min_size=1, max_size=4), st.integers(0, 5))
async def test_words_said_again_lose_nothing_and_gain_nothing(
    make_request: Make, talk: list[tuple[str, str, str]], attempt: int
) -> None:
    entries = []
    for number, (frame, quote, who) in enumerate(talk, 1):
        words = frame.replace("{Person}", "Pellam").replace("{person}", "Pellam").replace("{quote}", quote)
        entries.append(f"M{number} {said(who, 'P1', words)}")
    people = "P2: Ines Calder\nP3: Joss Pellam\nP6: the scarred diver"
    request = make_request("handoff", ("Whose memory", "P1: Orla Venn"), ("People", people), ("Entries", "\n".join(entries)))
    request = request.model_copy(update={"attempt": attempt})
    reply = HandoffReply.model_validate_json((await Storyteller().complete(request)).text)
    known = _roots("\n".join(entries)) | _roots(people) | TELLING
    for chunk in reply.chunks:
        assert not _VAGUE.search(chunk.content)
        assert chunk.quotes or _TOLD.search(chunk.content)
        for word in re.findall(r"[a-z]+", re.sub(r"P\d+", " ", chunk.content.replace("'s", "")).casefold()):
            assert word in _GRAMMAR or _roots(word) & known


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        ("You asked Orla Venn who had put out the lantern; she answered that the lantern in the gable burned.",
         ["Orla Venn said that the lantern in the gable burned."]),
        ("You asked Ketil what was in the cellar; he answered that, according to Pellam, the culvert could be crawled.",
         ["Pellam said that the culvert could be crawled."]),
        ("Sabeth told you that, according to Pellam, the culvert could be crawled.", ["Pellam said that the culvert could be crawled."]),
        ("Sabeth pressed you for an answer, and still wanted to know what was in the cellar.", []),
        ("You turned half away from Ketil, and mistrusted Ketil.", []),
        ("You went from the taproom to the cellar.", []),
    ],
)  # fmt: skip
def test_memories_are_told_on_from_their_source(memory: str, told: list[str]) -> None:
    assert retold(memory) == told
