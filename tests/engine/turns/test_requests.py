"""What the two calls between prose and consequence say of themselves and of their replies."""

import json

import pytest

from engine.errors import BadOutputError
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.llm.tokens import estimate_tokens
from engine.prompts.templates import built_in
from engine.records.intents import Intent
from engine.records.limits import room
from engine.records.wire import DecodeReply, RefereeReply
from engine.records.world import World
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee


async def test_a_decoding(house: World) -> None:
    reply = '{"intents":[{"type":"dialogue","verb":"say","targets":[],"text":"Hm.","summary":"","modifiers":[]}]}'
    model = Scripted([reply])
    actor = house.agents()[0].id
    [intent] = await Decoder(Router(model)).decode(house, actor, '"Hm."')
    assert intent.text == "Hm."
    [request] = model.requests
    assert (request.task, request.template) == ("decode", "decode.1")
    assert request.choices["targets"]
    assert "P1" not in request.choices["targets"]
    assert request.response is not None
    assert issubclass(request.response, DecodeReply)
    assert room(request.response, request.choices, estimate_tokens) <= request.max_tokens


async def test_a_judgement(house: World) -> None:
    model = Scripted(['{"reason":"It is easy.","possible":true,"minutes":1,"changes":[]}'])
    actor = house.agents()[0].id
    verdict = await Referee(Router(model)).judge(house, Intent(type="action", text="I juggle.", summary="juggled", actor=actor))
    assert verdict.outcome is not None
    assert verdict.outcome.is_valid
    [request] = model.requests
    assert (request.task, request.template) == ("referee", "referee.1")
    assert request.choices["to"] == ("", *request.choices["target"])
    assert request.response is not None
    assert issubclass(request.response, RefereeReply)
    assert room(request.response, request.choices, estimate_tokens) <= request.max_tokens


def meant(*intents: tuple[str, str]) -> str:
    verbs = {"dialogue": "say", "action": "other", "monologue": "think"}
    wire = [{"type": kind, "verb": verbs[kind], "targets": [], "text": text, "summary": "", "modifiers": []} for kind, text in intents]
    return json.dumps({"intents": wire})


@pytest.mark.parametrize(
    ("prose", "reply", "kept"),
    [
        ("I nod.", [("action", "I nod.")] * 8, ["I nod."]),
        ("I nod.", [("action", "I nod."), ("dialogue", "I nod.")], ["I nod."]),
        ("I nod. I wave. I nod.", [("action", "I nod."), ("action", "I wave."), ("action", "I nod.")], ["I nod.", "I wave.", "I nod."]),
        ("I nod.", [("action", "I slide the key to the sailor."), ("dialogue", "Be quick,"), ("action", "I nod.")], ["I nod."]),
        ('"Be quick," I say.', [("dialogue", "Be quick,")], ["Be quick,"]),
        ('"No. No," I say.', [("dialogue", "No."), ("dialogue", "No,")], ["No.", "No,"]),
    ],
)  # fmt: skip
async def test_no_intent_is_made_of_the_example_or_twice_of_the_same(
    house: World, prose: str, reply: list[tuple[str, str]], kept: list[str]
) -> None:
    intents = await Decoder(Router(Scripted([meant(*reply)]))).decode(house, "ada_1", prose)
    assert [intent.text for intent in intents] == kept


async def test_a_reply_of_nothing_but_the_example_is_refused(house: World) -> None:
    example = built_in("decode").parts[0].splitlines()[-1]
    with pytest.raises(BadOutputError, match="found nothing"):
        await Decoder(Router(Scripted([example]))).decode(house, "ada_1", "I nod.")
