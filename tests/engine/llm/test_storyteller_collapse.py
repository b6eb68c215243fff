"""Sessions as the storyteller sums them up: what was settled, what works, what is to be done, what it was about, how it ended."""

import pytest

from engine.records.sessions import CollapsePolicy
from engine.records.wire import CollapsedDecision
from tests.engine.llm.talks import NOW, row, summed_up


def decided(*lines: str) -> list[str]:
    return [one.content for one in summed_up(*lines).decisions]


@pytest.mark.parametrize(("lines", "decision"), [
    (["P2: Let us meet at dawn."], "P1 and P2 will meet at dawn."),
    (["P2: We shall not sell the mill."], "P1 and P2 will not sell the mill."),
    (["P2: I will sail on Tuesday."], "P2 will sail on Tuesday."),
    (["P2: I've decided to leave Wick."], "P2 will leave Wick."),
    (["P2: I'll never serve the Duke again."], "P2 will not serve the Duke again."),
    (["P2: Then we meet at noon."], "P1 and P2 will meet at noon."),
    (["P2: Shall we split the gold?", "P1: Agreed."], "P1 and P2 will split the gold."),
    (["P2: It's settled: we leave at midnight."], "P1 and P2 will leave at midnight."),
    (["P2: Will you sell the mill?", "P1: Yes."], "P1 will sell the mill."),
    (["P1: I'll hide you in the cellar until Monday."], "P1 will hide P2 in the cellar until Monday."),
])  # fmt: skip
def test_what_is_settled_is_a_decision_and_no_fact(lines: list[str], decision: str) -> None:
    reply = summed_up(*lines)
    assert [one.content for one in reply.decisions] == [decision]
    assert reply.facts == []
    assert reply.decisions[0].topicKey


@pytest.mark.parametrize("lines", [
    ["P2: I'll have an ale."], ["P2: We'll see."], ["P2: I will think about it."], ["P2: Let us hope so."],
    ["P2: Shall we split the gold?"], ["P2: Shall we split the gold?", "P1: No."], ["P2: Let us meet at dawn.", "P1: No, I can't."],
    ["P2: I'm going to the market."],
    ["P2: I would sell the boat."],
])  # fmt: skip
def test_what_is_not_settled_is_none(lines: list[str]) -> None:
    assert decided(*lines) == []


def test_a_decision_has_its_reason() -> None:
    [one] = summed_up("P2: Let us meet at dawn, because the guards sleep then.").decisions
    assert (one.content, one.rationale) == ("P1 and P2 will meet at dawn.", "The guards sleep then.")
    [one] = summed_up("P2: I have decided to leave Wick.", "P1: Why?", "P2: Because the Duke wants my head.").decisions
    assert (one.content, one.rationale) == ("P2 will leave Wick.", "The Duke wants P2's head.")


def test_a_later_decision_stands_in_the_place_of_an_earlier_one_and_says_so() -> None:
    found = summed_up("P2: Let us meet at dawn.", "P1: No, at noon instead.", "P2: Agreed.").decisions
    assert [one.content for one in found] == ["P1 and P2 will meet at dawn.", "P1 and P2 will meet at noon instead."]
    assert found[0].topicKey == found[1].topicKey == "meet"
    assert found[1].sourceTurnIds == ["M1", "M2"]
    assert decided("P2: I'll sell the boat.", "P2: I've changed my mind. I won't sell the boat.") == [
        "P2 will sell the boat.", "P2 will not sell the boat after all.",
    ]  # fmt: skip
    assert decided("P2: Let's leave at midnight.", "P1: No, I can't leave tonight.", "P2: Tomorrow then.") == [
        "P1 and P2 will leave the next day instead."
    ]
    assert decided("P2: Let us meet at dawn.", "P1: Let us buy the mill.") == [
        "P1 and P2 will meet at dawn.", "P1 and P2 will buy the mill.",
    ]  # fmt: skip


def test_a_decision_names_what_it_replaces_of_what_was_known() -> None:
    dusk = row(2, "{{e:en_bryn}} and {{e:en_stranger}} will meet at dusk.", "tryst", "decision")
    known = [row(1, "{{e:en_stranger}} has a skiff.", "boat"), dusk]
    found = summed_up("P2: Let us meet at dawn.", "P2: We shall buy the mill.", known=known).decisions
    assert [(one.content, one.supersedes, one.topicKey) for one in found] == [
        ("P1 and P2 will meet at dawn instead.", "K2", "tryst"), ("P1 and P2 will buy the mill.", "", "plan_mill"),
    ]  # fmt: skip
    again: list[CollapsedDecision] = summed_up("P2: Let us meet at dusk.", known=known).decisions
    assert [(one.supersedes, one.topicKey) for one in again] == [("", "tryst")]


@pytest.mark.parametrize(("said", "trigger", "action"), [
    ("When the tide is out, take the low path.", "the tide is out", "take the low path"),
    ("You should knock twice if the door is barred.", "the door is barred", "knock twice"),
    ("To cross the bar, keep the church tower behind you.", "one wants to cross the bar", "keep the church tower behind one"),
    ("If you want to cross the bar, keep the church tower behind you.", "one wants to cross the bar", "keep the church tower behind one"),
    ("Asking him twice never works when Gareth is drunk.", "Gareth is drunk", "asking him twice never works"),
    ("Never trust the harbour master.", "always", "never trust the harbour master"),
    ("Whenever the bell rings, you must hide.", "the bell rings", ""),
])  # fmt: skip
def test_what_works_in_what_case_is_a_strategy(said: str, trigger: str, action: str) -> None:
    reply = summed_up(f"P2: {said}")
    if not action or "him" in action:
        assert reply.strategies == [], "too little to do it by, or nobody knows to whom"
        return
    assert [(one.trigger, one.action, one.sourceTurnIds) for one in reply.strategies] == [(trigger, action, ["M1"])]
    assert reply.facts == []


def test_a_thing_to_do_once_is_no_strategy() -> None:
    assert summed_up("P2: If you see Orla, tell her I am here.").strategies == []
    assert summed_up("P2: When I come back, open the door.").strategies == []


@pytest.mark.parametrize(("lines", "steps"), [
    (["P2: I'll bring the key tomorrow."], ["P2 will bring P5 the next day."]),
    (["P1: I'll ask Orla about the ledger."], ["P1 will ask P4 about the ledger."]),
    (["P1: Who put out the lantern?", "P2: Ask Orla about it."], ["P1 is to ask P4 about the lantern."]),
    (["P2: Bring me the ledger by dawn."], ["P1 is to bring P2 the ledger by dawn."]),
    (["P2: You should talk to Gareth."], ["P1 is to talk to P3."]),
    (["P2: Then find it by Friday, or I'll tell the Duke."], []),
    (["P2: Find the letter by Friday, or I'll tell the Duke."], ["P1 is to find the letter by Friday."]),
    (["P2: We must find the miller."], ["P1 and P2 will find the miller."]),
    (["P2: Bring me the ledger.", "P1: No. Fetch it yourself."], ["P2 is to fetch the ledger."]),
    (["P2: Tell me the truth.", "P2: Sit down.", "P2: Give me a moment.", "P2: Look at me.", "P2: I'll see."], []),
    (["P2: Bring me the ledger.", "note: {{e:en_bryn}} gave {{e:en_stranger}} the ledger"], []),
    (["P2: I have to find my brother."], []),
    (["P1: I have to find my brother."], ["P1 will find P1's brother."]),
])  # fmt: skip
def test_what_is_to_be_done_next(lines: list[str], steps: list[str]) -> None:
    assert summed_up(*lines).nextSteps == steps


def test_what_somebody_has_found_out_is_a_discovery() -> None:
    reply = summed_up("P2: I found a letter under the boards.", "P2: It turns out that Gareth killed the miller.", "P2: I own a boat.")
    assert reply.discoveries == ["P2 found a letter under the boards.", "P3 killed the miller."]
    assert [fact.content for fact in reply.facts] == ["P2 found a letter under the boards.", "P3 killed the miller.", "P2 owns a boat."]


@pytest.mark.parametrize(("lines", "outcome"), [
    (["P1: Who has the key?", "P2: Orla has it."], "resolved"),
    (["P2: Shall we split the gold?", "P1: Agreed."], "resolved"),
    (["P1: Who put out the lantern?", "P2: I don't know.", "P1: Forget it."], "abandoned"),
    (["P1: Who put out the lantern?", "P2: I cannot say."], "abandoned"),
    (["P1: Could you ask Orla about the ledger?", "P2: No. Ask her yourself.", "P1: Never mind."], "abandoned"),
    (["P1: Who put out the lantern?", "P2: I don't know. Ask Orla about it."], "delegated"),
    (["P1: Who put out the lantern?", "P2: I don't know.", "P1: Who has the key?", "P2: Gareth has it."], "partial"),
    (["P2: I own a boat."], "partial"),
])  # fmt: skip
def test_how_it_ended(lines: list[str], outcome: str) -> None:
    assert summed_up(*lines).outcome == outcome


def test_what_it_was_about() -> None:
    assert summed_up("P2: Hello.", "P1: Who killed the miller?", "P2: Gareth.").goal == "P1 wanted to know who had killed the miller."
    assert summed_up("P2: Have you a room for the night?").goal == "P2 wanted to know whether P1 had a room for the night."
    assert summed_up("P2: Bring me the ledger.").goal == "P2 wanted P1 to bring P2 the ledger."
    assert summed_up("P2: Gareth owns a boat.").goal == "P1 and P2 spoke of P3 and the boat."
    assert summed_up("P2: Good evening.", "P1: Good evening.").goal == "P1 and P2 passed the time."


def test_small_talk_leaves_nothing() -> None:
    reply = summed_up(
        "P1: Good evening.", "P2: Good evening to you. It's cold.", "P1: Have an ale.", "P2: Thank you. I'm tired, it was a long road.",
        "P1: The broth is hot.", "P2: You are kind.",
    )  # fmt: skip
    assert (reply.facts, reply.decisions, reply.strategies, reply.discoveries, reply.nextSteps) == ([], [], [], [], [])
    assert reply.relevantEntities == ["P2"]


def test_who_mattered_is_named_most_often_first() -> None:
    reply = summed_up("P2: Gareth owns a boat.", "P2: Gareth serves the Duke.", "P2: Gareth fears water.", "P2: Orla owns the mill.")
    assert reply.relevantEntities == ["P3", "P4", "P2"]


def test_only_what_is_wanted_is_told() -> None:
    lines = (
        "P2: I own a boat.", "P2: Let us meet at dawn.", "P2: When the tide is out, take the low path.", "P2: I'll bring the key tomorrow.",
    )  # fmt: skip
    everything = summed_up(*lines)
    assert everything.facts
    assert everything.decisions
    assert everything.strategies
    assert everything.nextSteps
    reply = summed_up(*lines, policy=CollapsePolicy(extract_facts=False, extract_tasks=False))
    assert (reply.facts, reply.nextSteps) == ([], [])
    assert (reply.decisions, reply.strategies, reply.goal) == (everything.decisions, everything.strategies, everything.goal)
    nothing = CollapsePolicy(extract_facts=False, extract_tasks=False, extract_decisions=False, extract_strategies=False)
    assert summed_up(*lines, policy=nothing).decisions == []


def test_of_many_facts_the_weightiest_stay_in_order() -> None:
    nouns = ("boat", "mill", "horse", "goat", "map", "well", "barn", "cart", "coat", "mule", "drum", "net", "saw", "field", "vat")
    lines = [f"P2: I own a {noun}." for noun in nouns]
    reply = summed_up("P2: Gareth killed the miller.", *lines)
    assert len(reply.facts) == 12
    assert reply.facts[0].content == "P3 killed the miller."
    order = [int(fact.sourceTurnIds[0][1:]) for fact in reply.facts]
    assert order == sorted(order)


def test_a_long_evening() -> None:
    """Fifty turns of a scripted conversation, with small talk between."""
    idle = ["P1: Another ale?", "P2: Thank you.", "P1: It's cold tonight.", "P2: You are kind.", "P1: Good.", "P2: I see."]
    reply = summed_up(
        "P2: I own a boat.", *idle, "P2: I have a small boat, as I said.", *idle,
        "P2: Let us meet at dawn because the guards sleep.", *idle, "P1: No, at noon instead.", "P2: Agreed.", *idle,
        "P2: This is Gareth. He serves the Duke.", *idle, "P2: I sold the boat.", *idle,
        "P2: I'll bring the key tomorrow.", *idle,
        known=[row(1, "{{e:en_stranger}} fears water.", "fear_water", hours=30, until=NOW)],
    )  # fmt: skip
    assert [(fact.content, fact.topicKey, fact.sourceTurnIds) for fact in reply.facts] == [
        ("P2 has a small boat, as P2 said.", "boat", ["M1", "M8"]), ("P3 serves the Duke.", "service", ["M30"]),
        ("P2 sold the boat.", "boat", ["M37"]),
    ]  # fmt: skip
    assert [one.content for one in reply.decisions] == ["P1 and P2 will meet at dawn.", "P1 and P2 will meet at noon instead."]
    assert reply.nextSteps == ["P2 will bring P5 the next day."]
