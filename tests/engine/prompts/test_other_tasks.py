"""Prompts of the tasks alias, collapse, validate and narrate, and their replies through the one way that replies are read."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BadOutputError
from engine.llm.protocol import ModelRequest
from engine.llm.scripted import Scripted
from engine.llm.structured import ask
from engine.llm.tokens import estimate_tokens
from engine.mind.handles import Handles
from engine.prompts import alias, collapse, narrating, validating
from engine.prompts.closing import collapse_reply, validate_reply
from engine.records.knowledge import Knowledge
from engine.records.limits import fullest, room
from engine.records.memory import BufferEntry
from engine.records.prompts import Prompt, split_sections
from engine.records.sessions import CollapsePolicy, Session, Turn
from engine.records.wire import AliasReply, CollapseReply, ValidateReply
from engine.records.world import World
from tests.engine.prompts.conftest import NOW


def session(**changed: Any) -> Session:
    values: dict[str, Any] = {
        "id": "ses-000001", "agent_id": "ada_1", "actor_id": "bo_1", "started": NOW, "started_round": 1, "last_turn_at": NOW,
        "policy": CollapsePolicy(), "scratch": {"hypothesis": "{{e:bo_1}} has the key"},
    }  # fmt: skip
    return Session(**(values | changed))


def turn(number: int, content: str, role: str = "actor", **more: Any) -> Turn:
    speaker = {"agent": "ada_1", "actor": "bo_1", "note": None}[role]
    return Turn.model_validate({
        "id": f"turn-{number:06}", "session_id": "ses-000001", "seq": number, "role": role, "speaker_id": speaker, "content": content,
        "timestamp": NOW - timedelta(minutes=20 - number), "round": 1, **more,
    })  # fmt: skip


def known(number: int, content: str, **more: Any) -> Knowledge:
    values: dict[str, Any] = {
        "id": f"kno-{number:06}", "seq": number, "owner_id": "ada_1", "kind": "fact", "content": content, "topic_key": "bo_money",
        "scope_id": "ada_1", "confidence": 0.8, "valid_from": NOW - timedelta(hours=4), "created": NOW, "created_round": 1, "updated": NOW,
        "updated_round": 1,
    }  # fmt: skip
    return Knowledge(**(values | more))


TURNS = [
    turn(1, "You owe me forty crowns.", "agent"),
    turn(2, "I pay you on Sunday, by the arch.", pinned=True, hint="he promised"),
    turn(3, "{{e:bo_1}} looked at {{e:th_key}}", "note"),
]
FACTS = [
    known(1, "{{e:bo_1}} owes {{e:ada_1}} money.", subject_id="bo_1"), known(2, "The arch is shut.", kind="strategy", topic_key=""),
]  # fmt: skip


def asked(prompt: Prompt, **more: Any) -> ModelRequest:
    return ModelRequest(
        task=prompt.task, entity=prompt.entity, round=1, seed=1, template=prompt.template, messages=prompt.messages, **more,
    )  # fmt: skip


def test_a_collapse_prompt_as_it_is_sent(room: World) -> None:
    prompt, handles = collapse.build(room, session(), TURNS, FACTS, NOW)
    assert (prompt.task, prompt.entity, prompt.template) == ("collapse", "ada_1", "collapse.1")
    assert prompt.messages[-1].content == (
        "=== WHOSE MEMORY ===\nP1: Ada Finch\n\n=== PEOPLE ===\nP2: the old porter\nP3: the brass key\n\n"
        "=== SESSION ===\nP1 dealt with P2.\n\n=== NOTES ===\nhypothesis: P2 has the key\n\n"
        "=== KNOWN BEFORE ===\nK1 [fact, bo_money] P2 owes P1 money.\nK2 [strategy, -] The arch is shut.\n\n"
        '=== TURNS ===\nM1 [said] several minutes ago: P1: "You owe me forty crowns."\n'
        'M2 [said, pinned] several minutes ago: P2: "I pay you on Sunday, by the arch." (Note: he promised)\n'
        "M3 [note] several minutes ago: P2 looked at P3\n\n"
        "=== WANTED ===\ndecisions, facts, nextSteps, strategies"
    )
    assert [handles.id(each) for each in ("P2", "P3", "M2", "K1")] == ["bo_1", "th_key", "turn-000002", "kno-000001"]
    assert prompt.report.reserved == collapse.reply_tokens(0)


async def test_a_collapse_through_the_reading_of_replies(room: World) -> None:
    prompt, handles = collapse.build(room, session(), TURNS, FACTS, NOW, context_window=8192)
    closed = collapse_reply(handles, collapse.extracted(CollapsePolicy()), estimate_tokens, prompt.report.reserved)
    reply = {
        "outcome": "partial", "relevantEntities": ["P2"], "goal": "P1 wanted the money back.",
        "facts": [{
            "sourceTurnIds": ["M2"], "about": "P2", "topicKey": "bo_money", "confidence": 0.7, "importance": 6, "sensitive": False,
            "content": "P2 means to pay P1 on Sunday.",
        }],
        "decisions": [{"supersedes": "K1", "content": "P1 waits until Sunday.", "rationale": "P2 promised."}],
        "strategies": [{"trigger": "when P2 is pressed", "action": "name a day", "context": "before others"}],
        "nextSteps": ["meet P2 by the arch"],
    }  # fmt: skip
    model = Scripted(["Here it is: ```json\n" + json.dumps(reply) + "\n```"])
    found, _ = await ask(model, asked(prompt, choices=closed.choices, max_tokens=closed.max_tokens), closed.shape)
    assert isinstance(found, CollapseReply)
    assert (found.outcome, found.goal, found.discoveries) == ("partial", "P1 wanted the money back.", [])
    assert (found.facts[0].about, found.facts[0].topicKey, found.facts[0].confidence) == ("P2", "bo_money", 0.7)
    assert (found.decisions[0].supersedes, found.decisions[0].topicKey) == ("K1", "")
    assert model.requests[0].choices == {
        "sourceTurnIds": ("M1", "M2", "M3"), "relevantEntities": ("P1", "P2", "P3"), "about": ("", "P1", "P2", "P3"),
        "supersedes": ("", "K1", "K2"),
    }  # fmt: skip


async def test_a_collapse_without_an_outcome_of_the_four_is_refused(room: World) -> None:
    prompt, _ = collapse.build(room, session(), TURNS, [], NOW)
    bad = json.dumps({"outcome": "fine", "goal": "x"})
    with pytest.raises(BadOutputError) as caught:
        await ask(Scripted([bad, bad]), asked(prompt), CollapseReply)
    assert caught.value.reply == bad


def test_a_policy_says_what_is_taken(room: World) -> None:
    policy = CollapsePolicy(extract_facts=False, extract_tasks=False)
    prompt, handles = collapse.build(room, session(policy=policy), TURNS, [], NOW)
    assert split_sections(prompt.text)["WANTED"] == "decisions, strategies"
    closed = collapse_reply(handles, collapse.extracted(policy), estimate_tokens, prompt.report.reserved)
    longest = json.loads(fullest(closed.shape, closed.choices))
    assert (longest["facts"], longest["nextSteps"]) == ([], [])
    assert longest["decisions"]
    assert longest["discoveries"]
    nothing = CollapsePolicy(extract_facts=False, extract_tasks=False, extract_decisions=False, extract_strategies=False)
    assert split_sections(collapse.build(room, session(policy=nothing), TURNS, [], NOW)[0].text)["WANTED"] == "goal and outcome only"


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 20), st.sampled_from([0, 1024, 2048, 4096, 8192, 128_000]))
def test_the_longest_collapse_fits_its_room(turns: int, people: int, facts: int, window: int) -> None:
    handles = Handles()
    for kind, count in (("M", turns), ("P", people), ("K", facts)):
        for number in range(count):
            handles.of(f"{kind}-{number}", kind)  # type: ignore[arg-type]
    tokens = collapse.reply_tokens(window)
    closed = collapse_reply(handles, {"facts", "decisions", "strategies", "nextSteps"}, estimate_tokens, tokens)
    assert room(closed.shape, closed.choices, estimate_tokens) <= closed.max_tokens == tokens
    assert len(json.loads(fullest(closed.shape, closed.choices))["facts"]) >= (2 if tokens == 1365 else 1)


async def test_a_statement_is_held_against_others(room: World) -> None:
    statement = known(3, "{{e:bo_1}} has paid {{e:ada_1}}.", subject_id="bo_1", valid_from=NOW, rationale="{{e:bo_1}} said so.")
    prompt, handles = validating.build(room, statement, [FACTS[0], known(4, "It rains.", valid_to=NOW)], NOW)
    assert (prompt.task, prompt.entity, prompt.template) == ("validate", "ada_1", "validate.1")
    sections = split_sections(prompt.messages[-1].content)
    assert sections["KNOWN"].splitlines() == [
        "K1 [fact] since a few hours ago: P2 owes P1 money.", "K2 [fact] since a few hours ago, until just now: It rains.",
    ]  # fmt: skip
    assert sections["STATEMENT"] == "[fact] since just now: P2 has paid P1. (P2 said so.)"
    closed = validate_reply(handles, estimate_tokens, prompt.report.reserved)
    assert closed.choices == {"against": ("K1", "K2")}
    assert room_of(closed.shape, closed.choices) <= closed.max_tokens == prompt.report.reserved
    model = Scripted(['{"reason": "A debt that is paid is none.", "against": ["K1"], "verdict": "contradicted"}'])
    found, _ = await ask(model, asked(prompt, choices=closed.choices), closed.shape)
    assert isinstance(found, ValidateReply)
    assert (found.verdict, [handles.id(each) for each in found.against], found.confidence) == ("contradicted", ["kno-000001"], 0.5)


def room_of(shape: Any, choices: Any) -> int:
    return room(shape, choices, estimate_tokens)


async def test_a_label_is_asked_for_by_what_can_be_seen(room: World) -> None:
    prompt = alias.build(room, "ada_1", "bo_1")
    assert (prompt.task, prompt.entity, prompt.template) == ("alias", "ada_1", "alias.1")
    assert split_sections(prompt.messages[-1].content) == {
        "": "", "LOOKS": "kind: a person\nappearance: An old porter with a limp.", "OTHERS": "the brass key",
    }  # fmt: skip
    for hidden in ("Bo Reed", "left knee", "fears the dark", "bo_1"):
        assert hidden not in prompt.text
    found, _ = await ask(Scripted(['{"label": "the limping porter"}']), asked(prompt, max_tokens=prompt.report.reserved), AliasReply)
    assert found.label == "the limping porter"
    assert room_of(AliasReply, {}) <= prompt.report.reserved
    assert "kind: a thing" in alias.build(room, "bo_1", "th_key").text


async def test_a_story_is_told_in_the_viewers_names(room: World, entry: Callable[[int, str, int], BufferEntry]) -> None:
    prompt = narrating.build(room, "ada_1", [entry(1, "Have you the soup?", 30), entry(2, "I am hungry.", 2)])
    assert (prompt.task, prompt.template) == ("narrate", "narrate.1")
    assert split_sections(prompt.messages[-1].content) == {
        "": "", "THIS MOMENT": "It is early evening, the first day of March.\nYou are in the hall. Stone and smoke.",
        "WHAT HAPPENED": 'About half an hour ago\n  - The old porter spoke to you: "Have you the soup?"\n'
        'Moments ago\n  - The old porter spoke to you: "I am hungry."',
    }  # fmt: skip
    completion = await Scripted(["The old porter asked for soup."]).complete(asked(prompt, max_tokens=prompt.report.reserved))
    assert completion.text == "The old porter asked for soup."
    assert narrating.build(room, "ada_1", []).sections[-1].why_empty
