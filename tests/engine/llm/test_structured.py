"""Structured replies out of what models really send."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BadOutputError, ModelError
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.llm.scripted import Scripted
from engine.llm.structured import ask, read_reply
from engine.records.prompts import Message
from engine.records.wire import DecodeReply, HandoffChunk, HandoffReply, RefereeReply

GOOD = '{"reason": "The rope holds.", "possible": true, "minutes": 2, "changes": []}'
REQUEST = ModelRequest(task="referee", entity="a", round=1, seed=1, messages=(Message(role="user", content="Judge."),), max_tokens=100)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"Here you are:\n\n{GOOD}\n\nI hope that this helps {{really}}.",
        f"<think>Perhaps {{\"reason\": \"no\", \"possible\": false, \"minutes\": 0}}? No.</think>\n{GOOD}",
        f"The model thought first.</think>{GOOD}",
        f'{{"result": {GOOD}}}',
        GOOD.replace("true", '"true"').replace("2", '"2"'),
        GOOD.replace("The rope holds.", "The rope\nholds."),
        GOOD.replace('"changes"', '"extra": [1], "changes"'),
    ],
    ids=["plain", "fenced", "bare-fence", "prose-around", "think-block", "think-end", "wrapped", "wrong-types", "raw-newline", "extra"],
)  # fmt: skip
async def test_a_reply_is_found_in_what_is_wrapped_around_it(reply: str) -> None:
    model = Scripted([reply])
    found, completion = await ask(model, REQUEST, RefereeReply)
    assert found.possible
    assert found.minutes == 2
    assert "rope" in found.reason
    assert completion.text == reply
    assert model.requests[0].response is RefereeReply


async def test_a_bare_list_is_the_only_field() -> None:
    reply = '[{"type":"dialogue","verb":"say","text":"Hm.","summary":"","targets":[],"modifiers":[]}]'
    found, _ = await ask(Scripted([reply]), REQUEST, DecodeReply)
    assert found.intents[0].text == "Hm."


@pytest.mark.parametrize(
    ("bad", "hint"),
    [
        ("I would rather not.", "no readable JSON"),
        ("", "empty"),
        (GOOD[:30], "cut off"),
        ('{"reason": "x", "possible": "perhaps", "minutes": 1}', "possible"),
        ('{"possible": true, "minutes": 1}', "reason"),
        (json.dumps(RefereeReply.model_json_schema()), "schema"),
    ],
    ids=["prose", "empty", "cut-mid-string", "wrong-type", "missing", "schema-echoed"],
)  # fmt: skip
async def test_a_bad_reply_is_sent_back_once_with_its_faults(bad: str, hint: str) -> None:
    model = Scripted([bad, GOOD])
    found, completion = await ask(model, REQUEST, RefereeReply)
    assert found.possible
    assert completion.text == GOOD
    first, second = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-2].role == "assistant"
    assert hint in second.messages[-1].content
    assert second.max_tokens > first.max_tokens


async def test_the_second_failure_keeps_the_raw_reply() -> None:
    model = Scripted(["nonsense", '{"chunks": [{"sourceEntryIds": ["M1"], "content": "cut he'])
    with pytest.raises(BadOutputError, match="cut off") as caught:
        await ask(model, REQUEST, HandoffReply)
    assert caught.value.reply.endswith("cut he")
    assert len(model.requests) == 2


async def test_a_failing_model_is_not_asked_again() -> None:
    model = Scripted([ModelError("No answer."), GOOD])
    with pytest.raises(ModelError, match="No answer"):
        await ask(model, REQUEST, RefereeReply)
    assert len(model.requests) == 1


def test_a_cut_reply_is_never_patched_up() -> None:
    chunk = HandoffChunk(sourceEntryIds=["M1"], content="A.", quotes=[], importance=3, involvedEntityIds=[], retainInBuffer=False)
    whole = HandoffReply(chunks=[chunk, chunk]).model_dump_json()
    with pytest.raises(BadOutputError):
        read_reply(whole[:-20], HandoffReply)


@given(st.text(max_size=300))
def test_any_other_text_is_refused_and_kept(text: str) -> None:
    with pytest.raises(BadOutputError) as caught:  # no text of this length happens to be a whole verdict
        read_reply(text, RefereeReply)
    assert caught.value.reply == text


@given(st.text(alphabet=st.characters(blacklist_characters='{}[]"\\`<', blacklist_categories=["Cs"]), max_size=80), st.integers(0, 600))
def test_prose_around_a_reply_changes_nothing(prose: str, minutes: int) -> None:
    reply = RefereeReply(reason=prose or "Why not.", possible=False, minutes=minutes)
    assert read_reply(f"{prose}\n{reply.model_dump_json()}\n{prose}", RefereeReply) == reply


def test_deep_nesting_does_not_crash_the_reader() -> None:
    with pytest.raises(BadOutputError):
        read_reply("[" * 100_000, RefereeReply)


_DRAFT = GOOD.replace("true", "false")


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>Perhaps {_DRAFT} but no",
        f"<reasoning>{_DRAFT}",
        f"<thought>\nPerhaps {_DRAFT} or not?",
        f"First draft: {_DRAFT}\nBetter: {GOOD[:40]}",
        f"```json\n{_DRAFT}\n```\nBetter:\n```json\n{GOOD[:40]}",
        f"{_DRAFT} <think>no, rather {_DRAFT}",
        "<think>I am not sure.</think>",
    ],
)
async def test_a_draft_is_no_reply_when_what_follows_breaks_off(reply: str) -> None:
    """In a handoff silence means forgetting: what a draft leaves out must not be lost."""
    model = Scripted([reply, reply])
    with pytest.raises(BadOutputError) as raised:
        await ask(model, REQUEST, RefereeReply)
    assert raised.value.reply == reply
    assert len(model.requests) == 2


_CHUNKS = json.dumps({"chunks": [
    {"sourceEntryIds": ["M1"], "content": "P1 spoke of \"it\" \u2014 \u00e9.", "quotes": ["a"], "importance": 5,
     "involvedEntityIds": ["P1"], "retainInBuffer": False},
    {"sourceEntryIds": ["M2"], "content": "P2 left.", "quotes": [], "importance": 10, "involvedEntityIds": [], "retainInBuffer": True},
]})  # fmt: skip


def test_wherever_a_reply_breaks_off_nothing_is_taken() -> None:
    """Within a word, a number, an escape; and no draft that stands before it."""
    for end in range(1, len(_CHUNKS)):
        for text in (_CHUNKS[:end], f"{_CHUNKS}\nNo, better:\n{_CHUNKS[:end]}", f"{_CHUNKS}\n{_CHUNKS[:end]}\n"):
            with pytest.raises(BadOutputError):
                read_reply(text, HandoffReply)


async def test_two_replies_in_vain_are_told_with_the_model_and_what_to_do() -> None:
    with pytest.raises(BadOutputError) as caught:
        await ask(Scripted(["Well.", "Well."], name="openai/x"), REQUEST, RefereeReply)
    assert str(caught.value) == (
        "The reply of openai/x cannot be used: The reply held no readable JSON. Try again, or choose another model for the task referee."
    )


async def test_a_reply_that_the_provider_stopped_is_none() -> None:
    class Stopped(Scripted):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            return (await super().complete(request)).model_copy(update={"cut": True})

    with pytest.raises(BadOutputError, match="cut off"):
        await ask(Stopped([GOOD, GOOD]), REQUEST, RefereeReply)


def test_speech_about_thoughts_is_speech() -> None:
    assert read_reply(GOOD.replace("The rope holds.", "He wrote <thought> on it."), RefereeReply).reason == "He wrote <thought> on it."
