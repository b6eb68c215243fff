"""Statements held against what is known, as the engine asks for it: what contradicts, what agrees, what has nothing to do with it."""

import re
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.prompts.validating import build
from engine.records.prompts import Prompt
from engine.records.wire import ValidateReply
from tests.engine.llm.talks import NOW, WORLD, row, told

_TOKENS = {"P1": "en_bryn", "P2": "en_stranger", "P3": "en_gareth"}


def stored(text: str) -> str:
    return re.sub(r"P[123]", lambda match: f"{{{{e:{_TOKENS[match[0]]}}}}}", text)


def prompt_of(statement: str, *known: str, ended: bool = False, until: datetime | None = None) -> Prompt:
    others = [row(number, stored(text), until=NOW - timedelta(hours=1) if ended else None) for number, text in enumerate(known, 1)]
    return build(WORLD, row(50, f"{stored(statement)}", hours=0, until=until), others, NOW)[0]


def weighed(statement: str, *known: str, ended: bool = False, until: datetime | None = None) -> ValidateReply:
    return ValidateReply.model_validate_json(told(prompt_of(statement, *known, ended=ended, until=until)))


CONTRADICTED = [
    ("P2 owns a boat.", "P2 sold the boat."), ("P2 owns a boat.", "P2 lost the boat in a storm."),
    ("P2 has a boat.", "P2 gave the boat to P3."),
    ("P2 owns a boat.", "P2 does not own a boat."), ("P2 has no boat.", "P2 owns a boat."),
    ("P2 owns a boat.", "P2 no longer owns a boat."),
    ("P2 owns a boat.", "P2 used to own a boat."), ("P2 owns a boat.", "P2 sold the boat and bought a house."),
    ("P2 serves the Duke.", "P2 no longer serves the Duke."),
    ("P2 serves the Duke.", "P2 serves the Queen."), ("P2 lives in Wick.", "P2 lives in Bree."),
    ("P2 is called Gareth.", "P2's name is Tom."),
    ("P2 is thirty years old.", "P2 is forty years old."), ("P2 has two daughters.", "P2 has three daughters."),
    ("P2 owes P1 ten crowns.", "P2 owes P1 twenty crowns."),
    ("The ship sails at noon.", "The ship sails at dawn."), ("P1 and P2 will meet at dawn.", "P1 and P2 will meet at noon instead."),
    ("The door is open.", "The door is locked."), ("P2 is rich.", "P2 is poor."), ("P2 is alive.", "P2 is dead."),
    ("P2 likes fish.", "P2 hates fish."),
    ("P2 trusts P3.", "P2 does not trust P3."), ("The key is under the mat.", "The key is in the jar."),
    ("P2 lives in Wick.", "P2 drowned last winter."),
    ("P2 is married to P3.", "P2 is unmarried."), ("P2 is a smith.", "P2 is now a baker."), ("P2 can swim.", "P2 cannot swim."),
    ("P2 killed the miller.", "P2 did not kill the miller."), ("P2's sister is called Orla.", "P2's sister is called Mira."),
    ("P3 gave the key to P2.", "P3 has the key."),
]  # fmt: skip
SUPPORTED = [
    ("P2 owns a boat.", "P2 has a boat."), ("P2 owns a boat.", "P2 possesses a small skiff."),
    ("P2 serves the Duke.", "P2 works for the Duke."),
    ("P2 fears water.", "P2 is afraid of water."), ("The boat belongs to P2.", "P2 owns the boat."),
    ("P2 lives in Wick.", "P2 lives at the mill in Wick."),
    ("P2's name is Gareth.", "P2 is called Gareth."), ("P2 gave the key to P3.", "P3 has the key."),
    ("P2 sold the boat.", "P2 no longer owns the boat."),
    ("The arch is shut.", "The arch is shut."),
]  # fmt: skip
UNRELATED = [
    ("P2 owns a boat.", "P2 fears water."), ("P2 owns a boat.", "P2 owns a house."), ("P2 owns a boat.", "P3 sold the boat."),
    ("P2 owns a red boat.", "P2 sold the blue boat."), ("P2 owns a boat.", "P2 will sell the boat."),
    ("P2 owns a boat.", "P2 wants to sell the boat."),
    ("P2 has a sister.", "P2 has a brother."), ("P2 is a smith.", "P2 is a father."), ("P2 is a smith.", "P2 is a baker."),
    ("P2 knows P3.", "P2 knows P1."),
    ("P2 killed the miller.", "P3 killed the miller."), ("P2 owned a boat.", "P2 has no boat."),
    ("P2 lived in Wick.", "P2 lives in Bree."),
    ("P2 saw P3 at the quay on Monday.", "P2 saw P3 at the mill on Tuesday."), ("P2 likes fish.", "P2 dislikes milk."),
    ("It rains.", "P2 owns a boat."),
]  # fmt: skip


@pytest.mark.parametrize(("known", "statement"), CONTRADICTED)
def test_what_cannot_stand_beside_it(known: str, statement: str) -> None:
    reply = weighed(statement, known)
    assert (reply.verdict, reply.against) == ("contradicted", ["K1"])
    assert "K1" in reply.reason
    assert reply.confidence >= 0.7, "sure enough to decide"


@pytest.mark.parametrize(("known", "statement"), SUPPORTED)
def test_what_says_the_same(known: str, statement: str) -> None:
    reply = weighed(statement, known)
    assert (reply.verdict, reply.against) == ("supported", ["K1"])


@pytest.mark.parametrize(("known", "statement"), UNRELATED)
def test_what_can_both_hold(known: str, statement: str) -> None:
    reply = weighed(statement, known)
    assert (reply.verdict, reply.against) == ("unrelated", [])


@pytest.mark.parametrize(("known", "statement"), [*CONTRADICTED, *UNRELATED])
def test_it_is_the_same_from_either_side(known: str, statement: str) -> None:
    assert weighed(statement, known).verdict == weighed(known, statement).verdict


def test_one_contradiction_outweighs_what_agrees() -> None:
    reply = weighed("P2 sold the boat.", "P2 fears water.", "P2 owns a boat.", "P2 sold the boat to P3.")
    assert (reply.verdict, reply.against) == ("contradicted", ["K2"])
    many = weighed("P2 has no boat.", *("P2 owns a boat.", "P2 has a boat.", "P2 has a skiff.", "P2 has a small boat.", "P2 keeps a boat."))
    assert many.verdict == "contradicted"
    assert len(many.against) == 4


def test_what_has_ended_contradicts_nothing() -> None:
    assert weighed("P2 sold the boat.", "P2 owns a boat.", ended=True).verdict == "unrelated"
    assert weighed("P2 owns a boat.", "P2 sold the boat.", until=NOW).verdict == "unrelated"


def test_a_reason_in_brackets_is_no_part_of_a_statement() -> None:
    known = row(1, stored("P1 and P2 will meet at dawn.")).model_copy(update={"rationale": "The guards sleep.", "kind": "decision"})
    new = row(2, stored("P1 and P2 will meet at dawn."), kind="decision").model_copy(update={"rationale": "It is safer."})
    assert ValidateReply.model_validate_json(told(build(WORLD, new, [known], NOW)[0])).verdict == "supported"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_is_stated_the_reply_stands_up(data: st.DataObject) -> None:
    texts = sorted({text for pair in (*CONTRADICTED, *SUPPORTED, *UNRELATED) for text in pair})
    anything = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=60).filter(lambda text: bool(text.strip()))
    words = st.sampled_from(sorted({word for text in texts for word in text.split()}))
    statement = st.one_of(st.sampled_from(texts), anything, st.lists(words, min_size=1, max_size=12).map(" ".join))
    known = data.draw(st.lists(statement, min_size=1, max_size=6))
    prompt = prompt_of(data.draw(statement), *known)
    reply = ValidateReply.model_validate_json(told(prompt))
    assert set(reply.against) <= {f"K{number}" for number in range(1, len(known) + 1)}
    assert bool(reply.against) == (reply.verdict != "unrelated")
    assert 0 < len(reply.reason) <= 160
    assert reply.reason not in prompt.messages[0].content
    assert next(iter(type(reply).model_fields)) == "reason"
    assert told(prompt) == told(prompt)
