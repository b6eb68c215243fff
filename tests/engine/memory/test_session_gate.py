"""Whether a session is worth a model call: small talk never is, what recurs is, and so is what a person wants kept."""

import random
from datetime import datetime

import pytest

from engine.llm.hashing import Hash768
from engine.llm.protocol import Embedder
from engine.memory.embedding import Vectors, embedded
from engine.memory.sessions.classify import kinds_of, present, telling
from engine.memory.sessions.gate import assess
from engine.records.sessions import CollapsePolicy, CollapseReason, GateReport, Turn

SMALL_TALK = """
Good evening.|Evening. Cold out there.|Cold as a stone. And you, are you well?|Well enough, thank you. My back aches.|It's the rain.
It has rained all week.|It will rain tomorrow too, I suppose.|Will you have an ale?|I will, thank you. The usual.|Here you are.
The soup smells good today.|It's fresh.|That is a fine soup.|Busy night?|Quiet, mostly. Same as ever.|Ah well. Quiet is good.
Good night. Sleep well.|Did you sleep well?|Badly. The wind kept me up.|That wind! I heard it too.|Lovely morning, though.
How are you keeping?|I can't complain.|Ha! True enough.|Your health.|And yours.|Have a seat by the fire.|Don't mind if I do.
See you tomorrow.|The bread is warm.|I do love warm bread.|You look tired.|I am tired.|Long day.|Long days, short nights.|Nice coat.
""".replace("\n", "|").strip("|").split("|")
MATTER = """
My name is Gareth. I own a boat, the Heron.|I am Mira. I keep the inn.|The Heron lies at the north quay.|What do you carry in the Heron?
Salt, from the pans at Orrin. The Duke buys it all.|The Duke buys your salt?|Every barrel. I serve the Duke, in a way.
They say the Duke is ill.|He is. His son keeps the salt money now.|Then his son owes you for the last boat of salt.|Forty crowns he owes me.
Let us ask him together at the fair.|Agreed, at the fair. I will bring the Heron's ledger.|When the son drinks, he pays. Wait until evening.
""".replace("\n", "|").strip("|").split("|")
ONCE = ["My name is Gareth.", "I am Mira.", "I own a boat.", "The smith has moved to Orrin.", "My brother hates cheese."]


def turns(lines: list[str], pinned: int | None = None) -> list[Turn]:
    now = datetime(1247, 3, 1, 18, 0)
    return [
        Turn(
            id=f"turn-{n}", session_id="ses-1", seq=n, role="actor" if n % 2 else "agent", speaker_id="en_a", content=line,
            pinned=n == pinned, timestamp=now, round=n,
        )
        for n, line in enumerate(lines)
    ]  # fmt: skip


async def gate(
    lines: list[str], *, reason: CollapseReason = "inactivity", known: list[Vectors] | None = None, pinned: int | None = None,
    embedder: Embedder | None = None, **policy: object,
) -> GateReport:  # fmt: skip
    return await assess(embedder or Hash768(), CollapsePolicy.model_validate(policy), turns(lines, pinned), known or [], reason)


@pytest.mark.parametrize("seed", range(20))
async def test_small_talk_asks_no_model_however_long(seed: int) -> None:
    chance = random.Random(seed)
    report = await gate([chance.choice(SMALL_TALK) for _ in range(chance.randint(4, 50))])
    assert not report.asked
    assert "small talk" in report.reason
    assert report.telling == 0


async def test_what_is_returned_to_asks() -> None:
    report = await gate(MATTER, reason="max_turns")
    assert report.asked
    assert report.recurrence >= report.threshold
    assert report.telling >= 8


async def test_what_is_touched_on_once_does_not_ask_unless_somebody_wants_it() -> None:
    report = await gate(ONCE)
    assert not report.asked
    assert "0.6" in report.reason
    assert (await gate(ONCE, reason="explicit")).asked
    assert (await gate(ONCE, pinned=2)).asked
    assert (await gate(ONCE, skip_llm_if_below_threshold=False)).asked


async def test_what_goes_on_with_what_is_known_asks() -> None:
    lines = [
        "The Heron was lost off Orrin.", "My brother married the smith's daughter.", "The miller hid forty crowns.",
        "Wolves killed a goat.",
    ]  # fmt: skip
    known = ["The Heron sails to Orrin.", "The smith's daughter wants my brother.", "The miller stole forty crowns.", "A goat was killed."]
    vectors = list(await embedded(Hash768(), known))
    assert (await gate(lines, known=vectors)).recurrence > (await gate(lines)).recurrence
    assert (await gate(lines, known=vectors)).asked


async def test_policies_hold() -> None:
    assert not (await gate(MATTER, require_pin=True)).asked
    assert (await gate(MATTER, require_pin=True, pinned=0)).asked
    assert not (await gate(MATTER[:2], min_turns=3)).asked
    assert not (await gate(MATTER, recurrence_threshold=1.0, max_turns=90)).asked or (await gate(MATTER)).recurrence == 1.0


async def test_one_thing_said_over_and_over_does_not_recur() -> None:
    assert (await gate(["I own a boat, the Heron."] * 12)).recurrence == 0.0


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Gareth owns a boat.", {"facts"}), ("My name is Gareth.", {"facts"}), ("This is Gareth. He serves the Duke.", {"facts"}),
        ("He fears water.", {"facts"}), ("The ship came in with forty barrels.", {"facts"}),
        ("The packet lands at the north pier.", {"facts"}), ("Rusk watered the lantern oil.", {"facts"}),
        ("Agreed: we sell the boat instead.", {"decisions"}), ("Ask Orla about the key.", {"nextSteps"}),
        ("Good evening.", set()), ("I am well, thank you.", set()), ("It rained all night.", set()), ("Did the ship come in?", set()),
    ],
)  # fmt: skip
def test_turns_of_phrase_carry_kinds_of_knowledge(text: str, kinds: set[str]) -> None:
    assert kinds_of(text) >= kinds
    assert bool(kinds_of(text)) == bool(kinds)


def test_what_a_session_may_hold_is_what_its_turns_may_hold() -> None:
    assert present(telling(turns(MATTER))) == {"facts", "decisions", "strategies", "nextSteps"}
    assert present(telling(turns(SMALL_TALK))) == frozenset()
